//! `ceio`: credits worth the cache's share, and an elastic buffer in the card's own memory (CEIO §4). A frame that
//! has a credit goes to host memory at once, as in `privring`: the *fast path*. Any other is kept by the card until
//! its core asks for it: the *slow path*. Nothing drops until the card's memory is full.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor`, `doorbell` | core | NIC | as in `parts/empties.rs` | empty buffers, for frames of both paths |
//! | `fast` | NIC | core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//! | `slow` | NIC | core | 2 entries | the same, of a frame that was kept; entries of `fast` that it follows are valid too |
//! | `kept` | NIC | core | its own | release -> relaxed: `frames << 1 \| congested`, a number, nothing hangs on it |
//! | `asked` | core | NIC | a register | ring -> acquire: `wanted << 32 \| taken` of `slow`; the entries taken are read |
//! | `released` | core | NIC | a register | ring -> acquire: entries of `fast` whose frames are processed |
//! | memory | NIC | NIC | 2 KiB slots, at home with the NIC | nobody else has it |
//!
//! **Flows.** A flow is what has credits and a path. Each queue has `flows` of them, 1 unless said: §4.1 maps each
//! flow to a queue. With more, frames are told apart by their RSS hash, so frames of one connection are of one flow
//! in any capture. A flow is established by its first frame. Numbers of the card (`Frame::flow`) are not
//! used: they are unbounded, and two flows may share credits without harm.
//!
//! **Credits.** A frame on the fast path spends a credit of its flow (`ceio/credits.rs`, Algorithm 1). `released`
//! gives it back, lazily: once for `release` frames, or when a poll finds nothing, since all is processed then
//! (§4.1). A core processes a frame until its next receive call.
//!
//! **Software ring.** The two rings `fast` and `slow` have a producer each, and a core as their one consumer, who
//! hands frames on in the order of each flow. It needs no sorting, by *phase exclusivity* (§4.2):
//!
//! 1. A flow leaves the fast path when it has no credit or no buffer is posted. From then on all its frames are
//!    kept, so those in `fast` are older than those that are kept.
//! 2. The card writes a kept frame to a host buffer when its core has `wanted` it, and then its entry of `slow`.
//!    That tells how many entries of `fast` were there when the frame came, and the core reads those first.
//! 3. A flow comes back to the fast path when its core has `taken` all its kept frames, not before.
//!
//! Flows of one queue change their paths each for itself. Kept frames of a queue stay in the order in which they came.
//! A core asks for them when it has read `fast` to its end, in a call that took some, and otherwise in every eighth call.
//!
//! **Draining.** The DMA of kept frames has no credits. So a core asks for no more than `drain` of them at a time (Q2),
//! and the flow's fast path pauses meanwhile by 3.
//!
//! **Activity.** A flow is inactive if it had no frame for one to two times `idle`, or if more than `release` of its frames were
//! unread in `fast` when the first of its kept frames was drained and none was released meanwhile (Q3). Its credits
//! go to the others. Every `recall` one inactive flow with frames comes back, in turn.
//!
//! **Kinds.** A flow that bypasses cores leaves its frames unread for long, so it is to have no credits (§4.1). Who knows
//! it says so: by `kind` for all flows of the port, or by `bypass_mark`, with which a flow rule marks its frames. Such
//! frames are kept and drained as those without a credit, and give up what credits their flow has. Where all flows of the
//! port bypass cores, the card's cores drain frames by themselves, as far as buffers are posted: nobody has to ask (Q2).
//! Marked frames and others that share a flow, by their queue or hash, keep one order: so the others take the slow path
//! meanwhile. Metadata lies where a mark would, and the same number counts as one. Otherwise flows are `detected` by their
//! unread frames, as above; `involved` ones are not.
//!
//! **Congestion.** A queue is congested while its frames are kept faster than they are drained, and all are from half of
//! the card's memory on. `kept` says so, and the card marks what comes for them ([`Nic::is_congested`](crate::Nic)), which
//! a sender's congestion control hears (Q2).
//!
//! **Stop and start.** The card forgets what it kept for a stopped queue; what was published is the core's to drain.
//! Both stand at the sum of what both rings have read, as in `parts/empties.rs`.
//!
//! **Outcomes.** `nic_memory_full`: the card's memory is full. `no_buffer`: before the queue's first buffer is posted
//! nobody knows how long a frame may be.
//!
//! Credits: `ceio/credits.rs`; flows: `ceio/flows.rs`, their kinds: `ceio/kinds.rs`, priorities: `ceio/priority.rs`;
//! the card's memory: `ceio/elastic.rs`; its congestion: `ceio/behind.rs`; host half: `ceio/host.rs`;
//! NIC half: `ceio/nic.rs`, and the entries that it writes: `ceio/written.rs`.

