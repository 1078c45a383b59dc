//! `ddring`: one ring whose descriptors come back in place (corec §2). The NIC writes a frame's
//! length, its mark and a *descriptor done* bit over the buffer's address; the host replaces the descriptor and moves
//! TAIL. The NIC half serves `corec` as well, which must look to it like this ring's single consumer (corec §3.3).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | core, then NIC, in turn | NIC, then core | 4 descriptors | to the NIC: body, published by `tail`; back: publish -> acquire of the signal: entry and payload are valid |
//! | `tail` | core | NIC | a register | ring -> acquire: descriptors below it are empty |
//! | `buffer` | core | core | 8 buffers | body; with several cores guarded by `cursor` |
//! | `cursor` | its cores | its cores | its own | `next << 1 \| locked`: swap -> release of the lock |
//! | `posted` | its cores, under the lock | its cores | its own | relaxed: the lock orders it |
//! | `left` | its cores | its cores | its own | add -> add: the cores that left before are done |
//!
//! A descriptor holds an address on its way to the NIC and none on its way back, so the host keeps the
//! buffers in a ring of its own, `buffer`. It clears the done bit when it posts a descriptor anew, and looks
//! at no descriptor that it has not posted: the bit of one that it has read is stale.
//!
//! **Write-back.** A card may write descriptors back a row at a time ([`WriteBack`]): a used one shows when the
//! whole row is used, or when its time has come. It is off unless the profile of a card says otherwise.
//!
//! **Baselines of corec.** One core with a ring of its own, which takes a buffer from the pool for each frame
//! or for a burst at a time (§4.1); with several rings and RSS this is the scale-out policy. Several cores
//! with one ring and a spin lock around the whole receive, as Metronome has it (§5).
//!
//! **Stop and start.** A ring runs while one of its cores does. The last core that drains takes back what is
//! posted and goes back to where the NIC stands.
//!
//! **Outcomes.** `RingFull`: no empty descriptor is posted. `BadFrame` also for a frame that the NIC would pass
//! by pointer: there is no room for the pointer in a descriptor that comes back.
//!
//! What a descriptor says: `ddring/words.rs`; host half: `ddring/host.rs`; NIC half: `ddring/nic.rs`.

mod host;
mod nic;
mod words;

use memory::{Class, Field, Memory, Side, Space};

use crate::contract::{About, Choice, Halves, Param, Parameters, Place, Said, Spec, Today};
use crate::parts::empties;
use crate::parts::lock::{self, Locked};
use crate::sizes::{self, SizeError};
use nic::Ring;

pub use crate::contract::WriteBack;
pub use host::HostHalf;
pub use nic::NicHalf;
pub(crate) use words::Words;

// ## Words

const DESCRIPTOR: Field = Field {
    name: "ddring.descriptor",
    len: 1,
    width: words::WORDS as u32,
    class: Class::Signal,
    writer: Side::Both,
    reader: Side::Both,
    home: Side::Host,
};
const TAIL: Field = empties::doorbell("ddring.tail");
const BUFFER: Field = Field {
    name: "ddring.buffer",
    len: 1,
    width: 1,
    class: Class::Body,
    writer: Side::Host,
    reader: Side::Host,
    home: Side::Host,
};
const CURSOR: Field = lock::field("ddring.cursor");
const POSTED: Field = Field { name: "ddring.posted", class: Class::Signal, ..BUFFER };
const LEFT: Field = lock::field("ddring.left");

// ## Sizes

/// Why no core plays a card whose descriptors come back in place.
pub(crate) const NO_POINTERS: &str = "its descriptors have no room for a pointer on the way back";

/// How a core takes empty buffers from the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    /// One at a time, for each frame.
    Each,
    /// For a whole burst at a time.
    Bulk,
}

impl Choice for Refill {
    const ALL: &'static [(&'static str, Refill)] = &[("each", Refill::Each), ("bulk", Refill::Bulk)];
}

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a ring.
    pub ring: u32,
    /// Cores that share a ring under its lock; 1 is a ring for each core, without a lock.
    pub shared_by: u32,
    /// How buffers are taken.
    pub refill: Refill,
}

