//! Tests of all crates share these: the other side of an interface, and the books that judge both.

pub mod mock;
pub mod oracle;
pub mod world;