mod behind;
pub mod credits;
mod elastic;
mod flows;
mod host;
mod kinds;
mod nic;
mod priority;
mod written;

use memory::{Class, Field, Memory, Ps, Side, Space};

use crate::contract::{About, Halves, Param, Parameters, Place, Said, Spec, Today, Value};
use crate::parts::{completions, empties};
use crate::sizes::{self, SizeError};
use elastic::Elastic;
use flows::Flows;

pub use elastic::SLOT;
pub use host::HostHalf;
pub use kinds::{Kind, Mark};
pub use nic::NicHalf;
pub use priority::Priority;

// ## Words

const DESCRIPTOR: Field = empties::descriptor("ceio.descriptor", 1);
const DOORBELL: Field = empties::doorbell("ceio.doorbell");
const FAST: Field = completions::entries("ceio.fast", 1);
const SLOW: Field = completions::entries("ceio.slow", 1);
const KEPT: Field = Field {
    name: "ceio.kept",
    len: 1,
    width: 1,
    class: Class::Signal,
    writer: Side::Nic,
    reader: Side::Host,
    home: Side::Host,
};
const ASKED: Field = empties::doorbell("ceio.asked");
const RELEASED: Field = empties::doorbell("ceio.released");

// ## Sizes

/// The card's memory, in slots of [`SLOT`] bytes; as text in MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicMemory {
    /// How many.
    pub slots: u32,
}

/// Slots of a MiB.
const MIB: u32 = (1 << 20) / SLOT;

impl Value for NicMemory {
    fn text(&self) -> String {
        (self.slots / MIB).to_string()
    }

    fn number(&self) -> Option<u64> {
        Some(u64::from(self.slots / MIB))
    }

    fn set(&mut self, text: &str) -> bool {
        let slots = text.parse().ok().and_then(|mib: u32| mib.checked_mul(MIB));
        slots.map(|slots| self.slots = slots).is_some()
    }

    fn allowed(&self) -> String {
        "a whole number of MiB".into()
    }
}

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a core's ring, and entries of its two rings of frames.
    pub ring: u32,
    /// Flows of a queue.
    pub flows: u32,
    /// Credits of the port: the LLC's share for I/O, in buffers.
    pub credits: u32,
    /// The card's memory.
    pub nic_memory: NicMemory,
    /// Frames that a core processes before it releases their credits.
    pub release: u32,
    /// Kept frames of a queue that are on their way at a time.
    pub drain: u32,
    /// Which flows the fast path is for.
    pub priority: Priority,
    /// A flow without frames for so long is inactive.
    pub idle: Ps,
    /// The time between two flows that become active again.
    pub recall: Ps,
    /// What is known of the flows.
    pub kind: Kind,
    /// The mark of frames whose flows bypass cores.
    pub bypass_mark: Mark,
}

