//! `corec`: one ring, many threads, no lock (corec §3). Threads look for done descriptors, claim a batch of
//! them by one compare-and-swap, read it side by side, and hand descriptors back to the NIC in order, whoever
//! has a contiguous run of them.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor`, `tail`, `buffer` | | | | those of `ddring`; to another thread: published by `posted` |
//! | `next` | its threads | its threads | its own | the next descriptor to claim: swap; orders nothing |
//! | `read_done` | its threads | its threads | 512 descriptors | a bit for each: or -> clear: it is read and holds an empty buffer |
//! | `posted` | its threads | its threads | its own | `posted << 1 \| locked`: swap -> release of the lock; release -> acquire: descriptors below it were empty when the NIC got them |
//! | `short` | its threads | its threads | its own | `end << 32 \| missing`: read and written under the lock of `posted`, looked at in passing |
//! | `running` | its threads | its threads | its own | add -> add: the last thread to leave sees what all did |
//!
//! **Claims.** Descriptors are numbered without end (the transaction ID of §3.4.3), so a claim that was
//! prepared a whole round ago fails. A scan ends at `posted`: beyond it a done bit is left over from the round
//! before, and its reader may still be at work. A thread has the buffers in hand before it claims, as many as
//! it found frames; it never claims nothing.
//!
//! **Release.** Who has read the batch that is to be posted next tries the lock of `posted` at once: nobody can
//! post past that batch, so it needs no bits ([`Marks::Each`] sets them all the same, as published). Who has read a later one, or finds the lock taken, sets its bits
//! in `read_done`, a word at a time, then tries the lock if the gap before them has closed. The lock's holder
//! counts the bits that follow, clears them, moves TAIL, and frees the lock: in this order, since a descriptor
//! may come round as soon as TAIL has moved. Who finds the lock taken, or a gap, goes on with its frames: some
//! later poll, of any thread, releases. So the NIC sees one consumer (§3.4.2), and a thread that sleeps on a
//! claim stops the others only after a round (§3.4.4).
//!
//! **Off and on.** A thread that stops polling is not missed; the spares that it keeps from a failed claim come
//! back when it drains. The last one that drains takes back all buffers, and the ring back to where the NIC
//! stands. The first one that fills posts a buffer in each descriptor; what the pool could not give is
//! posted by whoever polls in vain. That happens before a round is over, however many frames come: descriptors are
//! posted in order, so none goes round past one that lacks a buffer, and when the NIC has used those before it, every
//! poll is in vain. A burst that receives need not look.
//!
//! **Outcomes.** Those of `ddring`, whose NIC half this is.

use memory::{Buf, Class, Field, Memory, Side, Space};

use crate::contract::{Buffers, CHUNK, Completion, Host};
use crate::ddring::{self, NicHalf, Words};
use crate::parts::lock::{self, Locked};
use crate::sizes::SizeError;

// ## Words

const NEXT: Field = lock::field("corec.next");
const READ_DONE: Field = Field {
    name: "corec.read_done",
    len: 1,
    width: 1,
    class: Class::Contended,
    writer: Side::Host,
    reader: Side::Host,
};
const POSTED: Field = lock::field("corec.posted");
const SHORT: Field = lock::field("corec.short");
const RUNNING: Field = lock::field("corec.running");

/// Descriptors of one word of `read_done`.
const BITS: u64 = 64;
/// `short` holds, from this bit on, the descriptor after the last one that lacks a buffer; below it, how many
/// lack one.
const END: u32 = 32;
const MISSING: u64 = (1 << END) - 1;

// ## Sizes

/// Which batches set their bits in `read_done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// All, as published (§3.4.1).
    Each,
    /// Those that wait for others.
    Waiting,
}

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a ring.
    pub ring: u32,
    /// Threads that share a ring; the last ring may have fewer.
    pub shared_by: u32,
    /// Batches that are marked.
    pub marks: Marks,
}

impl Default for Sizes {
    /// A ring of the usual size, and four threads, as §4 has them at the most on one NUMA node.
    fn default() -> Sizes {
        Sizes { ring: 1024, shared_by: 4, marks: Marks::Waiting }
    }
}

