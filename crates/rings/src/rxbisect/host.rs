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
    /// The next notice of this ring as an entry carries it. The NIC consumes in ring order and tells in the
    /// same order, which is why a tail may follow a count (§4.2).
    #[inline(always)]
    fn due(&self) -> u64 {
        super::origin(self.id, self.noticed)
    }

    /// So many notices came; how many of them can be. No more are taken than descriptors are posted.
    #[inline(always)]
    fn notice(&mut self, told: u64) -> u64 {
        let taken = told.min(self.producer.tail().wrapping_sub(self.noticed));
        self.noticed = self.noticed.wrapping_add(taken);
        taken
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

    /// Reads entries until there is none, or one with a frame beyond the first `room`: notices are taken,
    /// frames handed to `each`. The cursors are copies for the length of the burst.
    #[inline(always)]
    fn read(&mut self, m: &mut M, room: usize, mut each: impl FnMut(&mut M, Completion)) -> usize {
        let mut reader = self.reader;
        let first = self.ax.first().map_or(NOBODY, OwnAx::due);
        let mut due = first;
        let (mut taken, mut foreign, mut faults) = (0, 0, 0);
        while let Some(signal) = reader.signal(m) {
            if signal & entry::FRAME != 0 && taken == room {
                break;
            }
            let [raw, meta, origin] = reader.body(m);
            if signal & entry::NOTICE == 0 {
                foreign += 1;
            } else if origin == due {
                due = next(due);
            } else {
                faults += u64::from(!self.further_notice(origin));
            }
            if signal & entry::FRAME == 0 {
                continue;
            }
            match m.check(self.buffers, raw, u32::from(entry::length(signal))) {
                Ok(buf) => {
                    each(m, entry::completion(buf, meta, signal));
                    taken += 1;
                }
                Err(_) => faults += 1,
            }
        }
        self.reader = reader;
        if let Some(ax) = self.ax.first_mut() {
            let told = u64::from((due as u32).wrapping_sub(first as u32));
            faults += told - ax.notice(told);
        }
        self.foreign += foreign;
        self.faults += faults;
        taken
    }

    /// A notice that is not of the first Ax ring; whether it is of another one. Few cores have one.
    #[cold]
    fn further_notice(&mut self, origin: u64) -> bool {
        let ax = self.ax.iter_mut().skip(1).find(|ax| ax.due() == origin);
        ax.is_some_and(|ax| ax.notice(1) == 1)
    }
}

/// No Ax ring has this notice: ring numbers have 16 bits.
const NOBODY: u64 = u64::MAX;

/// The notice behind `origin`: the index has 32 bits.
#[inline(always)]
fn next(origin: u64) -> u64 {
    origin & !u64::from(u32::MAX) | u64::from((origin as u32).wrapping_add(1))
}

impl<M: Memory> Host<M> for HostHalf<M> {
    /// Notices are read even where `out` is full or empty. Their number is bounded by the Ax rings,
    /// since only the end of this call refills them.
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let room = out.len();
        let mut slots = out.iter_mut();
        let taken = self.read(m, room, |_, frame| {
            if let Some(slot) = slots.next() {
                *slot = frame;
            }
        });
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
        self.read(m, usize::MAX, |m, frame| bufs.give(m, &[frame.buf]));
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
