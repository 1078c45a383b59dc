//! What every interface promises, judged: no loss, no duplicate, order within a queue, payload that
//! belongs to its completion, buffers conserved.
//!
//! Both ends of a queue keep a [`Ledger`] of the frames that they delivered or received. Numbers grow in each
//! of them, so equal ledgers are equal sequences. Where several threads receive from one ring, each of them
//! keeps a ledger, and the sum of theirs must be the NIC's: every frame once, in order for each thread.
//!
//! A ledger is a few words, so 10^9 frames cost no memory, and the two ends may be different threads. Frames
//! carry their number ([`mark`]), so a receiver needs nothing but what it received.

use core::fmt;
use std::collections::VecDeque;

use crate::contract::{Completion, Frame, Outcome};

/// Bytes of a frame that [`mark`] fills: the shortest frame that the oracle can judge.
pub const MARK: usize = 16;

/// The first bytes of frame `n` of `queue`.
pub fn mark(queue: u16, n: u64) -> [u8; MARK] {
    let mut bytes = [0; MARK];
    bytes[..8].copy_from_slice(&n.to_le_bytes());
    bytes[8..].copy_from_slice(&scramble(queue, n).to_le_bytes());
    bytes
}

/// The frame for a mark. What its completion must say follows from the mark.
pub fn frame(mark: &[u8; MARK], len: u16) -> Frame<'_> {
    let (n, code) = words(mark);
    Frame::new(mark, len, code as u32, n as u32).marked(on_card(code))
}

/// The mark that the card gives a frame.
fn on_card(code: u64) -> u32 {
    (code >> 32) as u32
}

fn words(mark: &[u8; MARK]) -> (u64, u64) {
    let mut halves = mark.as_chunks::<8>().0.iter().map(|half| u64::from_le_bytes(*half));
    (halves.next().unwrap_or(0), halves.next().unwrap_or(0))
}

fn scramble(queue: u16, n: u64) -> u64 {
    n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ u64::from(queue) << 40
}

/// Mixes all bits (the finaliser of SplitMix64), so that no other set of numbers has the same sum by chance.
fn hash(n: u64) -> u64 {
    let n = (n ^ n >> 30).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A frame came again, or after a later one of its queue.
    Order {
        /// The frame.
        n: u64,
        /// The last one before it.
        after: u64,
    },
    /// A payload that is not of this queue, was not whole when it was published, or does not belong to
    /// its completion.
    Payload {
        /// What was received.
        got: Completion,
        /// The frame's number according to its payload.
        n: u64,
    },
    /// A queue's ends do not agree.
    Loss {
        /// The queue.
        queue: u16,
        /// Frames delivered.
        delivered: u64,
        /// Frames received.
        received: u64,
    },
    /// Frames that had no outcome, or two.
    Frames {
        /// Frames offered.
        offered: u64,
        /// Outcomes.
        outcomes: u64,
    },
    /// A buffer was handed out while its last frame was still in use.
    Reused {
        /// The buffer's number.
        buf: u64,
    },
    /// Buffers are missing, or there are too many.
    Buffers {
        /// Buffers of the pool.
        made: u64,
        /// Buffers found.
        found: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Violation {}

/// The growing frame numbers that one end of a queue has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    count: u64,
    /// Of a hash of each number: no matter who saw it.
    sum: u64,
    last: Option<u64>,
}

impl Ledger {
    /// Frames noted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Notes frame `n`.
    ///
    /// # Errors
    /// It is not later than the last one.
    pub fn note(&mut self, n: u64) -> Result<(), Violation> {
        if let Some(after) = self.last.replace(n)
            && n <= after
        {
            return Err(Violation::Order { n, after });
        }
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash(n));
        Ok(())
    }

    /// Adds what another thread received from the same ring.
    pub fn merge(&mut self, other: &Ledger) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
        self.last = self.last.max(other.last);
    }

    /// Notes a frame of `queue` that was received with `payload`.
    ///
    /// # Errors
    /// The payload is not what was delivered with this completion, or the frame is out of order.
    pub fn receive(&mut self, queue: u16, got: Completion, payload: &[u8; MARK]) -> Result<(), Violation> {
        let (n, code) = words(payload);
        let of_queue = code == scramble(queue, n) && got.rss == code as u32 && got.mark == on_card(code);
        if !of_queue || got.kind != n as u32 || usize::from(got.len) < MARK {
            return Err(Violation::Payload { got, n });
        }
        self.note(n)
    }
}

