//! The NIC half of `shring`.

use memory::{Memory, Ps};

use crate::contract::{Frame, Nic, Outcome};
use crate::parts::completions::Writer;
use crate::parts::empties::{Consumer, NO_GROUP};

// ## NIC half

/// The NIC's end of all queues of a port.
pub struct NicHalf<M: Memory> {
    rings: Vec<Consumer<M>>,
    queues: Vec<Queue<M>>,
    buffers: M::Buffers,
}

pub(super) struct Queue<M: Memory> {
    ring: usize,
    writer: Writer<M>,
    stopped: bool,
}

impl<M: Memory> Queue<M> {
    pub(super) fn new(ring: usize, writer: Writer<M>) -> Queue<M> {
        Queue { ring, writer, stopped: false }
    }
}

impl<M: Memory> NicHalf<M> {
    pub(super) fn new(rings: Vec<Consumer<M>>, queues: Vec<Queue<M>>, buffers: M::Buffers) -> NicHalf<M> {
        NicHalf { rings, queues, buffers }
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
        let ring = &mut self.rings[q.ring];
        if ring.ready() < frames.len() as u64 {
            ring.refresh(m);
        }
        if q.writer.room() < frames.len() as u64 {
            q.writer.refresh(m);
        }
        let (mut at, end) = (0, frames.len().min(out.len()));
        let mut group = NO_GROUP;
        while at < end {
            let room = q.writer.room().min((end - at) as u64) as usize;
            if room == 0 {
                return out[at..end].fill(Outcome::RingFull);
            }
            let stored = ring.store(m, self.buffers, &frames[at..at + room], Outcome::NoBuffer, &mut group);
            for (_, buf) in stored.each(&group) {
                q.writer.frame(m, buf, &frames[at], 0);
                out[at] = Outcome::Delivered;
                at += 1;
                m.chain();
            }
            if let Some(outcome) = stored.refused {
                out[at] = outcome;
                at += 1;
                m.chain();
            }
        }
    }

    fn poll(&mut self, _m: &mut M) -> Option<Ps> {
        None
    }

    fn stop_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            q.stopped = true;
        }
    }

    fn start_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            // Where others run on this ring, its doorbell is merely read again.
            self.rings[q.ring].restart();
            q.stopped = false;
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.rings.iter().map(|r| r.faults).sum();
        (i == 0).then(|| ("bad_descriptors", bad()))
    }
}
