//! Published figures and tables: plans that say what is run and what is claimed, and what becomes of both.
//!
//! A `plan` is read, `prepared` are its points, and a `figure` is what was found `at` them. `metric` obtains a claim's value from its series, `judge` holds it
//! against the published one, `curve` a curve's points against published ones, `single` runs a point once, `slices` cuts traffic in time.

mod at;
mod curve;
pub(crate) mod figure;
mod judge;
mod metric;
pub(crate) mod plan;
pub(crate) mod prepared;
mod single;
mod slices;
