//! The software card as the client of a key-value store: it stores requests in place of its own flows.

use memory::{Memory, Ps};
use nic::{Class, Incoming};
use rings::{Frame, Nic, Outcome};

use crate::card::Card;
use crate::client::Asking;
use crate::flows::CHUNK;

/// Requests of a queue that are stored together, and frames to make others of.
struct Lines {
    queues: Vec<Vec<Asking>>,
    spare: Vec<Vec<u8>>,
}

impl<M: Memory> Card<M> {
    /// Puts each key once, and waits for the answers; when that was done.
    pub(crate) fn load(&mut self) -> Ps {
        let mut lines = self.lines();
        while let Some(asking) = self.client(|client, frame| client.put(frame), &mut lines) {
            self.line_up(asking, true, &mut lines);
        }
        self.store_all(true, &mut lines);
        while self.waits_for_answers() && !self.shared.aborted() {
            if !self.turn() {
                self.m.idle();
            }
        }
        self.loaded = self.fates.delivered();
        self.m.now()
    }

    /// Stores `packets` requests.
    pub(crate) fn ask(&mut self, packets: u64) {
        let mut lines = self.lines();
        for _ in 0..packets {
            let Some(asking) = self.client(|client, frame| client.next(frame), &mut lines) else { break };
            self.line_up(asking, self.lossless, &mut lines);
            if self.shared.aborted() {
                break;
            }
        }
        self.store_all(self.lossless, &mut lines);
    }

    fn lines(&self) -> Lines {
        Lines { queues: (0..self.workers).map(|_| Vec::new()).collect(), spare: Vec::new() }
    }

    fn client(
        &mut self,
        next: impl FnOnce(&mut crate::client::Client, Vec<u8>) -> Option<Asking>,
        lines: &mut Lines,
    ) -> Option<Asking> {
        next(self.back.client.as_mut()?, lines.spare.pop().unwrap_or_default())
    }

    /// Answers that are lost do not come: only where none can be lost are they waited for.
    fn waits_for_answers(&self) -> bool {
        self.lossless && self.back.client.as_ref().is_some_and(|client| client.waiting() > 0)
    }

    /// Has a request wait for others of its queue, and stores them once they are many.
    fn line_up(&mut self, asking: Asking, lossless: bool, lines: &mut Lines) {
        self.offered += 1;
        let class = self.class(&asking);
        let queue = class.map_or(0, |class| class.queue);
        let Some(line) = lines.queues.get_mut(usize::from(queue)) else { return };
        line.push(asking);
        if line.len() == CHUNK {
            self.store_line(queue, lossless, lines);
            self.shared.report(self.who, self.offered);
        }
    }

    fn class(&self, asking: &Asking) -> Option<Class> {
        self.port.pipeline().admit(&incoming(asking)).ok()
    }

    fn store_all(&mut self, lossless: bool, lines: &mut Lines) {
        for queue in 0..lines.queues.len() as u16 {
            self.store_line(queue, lossless, lines);
        }
    }

    /// Stores what waits for a queue: all of it where frames may not be lost.
    fn store_line(&mut self, queue: u16, lossless: bool, lines: &mut Lines) {
        let mut left = core::mem::take(&mut lines.queues[usize::from(queue)]);
        let mut stuck = false;
        while !left.is_empty() {
            let mut outcomes = [Outcome::RingFull; CHUNK];
            // While the ring is full, one request is offered: it tells as much as all of them would.
            let offered = if stuck && lossless { 1 } else { left.len() };
            self.offer(queue, &left[..offered], &mut outcomes);
            let rest = left.split_off(offered);
            let Some(client) = &mut self.back.client else { return };
            let mut refused = Vec::new();
            for (asking, outcome) in left.into_iter().zip(outcomes) {
                let again = lossless && outcome != Outcome::Delivered && !self.shared.aborted();
                // Where frames may be dropped, one that is offered again has had no fate yet.
                if self.lossless || !again {
                    self.fates.count(usize::from(queue), outcome);
                }
                match outcome {
                    _ if again => refused.push(asking),
                    Outcome::Delivered => lines.spare.push(client.stored(queue, asking)),
                    _ => lines.spare.push(client.dropped(asking)),
                }
            }
            stuck = refused.len() == offered;
            refused.extend(rest);
            left = refused;
            let moved = self.back.take(&mut self.m) > 0;
            if stuck && !moved {
                self.waits += 1;
                self.m.idle();
            }
        }
    }

    /// Offers requests to their queue.
    fn offer(&mut self, queue: u16, asking: &[Asking], outcomes: &mut [Outcome; CHUNK]) {
        let mut frames = [Frame::new(&[], 0, 0, 0); CHUNK];
        for (frame, asking) in frames.iter_mut().zip(asking) {
            let incoming = incoming(asking);
            if let Ok(class) = self.port.pipeline().admit(&incoming) {
                *frame = class.frame(&incoming);
            }
        }
        let offered = asking.len().min(CHUNK);
        let Card { m, port, .. } = self;
        port.receive_burst(m, queue, &frames[..offered], &mut outcomes[..offered]);
        port.nic_mut().poll(m);
    }
}

fn incoming(asking: &Asking) -> Incoming<'_> {
    Incoming::whole(&asking.frame, asking.frame.len() as u32)
}
