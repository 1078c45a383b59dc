//! The NIC halves of `ccnic`, over the host's pool.

use std::collections::VecDeque;

use memory::{Buf, Memory, Ps};

use super::descriptor::{Coded, Descriptor};
use super::lane::{Reader, Writer};
use super::shape::{inside, of_layout};
use crate::contract::{Frame, Nic, Outcome, Segment};
use crate::tx;

// ## NIC half

/// The NIC's end of all queues of a port.
pub struct NicHalf<M: Memory> {
    pub(super) rings: Vec<AnyQueue<M>>,
}

type AnyQueue<M> = of_layout!(Queue, M);

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let Some(q) = self.rings.get_mut(usize::from(queue)) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        inside!(q, q => q.deliver(m, frames, out));
    }

    fn poll(&mut self, _m: &mut M) -> Option<Ps> {
        None
    }

    fn stop_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            inside!(q, q => q.stopped = true);
        }
    }

    fn start_queue(&mut self, m: &mut M, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            inside!(q, q => q.start(m));
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.rings.iter().map(|q| inside!(q, q => q.faults)).sum();
        (i == 0).then(|| ("bad_descriptors", bad()))
    }
}

/// Lanes that the NIC delivers by.
pub(super) struct Queue<M: Memory, const W: usize, const N: usize, const D: usize> {
    blank: Reader<M, W, N, D>,
    full: Writer<M, W, N, D>,
    buffers: M::Buffers,
    /// The empty buffer for the next frame.
    empty: Option<Buf>,
    /// Empty buffers that were none.
    faults: u64,
    stopped: bool,
}

impl<M: Memory, const W: usize, const N: usize, const D: usize> Queue<M, W, N, D>
where
    [u64; D]: Coded,
{
    pub(super) fn new(blank: Reader<M, W, N, D>, full: Writer<M, W, N, D>, buffers: M::Buffers) -> Self {
        Queue { blank, full, buffers, empty: None, faults: 0, stopped: false }
    }

    #[inline(always)]
    fn deliver(&mut self, m: &mut M, frames: &[Frame<'_>], out: &mut [Outcome]) {
        if self.stopped {
            return out.fill(Outcome::QueueStopped);
        }
        for (frame, outcome) in frames.iter().zip(out) {
            *outcome = self.store(m, frame);
            m.chain();
        }
        self.full.flush(m);
        self.blank.free_to(m, self.blank.read());
    }

    #[inline(always)]
    fn store(&mut self, m: &mut M, frame: &Frame<'_>) -> Outcome {
        let descriptors = if frame.mark() == 0 { 1 } else { 2 };
        if !self.full.fits(m, descriptors) {
            return Outcome::RingFull;
        }
        let Some(empty) = self.peek(m) else { return Outcome::RingFull };
        if m.check(self.buffers, empty.0, u32::from(frame.len())).is_err() {
            return Outcome::BadFrame;
        }
        let buf = frame.store(m, self.buffers, empty);
        self.empty = None;
        if frame.mark() != 0 {
            let tag = u64::from(frame.mark());
            self.full.put(m, &Descriptor { raw: 0, len: 0, tag, last: false, ahead: true });
        }
        let meta = frame.meta;
        self.full.put(m, &Descriptor { raw: buf.0, len: frame.len(), tag: meta, last: true, ahead: false });
        Outcome::Delivered
    }

    /// The next empty buffer; it stays the next one until a frame is in it.
    #[inline(always)]
    fn peek(&mut self, m: &mut M) -> Option<Buf> {
        while self.empty.is_none() {
            let d = self.blank.next(m)?;
            match m.check(self.buffers, d.raw, 0) {
                Ok(buf) => self.empty = Some(buf),
                Err(_) => self.faults += 1,
            }
        }
        self.empty
    }

    /// Starts anew: what was posted before is the core's again.
    fn start(&mut self, m: &mut M) {
        self.blank.skip(m);
        self.empty = None;
        self.stopped = false;
    }
}

/// The NIC's end of all transmit queues of a port.
pub type NicTx<M> = tx::NicTx<M, TxQueue<M>>;

/// One of them.
pub struct TxQueue<M: Memory>(pub(super) AnyPosted<M>);

type AnyPosted<M> = of_layout!(Posted, M);

impl<M: Memory> tx::Collects<M> for TxQueue<M> {
    #[inline(always)]
    fn is_ready(&mut self, m: &mut M) -> bool {
        inside!(&mut self.0, q => q.gather(m))
    }

    #[inline(always)]
    fn take(&mut self, _m: &mut M, out: &mut Vec<Segment>) {
        inside!(&mut self.0, q => q.take(out));
    }

    #[inline(always)]
    fn sent(&mut self, m: &mut M, descriptors: usize, _every: u64) {
        inside!(&mut self.0, q => q.sent(m, descriptors));
    }

    fn tell(&mut self, m: &mut M) {
        inside!(&mut self.0, q => q.lane.tell(m));
    }

    fn skip(&mut self, m: &mut M) {
        inside!(&mut self.0, q => q.skip(m));
    }

    fn has_more(&self) -> bool {
        inside!(&self.0, q => !q.frame.is_empty())
    }
}

/// The lane that a core sends by.
pub(super) struct Posted<M: Memory, const W: usize, const N: usize, const D: usize> {
    lane: Reader<M, W, N, D>,
    /// The next frame, as far as it is read, and whether to its end.
    frame: Vec<Segment>,
    whole: bool,
    /// The entry of each descriptor that was read and is not sent.
    entries: VecDeque<u64>,
}

impl<M: Memory, const W: usize, const N: usize, const D: usize> Posted<M, W, N, D>
where
    [u64; D]: Coded,
{
    pub(super) fn new(lane: Reader<M, W, N, D>) -> Self {
        Posted { lane, frame: Vec::new(), whole: false, entries: VecDeque::new() }
    }

    /// Reads the next frame as far as it is written; whether that is to its end. A ring that is full of one frame
    /// ends it, even if a faulty host says not.
    #[inline(always)]
    fn gather(&mut self, m: &mut M) -> bool {
        while !self.whole {
            let Some(d) = self.lane.next(m) else {
                self.whole =
                    self.lane.is_spent() && self.entries.len() == self.frame.len() && !self.frame.is_empty();
                return self.whole;
            };
            self.entries.push_back(self.lane.entry());
            self.frame.push(Segment { buf: Buf(d.raw), off: d.tag as u16, len: d.len, last: d.last });
            self.whole = d.last;
        }
        true
    }

    #[inline(always)]
    fn take(&mut self, out: &mut Vec<Segment>) {
        core::mem::swap(&mut self.frame, out);
        self.frame.clear();
        self.whole = false;
    }

    /// So many of the oldest descriptors are sent.
    #[inline(always)]
    fn sent(&mut self, m: &mut M, descriptors: usize) {
        self.entries.drain(..descriptors.min(self.entries.len()));
        // A look at what follows tells whether the last entry is read to its end.
        let all = self.entries.is_empty() && self.lane.is_empty(m);
        let end = self.entries.front().copied().unwrap_or_else(|| self.lane.read());
        self.lane.free_to(m, end);
        if all {
            self.lane.tell(m);
        }
    }

    fn skip(&mut self, m: &mut M) {
        self.lane.skip(m);
        self.frame.clear();
        self.entries.clear();
        self.whole = false;
    }
}
