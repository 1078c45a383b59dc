//! The crate's tests, one program.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers outside of test functions

mod captures;
mod formats;
mod fuzz_smoke;
mod generator;
mod make;
mod numbers;
mod replay;
mod spec;
mod stats;
