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
//! **Claims.** A thread that polls:
//!
//! 1. It acquires `posted`, reads `next`, and counts done descriptors from `next` on. It stops at `posted`: a
//!    done bit beyond is left over from the round before, and its reader may still be at work.
//! 2. It takes as many buffers as it found frames. Without a buffer it claims nothing.
//! 3. It moves `next` past as many descriptors by compare-and-swap. If another thread was faster this fails,
//!    and the buffers stay in hand. Descriptors are numbered without end (the transaction ID of §3.4.3), so
//!    the claim also fails if it was prepared a whole round ago.
//! 4. The claimed descriptors are its own: it reads each and puts a buffer in its place.
//!
//! **Release.** A thread that has read its batch:
//!
//! 1. If the batch is the next to be posted, it tries the lock of `posted`, and goes to 4 if it gets it. Nobody
//!    can post past such a batch, so it needs no bits. ([`Marks::Each`] leaves this step out, as published.)
//! 2. If the batch is a later one, or the lock is taken, it sets the batch's bits in `read_done`, a word at a
//!    time.
//! 3. If the descriptor to be posted next has its bit, it tries the lock, and goes to 4 if it gets it. If there
//!    is a gap, or the lock is taken, it goes on with its frames: a later poll, of any thread, does this step.
//! 4. The lock's holder counts the bits that follow, clears them, moves TAIL, and frees the lock, in this
//!    order: a descriptor may come round as soon as TAIL has moved.
//!
//! So the NIC sees one consumer (§3.4.2), and a thread that sleeps on a claim stops the others only after a
//! round (§3.4.4).
//!
//! **Off and on.** A thread that stops polling is not missed. When it drains, it gives back the spares of a
//! claim that failed. The last one that drains takes back all buffers, and the ring back to where the NIC
//! stands. The first one that fills posts a buffer in each descriptor. `short` says which descriptors the pool
//! had no buffers for; whoever polls in vain posts those. A burst that receives need not look at `short`:
//!
//! 1. Descriptors are posted in order, so TAIL does not move past one that lacks a buffer.
//! 2. So the NIC runs out of descriptors before a round is over, however many frames come.
//! 3. When the frames in them are received, every poll is in vain.
//!
//! **Outcomes.** Those of `ddring`, whose NIC half this is.
//!
//! Words that the threads share: `corec/shared.rs`; host half: `corec/host.rs`; NIC half: `ddring/nic.rs`.

mod host;
mod shared;

use memory::{Class, Field, Memory, Side, Space};

use crate::contract::{About, CHUNK, Choice, Halves, Param, Parameters, Place, Said, Spec, Today};
use crate::ddring::{self, NicHalf};
use crate::parts::lock;
use crate::sizes::SizeError;
use shared::Shared;

pub use host::HostHalf;

// ## Words

const NEXT: Field = lock::field("corec.next");
const READ_DONE: Field = Field {
    name: "corec.read_done",
    len: 1,
    width: 1,
    class: Class::Contended,
    writer: Side::Host,
    reader: Side::Host,
    home: Side::Host,
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

impl Choice for Marks {
    const ALL: &'static [(&'static str, Marks)] = &[("each", Marks::Each), ("waiting", Marks::Waiting)];
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

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes { ring, shared_by, marks } = self;
        vec![
            Param::ring("ring", ring, "descriptors of a ring"),
            Param::new("shared_by", shared_by, "threads that share one"),
            Param::new(
                "marks",
                marks,
                "batches that threads mark as read: each, or those that wait for others",
            ),
        ]
    }

    fn fit(&mut self, place: &Place, said: Said<'_>) {
        said.or("shared_by", place.pollers, &mut self.shared_by);
    }

    fn validate(&self, queues: u32) -> Result<(), SizeError> {
        ddring::sharing("corec", self.ring, self.shared_by, queues)
    }

    fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(queues.div_ceil(self.shared_by.max(1)))
    }

    /// And what a thread took for a claim that failed.
    fn held_buffers(&self, queues: u32) -> u64 {
        self.posted_buffers(queues) + CHUNK as u64 * u64::from(queues)
    }

    fn pollers(&self) -> u32 {
        self.shared_by
    }

    fn share(&mut self, most: u32) {
        self.shared_by = self.shared_by.min(most);
    }
}

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "corec",
        essence: "one ring for many threads without a lock: they claim frames by compare-and-swap",
        today: Today::Driver,
        descriptors: "ring",
        counters: &["claims", "failed_claims", "deferred_releases", "debts", "faults"],
        levels: &[],
        many_pollers: true,
        queue_order: true,
        pointers: false,
        coherent: false,
        not_emulated: Some(ddring::NO_POINTERS),
    };
    type Host<M: Memory> = HostHalf<M>;
    type Nic<M: Memory> = ddring::NicHalf<M>;

    fn build<S: Space>(
        &self,
        space: &mut S,
        queues: u32,
        buffers: <S::Mem as Memory>::Buffers,
    ) -> Result<Halves<Self, S::Mem>, SizeError> {
        build(space, self, queues, buffers)
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
