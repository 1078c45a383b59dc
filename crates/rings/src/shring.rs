//! `shring`: one ring of empty buffers for several cores, a completion ring for each (rxbisect §3.2).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | its cores, under the lock | NIC | 8 descriptors | body, published by `doorbell` |
//! | `tail` | its cores | its cores | its own | `tail << 1 \| locked`: swap -> release, or swap, of the lock |
//! | `doorbell` | its cores, under the lock | NIC | a register | ring -> acquire: descriptors below it are valid |
//! | `completion` | NIC | core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//! | `index` | core | NIC | its own | release -> acquire: completions below it are read |
//! | `left` | its cores | its cores | its own | add, swap -> swap: the NIC has used the slots that are left |
//!
//! **No slot is overwritten before it is read.** A core posts as many buffers at the shared tail as it
//! has received, so posted + received and not yet reposted = ring, and descriptor `t` is written only
//! when the NIC is known to have used at least `t - ring + 1`. The completion carries the buffer, since
//! the slot that it came from may be in another core's hands by then.
//!
//! **No refill waits for a batch.** A core reposts at the end of the burst that received, however few
//! those were. If it waited for more, an idle core could sit on the slots that the others need.
//!
//! **Stop and start.** The posted buffers belong to the ring. The slots of what a core has received and not
//! reposted belong to that core.
//!
//! 1. A core that drains gives the buffers of its unread frames back. It leaves its slots to the others, in
//!    `left`: `stopped cores << 48 | slots`.
//! 2. A running core that polls in vain takes all of them over as its own debt and pays from its own supply.
//!    So the others never starve for the slots of a stopped one, and a busy core does not even look.
//! 3. A core that starts takes its share of what is still left.
//! 4. Posted + owed by running cores + left = ring, so the last core to drain knows how many are posted. It
//!    takes them back, and the ring back to where the NIC stands (see `parts/empties.rs`).
//!
//! **Outcomes.** `RingFull`: the queue's own completion ring has no room (only if it is smaller than the
//! shared ring). `NoBuffer`: it has, but no descriptor is posted in the shared ring.
//!
//! Host half: `shring/host.rs`; NIC half: `shring/nic.rs`.

mod host;
mod nic;

use memory::{Class, Field, Memory, Side, Space};

use crate::contract::{About, Halves, Param, Parameters, Place, Said, Spec, Today};
use crate::parts::completions;
use crate::parts::empties::{self, Consumer};
use crate::parts::lock::{self, Locked};
use crate::sizes::{self, SizeError};
use host::Ring;
use nic::Queue;

pub use crate::parts::lock::Unlock;
pub use host::HostHalf;
pub use nic::NicHalf;

// ## Words

const DESCRIPTOR: Field = empties::descriptor("shring.descriptor", 1);
const DOORBELL: Field = empties::doorbell("shring.doorbell");
const TAIL: Field = lock::field("shring.tail");
const COMPLETION: Field = completions::entries("shring.completion", 1);
const INDEX: Field = completions::index("shring.index");
const LEFT: Field = Field {
    name: "shring.left",
    len: 1,
    width: 1,
    class: Class::Contended,
    writer: Side::Host,
    reader: Side::Host,
    home: Side::Host,
};
/// `left` holds, from this bit on, the cores that have drained and not started again; below it the slots
/// that they owe: of a truthful NIC's frames, no more than the ring has.
const CORES: u32 = 48;
const SLOTS: u64 = (1 << CORES) - 1;

// ## Sizes

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of one shared ring.
    pub ring: u32,
    /// Cores that share one ring; the last ring may have fewer.
    pub shared_by: u32,
    /// Entries of a core's completion ring.
    pub completions: u32,
    /// How a core frees the ring's lock.
    pub unlock: Unlock,
}

impl Default for Sizes {
    /// As rxbisect §6 runs it: one ring of the default size for the 8 cores of a NIC.
    fn default() -> Sizes {
        Sizes { ring: 1024, shared_by: 8, completions: 1024, unlock: Unlock::Store }
    }
}

impl Sizes {
    /// Rings of a port.
    pub fn rings(&self, queues: u32) -> u32 {
        queues.div_ceil(self.shared_by.max(1))
    }
}

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes { ring, shared_by, completions, unlock } = self;
        vec![
            Param::ring("ring", ring, "descriptors of a shared ring"),
            Param::new("shared_by", shared_by, "cores that share one"),
            Param::entries("completions", completions, "entries of a core's completion ring"),
            Param::new("unlock", unlock, "how a core frees a ring's lock"),
        ]
    }

    fn fit(&mut self, place: &Place, said: Said<'_>) {
        said.or("ring", place.descriptors.unwrap_or(self.ring), &mut self.ring);
        said.or("shared_by", place.queues, &mut self.shared_by);
    }

    fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::ring_size("shring: ring", self.ring)?;
        sizes::ring_size("shring: completions", self.completions)?;
        sizes::sharers("shring", self.shared_by, queues)?;
        if self.shared_by > self.ring {
            let (k, n) = (self.shared_by, self.ring);
            let what = "allowed: at least one descriptor for each core";
            return Err(SizeError::new(format!("shring: a ring of {n} shared by {k}; {what}")));
        }
        Ok(())
    }

    fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(self.rings(queues))
    }

    fn share(&mut self, most: u32) {
        self.shared_by = self.shared_by.min(most);
    }
}

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "shring",
        essence: "one ring of buffers shared by the cores of a port, a completion ring each; refill under a lock",
        today: Today::No,
        descriptors: "completions",
        counters: &["lock_taken", "lock_waits", "debts", "faults"],
        levels: &[],
        many_pollers: false,
        queue_order: true,
        pointers: true,
        coherent: false,
        not_emulated: None,
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
    let (mut hosts, mut rings, mut nic_queues) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..sizes.rings(queues) {
        let descriptor = space.words(&DESCRIPTOR.of(sizes.ring), ring)?;
        let doorbell = space.words(&DOORBELL, ring)?;
        let tail = space.words(&TAIL, ring)?;
        let left = space.words(&LEFT, ring)?;
        rings.push(Consumer::new(descriptor, doorbell, sizes.ring));
        let first = ring * sizes.shared_by;
        let sharers = sizes.shared_by.min(queues - first);
        for core in 0..sharers {
            let fields = [&COMPLETION.of(sizes.completions), &INDEX];
            let (reader, writer) = completions::bind(space, fields, first + core)?;
            nic_queues.push(Queue::new(ring as usize, writer));
            let ring = Ring {
                descriptor,
                doorbell,
                tail: Locked::freed_by(tail, sizes.unlock),
                left,
                sharers: u64::from(sharers),
                size: u64::from(sizes.ring),
            };
            // At the start of day each core owes its share of the ring.
            let owed = u64::from(sizes.ring / sharers + u32::from(core < sizes.ring % sharers));
            hosts.push(HostHalf::new(ring, reader, buffers, owed));
        }
    }
    Ok((hosts, NicHalf::new(rings, nic_queues, buffers)))
}
