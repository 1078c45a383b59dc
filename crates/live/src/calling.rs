//! The software card as the client of a TCP server: it stores the client's segments in place of its own flows.

use memory::Memory;
use nic::{Class, Incoming};
use rings::{Frame, Nic, Outcome};

use crate::card::Card;
use crate::flows::CHUNK;

/// Segments for a queue.
type Line = Vec<(Vec<u8>, Class)>;

impl<M: Memory> Card<M> {
    /// Lets the client ask until all its connections have ended.
    pub(crate) fn call(&mut self) {
        let mut lines: Vec<Line> = (0..self.workers).map(|_| Vec::new()).collect();
        while !self.shared.aborted() {
            let mut moved = self.turn();
            let now = self.m.now();
            let Some(caller) = &mut self.back.caller else { return };
            caller.turn(now);
            if caller.is_done() {
                return;
            }
            let answered = caller.answered();
            while let Some(frame) = caller.send() {
                self.offered += 1;
                // The card admits what its own client makes: IPv4 with a transport header.
                if let Ok(class) = self.port.pipeline().admit(&incoming(&frame))
                    && let Some(line) = lines.get_mut(usize::from(class.queue))
                {
                    line.push((frame, class));
                }
            }
            for (queue, line) in (0..).zip(&mut lines) {
                moved |= !line.is_empty();
                self.store_segments(queue, line);
            }
            self.shared.report(self.who, answered);
            if !moved {
                self.m.idle();
            }
        }
    }

    /// Stores what waits for a queue: all of it where frames may not be lost.
    fn store_segments(&mut self, queue: u16, line: &mut Line) {
        while !line.is_empty() && !self.shared.aborted() {
            let mut frames = [Frame::new(&[], 0, 0, 0); CHUNK];
            let mut outcomes = [Outcome::RingFull; CHUNK];
            for (frame, (bytes, class)) in frames.iter_mut().zip(line.iter()) {
                *frame = class.frame(&incoming(bytes));
            }
            let offered = line.len().min(CHUNK);
            let Card { m, port, fates, .. } = self;
            port.receive_burst(m, queue, &frames[..offered], &mut outcomes[..offered]);
            port.nic_mut().poll(m);
            outcomes[..offered].iter().for_each(|o| fates.count(usize::from(queue), *o));
            let mut outcomes = outcomes.into_iter().take(offered);
            let again = |o: Option<Outcome>| o.is_none_or(|o| self.lossless && o != Outcome::Delivered);
            let before = line.len();
            line.retain(|_| again(outcomes.next()));
            if line.len() == before && self.back.take(&mut self.m) == 0 {
                self.waits += 1;
                self.m.idle();
            }
        }
    }
}

fn incoming(frame: &[u8]) -> Incoming<'_> {
    Incoming::whole(frame, frame.len() as u32)
}
