//! A card's classifier: what a look-up in its tables takes, and what operations on rules cost. Nothing here knows who
//! looks up or when.

mod buckets;
mod lookup;
mod operations;

pub use lookup::LookUp;
pub use operations::{Ip, Kind, Operations};

/// The tables in which rules lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The root table.
    Root,
    /// So many tables behind it, at least one. A frame looks into each; rules are spread evenly.
    Chained(u32),
}
