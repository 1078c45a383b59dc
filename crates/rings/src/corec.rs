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
//!
//! Words that the threads share: `corec/shared.rs`; host half: `corec/host.rs`; NIC half: `ddring/nic.rs`.

mod host;
mod shared;

use memory::{Class, Field, Memory, Side, Space};

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
