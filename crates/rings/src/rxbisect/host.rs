//! The host half of `rxbisect`: one Bx ring, and the Ax rings linked to it (rxbisect §4.2).

use memory::{Buf, Memory};

use crate::completions::Reader;
use crate::empties::{CHUNK, Producer};
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
    /// stored; how many. The cursors are copies for the length of the burst.
    #[inline(always)]
    fn read(&mut self, m: &mut M, out: &mut [Completion]) -> usize {
        let (mut reader, buffers) = (self.reader, self.buffers);
        let mut notices = Notices::of(self.ax.first());
        let (mut taken, mut foreign, mut faults) = (0, 0, 0);
        while taken < out.len() {
            let signal = reader.look(m);
            // Most entries hold a frame and the notice that is due: one comparison tells. It tells that the
            // entry is fresh, too: what an earlier pass left tells of an earlier notice.
            let usual = entry::tells(signal) == notices.due;
            if !usual && !reader.is_fresh(signal) {
                break;
            }
            let [raw, meta] = reader.body(m);
            if usual {
                notices.next();
            } else {
                match entry::notice_in(signal) {
                    0 => foreign += 1,
                    notice if notices.take(notice) => {}
                    notice => faults += u64::from(!self.further_notice(notice)),
                }
                if signal & entry::FRAME == 0 {
                    continue;
                }
            }
            if let Ok(buf) = m.check(buffers, raw, u32::from(entry::length(signal))) {
                out[taken] = entry::completion(buf, meta, signal);
                taken += 1;
            } else {
                faults += 1;
            }
        }
        while taken == out.len()
            && let Some(signal) = reader.signal(m)
            && signal & entry::FRAME == 0
        {
            reader.body(m);
            let notice = entry::notice_in(signal);
            if !notices.take(notice) {
                faults += u64::from(!self.further_notice(notice));
            }
        }
        self.reader = reader;
        if let Some(ax) = self.ax.first_mut() {
            faults += notices.told() - ax.notice(notices.told());
        }
        self.foreign += foreign;
        self.faults += faults;
        taken
    }

    /// A notice that is not of the first Ax ring; whether it is of another one. Few cores have one.
    #[cold]
    fn further_notice(&mut self, notice: u64) -> bool {
        let ax = self.ax.iter_mut().skip(1).find(|ax| ax.due() == notice);
        ax.is_some_and(|ax| ax.notice(1) == 1)
    }
}

/// The notices of a core's first Ax ring in one burst.
struct Notices {
    first: u64,
    /// The next one, as an entry tells it that holds a frame as well.
    due: u64,
}

impl Notices {
    /// Without a ring, every notice is somebody else's: none has a bit in the place of the length.
    #[inline(always)]
    fn of<M: Memory>(ax: Option<&OwnAx<M>>) -> Notices {
        let first = entry::FRAME | ax.map_or(entry::NO_NOTICE, OwnAx::due);
        Notices { first, due: first }
    }

    /// Takes the one that is due.
    #[inline(always)]
    fn next(&mut self) {
        self.due = self.due.wrapping_add(entry::NEXT);
    }

    /// Takes `notice` if it is due; whether it is.
    #[inline(always)]
    fn take(&mut self, notice: u64) -> bool {
        let due = entry::FRAME | notice == self.due;
        if due {
            self.next();
        }
        due
    }

    /// How many were taken.
    #[inline(always)]
    fn told(&self) -> u64 {
        self.due.wrapping_sub(self.first) / entry::NEXT
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
