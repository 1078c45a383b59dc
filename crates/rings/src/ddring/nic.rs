//! The NIC half of `ddring` and of `corec`. It knows of one consumer for each ring.

use memory::{Memory, Ps};

use super::words::{self, Words};
use crate::contract::{AHEAD, Frame, Nic, Outcome, WriteBack};

// ## NIC half

/// The most descriptors that a card writes back together.
const LINE: usize = 8;

/// The NIC's end of all rings of a port. It knows of one consumer for each.
pub struct NicHalf<M: Memory> {
    rings: Vec<Ring<M>>,
    write_back: WriteBack,
    /// Queues whose frames go into one ring.
    shared_by: usize,
    buffers: M::Buffers,
}

pub(super) struct Ring<M: Memory> {
    words: Words<M>,
    /// Next descriptor to use. Ours, always fresh.
    head: u64,
    /// Descriptors before it are written back; up to `head`, what is to be written into them waits.
    shown: u64,
    held: [[u64; words::WORDS]; LINE],
    /// When descriptors were last written back without the rest of their row.
    flushed: Option<Ps>,
    /// TAIL as last read: at most as far as the host has posted.
    tail: u64,
    /// The queues that are stopped.
    stopped: Vec<bool>,
    faults: u64,
}

impl<M: Memory> Ring<M> {
    pub(super) fn new(words: Words<M>, queues: usize) -> Ring<M> {
        let (held, stopped) = ([[0; words::WORDS]; LINE], vec![false; queues]);
        Ring { words, head: 0, shown: 0, held, flushed: None, tail: 0, stopped, faults: 0 }
    }

    /// Nobody receives from it.
    fn stands(&self) -> bool {
        self.stopped.iter().all(|stopped| *stopped)
    }

    /// Reads TAIL. A value that no consumer can mean is ignored.
    #[inline(always)]
    fn refresh(&mut self, m: &mut M) {
        let tail = m.acquire(self.words.tail, 0); // pairs with the host's `ring`
        let size = self.words.size;
        if tail.wrapping_sub(self.head) <= size && tail.wrapping_sub(self.tail) <= size {
            self.tail = tail;
        }
    }

    #[inline(always)]
    fn store(&mut self, m: &mut M, b: M::Buffers, frame: &Frame<'_>, together: u64) -> Outcome {
        if !frame.is_copied() {
            return Outcome::BadFrame;
        }
        if self.head == self.tail {
            return Outcome::RingFull;
        }
        if self.tail.wrapping_sub(self.head) > 2 * AHEAD {
            m.entry_ahead(self.words.descriptor, self.head.wrapping_add(2 * AHEAD));
            m.put_ahead(b, self.words.descriptor, self.head.wrapping_add(AHEAD));
        }
        let [raw, _] = m.read(self.words.descriptor, self.head);
        let buf = match m.check(b, raw, u32::from(frame.len())) {
            Ok(buf) => buf,
            Err(_) if m.check(b, raw, 0).is_ok() => return Outcome::BadFrame,
            Err(_) => {
                self.faults += 1;
                return Outcome::RingFull;
            }
        };
        frame.store(m, b, buf);
        self.held[self.head as usize % LINE] = words::written_back(frame);
        self.head = self.head.wrapping_add(1);
        if self.head & (together - 1) == 0 {
            self.show(m);
        }
        Outcome::Delivered
    }

    /// Writes back what waits.
    #[inline(always)]
    fn show(&mut self, m: &mut M) {
        while self.shown != self.head {
            // Pairs with the acquire in `Words::done`.
            m.publish(self.words.descriptor, self.shown, self.held[self.shown as usize % LINE]);
            self.shown = self.shown.wrapping_add(1);
        }
    }

    /// Writes back what has waited `after`; when the rest is due.
    fn due(&mut self, m: &mut M, after: Ps) -> Option<Ps> {
        if self.shown == self.head {
            return None;
        }
        let now = m.now();
        let due = self.flushed.map_or(now, |last| last + after);
        if due > now {
            return Some(due);
        }
        self.flushed = Some(now);
        self.show(m);
        None
    }
}

impl<M: Memory> NicHalf<M> {
    pub(super) fn new(rings: Vec<Ring<M>>, shared_by: u32, buffers: M::Buffers) -> NicHalf<M> {
        let write_back = WriteBack { together: 1, after: Ps::ZERO };
        NicHalf { rings, write_back, shared_by: shared_by as usize, buffers }
    }

    /// The ring of `queue`, and its number among that ring's queues.
    fn ring(&mut self, queue: u16) -> Option<(&mut Ring<M>, usize)> {
        let (ring, queue) = (usize::from(queue) / self.shared_by, usize::from(queue) % self.shared_by);
        self.rings.get_mut(ring).filter(|ring| queue < ring.stopped.len()).map(|ring| (ring, queue))
    }
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let (b, together) = (self.buffers, u64::from(self.write_back.together));
        let Some((ring, _)) = self.ring(queue) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        if ring.stands() {
            return out.fill(Outcome::QueueStopped);
        }
        if ring.tail.wrapping_sub(ring.head) < frames.len() as u64 {
            ring.refresh(m);
        }
        for (frame, outcome) in frames.iter().zip(out) {
            *outcome = ring.store(m, b, frame, together);
            m.chain();
        }
    }

    fn poll(&mut self, m: &mut M) -> Option<Ps> {
        let WriteBack { together, after } = self.write_back;
        if together == 1 {
            return None;
        }
        self.rings.iter_mut().filter_map(|ring| ring.due(m, after)).min()
    }

    fn stop(&mut self, m: &mut M) {
        self.rings.iter_mut().for_each(|ring| ring.show(m));
    }

    /// While another queue of its ring runs, that one's core receives the frames of this queue.
    fn stop_queue(&mut self, m: &mut M, queue: u16) {
        if let Some((ring, queue)) = self.ring(queue) {
            ring.stopped[queue] = true;
            ring.show(m);
        }
    }

    fn start_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some((ring, queue)) = self.ring(queue) {
            if ring.stands() {
                ring.tail = ring.head; // the host has gone back to there
            }
            ring.stopped[queue] = false;
        }
    }

    /// A row is no longer than the smallest ring or 8, and at least 1.
    fn set_write_back(&mut self, how: WriteBack) {
        let ring = self.rings.iter().map(|ring| ring.words.size).min().unwrap_or(1);
        let most = ring.min(LINE as u64) as u32;
        let together = how.together.clamp(1, most);
        // Rings are powers of two.
        self.write_back = WriteBack { together: 1 << together.ilog2(), ..how };
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.rings.iter().map(|ring| ring.faults).sum();
        (i == 0).then(|| ("bad_descriptors", bad()))
    }
}
