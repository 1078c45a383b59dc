//! The transmit ring, one for all interfaces.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | core | NIC | 4 descriptors | body, published by `doorbell` |
//! | `doorbell` | core | NIC | a register | ring -> acquire: descriptors below it are whole frames |
//! | `consumed` | NIC | core | its own | release -> acquire: buffers of descriptors below it may be freed |
//!
//! A descriptor is one segment: `[buffer, offset | len << 16 | last << 32]`. The host frees buffers
//! itself, from the descriptors that it wrote, before it posts more (host-side free).
//!
//! **Stop and start.** A stopped queue is not collected. What it had posted by the time it starts again is
//! not sent: the NIC skips it and calls it consumed.

use memory::{Buf, Class, Field, Memory, Ps, Side, Space};

use crate::contract::{Buffers, CHUNK, Segment};
use crate::sizes::{self, SizeError};

// ## Words

const DESCRIPTOR: Field = Field {
    name: "tx.descriptor",
    len: 1,
    width: 2,
    class: Class::Body,
    writer: Side::Host,
    reader: Side::Nic,
};
const DOORBELL: Field = Field {
    name: "tx.doorbell",
    len: 1,
    width: 1,
    class: Class::Doorbell,
    writer: Side::Host,
    reader: Side::Nic,
};
const CONSUMED: Field = Field {
    name: "tx.consumed",
    len: 1,
    width: 1,
    class: Class::Signal,
    writer: Side::Nic,
    reader: Side::Host,
};

const LAST: u64 = 1 << 32;
/// Bytes that a frame takes on the wire beyond its own: FCS, preamble, gap.
const WIRE: u64 = 24;

// ## Sizes

/// Sizes of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors.
    pub ring: u32,
    /// The NIC writes a completion after so many descriptors, and when it has sent all it knows of.
    pub complete_every: u32,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { ring: 1024, complete_every: 32 }
    }
}

impl Sizes {
    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::queue_count(queues)?;
        sizes::ring_size("tx: ring", self.ring)?;
        if self.complete_every == 0 {
            return Err(SizeError::new("tx: complete_every is 0; allowed: at least 1 descriptor"));
        }
        Ok(())
    }
}

/// One port: a host half for each queue, and the NIC half.
pub type Port<M> = (Vec<HostTx<M>>, NicTx<M>);

/// Binds one port.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn build<S: Space>(space: &mut S, sizes: Sizes, queues: u32) -> Result<Port<S::Mem>, SizeError> {
    sizes.validate(queues)?;
    let size = u64::from(sizes.ring);
    let (mut hosts, mut rings) = (Vec::new(), Vec::new());
    for q in 0..queues {
        let descriptor = space.words(&DESCRIPTOR.of(sizes.ring), q)?;
        let doorbell = space.words(&DOORBELL, q)?;
        let consumed = space.words(&CONSUMED, q)?;
        let spare = [Buf(0); CHUNK];
        hosts.push(HostTx { descriptor, doorbell, consumed, size, head: 0, tail: 0, spare });
        rings.push(Queue {
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
        });
    }
    Ok((hosts, NicTx { rings, turn: 0, complete_every: u64::from(sizes.complete_every) }))
}

// ## Host half

/// A core's end of its queue.
pub struct HostTx<M: Memory> {
    descriptor: M::Words<2>,
    doorbell: M::Words<1>,
    consumed: M::Words<1>,
    size: u64,
    /// Oldest descriptor whose buffer is not freed. Ours; lags behind `consumed` until the next burst.
    head: u64,
    /// Next descriptor to post. Ours, always fresh; the doorbell said the same at the end of a burst.
    tail: u64,
    /// Scratch between the ring and the pool.
    spare: [Buf; CHUNK],
}

