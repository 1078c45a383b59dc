//! A pool of packet buffers in two levels: a private stack per core and a shared one under a lock
//! (rxbisect §4.2). A buffer may be taken by one core and given back by another.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `stack` | cores, under the lock | cores, under the lock | 8 buffers | body, published by `taken` |
//! | `taken` | cores | cores | its own | `taken << 1 \| locked`: swap -> release of the lock |
//!
//! Both levels are last in, first out, so that buffers still in a cache are used first. The shared
//! stack stores `buffer ^ slot`, and `taken` counts what is *not* in it: zeroed memory is a full pool.
//!
//! This pool is the host's, whose cores trust each other. [`sides`] has ends on both sides.

pub mod sides;
mod stack;

use memory::{Buf, Class, Field, Memory, Side, Space};

use crate::contract::{Buffers, CHUNK};
use crate::parts::lock::{self, Locked};
use crate::sizes::SizeError;

// ## Words

const STACK: Field = Field {
    name: "pool.stack",
    len: 1,
    width: 1,
    class: Class::Body,
    writer: Side::Host,
    reader: Side::Host,
    home: Side::Host,
};
const TAKEN: Field = lock::field("pool.taken");

// ## Sizes

/// Buffers that a core keeps for itself, DPDK's largest.
pub const CACHE: u32 = 512;

/// One pool of `count` buffers, numbered from 0, shared by `cores`, each with a private stack of
/// `cache` (flushed down to it when it exceeds 1.5 times that).
///
/// # Errors
/// There is no buffer or no core, or the space has no room.
pub fn build<S: Space>(
    space: &mut S,
    count: u32,
    cores: u32,
    cache: u32,
) -> Result<Vec<CoreCache<S::Mem>>, SizeError> {
    if count == 0 || count > 1 << 30 {
        return Err(SizeError::new(format!("pool: {count} buffers; allowed: 1 to {}", 1 << 30)));
    }
    if cores == 0 {
        return Err(SizeError::new("pool: 0 cores; allowed: at least 1"));
    }
    if cache > count {
        let what = "allowed: at most as many as the pool holds";
        return Err(SizeError::new(format!("pool: a cache of {cache} for {count} buffers; {what}")));
    }
    let stack = space.words(&STACK.of(count.next_power_of_two()), 0)?;
    let taken = space.words(&TAKEN, 0)?;
    let cache = cache as usize;
    let limit = cache + cache / 2;
    let core = |_| CoreCache {
        own: vec![Buf(0); limit + CHUNK].into_boxed_slice(),
        len: 0,
        cache,
        limit,
        stack,
        taken: Locked::new(taken),
        count: u64::from(count),
        shortages: 0,
        foreign: 0,
    };
    Ok((0..cores).map(core).collect())
}

// ## Host half

/// One core's end of the pool.
pub struct CoreCache<M: Memory> {
    /// The private stack; its first `len` entries are ours.
    own: Box<[Buf]>,
    len: usize,
    cache: usize,
    /// Beyond this the stack is flushed down to `cache`.
    limit: usize,
    stack: M::Words<1>,
    /// Buffers that are not in the shared stack: the slot of the next one to take.
    taken: Locked<M>,
    count: u64,
    /// Calls that got fewer buffers than they asked for.
    shortages: u64,
    /// Buffers given that the pool cannot have handed out.
    foreign: u64,
}

impl<M: Memory> CoreCache<M> {
    /// Buffers that this core can still take: its own and the shared ones.
    pub fn available(&mut self, m: &mut M) -> u64 {
        self.cached() + self.shared(m)
    }

    /// Buffers in this core's private stack.
    pub fn cached(&self) -> u64 {
        self.len as u64
    }

    /// Buffers in the shared stack.
    pub fn shared(&self, m: &mut M) -> u64 {
        self.count.saturating_sub(self.taken.peek(m))
    }

    /// Moves this core's buffers to the shared stack (before it stops).
    pub fn flush(&mut self, m: &mut M) {
        self.spill(m, 0);
    }

    /// Named counters.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("pool_lock_taken", self.taken.taken),
            ("pool_lock_waits", self.taken.waits),
            ("pool_shortages", self.shortages),
            ("pool_foreign", self.foreign),
        ]
    }

    /// Moves the topmost buffers down until `keep` are left: one lock for all of them.
    #[cold]
    fn spill(&mut self, m: &mut M, keep: usize) {
        if self.len <= keep {
            return;
        }
        let mut taken = self.taken.lock(m);
        for buf in &self.own[keep..self.len] {
            if taken == 0 {
                self.foreign += 1; // the stack is full: given twice, or not ours
                continue;
            }
            taken -= 1;
            m.write(self.stack, taken, [buf.0 ^ taken]);
        }
        self.len = keep;
        self.taken.unlock(m, taken);
    }

    /// Takes up to `want` shared buffers in one go; whether there were any.
    #[cold]
    fn load(&mut self, m: &mut M, want: usize) -> bool {
        if self.shared(m) == 0 {
            return false; // debts are retried at every poll: without the lock while there is nothing
        }
        let mut taken = self.taken.lock(m);
        let room = want.min(self.own.len() - self.len) as u64;
        let got = room.min(self.count.saturating_sub(taken));
        // The shared top was freed last: it goes on top here.
        for slot in self.own[self.len..][..got as usize].iter_mut().rev() {
            let [word] = m.read(self.stack, taken);
            *slot = Buf(word ^ taken);
            taken += 1;
        }
        self.len += got as usize;
        self.taken.unlock(m, taken);
        got > 0
    }
}

impl<M: Memory> Buffers<M> for CoreCache<M> {
    #[inline]
    fn take(&mut self, m: &mut M, out: &mut [Buf]) -> usize {
        let mut done = 0;
        while done < out.len() {
            let want = out.len() - done;
            if self.len == 0 && !self.load(m, want + self.cache) {
                self.shortages += 1;
                break;
            }
            let n = want.min(self.len);
            let top = &self.own[self.len - n..self.len];
            for (slot, buf) in out[done..].iter_mut().zip(top.iter().rev()) {
                *slot = *buf;
            }
            self.len -= n;
            done += n;
        }
        done
    }

    #[inline]
    fn give(&mut self, m: &mut M, bufs: &[Buf]) {
        for chunk in bufs.chunks(CHUNK) {
            // `len` is at most `limit` here, and a chunk fits above that.
            self.own[self.len..][..chunk.len()].copy_from_slice(chunk);
            self.len += chunk.len();
            if self.len > self.limit {
                self.spill(m, self.cache);
            }
        }
    }
}
