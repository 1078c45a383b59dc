//! Any bytes as a capture: formats, compression, link types, replay.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| traffic::fuzz::capture(bytes));
