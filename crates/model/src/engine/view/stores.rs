//! A core's store buffer: it goes on while the lines of its stores come (A19).

use super::View;
use crate::machine::coherence::node::Node;
use crate::machine::costs::STORES;
use crate::machine::prices::Cost;

/// Stores that wait for their lines.
#[repr(C)]
#[derive(Default)]
pub(super) struct StoreBuffer {
    /// When all stores made so far have their lines: atomics wait for that, and other cores see them then.
    pub drained: u64,
    /// When the core last took a line from another one to store into it (A61).
    pub taken: u64,
    /// Stores made so far.
    made: usize,
    /// When each of the last ones has its line and leaves, round.
    leaves: [u64; STORES],
}

impl StoreBuffer {
    /// From when there is room for another one.
    #[inline(always)]
    fn room(&self) -> u64 {
        self.leaves[self.made % STORES]
    }

    /// A store leaves once its line is there, behind those before it.
    #[inline(always)]
    pub(super) fn leaves(&mut self, there: u64) {
        self.drained = self.drained.max(there);
        self.leaves[self.made % STORES] = self.drained;
        self.made += 1;
    }
}

impl View {
    /// A store at `at`; it is done when the line is there.
    #[inline(always)]
    pub(super) fn waits(&mut self, at: u64, cost: Cost) {
        let asked = self.enters(at, cost.wait);
        self.stores.leaves(asked + cost.miss);
    }

    /// A store at `at` enters the store buffer; when its line is asked for. The core waits only while the buffer is
    /// full, or for `share` where the profile says what a store waits.
    #[inline(always)]
    pub(super) fn enters(&mut self, at: u64, share: u64) -> u64 {
        if !self.machine().costs.buffered {
            self.clock += share;
            return at;
        }
        let room = self.stores.room();
        self.clock = self.clock.max(room);
        at.max(room)
    }

    /// The core waits until a fill buffer is free for a store past its caches (A91). The first one whose memory answers
    /// is: such stores do not keep their order.
    pub(super) fn has_fill_buffer(&mut self) {
        let now = self.clock;
        self.filling.retain(|free| *free > now);
        if self.filling.len() >= self.machine().costs.fill_buffers
            && let Some(first) = (0..self.filling.len()).min_by_key(|k| self.filling[*k])
        {
            self.clock = self.filling.swap_remove(first);
        }
    }

    /// A store past the caches has a fill buffer until `there`.
    pub(super) fn fills(&mut self, there: u64) {
        self.filling.push(there);
        self.stores.drained = self.stores.drained.max(there);
    }

    /// A store fence: the core goes on once all that it has stored is done.
    pub(crate) fn fence(&mut self) {
        self.barrier();
        self.clock = self.clock.max(self.stores.drained);
    }

    /// A posted MMIO store leaves the core behind the stores before it, and those behind it wait until the PCIe
    /// root has it (A64). The core itself goes on.
    pub(super) fn posted(&mut self) {
        if self.me.core.is_none() {
            return;
        }
        let way = self.to_root();
        if way > 0 {
            let there = self.stores.drained.max(self.clock) + way;
            self.stores.leaves(there);
        }
    }

    /// The way of a posted MMIO store from the core to the PCIe root; 0 where there is none.
    pub(super) fn to_root(&self) -> u64 {
        let costs = &self.machine().costs;
        if costs.root > 0 && self.me.node == Node::Far { costs.root + costs.remote } else { costs.root }
    }

    /// How long a line that the core takes to store into it waits for the line before (A61). What the core has done
    /// since it took that one counts towards the gap between them.
    #[inline(always)]
    pub(super) fn until_free(&mut self) -> u64 {
        let taken = self.stores.taken;
        self.machine().costs.taken.map_or(0, |gap| (taken + gap).saturating_sub(self.clock))
    }

    /// A store into a line that is on its way to the core: it stays in the store buffer, and shows once the line is there.
    #[cold]
    pub(super) fn joins(&mut self, line: u32) {
        let there = self.arrival(line).max(self.line(line).changed);
        self.stores.drained = self.stores.drained.max(there);
    }

    /// The core asks for a line to store into it, ahead of use.
    pub(super) fn takes_ahead(&mut self) {
        self.clock += self.until_free();
        self.stores.taken = self.clock;
    }
}
