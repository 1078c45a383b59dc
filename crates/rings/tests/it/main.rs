//! What holds of the rings over native memory in one thread, a file for each matter. One binary: each would compile the rings anew.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "../common/mod.rs"]
mod common;

mod admitted;
mod ccnic;
mod ceio;
mod corec;
mod dynamic;
mod gathered;
mod pool;
mod privring;
mod probe_grid;
mod probe_hostile;
mod properties;
mod rxbisect;
mod shring;
mod sides;
mod sizes;
mod stopping;
mod swapped;
mod tx;
mod write_back;
mod written;
