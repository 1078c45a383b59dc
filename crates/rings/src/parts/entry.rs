//! The completion entry, one format for all interfaces: `[buffer, rss | kind << 32, length | mark << 32,
//! signal]`.
//!
//! | word | written by | read by | ordering |
//! |---|---|---|---|
//! | buffer, hash and type, length and mark | NIC | core | body, published by the signal; of a notice alone all are zero and nobody reads them |
//! | signal | NIC | core | publish -> acquire: the words before it and the payload are valid |
//!
//! The signal holds what a receiver must know before it reads on:
//!
//! | from bit | what |
//! |---|---|
//! | 0 | the generation |
//! | 17 | whether the entry holds a frame |
//! | 18 | whether it tells of a consumed buffer: a notice |
//! | 20 | Ax ring of that buffer |
//! | 32 | descriptor of that buffer |
//!
//! The generation bit is the sense reversal of rxbisect §2. It flips on every pass through the ring, so an
//! entry needs no clearing and the reader never writes. Rings start as zeros, hence the first generation is 1.
//! What an entry tells of begins at bit 17, so one shift takes it out.
//! Length and mark lie in their word as in a [`Completion`](crate::Completion): one store takes both there.

use memory::{Buf, Memory};

use crate::contract::Frame;

/// Words of an entry.
pub(crate) const WORDS: usize = 4;

/// What the entry tells begins here.
const TELLS: u32 = 17;
const RING: u32 = 20;
const INDEX: u32 = 32;
const _: () = assert!(crate::sizes::MOST_QUEUES <= 1 << (INDEX - RING), "a ring's number has 12 bits");

/// The entry holds a frame.
pub(crate) const FRAME: u64 = 1 << TELLS;
/// The entry tells of a consumed buffer (rxbisect): ring and descriptor follow.
const NOTICE: u64 = FRAME << 1;

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

/// The notice that descriptor `index` of Ax ring `ring` is consumed, as a signal carries it.
#[inline(always)]
pub(crate) fn notice(ring: u16, index: u64) -> u64 {
    NOTICE | u64::from(ring) << RING | index << INDEX
}

/// What no entry carries as a notice: the number of a ring and nothing else.
pub(crate) const NO_NOTICE: u64 = 1 << RING;

/// The notice of the same ring that comes `n` after `notice`.
#[inline(always)]
pub(crate) fn later(notice: u64, n: u64) -> u64 {
    notice.wrapping_add(n << INDEX)
}

/// What an entry tells of: a frame, a notice, both or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tells(u64);

impl Tells {
    /// A frame and `notice`.
    #[inline(always)]
    pub(crate) fn both(notice: u64) -> Tells {
        Tells::of(FRAME | notice)
    }

    /// What `signal` tells of.
    #[inline(always)]
    pub(crate) fn of(signal: u64) -> Tells {
        Tells(signal >> TELLS)
    }

    /// The same with the next notice of the ring. After the last number that fits an entry it equals what no
    /// entry tells of.
    #[inline(always)]
    pub(crate) fn next(self) -> Tells {
        Tells(self.0.wrapping_add(1 << (INDEX - TELLS)))
    }
}

/// The notice in `signal`; 0 if it has none.
#[inline(always)]
pub(crate) fn notice_in(signal: u64) -> u64 {
    if signal & NOTICE != 0 { (signal >> TELLS << TELLS) & !FRAME } else { 0 }
}

/// Entry `i` for a frame in `buf`; `notice` is 0 or tells of a consumption.
#[inline(always)]
pub(crate) fn frame(buf: Buf, f: &Frame<'_>, notice: u64, i: u64, shift: u32) -> [u64; WORDS] {
    [buf.0, f.meta, f.size, generation(i, shift) | FRAME | notice]
}

/// Entry `i` that tells of a consumption alone.
#[inline(always)]
pub(crate) fn notice_alone(notice: u64, i: u64, shift: u32) -> [u64; WORDS] {
    [0, 0, 0, generation(i, shift) | notice]
}

/// Frames in the entries from `head` on that are written and not read, in a ring of `1 << shift`.
pub(crate) fn waiting<M: Memory>(m: &mut M, entries: M::Words<WORDS>, head: u64, shift: u32) -> u64 {
    let signals =
        (0..1u64 << shift).map(|k| (head.wrapping_add(k), m.relaxed(entries, head.wrapping_add(k))));
    let written = signals.take_while(|(i, signal)| fresh(*signal, *i, shift));
    written.filter(|(_, signal)| signal & FRAME != 0).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Completion;

    #[test]
    fn a_zeroed_or_old_entry_is_not_fresh_in_any_pass() {
        for shift in [1, 2, 6, 16, 17, 20] {
            let n = 1u64 << shift;
            assert!(!fresh(0, 3 % n, shift), "zeros are not of the first pass");
            for i in (0..5 * n).step_by(n as usize / 64 + 1) {
                assert!(fresh(generation(i, shift), i, shift));
                assert!(!fresh(generation(i, shift), i + n, shift), "what the last pass left");
            }
        }
    }

    #[test]
    fn fields_survive_the_round_trip() {
        let f = Frame::new(&[], u16::MAX, 0xdead_beef, 0xffff_0001).marked(0x8765_4321);
        let notice = notice(4095, 0x1_2345_6789);
        let [raw, meta, size, signal] = frame(Buf(77), &f, notice, 9, 2);
        let (rss, kind, mark) = (0xdead_beef, 0xffff_0001, 0x8765_4321);
        let want = Completion { buf: Buf(77), len: u16::MAX, between: 0, rss, kind, mark };
        assert_eq!(Completion::of(Buf(raw), meta, size), want);
        assert_eq!((notice_in(signal), signal & FRAME), (notice, FRAME));
        assert_eq!(Tells::of(signal), Tells::both(notice));
        let following = super::notice(4095, 0x2345_678a);
        assert_eq!(Tells::both(notice).next(), Tells::both(following));
        let last = Tells::both(super::notice(4095, 0xffff_ffff));
        assert_ne!(last.next(), Tells::both(super::notice(4095, 1 << 32)));
        let [.., alone] = notice_alone(following, 9, 2);
        assert_eq!((notice_in(alone), alone & FRAME), (following, 0));
        assert_eq!(notice_in(frame(Buf(0), &f, 0, 0, 2)[3]), 0);
    }
}
