//! No circles between the modules of a crate.
//!
//! A module is a file. It depends on every module that defines something it names, by a `use` or by a path,
//! and a re-export on the way does not hide that: `crate::Item` is an arrow to the file that has `Item`.
//! A module and what lies below it may name each other. Below one parent, the children with all that lies
//! below each of them must not depend on each other in a circle. Code that only tests compile is left out.
//!
//! What is read is text, not types. A method call names nothing, nor does an attribute; in a macro's
//! tokens whatever looks like a path is taken for one.
//!
//! [`read_workspace`] reads, [`rooms`] draws the arrows, a [`Room`] knows its circles and its floors.
//! [`picture`] draws the workspace itself, from the manifests of its crates.

mod arrows;
mod floors;
mod manifests;
mod names;
mod picture;
mod read;
mod resolve;
mod rooms;
mod tree;

pub use arrows::Arrow;
pub use picture::picture;
pub use read::{ReadError, read_crate, read_workspace};
pub use rooms::{Circle, Link, Room, rooms};
pub use tree::Tree;
