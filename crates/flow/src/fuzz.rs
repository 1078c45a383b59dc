//! What a fuzzer feeds; the same function runs in `cargo test` over random bytes.

use crate::limits::Limits;
use crate::testing;

/// Rule programs and frames from any bytes, against the reference. The first byte chooses how much room there is.
///
/// # Panics
/// A verdict, a count or an error differs.
pub fn program(bytes: &[u8]) {
    let Some((room, script)) = bytes.split_first() else { return };
    let mut limits = Limits { groups: 4, ..Limits::for_rules(u32::from(*room) + 1) };
    limits.tuples = u32::from(*room / 8) + 1;
    limits.records = u32::from(*room / 4);
    testing::run(limits, &testing::decode(script));
}
