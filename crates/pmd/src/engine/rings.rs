//! The NIC halves of a port's rings, between start and reset.

use memory::Ps;
use memory::native::Foreign;
use rings::{AnyNic, AnyTxNic, Frame, Nic, Outcome, TxNic};

use super::burst::Burst;
use super::levels::Levels;
use crate::View;
use crate::counters::{Counters, RxCounters, add};
use crate::halves::RxHalves;
use crate::limits::{BURST, QUEUES};

/// The NIC halves of the rings.
pub(crate) struct Rings {
    pub(crate) m: View,
    pub(crate) nic: AnyNic<View>,
    pub(crate) tx: AnyTxNic<View>,
    /// Data of the segments to send: an address and nothing in front of it.
    pub(crate) sent: Foreign,
    pub(crate) halves: RxHalves,
    pub(crate) levels: Levels,
    /// Bytes before each frame: a tag, or none.
    pub(crate) front: u16,
    /// Whether descriptors name buffers that the port below gets, not bytes to copy.
    pub(crate) passes: bool,
    /// Bytes of frame that a buffer holds, where a longer frame lies in several.
    pub(crate) scatter: Option<usize>,
}

impl Rings {
    /// Segments to send are addresses of their first byte.
    pub(crate) fn sent() -> Foreign {
        // SAFETY: a segment's length, which `check` gets, is what the driver read from the mbuf; nothing is
        // written through it.
        unsafe { Foreign::new(0, u32::MAX) }
    }

    /// Stops or starts all halves of an Rx queue.
    pub(crate) fn switch_rx(&mut self, queue: u16, on: bool) {
        for half in self.halves.of(queue) {
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

    /// Sends the notices that are due; when those that are held back will be.
    #[inline(always)]
    pub(super) fn poll(&mut self, counters: &Counters) -> Option<Ps> {
        let due = self.nic.poll(&mut self.m);
        self.levels.look(&self.nic, counters);
        due
    }

    /// Stops all queues: the host halves may drain.
    pub(super) fn stop(&mut self, counters: &Counters) {
        self.tx.tell(&mut self.m);
        self.nic.stop(&mut self.m);
        self.levels.tell(&self.nic, counters);
    }

    /// Stores a burst, queue by queue, each queue's frames in order; how many were delivered.
    pub(super) fn deliver(&mut self, counters: &Counters, burst: &Burst<'_>) -> usize {
        if self.halves.queues() == 1 {
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
        self.nic.deliver(&mut self.m, self.halves.first(queue), frames, outcomes);
        let front = self.front;
        let fates = || frames.iter().zip(outcomes.iter());
        let delivered = fates().filter(|(_, o)| **o == Outcome::Delivered);
        let bytes = delivered.clone().map(|(f, _)| u64::from(f.len() - front)).sum();
        let stored = delivered.count();
        count_delivered(counters, stored, bytes);
        if stored < frames.len() {
            for (_, outcome) in fates().filter(|(_, o)| **o != Outcome::Delivered) {
                add(&counters.outcome[*outcome as usize], 1);
            }
        }
        stored
    }

    /// Stores the pieces of one frame of `len` bytes, each in a buffer, up to the first that finds none, and counts what
    /// became of the frame; whether it was delivered. A queue thus gets all pieces of a frame, or the first of them and then
    /// another frame's first: its core knows by that which frames are whole.
    pub(super) fn store_pieces<'a>(
        &mut self,
        counters: &Counters,
        queue: u16,
        len: u32,
        pieces: impl Iterator<Item = Frame<'a>>,
    ) -> bool {
        let counters = &counters.rx[usize::from(queue).min(QUEUES - 1)];
        for piece in pieces {
            let mut outcome = [Outcome::RingFull];
            self.nic.deliver(&mut self.m, self.halves.first(queue), &[piece], &mut outcome);
            if outcome[0] != Outcome::Delivered {
                add(&counters.outcome[outcome[0] as usize], 1);
                return false;
            }
        }
        count_delivered(counters, 1, len.into());
        true
    }
}

#[inline(always)]
fn count_delivered(counters: &RxCounters, frames: usize, bytes: u64) {
    add(&counters.outcome[Outcome::Delivered as usize], frames as u64);
    add(&counters.bytes, bytes);
}