impl Default for Sizes {
    /// A ring for each core, refilled as today's scalar drivers do (§2.2).
    fn default() -> Sizes {
        Sizes { ring: 1024, shared_by: 1, refill: Refill::Each }
    }
}

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes { ring, shared_by, refill } = self;
        vec![
            Param::ring("ring", ring, "descriptors of a ring"),
            Param::new("shared_by", shared_by, "cores that share one under its lock; 1: without"),
            Param::new("refill", refill, "how a core takes buffers: for each frame, or a burst's at once"),
        ]
    }

    /// A driver takes the buffers of a burst at once.
    fn fit(&mut self, place: &Place, said: Said<'_>) {
        if place.descriptors.is_some() {
            said.or("refill", Refill::Bulk, &mut self.refill);
        }
    }

    fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sharing("ddring", self.ring, self.shared_by, queues)
    }

    fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(queues.div_ceil(self.shared_by.max(1)))
    }

    fn pollers(&self) -> u32 {
        self.shared_by
    }

    fn share(&mut self, most: u32) {
        self.shared_by = self.shared_by.min(most);
    }

    fn numbers(&mut self) -> Vec<(&'static str, u64)> {
        let bulk = ("bulk", u64::from(self.refill == Refill::Bulk));
        vec![("ring", u64::from(self.ring)), ("shared_by", u64::from(self.shared_by)), bulk]
    }
}

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "ddring",
        essence: "the same ring for one core, or for several under a spin lock: what `corec` is measured against",
        today: Today::Yes,
        descriptors: "ring",
        counters: &["lock_taken", "lock_waits", "debts", "faults"],
        levels: &[],
        many_pollers: true,
        queue_order: true,
        pointers: false,
        coherent: false,
        not_emulated: Some(NO_POINTERS),
    };
    type Host<M: Memory> = HostHalf<M>;
    type Nic<M: Memory> = NicHalf<M>;

    fn build<S: Space>(
        &self,
        space: &mut S,
        queues: u32,
        buffers: <S::Mem as Memory>::Buffers,
    ) -> Result<Halves<Self, S::Mem>, SizeError> {
        build(space, self, queues, buffers)
    }
}

/// Checks a ring of `ring` descriptors that `shared_by` of `queues` cores share.
pub(crate) fn sharing(name: &str, ring: u32, shared_by: u32, queues: u32) -> Result<(), SizeError> {
    sizes::ring_size(&format!("{name}: ring"), ring)?;
    sizes::sharers(name, shared_by, queues)
}

/// One port: a host half for each queue, and the NIC half.
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
    let nic = rings(space, sizes.ring, sizes.shared_by, queues, buffers, |space, number, words, cores| {
        let (cursor, posted) = (space.words(&CURSOR, number)?, space.words(&POSTED, number)?);
        let left = space.words(&LEFT, number)?;
        for _ in 0..cores {
            let place = match cores {
                1 => host::Place::Own { next: 0, posted: 0 },
                _ => {
                    host::Place::Shared { cursor: Locked::new(cursor), posted, left, cores: u64::from(cores) }
                }
            };
            hosts.push(HostHalf::new(words, buffers, place, sizes.refill == Refill::Bulk));
        }
        Ok(())
    })?;
    Ok((hosts, nic))
}

/// Binds the rings of a port, and its NIC half; `host` makes the host halves of each ring, for so many cores.
pub(crate) fn rings<S: Space>(
    space: &mut S,
    ring: u32,
    shared_by: u32,
    queues: u32,
    buffers: <S::Mem as Memory>::Buffers,
    mut host: impl FnMut(&mut S, u32, Words<S::Mem>, u32) -> Result<(), SizeError>,
) -> Result<NicHalf<S::Mem>, SizeError> {
    let mut rings = Vec::new();
    for number in 0..queues.div_ceil(shared_by) {
        let words = Words {
            descriptor: space.words(&DESCRIPTOR.of(ring), number)?,
            tail: space.words(&TAIL, number)?,
            buffer: space.words(&BUFFER.of(ring), number)?,
            size: u64::from(ring),
        };
        let cores = shared_by.min(queues - number * shared_by);
        rings.push(Ring::new(words, cores as usize));
        host(space, number, words, cores)?;
    }
    Ok(NicHalf::new(rings, shared_by, buffers))
}
