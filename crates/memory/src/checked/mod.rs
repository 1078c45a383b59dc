//! The model checker's memory: a ring runs in every interleaving, with every value that its orderings
//! let a load return.
//!
//! The signal of an entry is an atomic of loom; body words, payload and buffer metadata are cells of
//! loom, so an access that no release/acquire pair orders is reported as a race: a read of an
//! unpublished payload, a slot overwritten before it was read, a buffer with two owners. The memory
//! also holds every call to the field's [`Class`](crate::Class) and writer.
//!
//! What loom cannot see is told in docs/verification.md.

mod explore;
mod orders;
mod parked;
mod space;
mod store;
mod view;
mod weaken;

pub use explore::{Bounds, Explored, explore, spawn};
pub use orders::{Orders, Site};
pub use space::{Checked, CheckedSpace};
pub use store::{CheckedBuffers, CheckedWords};
pub use view::CheckedView;
pub use weaken::{Scenario, Verdict, listed, unmissed, weaken};
