//! From the wire to the rings: filter, parse, hash, deliver, count.

use rings::{Frame, Nic, Outcome};

use super::{Engine, Far, Taken};
use crate::counters::{OUTCOMES, add};
use crate::lower::{Lower, LowerFrame};
use crate::{BURST, QUEUES, checksums};

/// The RSS value of a frame is a hash.
pub const HASHED: u32 = 1 << 20;

/// A frame on the wire, in one piece or more.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) head: &'a [u8],
    pub(super) more: &'a [&'a [u8]],
    pub(super) len: u32,
}

impl<'a> Incoming<'a> {
    pub(super) fn whole(bytes: &'a [u8]) -> Incoming<'a> {
        Incoming { head: bytes, more: &[], len: bytes.len() as u32 }
    }
}

/// A burst sorted by queue.
struct Sorted<'a> {
    frames: [Frame<'a>; BURST],
    queue: [u16; BURST],
    count: usize,
}

impl Engine {
    /// A burst of the stock; whether any frame found room.
    pub(super) fn receive_stock(&mut self) -> bool {
        let now = self.clock();
        let Far::Stock(mut stock) = core::mem::replace(&mut self.far, Far::Own) else { return false };
        let mut bytes = [&[][..]; BURST];
        let n = stock.take(&mut bytes, &mut self.rx_wire, now);
        let stored = self.receive(bytes[..n].iter().map(|b| Incoming::whole(b)));
        self.far = Far::Stock(stock);
        stored > 0
    }

    /// A burst of the port below; whether there was any frame.
    pub(super) fn receive_lower(&mut self, lower: &Lower) -> bool {
        let mut frames = [LowerFrame::NONE; BURST];
        // SAFETY: `Far::Lower` holds a port only while it is there, and the frames of the last call were
        // given back below.
        let n = unsafe { lower.receive(&mut frames) };
        if n == 0 {
            return false;
        }
        self.receive(frames[..n].iter().map(|f| {
            // SAFETY: the driver filled in the frame, which stays as it is until `rx_done`.
            Incoming::whole(unsafe { core::slice::from_raw_parts(f.data, f.len as usize) })
        }));
        // SAFETY: as above; no frame is looked at any more.
        unsafe { (lower.rx_done)(lower.ctx) };
        true
    }

    /// Frames that a peer has sent.
    pub(super) fn receive_from_peer<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> Taken {
        if self.running {
            self.receive(frames);
            return Taken::All;
        }
        Taken::Down
    }

    /// Takes at most [`BURST`] frames from the wire; how many were delivered.
    pub(super) fn receive<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        let nothing = Frame::new(&[], 0, 0, 0);
        let mut sorted = Sorted { frames: [nothing; BURST], queue: [0; BURST], count: 0 };
        for f in frames.take(BURST) {
            match self.admit(&f) {
                Ok((queue, frame)) => {
                    sorted.frames[sorted.count] = frame;
                    sorted.queue[sorted.count] = queue;
                    sorted.count += 1;
                }
                // Before RSS there is no queue: the first one's counters stand for the port's.
                Err(outcome) => add(&self.counters.rx[0].outcome[outcome as usize], 1),
            }
        }
        self.deliver(&sorted)
    }

    /// Queue and description of a frame.
    #[inline(always)]
    fn admit<'a>(&self, f: &Incoming<'a>) -> Result<(u16, Frame<'a>), Outcome> {
        let Some(rings) = &self.rings else { return Err(Outcome::QueueStopped) };
        if !self.filter.link_up {
            return Err(Outcome::LinkDown);
        }
        if !self.filter.takes(f.head) {
            return Err(Outcome::Filtered);
        }
        // A completion has 16 bits for the length.
        let len = u16::try_from(f.len).map_err(|_| Outcome::BadFrame)?;
        if f.len > rings.max_frame {
            return Err(Outcome::BadFrame);
        }
        let class = nic::classify(&self.rss, f.head, f.len).ok_or(Outcome::BadFrame)?;
        let mut kind = class.kind;
        if class.hashed {
            kind |= HASHED;
        }
        if rings.checksums {
            kind |= match f.more {
                [] => checksums::verify(&class.parsed, f.head),
                more => checksums::verify(&class.parsed, &[&[f.head], more].concat().concat()),
            };
        }
        Ok((class.queue, Frame { head: f.head, more: f.more, len, rss: class.rss, kind }))
    }

    /// Stores a burst, queue by queue, each queue's frames in order.
    fn deliver(&mut self, sorted: &Sorted<'_>) -> usize {
        let Some(rings) = &self.rings else { return 0 };
        if sorted.count == 0 {
            return 0;
        }
        if rings.rx_queues == 1 {
            return self.store(0, &sorted.frames[..sorted.count]);
        }
        let mut stored = 0;
        let mut left: u64 = u64::MAX >> (BURST - sorted.count);
        let nothing = Frame::new(&[], 0, 0, 0);
        let mut run = [nothing; BURST];
        while left != 0 {
            let queue = sorted.queue[left.trailing_zeros() as usize];
            let mut n = 0;
            for i in 0..sorted.count {
                if left >> i & 1 == 1 && sorted.queue[i] == queue {
                    run[n] = sorted.frames[i];
                    n += 1;
                    left &= !(1 << i);
                }
            }
            stored += self.store(queue, &run[..n]);
        }
        stored
    }

    /// Stores frames of one queue and counts what became of them.
    fn store(&mut self, queue: u16, frames: &[Frame<'_>]) -> usize {
        let Some(rings) = &mut self.rings else { return 0 };
        let counters = &self.counters.rx[usize::from(queue).min(QUEUES - 1)];
        let mut outcomes = [Outcome::RingFull; BURST];
        let outcomes = &mut outcomes[..frames.len()];
        rings.nic.deliver(&mut rings.m, queue, frames, outcomes);
        let mut tally = [0_u64; OUTCOMES];
        let mut bytes = 0;
        for (frame, outcome) in frames.iter().zip(outcomes) {
            tally[*outcome as usize] += 1;
            if *outcome == Outcome::Delivered {
                bytes += u64::from(frame.len);
            }
        }
        for (counter, n) in counters.outcome.iter().zip(tally) {
            add(counter, n);
        }
        add(&counters.bytes, bytes);
        tally[Outcome::Delivered as usize] as usize
    }
}

/// Sorting keeps one bit for each frame.
const _: () = assert!(BURST == u64::BITS as usize);
