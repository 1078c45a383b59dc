//! `rxbisect`: rings of empty buffers (Ax) apart from rings of received frames (Bx) (rxbisect §4).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `ax.descriptor` | its core | NIC | 8 descriptors | body, published by `ax.doorbell` |
//! | `ax.doorbell` | its core | NIC | a register | ring -> acquire: descriptors below it are valid |
//! | `bx.entry` | NIC | its core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//! | `bx.index` | its core | NIC | its own | release -> acquire: entries below it are read |
//!
//! A frame goes to the Bx ring of its queue, in a buffer from any Ax ring *associated* with that Bx
//! ring. An Ax ring is *linked* to the one Bx ring through which its core learns that a buffer was
//! consumed: the notice. A Bx entry holds a frame, a notice (`split`), or both (`combined`), in the format
//! of `parts/entry.rs`.
//!
//! **Stop and start.** A stopped queue's Ax rings are not eligible, and what was consumed from them is
//! told at once. So when its core has read its Bx ring to the end, it knows where the NIC stands in each
//! of its Ax rings, and takes them back to there (see `parts/empties.rs`). Frames that other queues received
//! in its buffers stay theirs, and so do the buffers of theirs that its own frames lie in until it
//! drains. A dedicated allocator stops and starts alike, by the number of its host half.
//!
//! Host half: `rxbisect/host.rs`; NIC half, with the rules for choosing an Ax ring and for notices:
//! `rxbisect/nic.rs`.

mod host;
mod nic;

use memory::{Field, Memory, Ps, Space};

use crate::contract::{About, Halves, Param, Parameters, Place, Said, Spec, Today};
use crate::parts::{completions, empties};
use crate::sizes::{self, SizeError};

pub use host::HostHalf;
pub use nic::NicHalf;

// ## Words

const DESCRIPTOR: Field = empties::descriptor("rxbisect.ax.descriptor", 1);
const DOORBELL: Field = empties::doorbell("rxbisect.ax.doorbell");
const ENTRY: Field = completions::entries("rxbisect.bx.entry", 1);
const INDEX: Field = completions::index("rxbisect.bx.index");

// ## Sizes

/// Fewest entries of an Ax ring of a driver that is not told how many: what NICs ask of a ring (§4.5).
const LEAST_AX: u32 = 64;

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of an allocation ring.
    pub ax: u32,
    /// Entries of a bisected reception ring.
    pub bx: u32,
    /// Queues of one association group: each Bx ring takes buffers from every Ax ring of its group.
    /// 0 is one group of all (§4.5).
    pub group: u32,
    /// Notices that the NIC holds back for a Bx ring before it writes them; 1 writes each at once.
    pub batch: u32,
    /// The longest that a notice is held back.
    pub timeout: Ps,
    /// Dedicated allocators: 0 gives every queue an Ax ring of its own; otherwise so many host halves
    /// behind those of the queues hold all Ax rings and receive nothing but notices (§4.2).
    pub alloc_queues: u32,
}

impl Default for Sizes {
    /// As rxbisect §6 runs it: rings of 128 and 1024, all to all.
    fn default() -> Sizes {
        Sizes { ax: 128, bx: 1024, group: 0, batch: 8, timeout: Ps::from_us(1), alloc_queues: 0 }
    }
}

impl Sizes {
    /// The smallest Ax ring of which `rings` together take a burst of so many frames without a refill: the
    /// second condition of §4.5.
    pub fn least_ax(burst: u32, rings: u32) -> u32 {
        burst.div_ceil(rings.max(1)).max(1).next_power_of_two()
    }

    /// Association groups of a port.
    fn groups(&self, queues: u32) -> u32 {
        if self.group == 0 { 1 } else { queues.div_ceil(self.group) }
    }

