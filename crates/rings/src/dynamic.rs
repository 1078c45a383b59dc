//! `dynamic`: a shared ring that turns itself off under imbalance (rxbisect §3.2, §6.2). Each queue has the
//! rings of `shring` and of `privring`, both filled; one kind receives, the other rests, which costs memory
//! but no cache. What to use is decided on the host, by trial (`dynamic/judge.rs`).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | those of `privring` and `shring` | | | | as there |
//! | `tally` | NIC | its core, who decides | its own | release -> acquire: completions from before its turn are written |
//! | `taken` | its core | NIC | a register | ring -> acquire: the ring that the core left is read to its end |
//! | `received` | its core | who decides | its own | release -> relaxed: a number, nothing hangs on it |
//! | `control` | who decides | who decides | its own | `changes << 1 \| locked`: swap -> release of the lock |
//! | `judge` | who decides, under the lock | who decides next | its own | body, published by the lock's release |
//! | `asked` | who decides, under the lock | NIC | a register | ring -> relaxed: a wish, nothing hangs on it |
//!
//! **Turns.** `asked` counts changes of mode; odd is private. A queue goes over to its other ring in a *turn*:
//!
//! 1. Before a delivery the NIC compares `asked` with the ring that the queue is on. It takes a turn if they
//!    differ and the core has `taken` the last turn, so it is at most one turn ahead.
//! 2. The NIC releases the number of the turn in `tally`. From now on the queue's frames go to the other ring.
//! 3. A core that polls in vain acquires `tally`. If there was a turn, it sees all that the NIC wrote before.
//! 4. The core polls the old ring until that is in vain again: the old ring is read to its end.
//! 5. The core writes the number of the turn to `taken`, and polls the other ring.
//!
//! By 4 a queue's frames keep their order. Queues turn one by one: a core that stands still delays its own turn
//! and nobody else's.
//!
//! **Who decides.**
//!
//! 1. A core looks at the clock every few bursts that receive frames or find a new `tally`.
//! 2. A few times in a round it tries the lock of `control`. Who finds it free judges for all cores that share
//!    the ring, so no core has to run for another one to decide.
//! 3. It adds up what the NIC counted and what the cores `received`. The NIC writes
//!    `turn << 56 | dropped << 28 | offered` to `tally` every so many frames.
//! 4. It leaves what it has seen in `judge`. If the mode is to change, it rings `asked`. Then it frees the lock.
//!
//! **Stop and start.** Both rings of a queue stop and start together, and a core that drains takes the last
//! turn, so that both sides agree on the ring that the queue starts with.
//!
//! **Outcomes.** Those of the ring in use.
//!
//! Host half: `dynamic/host.rs`, and `dynamic/control.rs`, who decides; NIC half: `dynamic/nic.rs`.

mod control;
mod host;
pub mod judge;
mod nic;

use memory::{Class, Field, Memory, Ps, Side, Space};

use crate::contract::{About, Halves, Param, Parameters, Place, Said, Spec, Today};
use crate::parts::empties;
use crate::parts::lock::{self, Locked};
use crate::sizes::{self, SizeError};
use crate::{privring, shring};
use control::{Control, LOOKS};
use judge::{COUNTER, Round};
use nic::{Group, Queue};

pub use host::HostHalf;
pub use nic::NicHalf;

// ## Words

const TALLY: Field = Field { reader: Side::Host, ..signal("dynamic.tally", Side::Nic) };
const TAKEN: Field = empties::doorbell("dynamic.taken");
const RECEIVED: Field = Field { reader: Side::Host, ..signal("dynamic.received", Side::Host) };
const CONTROL: Field = lock::field("dynamic.control");
const JUDGE: Field =
    Field { width: 8, class: Class::Body, reader: Side::Host, ..signal("dynamic.judge", Side::Host) };
const ASKED: Field = empties::doorbell("dynamic.asked");

const fn signal(name: &'static str, writer: Side) -> Field {
    Field { name, len: 1, width: 1, class: Class::Signal, writer, reader: Side::Both, home: Side::Host }
}

/// A number of `tally`.
const MASK: u64 = (1 << COUNTER) - 1;
/// Where the turn stands in `tally`, and its bits.
const TURN: u32 = 2 * COUNTER;
const TURNS: u64 = 0xff;

// ## Sizes

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a core's own ring, and of a shared one.
    pub ring: u32,
    /// Cores that share one ring; the last ring may have fewer.
    pub shared_by: u32,
    /// Entries of a core's completion ring for shared buffers.
    pub completions: u32,
    /// How a core frees a shared ring's lock.
    pub unlock: shring::Unlock,
    /// Frames of a queue between two reports of the NIC.
    pub report: u32,
    /// The shortest time over which a mode is judged.
    pub round: Ps,
}

