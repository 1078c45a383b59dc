//! The card's end of a ring of entries: frames that it has written, and that the core has to read.

use std::collections::VecDeque;

use memory::Memory;

use crate::contract::{AHEAD, Frame};
use crate::parts::entry;

/// A ring of entries, as its writer has it.
pub(super) struct Entries<M: Memory> {
    words: M::Words<{ entry::WORDS }>,
    pub(super) shift: u32,
    /// Next entry to write. Ours, always fresh.
    pub(super) head: u64,
    /// Entries that the core is done with.
    pub(super) done: u64,
    /// The flow of each from there on: more than the ring has entries, since a core reads before it says so.
    flows: VecDeque<u32>,
}

impl<M: Memory> Entries<M> {
    pub(super) fn new(words: M::Words<{ entry::WORDS }>, ring: u32) -> Entries<M> {
        Entries {
            words,
            shift: ring.trailing_zeros(),
            head: 0,
            done: 0,
            flows: VecDeque::with_capacity(2 * ring as usize),
        }
    }

    /// Writes the entry of a frame in `buf`; `after` goes to the upper half of its signal.
    #[inline(always)]
    pub(super) fn entry(&mut self, m: &mut M, buf: memory::Buf, frame: &Frame<'_>, after: u32, flow: u32) {
        m.entry_ahead(self.words, self.head.wrapping_add(AHEAD));
        let entry = entry::frame(buf, frame, u64::from(after) << 32, self.head, self.shift);
        m.publish(self.words, self.head, entry); // pairs with the acquire in the host's `Entries::signal`
        self.flows.push_back(flow);
        self.head = self.head.wrapping_add(1);
    }

    /// The core is done with `count` more, as it says; their flows.
    #[inline(always)]
    pub(super) fn done(&mut self, count: u64) -> impl Iterator<Item = u32> {
        // A core that goes back or beyond what was written is not heard: it can only stop itself by it.
        let count = if count <= self.unread() { count } else { 0 };
        self.done = self.done.wrapping_add(count);
        self.flows.drain(..count as usize)
    }

    pub(super) fn unread(&self) -> u64 {
        self.head.wrapping_sub(self.done)
    }
}
