//! The host half of a Tx queue.

use memory::Buf;
use rings::{AnyTxHost, Buffers, Segment, TxHost};

use crate::View;

/// A Tx queue's host half.
pub struct TxQueue {
    m: View,
    host: AnyTxHost<View>,
    size: u32,
}

/// Counts what may be freed: the driver keeps the mbufs of each segment itself, in order.
struct Freed(u32);

impl Buffers<View> for Freed {
    fn take(&mut self, _m: &mut View, _out: &mut [Buf]) -> usize {
        0
    }

    #[inline(always)]
    fn give(&mut self, _m: &mut View, bufs: &[Buf]) {
        self.0 += bufs.len() as u32;
    }
}

impl TxQueue {
    pub(crate) fn new(m: View, host: AnyTxHost<View>, size: u32) -> TxQueue {
        TxQueue { m, host, size }
    }

    /// Posts whole frames; segments taken, and older ones that the NIC core has read.
    #[inline(always)]
    pub(crate) fn burst(&mut self, segments: &[Segment]) -> (usize, u32) {
        let mut freed = Freed(0);
        let n = self.host.tx_burst(&mut self.m, &mut freed, segments);
        (n, freed.0)
    }

    /// Segments that the NIC core has read since it was last asked.
    pub(crate) fn reclaim(&mut self) -> u32 {
        let mut freed = Freed(0);
        self.host.reclaim(&mut self.m, &mut freed);
        freed.0
    }

    /// All segments posted, once the NIC core has stopped the queue.
    pub(crate) fn drain(&mut self) -> u32 {
        let mut freed = Freed(0);
        self.host.drain(&mut self.m, &mut freed);
        freed.0
    }

    /// Segments posted and not yet read.
    pub(crate) fn unread(&mut self) -> u32 {
        self.host.unread(&mut self.m)
    }

    /// Descriptors.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }
}
