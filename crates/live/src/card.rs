//! The software card's thread: stores the frames of all flows, and ends those that applications send.

use std::sync::Arc;

use memory::{Memory, Ps};
use nic::{Counters, Port};
use rings::{AnyNic, Frame, Nic, Outcome};

use crate::back::Back;
use crate::flows::{CHUNK, Flows};
use crate::shared::Shared;

/// The card and what it has seen.
pub(crate) struct Card<M: Memory> {
    pub(crate) m: M,
    pub(crate) port: Port<AnyNic<M>>,
    /// What came back through the transmit rings.
    pub(crate) back: Back<M>,
    /// The buffers of all rings.
    pub(crate) frames: M::Buffers,
    pub(crate) flows: Flows,
    /// Whether anything should come back.
    pub(crate) returns: bool,
    /// Whether a frame that finds no room is offered again, instead of dropped.
    pub(crate) lossless: bool,
    pub(crate) workers: u32,
    /// Frames numbered so far, each flow's and all.
    pub(crate) sent: Vec<u32>,
    pub(crate) offered: u64,
    /// Of those that were stored, the ones before the clock began.
    pub(crate) loaded: u64,
    /// What became of them; a refusal counts each time.
    pub(crate) fates: Counters,
    /// Calls that stored nothing.
    pub(crate) waits: u64,
    /// From the first frame stored to the last one processed.
    pub(crate) took: Ps,
    pub(crate) shared: Arc<Shared>,
    pub(crate) who: usize,
}

impl<M: Memory> Card<M> {
    /// Stores `packets` frames, waits until they are processed, and stops the card.
    pub(crate) fn run(mut self, packets: u64) -> Card<M> {
        let start = if self.back.client.is_some() { self.load() } else { self.m.now() };
        if self.back.caller.is_some() {
            self.call();
        } else if self.back.client.is_some() {
            self.ask(packets);
        } else {
            self.send(packets);
        }
        // A card that keeps frames hands them out.
        while self.port.nic_mut().poll(&mut self.m).is_some() && !self.shared.aborted() {
            if self.back.take(&mut self.m) == 0 {
                self.m.idle();
            }
        }
        self.shared.end();
        while self.shared.flushed() < self.workers && !self.shared.aborted() {
            if !self.turn() {
                self.m.idle();
            }
            self.shared.report(self.who, self.offered + self.back.ledger.seen);
        }
        while self.back.take(&mut self.m) > 0 {}
        self.took = self.m.now().saturating_sub(start);
        self.port.nic_mut().stop(&mut self.m);
        self.shared.stop();
        self
    }

    /// A turn without new frames: what the card keeps goes on, and what came back is taken; whether there was some.
    pub(crate) fn turn(&mut self) -> bool {
        self.port.nic_mut().poll(&mut self.m);
        self.back.take(&mut self.m) > 0
    }

    /// Stores `packets` frames of flows.
    fn send(&mut self, packets: u64) {
        for turn in 0..u32::MAX {
            for chunk in 0..self.flows.chunks.len() {
                let left = packets - self.offered;
                if left == 0 || self.shared.aborted() {
                    return;
                }
                self.flows.stamp(chunk, turn);
                self.store(chunk, turn, left.min(CHUNK as u64) as usize);
                self.shared.report(self.who, self.offered);
            }
        }
    }

    /// Stores up to `limit` frames of a chunk: all of them where frames may not be lost.
    fn store(&mut self, chunk: usize, turn: u32, limit: usize) {
        let Card { m, port, flows, fates, .. } = self;
        let chunk = &flows.chunks[chunk];
        let count = chunk.flows.len().min(limit);
        let mut frames = [Frame::new(&[], 0, 0, 0); CHUNK];
        for (frame, flow) in frames.iter_mut().zip(&chunk.flows[..count]) {
            *frame = flows.frame(*flow);
            self.sent[*flow as usize] = turn + 1;
        }
        self.offered += count as u64;
        let (mut left, mut stuck) = (count, false);
        loop {
            // While the ring is full, one frame is offered: it tells as much as all of them would.
            let offer = if stuck { 1 } else { left };
            let mut outcomes = [Outcome::Delivered; CHUNK];
            outcomes[offer..].fill(Outcome::RingFull);
            port.receive_burst(m, chunk.queue, &frames[..offer], &mut outcomes[..offer]);
            outcomes[..offer].iter().for_each(|o| fates.count(usize::from(chunk.queue), *o));
            port.nic_mut().poll(m);
            if !self.lossless || self.shared.aborted() {
                break;
            }
            // What was refused moves to the front and is offered again: one frame of a flow at most.
            let before = left;
            left = 0;
            for i in 0..before {
                if outcomes[i] != Outcome::Delivered {
                    frames[left] = frames[i];
                    left += 1;
                }
            }
            if left == 0 {
                break;
            }
            stuck = left == before;
            let moved = self.back.take(m) > 0;
            if stuck && !moved {
                self.waits += 1;
                m.idle();
            }
        }
        self.back.take(m);
    }
}
