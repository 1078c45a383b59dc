//! The host half of the transmit ring.

use memory::{Buf, Memory};

use super::pack;
use crate::contract::{Buffers, CHUNK, Segment, TxHost};

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
    pub(super) fn new(
        descriptor: M::Words<2>,
        [doorbell, consumed]: [M::Words<1>; 2],
        size: u64,
    ) -> HostTx<M> {
        HostTx { descriptor, doorbell, consumed, size, head: 0, tail: 0, spare: [Buf(0); CHUNK] }
    }

    /// Descriptors that the NIC has read and whose buffers are not freed.
    #[inline(always)]
    fn done(&self, m: &mut M) -> u64 {
        let consumed = m.acquire(self.consumed, 0); // pairs with the release in `Queue::tell`
        let done = consumed.wrapping_sub(self.head);
        // Otherwise not a value that our NIC writes.
        if done <= u64::from(self.filled()) { done } else { 0 }
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

impl<M: Memory> TxHost<M> for HostTx<M> {
    #[inline]
    fn tx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, segs: &[Segment]) -> usize {
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

    #[inline]
    fn reclaim<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        if self.head == self.tail {
            return 0;
        }
        let done = self.done(m);
        self.free(m, bufs, done)
    }

    fn unread(&self, m: &mut M) -> u32 {
        self.filled() - self.done(m) as u32
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        self.free(m, bufs, u64::from(self.filled()));
    }

    fn filled(&self) -> u32 {
        self.tail.wrapping_sub(self.head) as u32
    }
}
