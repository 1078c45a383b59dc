//! The NIC half of `dynamic`: which ring a queue's frames go to, and what it tells the cores.

use memory::{Memory, Ps};

use super::judge::{COUNTER, Mode};
use super::{MASK, TURN, TURNS};
use crate::contract::{Frame, Nic, Outcome};
use crate::{privring, shring};

// ## NIC half

/// The NIC's end of all queues of a port.
pub struct NicHalf<M: Memory> {
    shared: shring::NicHalf<M>,
    private: privring::NicHalf<M>,
    groups: Vec<Group<M>>,
    queues: Vec<Queue<M>>,
    report: u64,
}

/// The cores that share a ring.
pub(super) struct Group<M: Memory> {
    asked: M::Words<1>,
    /// The last change asked for.
    seen: u64,
}

pub(super) struct Queue<M: Memory> {
    group: usize,
    tally: M::Words<1>,
    taken: M::Words<1>,
    /// The turns of this queue: odd is private.
    turn: u64,
    offered: u64,
    dropped: u64,
    /// Frames offered since the last report.
    unsaid: u64,
    stopped: bool,
}

impl<M: Memory> Group<M> {
    pub(super) fn new(asked: M::Words<1>) -> Group<M> {
        Group { asked, seen: 0 }
    }
}

impl<M: Memory> Queue<M> {
    pub(super) fn new(group: usize, tally: M::Words<1>, taken: M::Words<1>) -> Queue<M> {
        Queue { group, tally, taken, turn: 0, offered: 0, dropped: 0, unsaid: 0, stopped: false }
    }

    /// Takes a turn if another mode is asked for.
    #[inline(always)]
    fn mind(&mut self, m: &mut M, group: &mut Group<M>) {
        let asked = m.relaxed(group.asked, 0);
        // The registers of several cores may be written out of order.
        if asked.wrapping_sub(group.seen) < 1 << 63 {
            group.seen = asked;
        }
        if Mode::after(group.seen) == Mode::after(self.turn) {
            return;
        }
        let taken = m.acquire(self.taken, 0); // pairs with the ring in `HostHalf::take`
        if taken == self.turn {
            self.turn = (self.turn + 1) & TURNS;
            self.tell(m);
        }
    }

    fn tell(&mut self, m: &mut M) {
        self.unsaid = 0;
        let tally = self.turn << TURN | (self.dropped & MASK) << COUNTER | self.offered & MASK;
        m.release(self.tally, 0, tally); // pairs with the acquires in `HostHalf`
    }

    #[inline(always)]
    fn count(&mut self, out: &[Outcome]) {
        let short = out.iter().filter(|o| matches!(o, Outcome::RingFull | Outcome::NoBuffer)).count() as u64;
        let delivered = out.iter().filter(|o| **o == Outcome::Delivered).count() as u64;
        self.offered += delivered + short;
        self.dropped += short;
        self.unsaid += delivered + short;
    }
}

impl<M: Memory> NicHalf<M> {
    pub(super) fn new(
        (shared, private): (shring::NicHalf<M>, privring::NicHalf<M>),
        groups: Vec<Group<M>>,
        queues: Vec<Queue<M>>,
        report: u32,
    ) -> NicHalf<M> {
        NicHalf { shared, private, groups, queues, report: u64::from(report) }
    }
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let Some(q) = self.queues.get_mut(usize::from(queue)) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        if q.stopped {
            return out.fill(Outcome::QueueStopped);
        }
        q.mind(m, &mut self.groups[q.group]);
        match Mode::after(q.turn) {
            Mode::Shared => self.shared.deliver(m, queue, frames, out),
            Mode::Private => self.private.deliver(m, queue, frames, out),
        }
        q.count(out);
        if q.unsaid >= self.report {
            q.tell(m);
        }
    }

    fn poll(&mut self, _m: &mut M) -> Option<Ps> {
        None
    }

    fn stop_queue(&mut self, m: &mut M, queue: u16) {
        self.shared.stop_queue(m, queue);
        self.private.stop_queue(m, queue);
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            q.stopped = true;
        }
    }

    fn start_queue(&mut self, m: &mut M, queue: u16) {
        self.shared.start_queue(m, queue);
        self.private.start_queue(m, queue);
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            q.stopped = false;
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let (name, n) = self.shared.counter(i)?;
        Some((name, n + self.private.counter(i).map_or(0, |(_, n)| n)))
    }
}
