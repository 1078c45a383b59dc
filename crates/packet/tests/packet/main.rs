//! The crate's tests, one program.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers outside of test functions

mod against_etherparse;
mod build;
mod checksums;
mod fuzz_smoke;
mod known;
mod kv;
mod toeplitz;
