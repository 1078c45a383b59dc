//! Rule programs and frames through the flow tables, against a naive classifier.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| flow::fuzz::program(bytes));
