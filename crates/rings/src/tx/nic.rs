//! The NIC half of the transmit ring: frames in rotation over queues, each at its rate.

use memory::{Memory, Ps};

use super::unpack;
use crate::contract::{Segment, TxNic};

// ## NIC half

/// Bytes that a frame takes on the wire beyond its own: FCS, preamble, gap.
const WIRE: u64 = 24;

/// Time of `bytes` at `rate` bits per second, in picoseconds.
#[inline]
fn span(bytes: u64, rate: u64) -> u64 {
    const PS: u64 = 8 * 1_000_000_000_000;
    match bytes.checked_mul(PS) {
        Some(scaled) => scaled / rate,
        // From 2.3 MB on, which no real frame has.
        None => u64::try_from(u128::from(bytes) * u128::from(PS) / u128::from(rate)).unwrap_or(u64::MAX),
    }
}

/// The NIC's end of all queues of a port.
pub struct NicTx<M: Memory> {
    rings: Vec<Queue<M>>,
    /// The queue to look at first.
    turn: usize,
    complete_every: u64,
}

pub(super) struct Queue<M: Memory> {
    descriptor: M::Words<2>,
    doorbell: M::Words<1>,
    consumed: M::Words<1>,
    size: u64,
    /// Next descriptor to collect. Ours, always fresh.
    head: u64,
    /// The doorbell as last read: at most as far as the core has posted.
    tail: u64,
    /// Descriptors read to the end; at most `head`.
    sent: u64,
    /// What `consumed` says.
    told: u64,
    /// Bits per second on the wire.
    limit: Option<u64>,
    /// The next frame may not start before.
    due: Ps,
    stopped: bool,
}

impl<M: Memory> NicTx<M> {
    pub(super) fn new(rings: Vec<Queue<M>>, complete_every: u32) -> NicTx<M> {
        NicTx { rings, turn: 0, complete_every: u64::from(complete_every) }
    }
}

impl<M: Memory> TxNic<M> for NicTx<M> {
    fn limit(&mut self, queue: u16, bits_per_s: Option<u64>) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.limit = bits_per_s.map(|b| b.max(1));
            q.due = Ps::ZERO;
        }
    }

    fn stop_queue(&mut self, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.stopped = true;
        }
    }

    fn start_queue(&mut self, m: &mut M, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.skip(m);
            q.stopped = false;
        }
    }

    #[inline(always)]
    fn collect(&mut self, m: &mut M, out: &mut Vec<Segment>) -> Option<(u16, usize)> {
        let count = self.rings.len();
        let mut at = self.turn;
        for _ in 0..count {
            let q = &mut self.rings[at];
            let next = if at + 1 == count { 0 } else { at + 1 };
            if q.ready(m) {
                q.take(m, out);
                m.chain();
                self.turn = next;
                return Some((at as u16, out.len()));
            }
            at = next;
        }
        None
    }

    #[inline(always)]
    fn sent(&mut self, m: &mut M, queue: u16, descriptors: usize) {
        let Some(q) = self.rings.get_mut(usize::from(queue)) else { return };
        let collected = q.head.wrapping_sub(q.sent);
        q.sent = q.sent.wrapping_add(collected.min(descriptors as u64));
        if q.sent.wrapping_sub(q.told) >= self.complete_every || q.is_empty(m) {
            q.complete(m);
        }
    }

    fn tell(&mut self, m: &mut M) {
        self.rings.iter_mut().for_each(|q| q.complete(m));
    }

    fn next_due(&self) -> Option<Ps> {
        self.rings.iter().filter(|q| q.limit.is_some() && !q.stopped && q.head != q.tail).map(|q| q.due).min()
    }
}

impl<M: Memory> Queue<M> {
    pub(super) fn new(
        descriptor: M::Words<2>,
        [doorbell, consumed]: [M::Words<1>; 2],
        size: u64,
    ) -> Queue<M> {
        Queue {
            descriptor,
            doorbell,
            consumed,
            size,
            head: 0,
            tail: 0,
            sent: 0,
            told: 0,
            limit: None,
            due: Ps::ZERO,
            stopped: false,
        }
    }

    /// Reads the doorbell. A value that goes back or beyond the ring is ignored: a core can only stop
    /// its own ring by it.
    #[inline(always)]
    fn refresh(&mut self, m: &mut M) {
        let tail = m.acquire(self.doorbell, 0); // pairs with the host's `ring`
        if tail.wrapping_sub(self.sent) <= self.size && tail.wrapping_sub(self.tail) <= self.size {
            self.tail = tail;
        }
    }

    /// Goes to the end of what is posted, and says so.
    fn skip(&mut self, m: &mut M) {
        self.refresh(m);
        self.head = self.tail;
        self.sent = self.tail;
        self.complete(m);
    }

    #[inline(always)]
    fn ready(&mut self, m: &mut M) -> bool {
        if self.stopped {
            return false;
        }
        if self.head == self.tail {
            self.refresh(m);
        }
        self.head != self.tail && (self.limit.is_none() || self.due <= m.now())
    }

    /// Sent to the last descriptor that the host has posted.
    #[inline(always)]
    fn is_empty(&mut self, m: &mut M) -> bool {
        if self.sent == self.tail {
            self.refresh(m);
        }
        self.sent == self.tail
    }

    /// Reads one frame's descriptors. What is posted ends a frame even if a faulty host says not.
    #[inline(always)]
    fn take(&mut self, m: &mut M, out: &mut Vec<Segment>) {
        out.clear();
        let mut bytes = WIRE;
        while self.head != self.tail {
            let seg = unpack(m.read(self.descriptor, self.head));
            self.head = self.head.wrapping_add(1);
            bytes += u64::from(seg.len);
            out.push(seg);
            if seg.last {
                break;
            }
        }
        if let Some(rate) = self.limit {
            let span = Ps(span(bytes, rate));
            // A frame that was collected late by less than its own time does not delay the next.
            self.due = self.due.max(m.now().saturating_sub(span)) + span;
        }
    }

    #[inline(always)]
    fn complete(&mut self, m: &mut M) {
        if self.told != self.sent {
            self.told = self.sent;
            m.release(self.consumed, 0, self.told); // pairs with the acquire in `HostTx::done`
        }
    }
}
