//! The NIC half of `ceio`: steers each frame to a path, keeps those of the slow one, and drains them.

use std::collections::VecDeque;

use memory::{Memory, Ps};

use super::Sizes;
use super::behind::Behind;
use super::elastic::Elastic;
use super::flows::Flows;
use super::kinds::Kind;
use super::written::Entries;
use crate::contract::{Frame, Nic, Outcome, Rest};
use crate::parts::empties::Consumer;
use crate::parts::entry;

// ## NIC half

/// How soon the card looks again while it keeps frames: what holds them up may be a core that has no buffer.
const AGAIN: Ps = Ps::from_us(1);

/// The NIC's end of all queues of a port.
pub struct NicHalf<M: Memory> {
    rings: Vec<Queue<M>>,
    flows: Flows,
    elastic: Elastic<M>,
    buffers: M::Buffers,
    /// Frames that were kept, and that were kept while the memory was half full.
    kept: u64,
    congested: u64,
}

/// A frame in the card's memory.
struct Kept {
    slot: u32,
    flow: u32,
    meta: u64,
    size: u64,
    /// Entries of the fast ring before it.
    after: u32,
}

pub(super) struct Queue<M: Memory> {
    number: u32,
    consumer: Consumer<M>,
    fast: Entries<M>,
    slow: Entries<M>,
    kept: M::Words<1>,
    asked: M::Words<1>,
    released: M::Words<1>,
    /// Frames in the card's memory, oldest first.
    waiting: VecDeque<Kept>,
    /// Frames that were ever kept, and what `kept` says of it.
    total: u64,
    told: u64,
    /// Of those that wait: how many the core has asked for.
    wanted: u64,
    /// Whether frames are kept faster than they are drained.
    behind: Behind,
    /// A buffer of the host's that was posted once, to see how long a frame may be.
    like: Option<u64>,
    /// Whether the card's cores drain what is kept by themselves: all flows bypass the host's cores (Q2).
    eager: bool,
    stopped: bool,
}

impl<M: Memory> Queue<M> {
    pub(super) fn new(
        consumer: Consumer<M>,
        [fast, slow]: [M::Words<{ entry::WORDS }>; 2],
        [kept, asked, released]: [M::Words<1>; 3],
        sizes: &Sizes,
        number: u32,
    ) -> Queue<M> {
        Queue {
            number,
            consumer,
            fast: Entries::new(fast, sizes.ring),
            slow: Entries::new(slow, sizes.ring),
            kept,
            asked,
            released,
            waiting: VecDeque::new(),
            total: 0,
            told: 0,
            wanted: 0,
            behind: Behind::new(sizes.drain),
            like: None,
            eager: sizes.kind == Kind::Bypass,
            stopped: false,
        }
    }

    /// Reads what the core says: credits that come back, kept frames that it has taken and that it wants.
    #[inline(always)]
    fn hear(&mut self, m: &mut M, flows: &mut Flows) {
        let released = m.acquire(self.released, 0); // pairs with the ring in `HostHalf::release`
        let count = released.wrapping_sub(self.fast.done);
        self.fast.done(count).for_each(|flow| flows.release(flow));
        let asked = m.acquire(self.asked, 0); // pairs with the ring in `HostHalf::tell`
        let taken = (asked as u32).wrapping_sub(self.slow.done as u32);
        self.slow.done(u64::from(taken)).for_each(|flow| flows.take(flow));
        let wanted = ((asked >> 32) as u32).wrapping_sub(self.slow.head as u32);
        self.wanted = if u64::from(wanted) <= 1 << self.slow.shift { u64::from(wanted) } else { 0 };
    }

    /// Delivers a frame by the fast path, if its flow may take that.
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, b: M::Buffers, flows: &mut Flows, frame: &Frame<'_>) -> Result<(), u32> {
        let flow = flows.of(self.number, frame.rss());
        if !flows.admit(flow, frame.mark(), frame.len()) {
            return Err(flow);
        }
        let Ok(buf) = self.consumer.peek(m, b, frame, Outcome::NoBuffer) else {
            flows.release(flow);
            return Err(flow);
        };
        self.like = Some(buf.0);
        let buf = frame.store(m, b, buf);
        self.consumer.advance();
        self.fast.entry(m, buf, frame, 0, flow);
        Ok(())
    }

    /// Whether a frame fits a buffer of the host's.
    fn fits(&mut self, m: &mut M, b: M::Buffers, frame: &Frame<'_>) -> Result<(), Outcome> {
        if self.consumer.ready() > 0 {
            match self.consumer.peek(m, b, frame, Outcome::NoBuffer) {
                Ok(buf) => self.like = Some(buf.0),
                Err(Outcome::BadFrame) => return Err(Outcome::BadFrame),
                Err(_) => {}
            }
        }
        let like = self.like.ok_or(Outcome::NoBuffer)?;
        m.check(b, like, u32::from(frame.len())).map(|_| ()).map_err(|_| Outcome::BadFrame)
    }

    /// Whether a kept frame is to be drained by the card itself, and there is an entry for it that the core has read.
    #[inline(always)]
    fn by_card(&self) -> bool {
        self.eager && !self.waiting.is_empty() && self.slow.unread() >> self.slow.shift == 0
    }

    /// Writes kept frames that the core wants, or that nobody has to want, to the core's buffers.
    fn drain(&mut self, m: &mut M, b: M::Buffers, flows: &mut Flows, elastic: &mut Elastic<M>) {
        while (self.wanted > 0 || self.by_card())
            && let Some(&Kept { slot, flow, meta, size, after }) = self.waiting.front()
        {
            if self.consumer.ready() == 0 {
                self.consumer.refresh(m);
            }
            if self.consumer.ready() == 0 {
                return;
            }
            let head = elastic.read(m, slot, size as u16);
            let frame = Frame { head, rest: Rest::Nothing, flow: 0, meta, size };
            let Ok(buf) = self.consumer.peek(m, b, &frame, Outcome::NoBuffer) else {
                return;
            };
            let buf = frame.store(m, b, buf);
            self.consumer.advance();
            self.slow.entry(m, buf, &frame, after, flow);
            elastic.free(slot);
            flows.drained(flow);
            self.waiting.pop_front();
            self.wanted = self.wanted.saturating_sub(1);
            m.chain();
        }
        if self.waiting.is_empty() {
            self.behind.caught_up(self.total);
        }
    }

    /// Tells the core how many frames were kept.
    #[inline(always)]
    fn tell(&mut self, m: &mut M, congested: bool) {
        let kept = self.total << 1 | u64::from(congested && !self.waiting.is_empty());
        if kept != self.told {
            self.told = kept;
            m.release(self.kept, 0, kept);
        }
    }
}

