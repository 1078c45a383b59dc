//! The words that the threads of a ring share, and the marks in `read_done`.

use memory::Memory;

use super::BITS;
use crate::ddring::Words;

// ## Words

/// The words that the threads of a ring share.
pub(super) struct Shared<M: Memory> {
    pub(super) words: Words<M>,
    pub(super) next: M::Words<1>,
    pub(super) read_done: M::Words<1>,
    pub(super) posted: M::Words<1>,
    pub(super) short: M::Words<1>,
    pub(super) running: M::Words<1>,
}

impl<M: Memory> Clone for Shared<M> {
    fn clone(&self) -> Self {
        *self
    }
}

// A derived one would ask for a memory that can be copied.
impl<M: Memory> Copy for Shared<M> {}

impl<M: Memory> Shared<M> {
    /// Where `read_done` has the bits of up to `n` descriptors from `i` on: a word, the bits in it, and how many
    /// they are. Those beyond that word are not among them.
    #[inline(always)]
    fn bits(&self, i: u64, n: u64) -> (u64, u64, u64) {
        let slot = i & (self.words.size - 1);
        let from = slot % BITS;
        let n = n.min(BITS.min(self.words.size) - from);
        (slot / BITS, (u64::MAX >> (BITS - n)) << from, n)
    }

    /// Descriptors `from..from + n` are read and hold empty buffers.
    #[inline(always)]
    pub(super) fn mark(&self, m: &mut M, mut from: u64, mut n: u64) {
        while n > 0 {
            let (word, bits, count) = self.bits(from, n);
            m.or(self.read_done, word, bits); // pairs with the clear in `unmark`
            from = from.wrapping_add(count);
            n -= count;
        }
    }

    /// The descriptors from `from` on that are marked, without a gap.
    #[inline(always)]
    pub(super) fn run(&self, m: &mut M, from: u64) -> u64 {
        let mut n = 0;
        while n < self.words.size {
            let (word, bits, count) = self.bits(from.wrapping_add(n), self.words.size - n);
            let seen = m.relaxed(self.read_done, word) & bits; // what is found is ordered by `unmark`
            let marked = u64::from((seen >> bits.trailing_zeros()).trailing_ones());
            n += marked;
            if marked < count {
                break;
            }
        }
        n
    }

    /// Whether descriptor `i` is marked, as far as can be seen in passing.
    #[inline(always)]
    pub(super) fn marked(&self, m: &mut M, i: u64) -> bool {
        let (word, bit, _) = self.bits(i, 1);
        m.relaxed(self.read_done, word) & bit != 0
    }

    /// Takes the marks off again, before TAIL moves past them.
    #[inline(always)]
    pub(super) fn unmark(&self, m: &mut M, mut from: u64, mut n: u64) {
        while n > 0 {
            let (word, bits, count) = self.bits(from, n);
            m.clear(self.read_done, word, bits); // pairs with the or in `mark`
            from = from.wrapping_add(count);
            n -= count;
        }
    }
}