impl Default for Sizes {
    /// Rings as `privring` and `shring` have them. A report of 8 B every 32 frames is no load for any link,
    /// and errs by less than 0.5% of a ring; a millisecond is longer than a burst.
    fn default() -> Sizes {
        let shring::Sizes { ring, shared_by, completions, unlock } = shring::Sizes::default();
        Sizes { ring, shared_by, completions, unlock, report: 32, round: Ps::from_us(1000) }
    }
}

impl Sizes {
    fn shared(&self) -> shring::Sizes {
        shring::Sizes {
            ring: self.ring,
            shared_by: self.shared_by,
            completions: self.completions,
            unlock: self.unlock,
        }
    }

    fn private(&self) -> privring::Sizes {
        privring::Sizes { ring: self.ring }
    }
}

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes { ring, shared_by, completions, unlock, report, round } = self;
        vec![
            Param::ring("ring", ring, "descriptors of a core's own ring, and of a shared one"),
            Param::new("shared_by", shared_by, "cores that share one"),
            Param::entries(
                "completions",
                completions,
                "entries of a core's completion ring, for shared buffers",
            ),
            Param::new("unlock", unlock, "how a core frees a shared ring's lock"),
            Param::new("report", report, "frames of a queue between two reports of the card"),
            Param::new("round_ns", round, "the shortest time over which a kind is judged"),
        ]
    }

    fn fit(&mut self, place: &Place, said: Said<'_>) {
        said.or("ring", place.descriptors.unwrap_or(self.ring), &mut self.ring);
        said.or("shared_by", place.queues, &mut self.shared_by);
        said.or("report", self.report.min(self.ring), &mut self.report);
    }

    fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::ring_size("dynamic: ring", self.ring)?;
        self.shared().validate(queues)?;
        if self.report == 0 || self.report > self.ring {
            let (n, ring) = (self.report, self.ring);
            return Err(SizeError::new(format!("dynamic: report is {n}; allowed: 1 to {ring}, the ring")));
        }
        Ok(())
    }

    /// Both kinds are posted.
    fn posted_buffers(&self, queues: u32) -> u64 {
        self.private().posted_buffers(queues) + self.shared().posted_buffers(queues)
    }

    fn share(&mut self, most: u32) {
        self.shared_by = self.shared_by.min(most);
    }

    fn round(&self) -> Ps {
        self.round
    }
}

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "dynamic",
        essence: "both a `shring` and private rings; one kind receives, decided by trial",
        today: Today::No,
        descriptors: "completions",
        counters: &[
            "by_shared",
            "by_private",
            "trials",
            "switches",
            "lock_taken",
            "lock_waits",
            "debts",
            "faults",
        ],
        levels: &[],
        many_pollers: false,
        queue_order: true,
        pointers: true,
        coherent: false,
        not_emulated: Some("the physical rings would hold the buffers that rest"),
    };
    type Host<M: Memory> = Box<HostHalf<M>>;
    type Nic<M: Memory> = NicHalf<M>;

    fn build<S: Space>(
        &self,
        space: &mut S,
        queues: u32,
        buffers: <S::Mem as Memory>::Buffers,
    ) -> Result<Halves<Self, S::Mem>, SizeError> {
        let (hosts, nic) = build(space, self, queues, buffers)?;
        // A half is as large as the two together.
        Ok((hosts.into_iter().map(Box::new).collect(), nic))
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
    let (shared_hosts, shared) = shring::build(space, &sizes.shared(), queues, buffers)?;
    let (private_hosts, private) = privring::build(space, &sizes.private(), queues, buffers)?;
    let mut halves = shared_hosts.into_iter().zip(private_hosts);
    let (mut hosts, mut groups, mut nic_queues) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..sizes.shared().rings(queues) {
        let control = space.words(&CONTROL, group)?;
        let judge = space.words(&JUDGE, group)?;
        let asked = space.words(&ASKED, group)?;
        groups.push(Group::new(asked));
        let first = group * sizes.shared_by;
        let cores = sizes.shared_by.min(queues - first);
        let mut counters = Vec::new();
        for q in first..first + cores {
            counters.push((space.words(&TALLY, q)?, space.words(&RECEIVED, q)?));
        }
        let round = Round { time: sizes.round, frames: u64::from(cores) * u64::from(sizes.ring) };
        for (q, &(tally, received)) in (first..).zip(&counters) {
            let Some((shared, private)) = halves.next() else { break };
            let taken = space.words(&TAKEN, q)?;
            nic_queues.push(Queue::new(group as usize, tally, taken));
            let (lock, counters) = (Locked::new(control), counters.clone());
            let control = Control { lock, judge, asked, counters, round, bursts: sizes.report / LOOKS };
            hosts.push(HostHalf::new(shared, private, [tally, taken, received], control));
        }
    }
    Ok((hosts, NicHalf::new((shared, private), groups, nic_queues, sizes.report)))
}
