//! Any bytes through the header parser and RSS.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static RSS: LazyLock<packet::Rss> = LazyLock::new(|| packet::Rss::spread(4));

fuzz_target!(|bytes: &[u8]| packet::fuzz::parser(bytes, &RSS));
