//! The host half of `corec`: one of the threads that receive from a ring.

use memory::{Buf, Memory};

use super::shared::Shared;
use super::{END, MISSING, Marks, Sizes};
use crate::contract::{Buffers, CHUNK, Completion, Host, Spec};
use crate::parts::lock::Locked;

// ## Host half

/// A thread's end of its ring.
pub struct HostHalf<M: Memory> {
    shared: Shared<M>,
    posted: Locked<M>,
    buffers: M::Buffers,
    /// Every batch is marked.
    each: bool,
    /// Buffers in hand: those of a claim that failed serve the next one.
    spare: [Buf; CHUNK],
    /// How many.
    spares: usize,
    /// Counted in `running`.
    runs: bool,
    claims: u64,
    failed: u64,
    deferred: u64,
    debts: u64,
    faults: u64,
}

impl<M: Memory> HostHalf<M> {
    pub(super) fn new(shared: Shared<M>, buffers: M::Buffers, marks: Marks) -> HostHalf<M> {
        HostHalf {
            shared,
            posted: Locked::new(shared.posted),
            buffers,
            each: marks == Marks::Each,
            spare: [Buf(0); CHUNK],
            spares: 0,
            runs: false,
            claims: 0,
            failed: 0,
            deferred: 0,
            debts: 0,
            faults: 0,
        }
    }

