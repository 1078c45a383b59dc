//! What a side that is not honest may write.

use proptest::prelude::*;

/// Shared words that the other side writes: field, words of its shortest array. First those of the transmit ring, then
/// those of each receive interface: of the lanes without registers, and of those with them.
pub const WORDS: [&[(&str, usize)]; 9] = [
    &[("tx.doorbell", 1), ("tx.consumed", 1), ("tx.descriptor", 4)],
    &[("privring.doorbell", 1), ("privring.descriptor", 2), ("privring.completion", 8)],
    &[("shring.doorbell", 1), ("shring.descriptor", 2), ("shring.completion", 8), ("shring.index", 1)],
    &[
        ("rxbisect.ax.doorbell", 1),
        ("rxbisect.ax.descriptor", 2),
        ("rxbisect.bx.entry", 8),
        ("rxbisect.bx.index", 1),
    ],
    &[
        ("dynamic.tally", 1),
        ("dynamic.taken", 1),
        ("dynamic.asked", 1),
        ("dynamic.received", 1),
        ("privring.doorbell", 1),
        ("privring.completion", 8),
        ("shring.doorbell", 1),
        ("shring.completion", 8),
        ("shring.index", 1),
    ],
    &[("ddring.tail", 1), ("ddring.descriptor", 8)],
    &[("ccnic.blank", 8), ("ccnic.full", 8), ("ccnic.tx", 8)],
    &[
        ("ccnic.blank.tail", 1),
        ("ccnic.blank.head", 1),
        ("ccnic.blank", 8),
        ("ccnic.full.tail", 1),
        ("ccnic.full.head", 1),
        ("ccnic.full", 8),
        ("ccnic.tx.tail", 1),
        ("ccnic.tx.head", 1),
        ("ccnic.tx", 8),
    ],
    &[
        ("ceio.doorbell", 1),
        ("ceio.descriptor", 2),
        ("ceio.fast", 8),
        ("ceio.slow", 8),
        ("ceio.kept", 1),
        ("ceio.asked", 1),
        ("ceio.released", 1),
    ],
];

/// What such a word is overwritten with: anything, and often what is nearly right.
pub fn value() -> impl Strategy<Value = u64> {
    let line = (0..16u64, 0..64u64, 0..200u64).prop_map(|(bits, low, len)| bits << 60 | len << 48 | low);
    let signal = (0..8u64, 0..64u64).prop_map(|(bits, low)| bits << 16 | low);
    prop_oneof![any::<u64>(), 0..64u64, (0..64u64).prop_map(|n| n.wrapping_neg()), signal, line]
}
