//! The receive interfaces, each written once: a host half and a NIC half over [`memory::Memory`].
//!
//! Read [`privring`] first; the other files have the same headings. [`build`] makes one port of any of
//! them; [`tx`] and [`pool`] serve all.

mod completions;
pub mod corec;
pub mod ddring;
pub mod dynamic;
mod empties;
mod entry;
mod frame;
mod interface;
mod lock;
pub mod mock;
pub mod oracle;
pub mod pool;
pub mod privring;
pub mod rxbisect;
pub mod shring;
mod sizes;
pub mod tx;
pub mod world;

use memory::{Buf, Memory, Ps};

pub use frame::{AHEAD, Frame, Rest, TOGETHER};
pub use interface::{AnyHost, AnyNic, Interface, Port, build};
pub use sizes::{MOST_QUEUES, SizeError};

/// The fate of a frame: delivered, or dropped and why. The same name is the CLI's column, the
/// report's row and the driver's xstat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// In a buffer, and its completion published.
    Delivered,
    /// The ring through which this queue learns of frames has no room: its core is behind.
    RingFull,
    /// No empty buffer was posted where this queue may take one.
    NoBuffer,
    /// The card's own buffer overflowed before the host took the frame.
    NicBufferFull,
    /// A credit scheme had none left.
    NoCredit,
    /// It is no Ethernet frame, or longer than a buffer.
    BadFrame,
    /// Its queue is stopped.
    QueueStopped,
    /// The port's address filters do not let it in.
    Filtered,
    /// The port's link is down.
    LinkDown,
}

impl Outcome {
    /// All outcomes, in order.
    pub const ALL: [Outcome; 9] = [
        Outcome::Delivered,
        Outcome::RingFull,
        Outcome::NoBuffer,
        Outcome::NicBufferFull,
        Outcome::NoCredit,
        Outcome::BadFrame,
        Outcome::QueueStopped,
        Outcome::Filtered,
        Outcome::LinkDown,
    ];

    /// The name in every table and counter.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Delivered => "delivered",
            Outcome::RingFull => "ring_full",
            Outcome::NoBuffer => "no_buffer",
            Outcome::NicBufferFull => "nic_buffer_full",
            Outcome::NoCredit => "no_credit",
            Outcome::BadFrame => "bad_frame",
            Outcome::QueueStopped => "queue_stopped",
            Outcome::Filtered => "filtered",
            Outcome::LinkDown => "link_down",
        }
    }
}

/// A frame as the host receives it. Its layout is C's: a driver's receive call fills an array of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Completion {
    /// The buffer that holds it; the receiver owns it.
    pub buf: Buf,
    /// Bytes, without FCS.
    pub len: u16,
    /// RSS hash.
    pub rss: u32,
    /// Packet type and mark, as the NIC's parser set them.
    pub kind: u32,
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
/// Single queues stop and start while the others go on. [`stop_queue`](Self::stop_queue), then
/// [`Host::drain`] on the queue's core; later [`start_queue`](Self::start_queue), then [`Host::fill`] on
/// that core: each call returns before the next begins, and the caller makes one visible to the other.
/// No other queue of the port is drained between a `start_queue` and the end of its `fill`. A number
/// names a host half of [`build`], so dedicated allocators stop and start alike; one that is not there
/// is ignored.
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
    /// The name and value of counter `i`; `None` beyond the last.
    fn counter(&self, _i: usize) -> Option<(&'static str, u64)> {
        None
    }
    /// All counters.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        (0..).map_while(|i| self.counter(i)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn outcomes_have_names_of_their_own_and_stand_in_order() {
        let names: BTreeSet<_> = Outcome::ALL.iter().map(|o| o.name()).collect();
        assert_eq!(names.len(), Outcome::ALL.len());
        assert!(Outcome::ALL.iter().enumerate().all(|(i, o)| *o as usize == i));
    }
}