    /// Has `n` buffers in hand; how many there are.
    #[inline(always)]
    fn stock<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, n: usize) -> usize {
        if self.spares < n {
            let want = &mut self.spare[self.spares..n];
            self.spares += bufs.take(m, want).min(want.len());
            self.debts += u64::from(self.spares < n);
        }
        self.spares.min(n)
    }

    /// Claims up to `most` frames and the descriptors that hold them: the first, and how many.
    #[inline(always)]
    fn claim<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, most: usize, posted: u64) -> (u64, u64) {
        let Shared { words, next: place, .. } = self.shared;
        let next = m.relaxed(place, 0);
        // Others may have moved on between the two reads.
        let open = posted.wrapping_sub(next);
        if open > words.size {
            return (next, 0);
        }
        let done = words.done(m, next, open.min(most.min(CHUNK) as u64));
        let n = if done == 0 { 0 } else { self.stock(m, bufs, done as usize) as u64 };
        if n == 0 {
            return (next, 0);
        }
        match m.swap_if(place, 0, next, next.wrapping_add(n)) {
            Ok(()) => {
                self.claims += 1;
                (next, n)
            }
            Err(_) => {
                self.failed += 1;
                (next, 0)
            }
        }
    }

    /// Reads descriptors `from..from + n`, which are this thread's, and puts its spares in their place; the
    /// frames.
    #[inline(always)]
    fn read<B: Buffers<M>>(
        &mut self,
        m: &mut M,
        bufs: &mut B,
        (from, n): (u64, u64),
        out: &mut [Completion],
    ) -> usize {
        let words = self.shared.words;
        let mut taken = 0;
        for k in 0..n {
            let i = from.wrapping_add(k);
            match words.frame(m, self.buffers, i) {
                Ok(frame) => {
                    out[taken] = frame;
                    taken += 1;
                }
                Err(buf) => {
                    self.faults += 1;
                    bufs.give(m, &[buf]);
                }
            }
            self.spares -= 1;
            words.replace(m, i, self.spare[self.spares]);
        }
        taken
    }

    /// Descriptors `from..from + n`, which this thread claimed, are read: posts them if they are the next, or
    /// marks them for whoever posts those before them. Whether they are posted.
    #[inline(always)]
    fn finish(&mut self, m: &mut M, (from, n): (u64, u64)) -> bool {
        let size = self.shared.words.size;
        // Descriptors that are posted anew have numbers higher by the size of the ring.
        let anew = from.wrapping_add(size);
        // A hint, the lock orders. If it is true it stays so: nobody posts past what is not read.
        if !self.each
            && self.posted.peek(m) == anew
            && let Some(posted) = self.posted.try_lock(m)
        {
            self.post(m, posted, n);
            return true;
        }
        self.shared.mark(m, from, n);
        self.release(m);
        self.posted.peek(m).wrapping_sub(anew.wrapping_add(n)) < size
    }

    /// Moves TAIL past all that is marked, if there is something, and nobody else is about it.
    // Out of line, as `post`: the loop over a batch is to have the registers.
    #[inline(never)]
    fn release(&mut self, m: &mut M) {
        // A hint, the lock orders.
        let posted = self.posted.peek(m);
        if self.shared.marked(m, posted)
            && let Some(posted) = self.posted.try_lock(m)
        {
            self.post(m, posted, 0);
        }
    }

    /// Posts `n` descriptors from `posted` on, and those behind them that are marked, and frees the lock, which
    /// the caller took at `posted`.
    #[inline(never)]
    fn post(&mut self, m: &mut M, posted: u64, n: u64) {
        let next = posted.wrapping_add(n);
        let more = self.shared.run(m, next);
        self.shared.unmark(m, next, more);
        let end = next.wrapping_add(more);
        if end != posted {
            m.ring(self.shared.words.tail, end); // pairs with the acquire of the NIC half's `refresh`
        }
        self.posted.unlock(m, end); // pairs with the acquire in `rx_burst`
    }

    /// Posts buffers in descriptors that have had none since the ring started, and frees the lock, which the
    /// caller took at `posted`; how many still have none.
    #[cold]
    fn top_up<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, posted: u64) -> usize {
        let mut short = m.relaxed(self.shared.short, 0); // the lock orders it, here and below
        while short & MISSING > 0 {
            let n = self.stock(m, bufs, (short & MISSING).min(CHUNK as u64) as usize) as u64;
            if n == 0 {
                break;
            }
            let from = (short >> END).wrapping_sub(short & MISSING);
            for i in 0..n {
                self.spares -= 1;
                self.shared.words.replace(m, from.wrapping_add(i), self.spare[self.spares]);
            }
            self.shared.mark(m, from, n);
            short -= n;
        }
        m.release(self.shared.short, 0, short);
        self.posted.unlock(m, posted);
        self.release(m);
        (short & MISSING) as usize
    }

    /// The first thread of a ring that stands still: all descriptors lack a buffer.
    fn start(&mut self, m: &mut M) {
        let posted = self.posted.lock(m);
        let size = self.shared.words.size;
        let end = posted.wrapping_add(size) & (size - 1) | size;
        let short = end << END | size;
        m.release(self.shared.short, 0, short); // the lock orders it
        self.posted.unlock(m, posted);
    }

    /// The last thread of a ring that the NIC has left: buffers and marks off, back to where the NIC stands.
    fn clear<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        let Shared { words, next: place, short, .. } = self.shared;
        let posted = self.posted.lock(m);
        let next = m.relaxed(place, 0); // the adds to `running` order it
        let head = next.wrapping_add(words.done(m, next, posted.wrapping_sub(next)));
        let lack = m.relaxed(short, 0); // the lock orders it
        let end = lack >> END;
        words.give_back(m, bufs, end, end + words.size - (lack & MISSING));
        self.shared.unmark(m, 0, words.size);
        m.release(short, 0, 0);
        let claimed = m.swap_if(place, 0, next, head);
        debug_assert_eq!(claimed, Ok(()), "a thread claims in a ring that all have left");
        m.ring(words.tail, head); // pairs with the acquire of the NIC half's `refresh`
        self.posted.unlock(m, head);
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        // Pairs with the release of the lock: descriptors below it are clean of the last round.
        let posted = m.acquire(self.shared.posted, 0) >> 1;
        let claim = self.claim(m, bufs, out.len(), posted);
        if claim.1 > 0 {
            let taken = self.read(m, bufs, claim, out);
            self.deferred += u64::from(!self.finish(m, claim));
            return taken;
        }
        self.release(m);
        if m.relaxed(self.shared.short, 0) & MISSING != 0
            && let Some(posted) = self.posted.try_lock(m)
        {
            self.top_up(m, bufs, posted);
        }
        0
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        if !self.runs {
            self.runs = true;
            // Pairs with the add in `drain`.
            if m.add(self.shared.running, 0, 1) == 0 {
                self.start(m);
            }
        }
        let posted = self.posted.lock(m);
        self.top_up(m, bufs, posted)
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        bufs.give(m, &self.spare[..self.spares]);
        self.spares = 0;
        if !self.runs {
            return;
        }
        self.runs = false;
        // Pairs with itself, and with the add in `fill`.
        if m.add(self.shared.running, 0, 1u64.wrapping_neg()) == 1 {
            self.clear(m, bufs);
        }
    }

    fn waiting(&self, m: &mut M) -> u64 {
        let posted = m.acquire(self.shared.posted, 0) >> 1; // as in `rx_burst`
        let next = m.relaxed(self.shared.next, 0);
        let open = posted.wrapping_sub(next);
        if open > self.shared.words.size { 0 } else { self.shared.words.done(m, next, open) }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        Sizes::ABOUT.counter(i, &[self.claims, self.failed, self.deferred, self.debts, self.faults])
    }
}
