//! The completion entry, one format for all interfaces: `[buffer, rss | kind << 32, origin, signal]`.
//!
//! The signal holds what a receiver must know before it reads on: the generation bit, what the entry
//! tells (a frame, a consumed buffer, or both) and the frame's length. The generation bit is the sense
//! reversal of rxbisect §2: it flips on every pass through the ring, so an entry needs no clearing and
//! the reader never writes. Rings start as zeros, hence the first generation is 1.

use memory::{Buf, Memory};

use crate::{Completion, Frame};

/// Words of an entry.
pub(crate) const WORDS: usize = 4;

/// The entry holds a frame.
pub(crate) const FRAME: u64 = 1 << 1;
/// The entry tells of a consumed buffer (rxbisect): `origin` says which.
pub(crate) const NOTICE: u64 = 1 << 2;
const LENGTH: u32 = 16;

/// The generation bit of entry `i` in a ring of `1 << shift` entries.
#[inline(always)]
pub(crate) fn generation(i: u64, shift: u32) -> u64 {
    !(i >> shift) & 1
}

/// Whether `signal` was written in the pass that `i` belongs to.
#[inline(always)]
pub(crate) fn fresh(signal: u64, i: u64, shift: u32) -> bool {
    (signal ^ generation(i, shift)) & 1 == 0
}

/// Entry `i` for a frame in `buf`; `origin` is zero or the notice of the buffer's consumption.
#[inline(always)]
pub(crate) fn frame(buf: Buf, f: &Frame<'_>, origin: Option<u64>, i: u64, shift: u32) -> [u64; WORDS] {
    let notice = if origin.is_some() { NOTICE } else { 0 };
    let signal = generation(i, shift) | FRAME | notice | u64::from(f.len) << LENGTH;
    [buf.0, u64::from(f.rss) | u64::from(f.kind) << 32, origin.unwrap_or(0), signal]
}

/// Entry `i` that tells of a consumption alone.
#[inline(always)]
pub(crate) fn notice(origin: u64, i: u64, shift: u32) -> [u64; WORDS] {
    [0, 0, origin, generation(i, shift) | NOTICE]
}

/// Frames in the entries from `head` on that are written and not read, in a ring of `1 << shift`.
pub(crate) fn waiting<M: Memory>(m: &mut M, entries: M::Words<WORDS>, head: u64, shift: u32) -> u64 {
    let signals =
        (0..1u64 << shift).map(|k| (head.wrapping_add(k), m.relaxed(entries, head.wrapping_add(k))));
    let written = signals.take_while(|(i, signal)| fresh(*signal, *i, shift));
    written.filter(|(_, signal)| signal & FRAME != 0).count() as u64
}

/// The frame's length, in bytes.
#[inline(always)]
pub(crate) fn length(signal: u64) -> u16 {
    (signal >> LENGTH) as u16
}

/// What the receiver gets.
#[inline(always)]
pub(crate) fn completion(buf: Buf, meta: u64, signal: u64) -> Completion {
    Completion { buf, len: length(signal), rss: meta as u32, kind: (meta >> 32) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zeroed_or_old_entry_is_not_fresh_in_any_pass() {
        for shift in [1, 2, 6] {
            let n = 1u64 << shift;
            assert!(!fresh(0, 3 % n, shift), "zeros are not of the first pass");
            for i in 0..5 * n {
                assert!(fresh(generation(i, shift), i, shift));
                assert!(!fresh(generation(i, shift), i + n, shift), "what the last pass left");
            }
        }
    }

    #[test]
    fn fields_survive_the_round_trip() {
        let f = Frame::new(&[], u16::MAX, 0xdead_beef, 0xffff_0001);
        let [raw, meta, origin, signal] = frame(Buf(77), &f, Some(5), 9, 2);
        let want = Completion { buf: Buf(77), len: u16::MAX, rss: 0xdead_beef, kind: 0xffff_0001 };
        assert_eq!(completion(Buf(raw), meta, signal), want);
        assert_eq!((origin, signal & (FRAME | NOTICE)), (5, FRAME | NOTICE));
        assert_eq!(notice(6, 0, 2)[3] & (FRAME | NOTICE), NOTICE);
    }
}