impl<M: Memory> HostTx<M> {
    /// Frees what was sent, then posts as many whole frames of `segs` as fit and rings the doorbell
    /// once; the segments taken. A frame with more segments than the ring never fits.
    #[inline]
    pub fn tx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, segs: &[Segment]) -> usize {
        self.reclaim(m, bufs);
        let (descriptor, tail) = (self.descriptor, self.tail);
        let room = self.size - u64::from(self.filled());
        let mut next = tail;
        let mut end = tail; // behind the last whole frame
        for seg in segs.iter().take(room as usize) {
            // What lies behind `end` is written but not published: it is written again next time.
            m.write(descriptor, next, pack(seg));
            next = next.wrapping_add(1);
            if seg.last {
                end = next;
            }
        }
        if end != tail {
            self.tail = end;
            m.ring(self.doorbell, end); // pairs with the acquire in `Queue::refresh`
        }
        end.wrapping_sub(tail) as usize
    }

    /// Frees the buffers that the NIC has read; how many.
    #[inline]
    pub fn reclaim<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        if self.head == self.tail {
            return 0;
        }
        let done = self.done(m);
        self.free(m, bufs, done)
    }

    /// Descriptors that the NIC has not told to have read: what it has is free, whether or not we have freed it.
    pub fn unread(&self, m: &mut M) -> u32 {
        self.filled() - self.done(m) as u32
    }

    /// Descriptors that the NIC has read and whose buffers are not freed.
    #[inline(always)]
    fn done(&self, m: &mut M) -> u64 {
        let consumed = m.acquire(self.consumed, 0); // pairs with the release in `Queue::complete`
        let done = consumed.wrapping_sub(self.head);
        // Otherwise not a value that our NIC writes.
        if done <= u64::from(self.filled()) { done } else { 0 }
    }

    /// Takes back every buffer, sent or not, after the NIC half has stopped, or has stopped this queue.
    pub fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        self.free(m, bufs, u64::from(self.filled()));
    }

    /// Descriptors whose buffers the ring holds: at most its size.
    pub fn filled(&self) -> u32 {
        self.tail.wrapping_sub(self.head) as u32
    }

    fn free<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, count: u64) -> usize {
        let mut left = count;
        let mut head = self.head;
        while left > 0 {
            let n = left.min(CHUNK as u64) as usize;
            for slot in &mut self.spare[..n] {
                let [raw, _] = m.read(self.descriptor, head);
                *slot = Buf(raw); // our own word
                head = head.wrapping_add(1);
            }
            bufs.give(m, &self.spare[..n]);
            left -= n as u64;
        }
        self.head = head;
        count as usize
    }
}

#[inline(always)]
fn pack(s: &Segment) -> [u64; 2] {
    let last = if s.last { LAST } else { 0 };
    [s.buf.0, u64::from(s.off) | u64::from(s.len) << 16 | last]
}

#[inline(always)]
fn unpack([raw, what]: [u64; 2]) -> Segment {
    Segment { buf: Buf(raw), off: what as u16, len: (what >> 16) as u16, last: what & LAST != 0 }
}

// ## NIC half

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

struct Queue<M: Memory> {
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
    /// Limits a queue to `bits_per_s` on the wire (frame and 24 B of FCS, preamble and gap), or
    /// lifts the limit.
    pub fn limit(&mut self, queue: u16, bits_per_s: Option<u64>) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.limit = bits_per_s.map(|b| b.max(1));
            q.due = Ps::ZERO;
        }
    }

    /// From now on nothing is collected from `queue`; a frame in hand is [`sent`](Self::sent) as usual. A
    /// queue that is not there is ignored, here and below.
    pub fn stop_queue(&mut self, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.stopped = true;
        }
    }

    /// Collects from `queue` again, from what its core posts next. No frame of it is in hand.
    pub fn start_queue(&mut self, m: &mut M, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.skip(m);
            q.stopped = false;
        }
    }

    /// The next whole frame, round-robin over queues that have one and whose rate allows it: its
    /// segments replace what `out` held. Returns the queue and the number of descriptors, to be
    /// passed to [`sent`](Self::sent) once the payload is read. The segments are as the host wrote
    /// them: [`Memory::check`] comes before any use.
    #[inline(always)]
    pub fn collect(&mut self, m: &mut M, out: &mut Vec<Segment>) -> Option<(u16, usize)> {
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

    /// `descriptors` more of `queue` are read. Writes a completion every `complete_every` of them,
    /// and when the queue has run empty: no later frame might come to complete the last ones, and
    /// their buffers would be stuck in the ring.
    #[inline(always)]
    pub fn sent(&mut self, m: &mut M, queue: u16, descriptors: usize) {
        let Some(q) = self.rings.get_mut(usize::from(queue)) else { return };
        let collected = q.head.wrapping_sub(q.sent);
        q.sent = q.sent.wrapping_add(collected.min(descriptors as u64));
        if q.sent.wrapping_sub(q.told) >= self.complete_every || q.is_empty(m) {
            q.complete(m);
        }
    }

    /// Writes a completion for whatever is [`sent`](Self::sent) and not told of yet: before a host drains that
    /// has to know which buffers are still its own.
    pub fn tell(&mut self, m: &mut M) {
        self.rings.iter_mut().for_each(|q| q.complete(m));
    }

    /// When a queue that waits for its rate may send; `None` if none waits.
    pub fn next_due(&self) -> Option<Ps> {
        self.rings.iter().filter(|q| q.limit.is_some() && !q.stopped && q.head != q.tail).map(|q| q.due).min()
    }
}

impl<M: Memory> Queue<M> {
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
            m.release(self.consumed, 0, self.told); // pairs with the acquire in `HostTx::reclaim`
        }
    }
}