/// Frames of a queue that a drain may find delivered and not received: more than the rings of any test.
const UNREAD: usize = 4096;

/// The NIC's side of the books: what it was offered and what became of it.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    queues: Vec<Ledger>,
    /// What each ledger was before its latest frames, oldest first.
    before: Vec<VecDeque<Ledger>>,
    next: Vec<u64>,
    outcomes: [u64; Outcome::ALL.len()],
}

impl Offered {
    /// Nothing offered on `queues`.
    pub fn new(queues: u32) -> Offered {
        let n = queues as usize;
        Offered {
            queues: vec![Ledger::default(); n],
            before: vec![VecDeque::new(); n],
            next: vec![0; n],
            outcomes: Default::default(),
        }
    }

    /// The number of the next frame of `queue`.
    pub fn next(&mut self, queue: u16) -> u64 {
        let next = &mut self.next[usize::from(queue)];
        *next += 1;
        *next - 1
    }

    /// Frame `n` of `queue` ended as `outcome`.
    ///
    /// # Errors
    /// It was delivered out of order.
    pub fn ended(&mut self, queue: u16, n: u64, outcome: Outcome) -> Result<(), Violation> {
        self.outcomes[outcome as usize] += 1;
        if outcome != Outcome::Delivered {
            return Ok(());
        }
        let (ledger, before) = (&mut self.queues[usize::from(queue)], &mut self.before[usize::from(queue)]);
        if before.len() == UNREAD {
            before.pop_front();
        }
        before.push_back(ledger.clone());
        ledger.note(n)
    }

    /// `queue` was stopped and drained: its core had `received` all but the last `unread` frames. Those
    /// are struck from the books.
    ///
    /// # Errors
    /// It had not.
    pub fn cut(&mut self, queue: u16, received: &Ledger, unread: u64) -> Result<(), Violation> {
        let (ledger, before) = (&mut self.queues[usize::from(queue)], &mut self.before[usize::from(queue)]);
        let kept = before.len().wrapping_sub(unread as usize);
        let then = before.get(kept).unwrap_or(ledger);
        if then != received || ledger.count.wrapping_sub(received.count) != unread {
            return Err(Violation::Loss { queue, delivered: ledger.count, received: received.count });
        }
        *ledger = received.clone();
        before.truncate(kept);
        Ok(())
    }

    /// Frames that ended so.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// Frames offered.
    pub fn offered(&self) -> u64 {
        self.next.iter().sum()
    }

