//! A ring of entries, as its reader has it.

use memory::Memory;

use crate::parts::entry;

/// One of a queue's two rings.
pub(super) struct Entries<M: Memory> {
    pub(super) words: M::Words<{ entry::WORDS }>,
    pub(super) shift: u32,
    /// Next entry to read. Ours, always fresh.
    pub(super) head: u64,
}

impl<M: Memory> Entries<M> {
    pub(super) fn new(words: M::Words<{ entry::WORDS }>, ring: u32) -> Entries<M> {
        Entries { words, shift: ring.trailing_zeros(), head: 0 }
    }

    /// The signal of the next entry, if the NIC has written it.
    #[inline(always)]
    pub(super) fn signal(&self, m: &mut M) -> Option<u64> {
        let signal = m.acquire(self.words, self.head); // pairs with the publish in `Queue::entry`
        entry::fresh(signal, self.head, self.shift).then_some(signal)
    }
}
