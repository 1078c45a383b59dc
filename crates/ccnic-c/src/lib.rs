//! Crate `ccnic` for programs in C: what `include/ccnic.h` declares.
//!
//! # Rooms
//!
//! 1. `answer` (what a call returns, and the text of the last error)
//! 2. `given` (what a program hands in, checked)
//! 3. `ends` (listeners and channels), `bursts` (frames), `bytes` (of a buffer)
#![cfg(target_os = "linux")]

mod answer;
mod bursts;
mod bytes;
mod ends;
mod given;

pub use answer::*;
pub use bursts::*;
pub use bytes::*;
pub use ends::*;
pub use given::*;