    /// Who is linked to and associated with whom: every queue's ring with all of its group, a group
    /// being a NUMA node (§4.5). Dedicated allocators are dealt to the groups in turn.
    pub fn plan(&self, queues: u32) -> Plan {
        let groups = self.groups(queues);
        let group_of = |queue: u32| queue.checked_div(self.group).unwrap_or(0) as u16;
        let allocator = |a: u32| Ax { link: (queues + a) as u16, node: (a % groups) as u16 };
        let ax: Vec<Ax> = match self.alloc_queues {
            0 => (0..queues).map(|q| Ax { link: q as u16, node: group_of(q) }).collect(),
            count => (0..count).map(allocator).collect(),
        };
        let of = |node| (0..ax.len() as u16).filter(|&a| ax[usize::from(a)].node == node).collect();
        let receive = (0..queues).map(|q| Bx { from: of(group_of(q)), node: group_of(q) });
        let allocate = (0..self.alloc_queues).map(|a| Bx { from: Vec::new(), node: allocator(a).node });
        let bx = receive.chain(allocate).collect();
        Plan { ax, bx }
    }
}

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes { ax, bx, group, batch, timeout, alloc_queues } = self;
        vec![
            Param::ring("ax", ax, "descriptors of an allocation ring"),
            Param::ring("bx", bx, "entries of a core's ring of deliveries"),
            Param::new("group", group, "queues that take each other's buffers; 0: all"),
            Param::new("batch", batch, "notices that are written together"),
            Param::new("timeout_ns", timeout, "the longest that one is held back"),
            Param::new("alloc_queues", alloc_queues, "dedicated allocators; 0: each queue has an Ax ring"),
        ]
    }

    fn fit(&mut self, place: &Place, said: Said<'_>) {
        if place.descriptors.is_some() {
            // A burst ends where the usual Bx ring is full: frames beyond need no buffers (§4.5).
            let burst = self.bx.min(Sizes::default().bx);
            let sharing = if self.group == 0 { place.queues } else { self.group };
            said.or("ax", Sizes::least_ax(burst, sharing).max(LEAST_AX), &mut self.ax);
        }
        said.or("batch", self.batch.min(self.bx), &mut self.batch);
    }

    fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::ring_size("rxbisect: ax", self.ax)?;
        sizes::ring_size("rxbisect: bx", self.bx)?;
        sizes::queue_count(queues.saturating_add(self.alloc_queues))?;
        if self.group > queues {
            let g = self.group;
            return Err(SizeError::new(format!(
                "rxbisect: group is {g}; allowed: 0 (all) to {queues}, the queues"
            )));
        }
        if self.batch == 0 || self.batch > self.bx {
            let (batch, bx) = (self.batch, self.bx);
            return Err(SizeError::new(format!(
                "rxbisect: batch is {batch}; allowed: 1 to {bx}, the Bx ring"
            )));
        }
        let (a, groups) = (self.alloc_queues, self.groups(queues));
        if a > 0 && a < groups {
            let what = format!("allowed: 0, or at least 1 for each of the {groups} groups");
            return Err(SizeError::new(format!("rxbisect: alloc_queues is {a}; {what}")));
        }
        Ok(())
    }

    fn posted_buffers(&self, queues: u32) -> u64 {
        let rings = if self.alloc_queues == 0 { queues } else { self.alloc_queues };
        u64::from(self.ax) * u64::from(rings)
    }

    /// A delivered frame's descriptor is posted anew before it has been received.
    fn held_buffers(&self, queues: u32) -> u64 {
        self.posted_buffers(queues) + u64::from(self.bx) * u64::from(queues)
    }

    fn hosts(&self, queues: u32) -> u32 {
        queues + self.alloc_queues
    }
}

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "rxbisect",
        essence: "small Ax rings of empty buffers, shared by all cores of a port without a lock; \
                  large Bx rings of deliveries",
        today: Today::No,
        descriptors: "bx",
        counters: &["foreign", "debts", "faults"],
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

/// An allocation ring's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ax {
    /// The Bx ring that gets its notices; the core that polls it fills this ring.
    pub link: u16,
    /// NUMA node of its buffers.
    pub node: u16,
}

/// A reception ring's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bx {
    /// The Ax rings associated with it; those of another node are never used.
    pub from: Vec<u16>,
    /// NUMA node of its core.
    pub node: u16,
}

/// Links and associations of a port (§4.1). [`Sizes::plan`] makes the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Allocation rings, by number.
    pub ax: Vec<Ax>,
    /// Reception rings, by number: first those of the port's queues, then those that get notices alone.
    pub bx: Vec<Bx>,
}

impl Plan {
    fn validate(&self) -> Result<(), SizeError> {
        let (ax, bx) = (self.ax.len(), self.bx.len());
        sizes::queue_count(u32::try_from(ax.max(bx)).unwrap_or(u32::MAX))?;
        if let Some(a) = self.ax.iter().find(|a| usize::from(a.link) >= bx) {
            let link = a.link;
            return Err(SizeError::new(format!("rxbisect: an Ax is linked to Bx {link}; there are {bx}")));
        }
        if let Some(a) = self.bx.iter().flat_map(|b| &b.from).find(|&&a| usize::from(a) >= ax) {
            return Err(SizeError::new(format!("rxbisect: a Bx is associated with Ax {a}; there are {ax}")));
        }
        Ok(())
    }
}

/// One port: a host half for each Bx ring, and the NIC half.
pub type Port<M> = (Vec<HostHalf<M>>, NicHalf<M>);

/// Binds one port of `queues` with the usual plan. Behind the queues' host halves come those of the
/// dedicated allocators: their `rx_burst` receives nothing and refills.
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
    build_plan(space, sizes, &sizes.plan(queues), buffers)
}

/// Binds one port with links and associations of its own.
///
/// # Errors
/// A size is not allowed, the plan names a ring that is not there, or the space has no room.
pub fn build_plan<S: Space>(
    space: &mut S,
    sizes: &Sizes,
    plan: &Plan,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Port<S::Mem>, SizeError> {
    plan.validate()?;
    let (mut hosts, mut bx) = (Vec::new(), Vec::new());
    for (instance, place) in (0..).zip(&plan.bx) {
        let (reader, writer) = completions::bind(space, [&ENTRY.of(sizes.bx), &INDEX], instance)?;
        hosts.push(HostHalf::new(reader, buffers));
        bx.push(nic::BxRing::new(writer, instance as u16, place, plan, sizes));
    }
    let mut ax = Vec::new();
    for (id, place) in (0..).zip(&plan.ax) {
        let (producer, consumer) =
            empties::bind(space, [&DESCRIPTOR.of(sizes.ax), &DOORBELL], u32::from(id))?;
        hosts[usize::from(place.link)].own(id, producer, sizes.ax);
        ax.push(nic::AxRing::new(consumer, place.link));
    }
    Ok((hosts, NicHalf::new(ax, bx, buffers, sizes)))
}
