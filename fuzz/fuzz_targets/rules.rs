//! Any bytes as a file of flow rules.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| flow::fuzz::rules(bytes));
