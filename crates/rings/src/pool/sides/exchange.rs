//! How buffers get from one end of a pool to the other: by a lane each way, or by one queue of both.
//!
//! The words of lanes are `sides`'. Those of the queue:
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `both.slot` | both, under the lock | both, under the lock | 8 buffers | body, published by `both.ends` |
//! | `both.ends` | both | both | its own | first and end of what is queued, `<< 1 \| locked`: swap -> release of the lock |
//!
//! The queue is what the paper's buffers go through if no end has a stack (§3.3): whoever takes next has the oldest, in
//! whose cache it may be. It has a lock, so a side that stops while it holds it stops the other one: it is for agents
//! of one process. No slot is overwritten before it is read: there are as many as buffers, and a buffer is queued once.

use memory::{Class, Field, Memory, Side, Space};

use crate::contract::Choice;
use crate::parts::lock::{self, Locked};
use crate::sizes::SizeError;

/// How buffers get from one end to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// What an end gives, the other one takes.
    Lanes,
    /// What an end gives, whoever is first takes.
    Queue,
}

impl Choice for Exchange {
    const ALL: &'static [(&'static str, Exchange)] =
        &[("lanes", Exchange::Lanes), ("queue", Exchange::Queue)];
}

const SLOT: Field = Field {
    name: "pool.both.slot",
    len: 1,
    width: 1,
    class: Class::Body,
    writer: Side::Both,
    reader: Side::Both,
    home: Side::Host,
};
const ENDS: Field = Field { writer: Side::Both, reader: Side::Both, ..lock::field("pool.both.ends") };

/// The slots of one direction, and the number of buffers that were given in it.
pub(super) type Lane<M> = (<M as Memory>::Words<1>, <M as Memory>::Words<1>);

/// Slots of a line, and so many slots before they are needed it is fetched: they come from the other side's cache.
const LINE: u64 = 8;
const AHEAD: u64 = 8 * LINE;

/// An end's part in it.
pub(super) enum Way<M: Memory> {
    Lanes {
        /// To the other end, and how many went there. Ours, always fresh.
        to: Lane<M>,
        given: u64,
        /// From the other end, and how many were read.
        from: Lane<M>,
        taken: u64,
    },
    Queue(Queue<M>),
}

impl<M: Memory> Way<M> {
    pub(super) const fn lanes([to, from]: [Lane<M>; 2]) -> Way<M> {
        Way::Lanes { to, given: 0, from, taken: 0 }
    }

    /// Gives buffers away, with one release for all of them.
    #[inline(always)]
    pub(super) fn put(&mut self, m: &mut M, all: impl Iterator<Item = u64>) {
        match self {
            Way::Lanes { to: (slot, end), given, .. } => {
                let mut at = *given;
                for raw in all {
                    if at.is_multiple_of(LINE) {
                        m.entry_ahead(*slot, at.wrapping_add(AHEAD));
                    }
                    m.write(*slot, at, [raw]);
                    at = at.wrapping_add(1);
                }
                *given = at;
                m.release(*end, 0, at); // pairs with the acquire in `begin_get`
            }
            Way::Queue(queue) => {
                queue.lock(m);
                for raw in all {
                    m.write(queue.slot, queue.end, [raw]);
                    queue.end = (queue.end + 1) & ALL;
                }
                queue.unlock(m);
            }
        }
    }

    /// How many buffers there are to [`get`](Self::get), which comes next.
    #[inline]
    pub(super) fn begin_get(&mut self, m: &mut M) -> u64 {
        match self {
            // Pairs with the release in `put`.
            Way::Lanes { from, taken, .. } => m.acquire(from.1, 0).wrapping_sub(*taken),
            Way::Queue(queue) => {
                if queue.is_empty(m) {
                    return 0; // without the lock while there is nothing
                }
                queue.lock(m);
                queue.end.wrapping_sub(queue.first) & ALL
            }
        }
    }

    /// Takes so many.
    #[inline(always)]
    pub(super) fn get(&mut self, m: &mut M, count: u64, mut each: impl FnMut(&mut M, u64)) {
        match self {
            Way::Lanes { from: (slot, _), taken, .. } => {
                let mut at = *taken;
                for _ in 0..count {
                    if at.is_multiple_of(LINE) {
                        m.read_ahead(*slot, at.wrapping_add(AHEAD));
                    }
                    let [raw] = m.read(*slot, at);
                    at = at.wrapping_add(1);
                    each(m, raw);
                }
                *taken = at;
            }
            Way::Queue(queue) => {
                for _ in 0..count {
                    let [raw] = m.read(queue.slot, queue.first);
                    queue.first = (queue.first + 1) & ALL;
                    each(m, raw);
                }
                queue.unlock(m);
            }
        }
    }
}

/// Both positions of the queue, of so many bits each: they share a word with its lock.
const BITS: u32 = 31;
const ALL: u64 = (1 << BITS) - 1;

/// A queue of both ends.
pub(super) struct Queue<M: Memory> {
    slot: M::Words<1>,
    ends: Locked<M>,
    /// Where it begins and ends, while we have the lock.
    first: u64,
    end: u64,
    held: bool,
}

impl<M: Memory> Queue<M> {
    /// The parts of both ends in one of `slots`, a power of two of up to 2^24.
    pub(super) fn bind<S: Space<Mem = M>>(
        space: &mut S,
        slots: u32,
        pair: u32,
    ) -> Result<[Queue<M>; 2], SizeError> {
        let (slot, ends) = (space.words(&SLOT.of(slots), pair)?, space.words(&ENDS, pair)?);
        Ok([(); 2].map(|()| Queue { slot, ends: Locked::new(ends), first: 0, end: 0, held: false }))
    }

    fn is_empty(&self, m: &mut M) -> bool {
        let ends = self.ends.peek(m);
        ends & ALL == ends >> BITS & ALL
    }

    fn lock(&mut self, m: &mut M) {
        let ends = self.ends.lock(m);
        (self.first, self.end, self.held) = (ends & ALL, ends >> BITS & ALL, true);
    }

    fn unlock(&mut self, m: &mut M) {
        if core::mem::take(&mut self.held) {
            self.ends.unlock(m, self.first | self.end << BITS);
        }
    }
}