impl Default for Sizes {
    /// 3000 credits are 6 MB of 2 KB buffers, and a second of silence makes a flow inactive (§4.1). A batch is one
    /// receive call of usual size. The period of recalls and how much memory a card gives are chosen here: the paper
    /// tells neither.
    fn default() -> Sizes {
        Sizes {
            ring: 1024,
            flows: 1,
            credits: 3000,
            nic_memory: NicMemory { slots: 64 * MIB },
            release: 32,
            drain: 32,
            priority: Priority::Lazy,
            idle: Ps::from_us(1_000_000),
            recall: Ps::from_us(100),
            kind: Kind::Detected,
            bypass_mark: Mark(None),
        }
    }
}

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes {
            ring,
            flows,
            credits,
            nic_memory,
            release,
            drain,
            priority,
            idle,
            recall,
            kind,
            bypass_mark,
        } = self;
        vec![
            Param::ring("ring", ring, "descriptors of a core"),
            Param::new("flows", flows, "flows of a queue, told apart by their hash"),
            Param::new("credits", credits, "buffers of the port that the cache has room for"),
            Param::new("nic_memory", nic_memory, "MiB of the card's own memory"),
            Param::new("release", release, "frames that a core processes before it releases their credits"),
            Param::new("drain", drain, "kept frames of a queue that are on their way at a time"),
            Param::new(
                "priority",
                priority,
                "how flows come to have the fast path: by lazy release, or by PIAS",
            ),
            Param::new("idle_ns", idle, "a flow without frames for so long is inactive"),
            Param::new("recall_ns", recall, "time between two flows that become active again"),
            Param::new("kind", kind, "whether flows that bypass cores are detected, or all are of a kind"),
            Param::new("bypass_mark", bypass_mark, "mark of frames whose flows bypass cores"),
        ]
    }

    fn fit(&mut self, place: &Place, said: Said<'_>) {
        said.or("ring", place.descriptors.unwrap_or(self.ring), &mut self.ring);
        said.or("credits", place.cached.unwrap_or(self.credits), &mut self.credits);
        said.or("drain", self.drain.min(self.ring), &mut self.drain);
    }

    fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::ring_size("ceio: ring", self.ring)?;
        let within = |what: &str, n: u32, most: u32, of: &str| {
            let bad = || SizeError::new(format!("ceio: {what} is {n}; allowed: 1 to {most}{of}"));
            if (1..=most).contains(&n) { Ok(()) } else { Err(bad()) }
        };
        if !self.flows.is_power_of_two() {
            let n = self.flows;
            return Err(SizeError::new(format!("ceio: flows is {n}; allowed: a power of two")));
        }
        within("flows", self.flows, (FLOWS / queues.max(1)).max(1), ", the port's 4096 among its queues")?;
        within(
            "nic_memory",
            self.nic_memory.slots / MIB + u32::from(self.nic_memory.slots > 0),
            16384,
            " MiB",
        )?;
        within("release", self.release, u32::MAX, "")?;
        within("drain", self.drain, self.ring, ", the ring")
    }

    fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(queues)
    }

    fn own_buffers(&self) -> Option<u32> {
        Some(self.ring)
    }

    fn card_bytes(&self) -> u64 {
        u64::from(self.nic_memory.slots) * u64::from(SLOT)
    }
}

/// Flows of a port.
const FLOWS: u32 = sizes::MOST_QUEUES;

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "ceio",
        essence: "credits for the cache's share; frames beyond them wait in the card's own memory",
        today: Today::No,
        descriptors: "ring",
        counters: &["slow", "congested", "debts", "faults"],
        levels: &["nic_memory_slots", "nic_memory_most", "credits_in_use"],
        many_pollers: false,
        queue_order: false,
        pointers: false,
        coherent: false,
        not_emulated: Some("its card keeps frames in memory of its own, which a core has not"),
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
    let elastic = Elastic::bind(space, sizes.nic_memory.slots)?;
    let (mut hosts, mut rings) = (Vec::new(), Vec::new());
    for q in 0..queues {
        let (producer, consumer) = empties::bind(space, [&DESCRIPTOR.of(sizes.ring), &DOORBELL], q)?;
        let fast = space.words(&FAST.of(sizes.ring), q)?;
        let slow = space.words(&SLOW.of(sizes.ring), q)?;
        let told = [space.words(&KEPT, q)?, space.words(&ASKED, q)?, space.words(&RELEASED, q)?];
        hosts.push(HostHalf::new(producer, [fast, slow], told, buffers, sizes));
        rings.push(nic::Queue::new(consumer, [fast, slow], told, sizes, q));
    }
    let flows = Flows::new(sizes, queues);
    Ok((hosts, NicHalf::new(rings, flows, elastic, buffers)))
}
