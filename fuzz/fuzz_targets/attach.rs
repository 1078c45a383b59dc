//! Any bytes as the file of a shared region: header, directory, what is bound in it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| memory::fuzz::attach(bytes));
