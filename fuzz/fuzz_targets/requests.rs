//! Scripts of requests, whole and mutilated, to the key-value store.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &[u8]| apps::kv::fuzz::requests(script));
