//! The host half of `rxbisect`: one Bx ring, and the Ax rings linked to it (rxbisect §4.2).

use memory::{Buf, Memory};

use crate::completions::Reader;
use crate::empties::{CHUNK, Producer};
use crate::entry::{self, Tells};
use crate::{Buffers, Completion, Host};

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
    /// The next notice of this ring. The NIC consumes in ring order and tells in the same order, which is why a
    /// tail may follow a count (§4.2).
    #[inline(always)]
    fn due(&self) -> u64 {
        entry::notice(self.id, self.noticed)
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

    /// Reads entries until there is none, or one with a frame beyond `out`: notices are taken, frames
    /// stored; how many.
    #[inline(always)]
    fn read(&mut self, m: &mut M, out: &mut [Completion]) -> usize {
        let mut taken = 0;
        loop {
            let (run, next) = self.read_usual(m, &mut out[taken..]);
            taken += run;
            let beyond = next & entry::FRAME != 0 && taken == out.len();
            if beyond || !self.reader.is_fresh(next) {
                return taken;
            }
            taken += self.read_unusual(m, next, &mut out[taken..]);
        }
    }

    /// Reads entries that hold a frame and the notice that is due, which most do, until `out` is full: how many,
    /// and the signal that ends the run. One comparison tells, and tells that the entry is fresh, too: what an
    /// earlier pass left tells of an earlier notice. The cursors are copies for the length of the run.
    #[inline(always)]
    fn read_usual(&mut self, m: &mut M, out: &mut [Completion]) -> (usize, u64) {
        let (mut reader, buffers) = (self.reader, self.buffers);
        let mut due = self.ax.first().map_or(Tells::NEVER, |ax| Tells::both(ax.due()));
        let mut slots = out.iter_mut();
        let next = loop {
            let signal = reader.look(m);
            if Tells::of(signal) != due {
                break signal;
            }
            let Some(slot) = slots.next() else { break signal };
            let [raw, meta] = reader.body(m);
            let Ok(buf) = m.check(buffers, raw, u32::from(entry::length(signal))) else { break signal };
            *slot = entry::completion(buf, meta, signal);
            reader.pass();
            due = due.next();
        };
        let run = self.reader.follow(&reader);
        if let Some(ax) = self.ax.first_mut() {
            self.faults += run - ax.notice(run);
        }
        (run as usize, next)
    }

    /// Reads the next entry, of this signal, whatever it holds; how many frames. There is room for one.
    #[inline(never)]
    fn read_unusual(&mut self, m: &mut M, signal: u64, out: &mut [Completion]) -> usize {
        let [raw, meta] = self.reader.body(m);
        self.reader.pass();
        let notice = entry::notice_in(signal);
        if notice == 0 {
            self.foreign += 1;
        } else {
            let ax = self.ax.iter_mut().find(|ax| ax.due() == notice);
            self.faults += u64::from(ax.is_none_or(|ax| ax.notice(1) == 0));
        }
        if signal & entry::FRAME == 0 {
            return 0;
        }
        let buf = m.check(self.buffers, raw, u32::from(entry::length(signal)));
        let (Ok(buf), Some(slot)) = (buf, out.first_mut()) else {
            self.faults += 1;
            return 0;
        };
        *slot = entry::completion(buf, meta, signal);
        1
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    /// Notices are read even where `out` is full or empty. Their number is bounded by the Ax rings,
    /// since only the end of this call refills them.
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let taken = self.read(m, out);
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
        let mut frames = [Completion { buf: Buf(0), len: 0, rss: 0, kind: 0 }; CHUNK];
        loop {
            let taken = self.read(m, &mut frames);
            if taken == 0 {
                break;
            }
            frames[..taken].iter().for_each(|frame| bufs.give(m, &[frame.buf]));
        }
        self.reader.tell(m);
        for ax in &mut self.ax {
            self.faults += ax.producer.take_back(m, bufs, ax.noticed, self.buffers);
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