impl<M: Memory> NicHalf<M> {
    pub(super) fn new(
        rings: Vec<Queue<M>>,
        flows: Flows,
        elastic: Elastic<M>,
        buffers: M::Buffers,
    ) -> NicHalf<M> {
        NicHalf { rings, flows, elastic, buffers, kept: 0, congested: 0 }
    }

    /// Keeps a frame of `queue`, which is there, in the card's memory.
    fn keep(&mut self, m: &mut M, queue: usize, flow: u32, frame: &Frame<'_>) -> Outcome {
        let q = &mut self.rings[queue];
        if let Err(outcome) = q.fits(m, self.buffers, frame) {
            return outcome;
        }
        let Some(slot) = self.elastic.keep(m, frame) else {
            return Outcome::NicMemoryFull;
        };
        let after = q.fast.head as u32;
        q.waiting.push_back(Kept { slot, flow, meta: frame.meta, size: frame.size, after });
        q.total += 1;
        q.behind.kept(q.total, q.waiting.len() as u64);
        self.flows.keep(flow);
        self.kept += 1;
        self.congested += u64::from(self.elastic.is_congested() || self.rings[queue].behind.is_so);
        Outcome::Delivered
    }
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let at = usize::from(queue);
        let Some(q) = self.rings.get_mut(at) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        if q.stopped {
            return out.fill(Outcome::QueueStopped);
        }
        q.hear(m, &mut self.flows);
        if q.consumer.ready() < frames.len() as u64 {
            q.consumer.refresh(m);
        }
        for (frame, outcome) in frames.iter().zip(out) {
            *outcome = match self.rings[at].deliver(m, self.buffers, &mut self.flows, frame) {
                Ok(()) => Outcome::Delivered,
                Err(flow) => self.keep(m, at, flow, frame),
            };
            m.chain();
        }
        let q = &mut self.rings[at];
        if q.by_card() {
            q.drain(m, self.buffers, &mut self.flows, &mut self.elastic);
        }
        let congested = self.is_congested(queue);
        self.rings[at].tell(m, congested);
    }

    fn poll(&mut self, m: &mut M) -> Option<Ps> {
        let now = m.now();
        self.flows.look(now);
        let mut waits = false;
        for q in self.rings.iter_mut().filter(|q| !q.stopped) {
            q.hear(m, &mut self.flows);
            if !q.waiting.is_empty() {
                q.drain(m, self.buffers, &mut self.flows, &mut self.elastic);
                q.tell(m, self.elastic.is_congested() || q.behind.is_so);
                waits |= !q.waiting.is_empty();
            }
        }
        waits.then(|| now + AGAIN)
    }

    fn is_congested(&self, queue: u16) -> bool {
        let behind = self.rings.get(usize::from(queue)).is_some_and(|q| q.behind.is_so);
        behind || self.elastic.is_congested()
    }

    fn stop_queue(&mut self, _m: &mut M, queue: u16) {
        let Some(q) = self.rings.get_mut(usize::from(queue)).filter(|q| !q.stopped) else { return };
        q.stopped = true;
        q.wanted = 0;
        for kept in q.waiting.drain(..) {
            self.elastic.free(kept.slot);
            self.flows.take(kept.flow);
        }
        // Its core drains what was published.
        let (fast, slow) = (q.fast.unread(), q.slow.unread());
        q.fast.done(fast).for_each(|flow| self.flows.release(flow));
        q.slow.done(slow).for_each(|flow| self.flows.take(flow));
    }

    fn start_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.consumer.restart();
            q.stopped = false;
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.rings.iter().map(|q| q.consumer.faults).sum();
        let [used, most] = self.elastic.used().map(u64::from);
        Some(match i {
            0 => ("bad_descriptors", bad()),
            1 => ("kept", self.kept),
            2 => ("kept_congested", self.congested),
            3 => ("nic_memory_slots", used),
            4 => ("nic_memory_most", most),
            5 => ("credits_in_use", self.flows.in_use().into()),
            6 => ("retired", self.flows.retired),
            7 => ("recalled", self.flows.recalled),
            _ => return None,
        })
    }
}