impl Sizes {
    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        ddring::sharing("corec", self.ring, self.shared_by, queues)
    }

    /// Buffers that the rings of a port can hold posted.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(queues.div_ceil(self.shared_by.max(1)))
    }
}

/// One port: a host half for each thread, and the NIC half of a ring with a single consumer.
pub type Port<M> = (Vec<HostHalf<M>>, NicHalf<M>);

/// Binds one port.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn build<S: Space>(
    space: &mut S,
    sizes: &Sizes,
    queues: u32,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Port<S::Mem>, SizeError> {
    sizes.validate(queues)?;
    let mut hosts = Vec::new();
    let (ring, shared_by) = (sizes.ring, sizes.shared_by);
    let nic = ddring::rings(space, ring, shared_by, queues, buffers, |space, number, words, threads| {
        let shared = Shared {
            words,
            next: space.words(&NEXT, number)?,
            read_done: space.words(&READ_DONE.of(ring.div_ceil(BITS as u32)), number)?,
            posted: space.words(&POSTED, number)?,
            short: space.words(&SHORT, number)?,
            running: space.words(&RUNNING, number)?,
        };
        hosts.extend((0..threads).map(|_| HostHalf::new(shared, buffers, sizes.marks)));
        Ok(())
    })?;
    Ok((hosts, nic))
}

// ## Host half

/// The words that the threads of a ring share.
struct Shared<M: Memory> {
    words: Words<M>,
    next: M::Words<1>,
    read_done: M::Words<1>,
    posted: M::Words<1>,
    short: M::Words<1>,
    running: M::Words<1>,
}

impl<M: Memory> Clone for Shared<M> {
    fn clone(&self) -> Self {
        *self
    }
}

// A derived one would ask for a memory that can be copied.
impl<M: Memory> Copy for Shared<M> {}

impl<M: Memory> Shared<M> {
    /// The word of `read_done` for descriptor `i`, and its bits for `n` descriptors from `i` on, as many as
    /// are in it; how many those are.
    #[inline(always)]
    fn bits(&self, i: u64, n: u64) -> (u64, u64, u64) {
        let slot = i & (self.words.size - 1);
        let from = slot % BITS;
        let n = n.min(BITS.min(self.words.size) - from);
        (slot / BITS, (u64::MAX >> (BITS - n)) << from, n)
    }

    /// Descriptors `from..from + n` are read and hold empty buffers.
    #[inline(always)]
    fn mark(&self, m: &mut M, mut from: u64, mut n: u64) {
        while n > 0 {
            let (word, bits, count) = self.bits(from, n);
            m.or(self.read_done, word, bits); // pairs with the clear in `unmark`
            from = from.wrapping_add(count);
            n -= count;
        }
    }

    /// The descriptors from `from` on that are marked, without a gap.
    #[inline(always)]
    fn run(&self, m: &mut M, from: u64) -> u64 {
        let mut n = 0;
        while n < self.words.size {
            let (word, bits, count) = self.bits(from.wrapping_add(n), self.words.size - n);
            let seen = m.relaxed(self.read_done, word) & bits; // what is found is ordered by `unmark`
            let marked = u64::from((seen >> bits.trailing_zeros()).trailing_ones());
            n += marked;
            if marked < count {
                break;
            }
        }
        n
    }

    /// Whether descriptor `i` is marked, as far as can be seen in passing.
    #[inline(always)]
    fn marked(&self, m: &mut M, i: u64) -> bool {
        let (word, bit, _) = self.bits(i, 1);
        m.relaxed(self.read_done, word) & bit != 0
    }

    /// Takes the marks off again, before TAIL moves past them.
    #[inline(always)]
    fn unmark(&self, m: &mut M, mut from: u64, mut n: u64) {
        while n > 0 {
            let (word, bits, count) = self.bits(from, n);
            m.clear(self.read_done, word, bits); // pairs with the or in `mark`
            from = from.wrapping_add(count);
            n -= count;
        }
    }
}

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
    fn new(shared: Shared<M>, buffers: M::Buffers, marks: Marks) -> HostHalf<M> {
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
        let counters = [
            ("claims", self.claims),
            ("failed_claims", self.failed),
            ("deferred_releases", self.deferred),
            ("debts", self.debts),
            ("faults", self.faults),
        ];
        counters.get(i).copied()
    }
}
