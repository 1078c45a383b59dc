//! Published figures and tables: plans that say what is run and what is claimed, and what becomes of both.
//!
//! A `plan` is read, `prepared` are its points, and a `figure` is what was found `at` them. `metric` obtains a claim's value from its series, `judge` holds it
//! against the published one, `curve` a curve's points against published ones, `single` runs a point once, `slices` cuts traffic in time.
//! `short` runs plans on many servers, and `fit` has their constants fitted to claims by an `ensemble`.

mod at;
mod curve;
mod ensemble;
pub(crate) mod figure;
pub(crate) mod fit;
mod judge;
mod metric;
pub(crate) mod plan;
pub(crate) mod prepared;
pub(crate) mod short;
mod single;
mod slices;
