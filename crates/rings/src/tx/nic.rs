//! The NIC half of the transmit ring: frames in rotation over queues, each at its rate.

use core::marker::PhantomData;

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

/// What a NIC half asks of a queue's descriptors, in whatever way they come.
pub trait Collects<M: Memory> {
    /// Whether there is a whole frame.
    fn is_ready(&mut self, m: &mut M) -> bool;
    /// Reads that frame's descriptors; its segments replace what `out` held.
    fn take(&mut self, m: &mut M, out: &mut Vec<Segment>);
    /// So many of the oldest descriptors are read to the end, payload and all. Tells the core of it after `every`, and
    /// when nothing more is posted.
    fn sent(&mut self, m: &mut M, descriptors: usize, every: u64);
    /// Tells the core of all that is sent.
    fn tell(&mut self, m: &mut M);
    /// Goes to the end of what is posted, and says so.
    fn skip(&mut self, m: &mut M);
    /// Whether a frame was found that is not taken.
    fn has_more(&self) -> bool;
}

/// The NIC's end of all queues of a port.
pub struct NicTx<M: Memory, Q = Queue<M>> {
    seats: Vec<Seat<Q>>,
    /// The queue to look at first.
    turn: usize,
    complete_every: u64,
    memory: PhantomData<fn() -> M>,
}

/// A queue and its rate.
struct Seat<Q> {
    queue: Q,
    /// Bits per second on the wire.
    limit: Option<u64>,
    /// Bytes of the last frame, and its time at that rate: the next one is often as long, and a division takes long.
    last: (u64, Ps),
    /// The next frame may not start before.
    due: Ps,
    stopped: bool,
}

impl<M: Memory, Q: Collects<M>> NicTx<M, Q> {
    pub(crate) fn new(queues: Vec<Q>, complete_every: u32) -> NicTx<M, Q> {
        let seat = |queue| Seat { queue, limit: None, last: (0, Ps::ZERO), due: Ps::ZERO, stopped: false };
        let seats = queues.into_iter().map(seat).collect();
        NicTx { seats, turn: 0, complete_every: u64::from(complete_every), memory: PhantomData }
    }
}

impl<Q> Seat<Q> {
    #[inline(always)]
    fn is_ready<M: Memory>(&mut self, m: &mut M) -> bool
    where
        Q: Collects<M>,
    {
        !self.stopped && self.queue.is_ready(m) && (self.limit.is_none() || self.due <= m.now())
    }

    /// A frame of these segments starts now.
    #[inline(always)]
    fn starts<M: Memory>(&mut self, m: &mut M, segments: &[Segment]) {
        if let Some(rate) = self.limit {
            let bytes = WIRE
                + match segments {
                    // Most frames: a sum over any number is compiled for many.
                    [one] => u64::from(one.len),
                    all => all.iter().map(|s| u64::from(s.len)).sum::<u64>(),
                };
            if self.last.0 != bytes {
                self.last = (bytes, Ps(span(bytes, rate)));
            }
            let span = self.last.1;
            // A frame that was collected late by less than its own time does not delay the next.
            self.due = self.due.max(m.now().saturating_sub(span)) + span;
        }
    }
}

impl<M: Memory, Q: Collects<M>> TxNic<M> for NicTx<M, Q> {
    fn limit(&mut self, queue: u16, bits_per_s: Option<u64>) {
        if let Some(seat) = self.seats.get_mut(usize::from(queue)) {
            seat.limit = bits_per_s.map(|b| b.max(1));
            seat.last = (0, Ps::ZERO);
            seat.due = Ps::ZERO;
        }
    }

    fn stop_queue(&mut self, queue: u16) {
        if let Some(seat) = self.seats.get_mut(usize::from(queue)) {
            seat.stopped = true;
        }
    }

    fn start_queue(&mut self, m: &mut M, queue: u16) {
        if let Some(seat) = self.seats.get_mut(usize::from(queue)) {
            seat.queue.skip(m);
            seat.stopped = false;
        }
    }

    #[inline(always)]
    fn collect(&mut self, m: &mut M, out: &mut Vec<Segment>) -> Option<(u16, usize)> {
        let count = self.seats.len();
        let mut at = self.turn;
        for _ in 0..count {
            let seat = &mut self.seats[at];
            let next = if at + 1 == count { 0 } else { at + 1 };
            if seat.is_ready(m) {
                seat.queue.take(m, out);
                seat.starts(m, out);
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
        if let Some(seat) = self.seats.get_mut(usize::from(queue)) {
            seat.queue.sent(m, descriptors, self.complete_every);
        }
    }

    fn tell(&mut self, m: &mut M) {
        self.seats.iter_mut().for_each(|seat| seat.queue.tell(m));
    }

    fn next_due(&self) -> Option<Ps> {
        let waits = |s: &&Seat<Q>| s.limit.is_some() && !s.stopped && s.queue.has_more();
        self.seats.iter().filter(waits).map(|s| s.due).min()
    }
}

/// The ring's descriptors of a queue.
pub struct Queue<M: Memory> {
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
}

impl<M: Memory> Queue<M> {
    pub(super) fn new(
        descriptor: M::Words<2>,
        [doorbell, consumed]: [M::Words<1>; 2],
        size: u64,
    ) -> Queue<M> {
        Queue { descriptor, doorbell, consumed, size, head: 0, tail: 0, sent: 0, told: 0 }
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

    /// Sent to the last descriptor that the host has posted.
    #[inline(always)]
    fn is_empty(&mut self, m: &mut M) -> bool {
        if self.sent == self.tail {
            self.refresh(m);
        }
        self.sent == self.tail
    }
}

impl<M: Memory> Collects<M> for Queue<M> {
    #[inline(always)]
    fn is_ready(&mut self, m: &mut M) -> bool {
        if self.head == self.tail {
            self.refresh(m);
        }
        self.head != self.tail
    }

    /// What is posted ends a frame even if a faulty host says not.
    #[inline(always)]
    fn take(&mut self, m: &mut M, out: &mut Vec<Segment>) {
        out.clear();
        while self.head != self.tail {
            let seg = unpack(m.read(self.descriptor, self.head));
            self.head = self.head.wrapping_add(1);
            out.push(seg);
            if seg.last {
                break;
            }
        }
    }

    #[inline(always)]
    fn sent(&mut self, m: &mut M, descriptors: usize, every: u64) {
        let collected = self.head.wrapping_sub(self.sent);
        self.sent = self.sent.wrapping_add(collected.min(descriptors as u64));
        if self.sent.wrapping_sub(self.told) >= every || self.is_empty(m) {
            self.tell(m);
        }
    }

    #[inline(always)]
    fn tell(&mut self, m: &mut M) {
        if self.told != self.sent {
            self.told = self.sent;
            m.release(self.consumed, 0, self.told); // pairs with the acquire in `HostTx::done`
        }
    }

    fn skip(&mut self, m: &mut M) {
        self.refresh(m);
        self.head = self.tail;
        self.sent = self.tail;
        self.tell(m);
    }

    #[inline(always)]
    fn has_more(&self) -> bool {
        self.head != self.tail
    }
}
