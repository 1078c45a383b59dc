//! For tests: a naive classifier, and scripts of changes and frames that hold the tables to it.

mod draft;
mod reference;
mod script;

pub use draft::{Acts, Ask, Draft, Shape};
pub use reference::{Expected, Reference};
pub use script::{Op, decode, run};
