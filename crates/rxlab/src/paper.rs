//! Published figures and tables: plans that say what is run and what is claimed, and what becomes of both.
//!
//! A `plan` is read, a `figure` is a plan carried out. `metric` obtains a claim's value from its series, `judge` holds it
//! against the published one, `slices` cuts traffic in time.

pub(crate) mod figure;
mod judge;
mod metric;
pub(crate) mod plan;
mod slices;
