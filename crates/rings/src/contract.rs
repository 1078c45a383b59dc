//! What every interface keeps to: the halves of a port, and what passes between them and their callers.
//!
//! An interface is a [`Host`] for each queue and a [`Nic`] for the port. Frames come in as [`Frame`], end as
//! an [`Outcome`] and are received as a [`Completion`]; empty buffers come from [`Buffers`].

mod frame;
mod outcome;
mod param;
mod spec;
mod transmit;

use memory::{Buf, Memory, Ps};

pub use frame::{AHEAD, Frame, Rest, TOGETHER};
pub use outcome::Outcome;
pub(crate) use param::Value;
pub use param::{Choice, Param, Role};
pub use spec::{About, Halves, Parameters, Place, Said, Sends, Spec, Today, TxHalves};
pub use transmit::{TxHost, TxNic, TxSizes, WithTxNic};

/// Buffers that a half takes or gives back in one call.
pub(crate) const CHUNK: usize = 64;

/// A frame as the host receives it. Its layout is C's: a driver's receive call fills an array of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Completion {
    /// The buffer that holds it; the receiver owns it.
    pub buf: Buf,
    /// Bytes, without FCS.
    pub len: u16,
    /// Of no meaning: with it length and mark make one word, which a ring copies from its own by one store.
    pub between: u16,
    /// The mark that the NIC gave the frame; 0 is none.
    pub mark: u32,
    /// RSS hash.
    pub rss: u32,
    /// Packet type, as the NIC's parser set it.
    pub kind: u32,
}

impl Completion {
    /// No frame: what a receive call fills.
    pub const fn none() -> Completion {
        Completion { buf: Buf(0), len: 0, between: 0, mark: 0, rss: 0, kind: 0 }
    }

    /// The frame in `buf` of which the NIC wrote [`Frame::meta`] and [`Frame::size`].
    #[inline(always)]
    pub(crate) fn of(buf: Buf, meta: u64, size: u64) -> Completion {
        let (rss, kind) = (meta as u32, (meta >> 32) as u32);
        let (len, between, mark) = (size as u16, (size >> 16) as u16, (size >> 32) as u32);
        Completion { buf, len, between, mark, rss, kind }
    }
}

/// One segment of a frame to send. A frame is one or more segments, the last one marked. Its layout is
/// C's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// The buffer; the ring owns it until the NIC has read it.
    pub buf: Buf,
    /// First byte.
    pub off: u16,
    /// Bytes.
    pub len: u16,
    /// Whether the frame ends here.
    pub last: bool,
}

/// When a card writes used descriptors back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBack {
    /// So many that lie in a row, together: a power of two up to 8; 1 is each by itself.
    pub together: u32,
    /// What waits for the rest of its row is written back so long after the last time that this happened.
    pub after: Ps,
}

/// Where empty buffers come from and go back to: rxlab's pool, or an array of spares that a driver
/// filled before the call.
pub trait Buffers<M: Memory> {
    /// Takes up to `out.len()` buffers; how many there were.
    fn take(&mut self, m: &mut M, out: &mut [Buf]) -> usize;
    /// Gives buffers back.
    fn give(&mut self, m: &mut M, bufs: &[Buf]);
}

/// A queue's host half.
pub trait Host<M: Memory> {
    /// Receives up to `out.len()` frames and keeps the NIC supplied with empty buffers; how many
    /// frames were received.
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize;
    /// Posts buffers until the rings that this half fills are full (start of day); how many are missing.
    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize;
    /// Takes back every buffer that this queue alone holds, frames that were not received among them,
    /// after the NIC half has stopped, or has stopped this queue. Until [`Nic::start_queue`] and then
    /// [`fill`](Self::fill), the queue is not polled. A second call finds nothing.
    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B);
    /// Frames that are ready to be received, at most as many as the ring has entries: a look that takes
    /// nothing, to be made on the core that polls the queue.
    fn waiting(&self, m: &mut M) -> u64;
    /// The name and value of counter `i` (lock waits, foreign buffers, refill debts ...); `None` beyond
    /// the last. Names and order are the same for all queues of an interface.
    fn counter(&self, i: usize) -> Option<(&'static str, u64)>;
    /// All counters, for reports and xstats.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        (0..).map_while(|i| self.counter(i)).collect()
    }
}

/// A port's NIC half, all its queues.
///
/// Single queues stop and start while the others go on:
///
/// 1. [`stop_queue`](Self::stop_queue)
/// 2. [`Host::drain`] on the queue's core
/// 3. later [`start_queue`](Self::start_queue)
/// 4. [`Host::fill`] on that core
///
/// Each call returns before the next begins, and the caller makes its effects visible to the next. No other
/// queue of the port is drained between a `start_queue` and the end of its `fill`. A queue's number is that
/// of its host half in [`build`](crate::build), so dedicated allocators stop and start alike. A number
/// without a host half is ignored.
pub trait Nic<M: Memory> {
    /// Stores `frames` for `queue`, in order; one outcome each.
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]);
    /// Sends what is due (batched notices); the time of the next deadline.
    fn poll(&mut self, m: &mut M) -> Option<Ps>;
    /// Writes whatever is still held back: the last call, before the host halves drain.
    fn stop(&mut self, _m: &mut M) {}
    /// From now on frames for `queue` end as [`Outcome::QueueStopped`], nothing is written to its core,
    /// and the buffers of its own rings serve nobody. What its core has to be told of is told before.
    fn stop_queue(&mut self, m: &mut M, queue: u16);
    /// `queue`, stopped and drained, receives again as soon as it has buffers.
    fn start_queue(&mut self, m: &mut M, queue: u16);
    /// Whether a sender to `queue` is to slow down though nothing was dropped: the card marks what it receives (ECN).
    fn is_congested(&self, _queue: u16) -> bool {
        false
    }
    /// Where completions go into the descriptors, the card writes them back so. Others write each by itself.
    fn set_write_back(&mut self, _how: WriteBack) {}
    /// The name and value of counter `i`; `None` beyond the last.
    fn counter(&self, _i: usize) -> Option<(&'static str, u64)> {
        None
    }
    /// All counters.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        (0..).map_while(|i| self.counter(i)).collect()
    }
}

/// What is made of a NIC half once it is known whose it is, so that nothing asks again burst by burst.
pub trait WithNic<M: Memory> {
    /// What comes of it.
    type Out;
    /// Takes the half.
    fn with<N: Nic<M> + 'static>(self, nic: N) -> Self::Out;
}

/// A half that is too large to lie among others.
impl<M: Memory, H: Host<M>> Host<M> for Box<H> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        (**self).rx_burst(m, bufs, out)
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        (**self).fill(m, bufs)
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        (**self).drain(m, bufs);
    }

    fn waiting(&self, m: &mut M) -> u64 {
        (**self).waiting(m)
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        (**self).counter(i)
    }
}