    /// Compares with what was received, once all is: each ledger with its queue. Several may share one.
    ///
    /// # Errors
    /// A frame has no outcome, or one was lost, doubled or changed places.
    pub fn judge<'a>(&self, received: impl IntoIterator<Item = (u16, &'a Ledger)>) -> Result<(), Violation> {
        let (offered, outcomes) = (self.offered(), self.outcomes.iter().sum());
        if offered != outcomes {
            return Err(Violation::Frames { offered, outcomes });
        }
        let mut merged = vec![Ledger::default(); self.queues.len()];
        for (queue, ledger) in received {
            // A core without a queue, such as a dedicated allocator, receives nothing.
            if let Some(got) = merged.get_mut(usize::from(queue)) {
                got.merge(ledger);
            }
        }
        for ((queue, delivered), got) in (0..).zip(&self.queues).zip(&merged) {
            if got != delivered {
                return Err(Violation::Loss { queue, delivered: delivered.count, received: got.count });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use memory::Buf;

    use super::*;

    fn completion(queue: u16, n: u64) -> (Completion, [u8; MARK]) {
        let mark = mark(queue, n);
        let f = frame(&mark, 64);
        (
            Completion {
                buf: Buf(0),
                len: f.len(),
                rss: f.rss(),
                kind: f.kind(),
                mark: f.mark(),
                ..Completion::none()
            },
            mark,
        )
    }

    fn books(numbers: &[u64]) -> (Offered, Ledger) {
        let mut offered = Offered::new(1);
        let mut received = Ledger::default();
        for &n in numbers {
            offered.next(0);
            offered.ended(0, n, Outcome::Delivered).unwrap();
            let (got, mark) = completion(0, n);
            received.receive(0, got, &mark).unwrap();
        }
        (offered, received)
    }

    #[test]
    fn equal_books_pass_and_each_kind_of_difference_fails() {
        let (offered, received) = books(&[0, 1, 5, 7]);
        assert_eq!(offered.judge([(0, &received)]), Ok(()));
        for other in [&[0, 1, 5][..], &[0, 1, 6, 7], &[0, 1, 5, 7, 8]] {
            let (_, other) = books(other);
            assert!(matches!(offered.judge([(0, &other)]), Err(Violation::Loss { .. })), "{other:?}");
        }
        assert!(matches!(offered.judge([]), Err(Violation::Loss { received: 0, .. })));
    }

    #[test]
    fn threads_of_one_ring_are_judged_together() {
        let (offered, _) = books(&[0, 1, 5, 7]);
        let judge = |one: &[u64], two: &[u64]| {
            let (one, two) = (books(one).1, books(two).1);
            offered.judge([(0, &one), (0, &two)])
        };
        assert_eq!(judge(&[0, 7], &[1, 5]), Ok(()));
        for (one, two) in
            [(&[0, 7][..], &[1][..]), (&[0, 7], &[1, 7]), (&[0, 6], &[1, 6]), (&[0, 1, 7], &[1, 5])]
        {
            assert!(matches!(judge(one, two), Err(Violation::Loss { .. })), "{one:?} {two:?}");
        }
    }

    #[test]
    fn a_frame_without_outcome_is_found() {
        let (mut offered, received) = books(&[0]);
        offered.next(0);
        assert_eq!(offered.judge([(0, &received)]), Err(Violation::Frames { offered: 2, outcomes: 1 }));
        offered.ended(0, 1, Outcome::RingFull).unwrap();
        assert_eq!(offered.judge([(0, &received)]), Ok(()));
    }

    #[test]
    fn a_drain_may_strike_the_last_frames_and_no_others() {
        let (offered, _) = books(&[0, 1, 5, 7]);
        let cut = |numbers: &[u64], unread| offered.clone().cut(0, &books(numbers).1, unread);
        assert_eq!(cut(&[0, 1, 5, 7], 0), Ok(()));
        assert_eq!(cut(&[0, 1], 2), Ok(()));
        assert_eq!(cut(&[], 4), Ok(()));
        for (numbers, unread) in [(&[0, 1][..], 1), (&[0, 1], 3), (&[0, 5], 2), (&[0, 1, 5, 7], 5)] {
            assert!(cut(numbers, unread).is_err(), "{numbers:?} and {unread} unread");
        }
        let (mut offered, mut received) = (offered.clone(), books(&[0, 1]).1);
        offered.cut(0, &received, 2).unwrap();
        offered.ended(0, 9, Outcome::Delivered).unwrap();
        received.note(9).unwrap();
        assert!(offered.clone().cut(0, &received, 1).is_err());
        assert_eq!(offered.cut(0, &received, 0), Ok(()));
    }

    #[test]
    fn duplicates_and_overtaking_are_found_at_once() {
        let (_, mut received) = books(&[3]);
        assert_eq!(received.note(3), Err(Violation::Order { n: 3, after: 3 }));
        let (_, mut received) = books(&[3]);
        assert_eq!(received.note(2), Err(Violation::Order { n: 2, after: 3 }));
    }

    #[test]
    fn a_strange_payload_is_found() {
        let mut ledger = Ledger::default();
        let (got, good) = completion(1, 9);
        assert!(ledger.clone().receive(1, got, &good).is_ok());
        assert!(ledger.receive(0, got, &good).is_err(), "another queue's");
        assert!(ledger.receive(1, got, &[0; MARK]).is_err(), "not yet written");
        assert!(ledger.receive(1, got, &mark(1, 8)).is_err(), "the frame before");
        let (mut torn, old) = (good, mark(1, 1 << 40 | 9));
        torn[4..8].copy_from_slice(&old[4..8]);
        assert!(ledger.receive(1, got, &torn).is_err(), "half old");
        assert!(ledger.receive(1, Completion { mark: 0, ..got }, &good).is_err(), "its mark is lost");
    }
}
