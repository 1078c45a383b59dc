//! The host half of `rxbisect`: one Bx ring, and the Ax rings linked to it (rxbisect §4.2).

use memory::Memory;

use super::Sizes;
use crate::contract::{Buffers, CHUNK, Completion, Host, Spec};
use crate::parts::completions::Reader;
use crate::parts::empties::Producer;
use crate::parts::entry::{self, Tells};

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
        loop {
            let (run, signal) = read_usual(m, &mut reader, buffers, notices.due(), &mut out[taken..]);
            taken += run as usize;
            notices.told += run;
            let frame = signal & entry::FRAME != 0;
            if !reader.is_fresh(signal) || frame && taken == out.len() {
                break;
            }
            let [raw, meta, size] = reader.body(m);
            reader.pass();
            match entry::notice_in(signal) {
                0 => foreign += 1,
                notice if notice == notices.next() => notices.told += 1,
                notice => faults += u64::from(!self.further_notice(notice)),
            }
            if !frame {
                continue;
            }
            if let Ok(buf) = m.check(buffers, raw, u32::from(size as u16)) {
                out[taken] = Completion::of(buf, meta, size);
                taken += 1;
            } else {
                faults += 1;
            }
        }
        self.reader.follow(&reader);
        let believed = self.ax.first_mut().map_or(0, |ax| ax.notice(notices.told));
        self.faults += faults + (notices.told - believed);
        self.foreign += foreign;
        taken
    }

    /// A notice that is not of the first Ax ring; whether it is of another one. Few cores have one.
    #[cold]
    fn further_notice(&mut self, notice: u64) -> bool {
        let ax = self.ax.iter_mut().skip(1).find(|ax| ax.due() == notice);
        ax.is_some_and(|ax| ax.notice(1) == 1)
    }
}

/// Reads entries that hold a frame and the notice that is due, which most do, until `out` is full: how many, and
/// the signal that ends the run. One comparison finds such an entry. It finds no stale one: what an earlier pass
/// left tells of an earlier notice.
#[inline(always)]
fn read_usual<M: Memory>(
    m: &mut M,
    reader: &mut Reader<M>,
    buffers: M::Buffers,
    mut due: Tells,
    out: &mut [Completion],
) -> (u64, u64) {
    let (mut slots, mut ahead) = (out.iter_mut(), *reader);
    let signal = loop {
        let signal = ahead.look(m);
        if Tells::of(signal) != due {
            break signal;
        }
        let Some(slot) = slots.next() else { break signal };
        let [raw, meta, size] = ahead.body(m);
        let Ok(buf) = m.check(buffers, raw, u32::from(size as u16)) else { break signal };
        *slot = Completion::of(buf, meta, size);
        ahead.pass();
        due = due.next();
    };
    (reader.follow(&ahead), signal)
}

/// The notices of a core's first Ax ring in one burst.
struct Notices {
    first: u64,
    /// How many came.
    told: u64,
}

impl Notices {
    /// Without a ring, every notice is somebody else's.
    #[inline(always)]
    fn of<M: Memory>(ax: Option<&OwnAx<M>>) -> Notices {
        Notices { first: ax.map_or(entry::NO_NOTICE, OwnAx::due), told: 0 }
    }

    /// The next one.
    #[inline(always)]
    fn next(&self) -> u64 {
        entry::later(self.first, self.told)
    }

    /// What an entry tells of that holds a frame as well.
    #[inline(always)]
    fn due(&self) -> Tells {
        Tells::both(self.next())
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
        let mut frames = [Completion::none(); CHUNK];
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
        Sizes::ABOUT.counter(i, &[self.foreign, debts, self.faults])
    }
}
