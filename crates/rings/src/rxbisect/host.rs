//! The host half of `rxbisect`: one Bx ring, and the Ax rings linked to it (rxbisect §4.2).

use memory::Memory;

use crate::completions::Reader;
use crate::empties::Producer;
use crate::{Buffers, Completion, Host, entry};

// ## Host half

/// A core's end: usually one Bx ring and one Ax ring. A core that only receives has no Ax ring; one that
/// only allocates has a Bx ring that carries notices alone.
pub struct HostHalf<M: Memory> {
    reader: Reader<M>,
    ax: Vec<OwnAx<M>>,
    buffers: M::Buffers,
    /// Frames in a buffer of another core's Ax ring.
    foreign: u64,
    /// Entries that named no buffer, or a notice out of order.
    faults: u64,
}

/// An Ax ring that this core fills.
struct OwnAx<M: Memory> {
    id: u16,
    size: u64,
    producer: Producer<M>,
    /// Notices read: the next descriptor that the NIC will tell of. Ours, always fresh.
    noticed: u64,
}

impl<M: Memory> OwnAx<M> {
    /// Whether `origin` is the next notice of this ring. The NIC consumes in ring order and tells in
    /// the same order, which is why a tail may follow a count (§4.2).
    #[inline(always)]
    fn notice(&mut self, origin: u64) -> bool {
        let due = origin as u32 == self.noticed as u32 && self.noticed != self.producer.tail();
        self.noticed = self.noticed.wrapping_add(u64::from(due));
        due
    }

    /// Posts what was consumed, and what earlier polls could not get; how many are missing.
    #[inline(always)]
    fn refill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> u64 {
        let owed = self.noticed.wrapping_add(self.size).wrapping_sub(self.producer.tail());
        self.producer.pay(m, bufs, owed)
    }
}

impl<M: Memory> HostHalf<M> {
    pub(super) fn new(reader: Reader<M>, buffers: M::Buffers) -> HostHalf<M> {
        HostHalf { reader, ax: Vec::new(), buffers, foreign: 0, faults: 0 }
    }

    /// Gives this core an Ax ring to fill.
    pub(super) fn own(&mut self, id: u16, producer: Producer<M>, size: u32) {
        self.ax.push(OwnAx { id, size: u64::from(size), producer, noticed: 0 });
    }

    /// Reads the entry with `signal`: its notice is taken, its frame returned.
    #[inline(always)]
    fn entry(&mut self, m: &mut M, signal: u64) -> Option<Completion> {
        let [raw, meta, origin] = self.reader.body(m);
        if signal & entry::NOTICE != 0 {
            let id = (origin >> 32) as u16;
            let known = self.ax.iter_mut().find(|ax| ax.id == id).is_some_and(|ax| ax.notice(origin));
            self.faults += u64::from(!known);
        }
        if signal & entry::FRAME == 0 {
            return None;
        }
        self.foreign += u64::from(signal & entry::NOTICE == 0);
        let frame = m.check(self.buffers, raw, u32::from(entry::length(signal)));
        self.faults += u64::from(frame.is_err());
        frame.ok().map(|buf| entry::completion(buf, meta, signal))
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    /// Notices are read even where `out` is full or empty. Their number is bounded by the Ax rings,
    /// since only the end of this call refills them.
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let mut taken = 0;
        while let Some(signal) = self.reader.signal(m) {
            if signal & entry::FRAME != 0 && taken == out.len() {
                break;
            }
            if let (Some(frame), Some(slot)) = (self.entry(m, signal), out.get_mut(taken)) {
                *slot = frame;
                taken += 1;
            }
        }
        self.reader.tell(m); // whatever was read: notices take room too
        for ax in &mut self.ax {
            ax.refill(m, bufs);
        }
        taken
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        self.ax.iter_mut().map(|ax| ax.refill(m, bufs)).sum::<u64>() as usize
    }

    /// The NIC half has written every notice that it held back ([`Nic::stop`](crate::Nic::stop) and
    /// [`Nic::stop_queue`](crate::Nic::stop_queue)): what it has not told of is still posted.
    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        while let Some(signal) = self.reader.signal(m) {
            if let Some(frame) = self.entry(m, signal) {
                bufs.give(m, &[frame.buf]);
            }
        }
        self.reader.tell(m);
        for ax in &mut self.ax {
            self.faults += ax.producer.take_back(m, bufs, (ax.noticed, ax.noticed), self.buffers);
        }
    }

    fn waiting(&self, m: &mut M) -> u64 {
        self.reader.waiting(m)
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let debts = self.ax.iter().map(|ax| ax.producer.debts).sum();
        [("foreign", self.foreign), ("debts", debts), ("faults", self.faults)].get(i).copied()
    }
}
