//! The NIC halves of a port's rings, between start and reset.

use memory::native::Foreign;
use rings::tx::NicTx;
use rings::{AnyNic, Frame, Nic, Outcome};

use super::burst::Burst;
use crate::View;
use crate::counters::{Counters, add};
use crate::limits::{BURST, QUEUES};

/// The NIC halves of the rings.
pub(crate) struct Rings {
    pub(crate) m: View,
    pub(crate) nic: AnyNic<View>,
    pub(crate) tx: NicTx<View>,
    /// Data of the segments to send: an address and nothing in front of it.
    pub(crate) sent: Foreign,
    pub(crate) rx_queues: u16,
    /// Host halves of an Rx queue: queue `q` has number `q * threads` and those that follow.
    pub(crate) threads: u16,
    /// Bytes before each frame: a tag, or none.
    pub(crate) front: u16,
    /// Whether descriptors name buffers that the port below gets, not bytes to copy.
    pub(crate) passes: bool,
}

impl Rings {
    /// Stops or starts all halves of an Rx queue.
    pub(crate) fn switch_rx(&mut self, queue: u16, on: bool) {
        let first = queue * self.threads;
        for half in first..first + self.threads {
            match on {
                true => self.nic.start_queue(&mut self.m, half),
                false => self.nic.stop_queue(&mut self.m, half),
            }
        }
    }

    /// Stops or starts a Tx queue.
    pub(super) fn switch_tx(&mut self, queue: u16, on: bool) {
        if on {
            self.tx.start_queue(&mut self.m, queue);
        } else {
            self.tx.stop_queue(queue);
            self.tx.tell(&mut self.m);
        }
    }

    /// Sends the notices that are due.
    pub(super) fn poll(&mut self) {
        self.nic.poll(&mut self.m);
    }

    /// Stops all queues: the host halves may drain.
    pub(super) fn stop(&mut self) {
        self.tx.tell(&mut self.m);
        self.nic.stop(&mut self.m);
    }

    /// Stores a burst, queue by queue, each queue's frames in order; how many were delivered.
    pub(super) fn deliver(&mut self, counters: &Counters, burst: &Burst<'_>) -> usize {
        if self.rx_queues == 1 {
            return self.store(counters, 0, burst.frames());
        }
        let mut stored = 0;
        burst.by_queue(|queue, frames| stored += self.store(counters, queue, frames));
        stored
    }

    /// Stores frames of one queue and counts what became of them.
    #[inline(always)]
    fn store(&mut self, counters: &Counters, queue: u16, frames: &[Frame<'_>]) -> usize {
        let counters = &counters.rx[usize::from(queue).min(QUEUES - 1)];
        let mut outcomes = [Outcome::RingFull; BURST];
        let outcomes = &mut outcomes[..frames.len()];
        self.nic.deliver(&mut self.m, queue * self.threads, frames, outcomes);
        let front = self.front;
        let fates = || frames.iter().zip(outcomes.iter());
        let delivered = fates().filter(|(_, o)| **o == Outcome::Delivered);
        let bytes = delivered.clone().map(|(f, _)| u64::from(f.len - front)).sum();
        let stored = delivered.count();
        add(&counters.outcome[Outcome::Delivered as usize], stored as u64);
        add(&counters.bytes, bytes);
        if stored < frames.len() {
            for (_, outcome) in fates().filter(|(_, o)| **o != Outcome::Delivered) {
                add(&counters.outcome[*outcome as usize], 1);
            }
        }
        stored
    }
}
