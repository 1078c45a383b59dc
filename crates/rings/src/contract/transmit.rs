//! What every way to send keeps to: a [`TxHost`] for each queue, and a [`TxNic`] for the port.

use memory::{Memory, Ps};

use super::{Buffers, Segment};
use crate::sizes::{self, SizeError};

/// Sizes of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxSizes {
    /// Descriptors.
    pub ring: u32,
    /// The NIC writes a completion after so many descriptors, and when it has sent all it knows of.
    pub complete_every: u32,
}

impl Default for TxSizes {
    fn default() -> TxSizes {
        TxSizes { ring: 1024, complete_every: 32 }
    }
}

impl TxSizes {
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

/// A queue's host half.
pub trait TxHost<M: Memory> {
    /// Frees what was sent, then posts as many whole frames of `segs` as fit and tells the NIC
    /// once; the segments taken. A frame with more segments than the ring never fits.
    fn tx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, segs: &[Segment]) -> usize;
    /// Frees the buffers that the NIC has read; how many.
    fn reclaim<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize;
    /// Descriptors that the NIC has not read, as far as it has told. The buffers of the others are free, whether
    /// or not this core has taken them back.
    fn unread(&self, m: &mut M) -> u32;
    /// Takes back every buffer, sent or not, after the NIC half has stopped, or has stopped this queue.
    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B);
    /// Descriptors whose buffers the ring holds: at most its size.
    fn filled(&self) -> u32;
}

/// A port's NIC half, all its queues. A queue that is not there is ignored.
pub trait TxNic<M: Memory> {
    /// Limits a queue to `bits_per_s` on the wire (frame and 24 B of FCS, preamble and gap), or
    /// lifts the limit.
    fn limit(&mut self, queue: u16, bits_per_s: Option<u64>);
    /// From now on nothing is collected from `queue`; a frame in hand is [`sent`](Self::sent) as usual.
    fn stop_queue(&mut self, queue: u16);
    /// Collects from `queue` again, from what its core posts next. No frame of it is in hand.
    fn start_queue(&mut self, m: &mut M, queue: u16);
    /// The next whole frame, round-robin over queues that have one and whose rate allows it: its
    /// segments replace what `out` held. Returns the queue and the number of descriptors, to be
    /// passed to [`sent`](Self::sent) once the payload is read. The segments are as the host wrote
    /// them: [`Memory::check`] comes before any use.
    fn collect(&mut self, m: &mut M, out: &mut Vec<Segment>) -> Option<(u16, usize)>;
    /// `descriptors` more of `queue` are read. Writes completions as the sizes say, and when the queue has run
    /// empty: no later frame might come to complete the last ones, and their buffers would be stuck.
    fn sent(&mut self, m: &mut M, queue: u16, descriptors: usize);
    /// Writes a completion for whatever is [`sent`](Self::sent) and not told of yet: before a host drains that
    /// has to know which buffers are still its own.
    fn tell(&mut self, m: &mut M);
    /// When a queue that waits for its rate may send; `None` if none waits.
    fn next_due(&self) -> Option<Ps>;
}

/// What is made of a NIC half that sends once it is known whose it is, as [`WithNic`](super::WithNic) of one that
/// receives.
pub trait WithTxNic<M: Memory> {
    /// What comes of it.
    type Out;
    /// Takes the half.
    fn with<T: TxNic<M> + 'static>(self, nic: T) -> Self::Out;
}
