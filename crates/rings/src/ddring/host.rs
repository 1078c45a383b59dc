//! The host half of `ddring`: one core with a ring of its own, or several under a lock.

use memory::{Buf, Memory};

use super::Sizes;
use super::words::Words;
use crate::contract::{Buffers, CHUNK, Completion, Host, Spec};
use crate::parts::lock::Locked;

// ## Host half

/// Where the ring's cores stand: the next descriptor to read, and how far descriptors are posted.
pub(super) enum Place<M: Memory> {
    /// One core: nobody else needs to know.
    Own { next: u64, posted: u64 },
    /// Several: under a lock.
    Shared { cursor: Locked<M>, posted: M::Words<1>, left: M::Words<1>, cores: u64 },
}

impl<M: Memory> Place<M> {
    /// Takes the lock, if there is one.
    #[inline(always)]
    fn enter(&mut self, m: &mut M) -> (u64, u64) {
        match self {
            Place::Own { next, posted } => (*next, *posted),
            Place::Shared { cursor, posted, .. } => {
                let next = cursor.lock(m);
                (next, m.relaxed(*posted, 0))
            }
        }
    }

    /// Frees it, with the new place.
    #[inline(always)]
    fn leave(&mut self, m: &mut M, now: (u64, u64)) {
        match self {
            Place::Own { next, posted } => (*next, *posted) = now,
            Place::Shared { cursor, posted, .. } => {
                m.release(*posted, 0, now.1); // before the lock's own release, which pairs with `enter`
                cursor.unlock(m, now.0);
            }
        }
    }

    /// A core drains (or, with `-1`, fills again); whether all have drained now.
    fn drained(&self, m: &mut M, by: u64) -> bool {
        match self {
            Place::Own { .. } => by == 1,
            // Pairs with itself: the last one to leave sees what the others did.
            Place::Shared { left, cores, .. } => m.add(*left, 0, by).wrapping_add(by) == *cores,
        }
    }

    fn lock(&self) -> Option<&Locked<M>> {
        match self {
            Place::Own { .. } => None,
            Place::Shared { cursor, .. } => Some(cursor),
        }
    }
}

/// A core's end of its ring.
pub struct HostHalf<M: Memory> {
    words: Words<M>,
    buffers: M::Buffers,
    place: Place<M>,
    /// Has drained, and was not filled since.
    left: bool,
    bulk: bool,
    /// Scratch between the pool and the ring.
    spare: [Buf; CHUNK],
    debts: u64,
    faults: u64,
}

impl<M: Memory> HostHalf<M> {
    pub(super) fn new(words: Words<M>, buffers: M::Buffers, place: Place<M>, bulk: bool) -> HostHalf<M> {
        HostHalf { words, buffers, place, left: false, bulk, spare: [Buf(0); CHUNK], debts: 0, faults: 0 }
    }

    /// Posts a buffer for each descriptor that was read; the new end.
    #[inline(always)]
    fn pay<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, next: u64, posted: u64) -> u64 {
        let mut end = posted;
        let most = if self.bulk { CHUNK } else { 1 };
        loop {
            let owed = next.wrapping_add(self.words.size).wrapping_sub(end);
            let want = owed.min(most as u64) as usize;
            if want == 0 {
                break;
            }
            let got = bufs.take(m, &mut self.spare[..want]).min(want);
            for buf in self.spare.iter().take(got) {
                self.words.replace(m, end, *buf);
                end = end.wrapping_add(1);
            }
            if got < want {
                self.debts += 1;
                break;
            }
        }
        if end != posted {
            m.ring(self.words.tail, end); // pairs with the acquire in `Ring::refresh`
        }
        end
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let (mut next, mut posted) = self.place.enter(m);
        let mut taken = 0;
        while taken < out.len() && next != posted && self.words.done(m, next, 1) == 1 {
            match self.words.frame(m, self.buffers, next) {
                Ok(frame) => {
                    out[taken] = frame;
                    taken += 1;
                }
                Err(buf) => {
                    self.faults += 1;
                    bufs.give(m, &[buf]);
                }
            }
            next = next.wrapping_add(1);
        }
        posted = self.pay(m, bufs, next, posted);
        self.place.leave(m, (next, posted));
        taken
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        if self.left {
            self.left = false;
            self.place.drained(m, 1u64.wrapping_neg());
        }
        let (next, posted) = self.place.enter(m);
        let posted = self.pay(m, bufs, next, posted);
        self.place.leave(m, (next, posted));
        next.wrapping_add(self.words.size).wrapping_sub(posted) as usize
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        if self.left {
            return;
        }
        self.left = true;
        if !self.place.drained(m, 1) {
            return;
        }
        let (next, posted) = self.place.enter(m);
        let head = next.wrapping_add(self.words.done(m, next, posted.wrapping_sub(next)));
        self.words.give_back(m, bufs, next, posted);
        m.ring(self.words.tail, head); // pairs with the acquire in `Ring::refresh`
        self.place.leave(m, (head, head));
    }

    fn waiting(&self, m: &mut M) -> u64 {
        let (next, posted) = match &self.place {
            Place::Own { next, posted } => (*next, *posted),
            Place::Shared { cursor, posted, .. } => (cursor.peek(m), m.relaxed(*posted, 0)),
        };
        let open = posted.wrapping_sub(next); // others may move on between the two reads
        if open > self.words.size { 0 } else { self.words.done(m, next, open) }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let lock = |count: fn(&Locked<M>) -> u64| self.place.lock().map_or(0, count);
        let values = [lock(|lock| lock.taken), lock(|lock| lock.waits), self.debts, self.faults];
        Sizes::ABOUT.counter(i, &values)
    }
}
