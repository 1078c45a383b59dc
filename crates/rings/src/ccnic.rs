//! `ccnic`: an interface over a coherent link, to send and to receive (CC-NIC §3). Host and NIC do the same with sides
//! exchanged: what one writes the other reads, from cache to cache.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `blank` | core, then NIC | NIC, then core | an entry, see `ccnic/lane.rs` | empty buffers for the NIC |
//! | `full` | NIC, then core | core, then NIC | an entry | frames that were received |
//! | `tx` | core, then NIC | NIC, then core | an entry | frames to be sent |
//! | `down`, `up` | as `tx`, and as `full` | | an entry | frames of a connection whose sides share a pool |
//! | `NAME.tail`, `NAME.head` | as `ccnic/lane.rs` says | | its own | registers of a lane that has any |
//!
//! **Lanes.** A lane is one direction of descriptors. A signal lies in the entry that it tells of ([`Signal::Inline`], §3.2),
//! and the reader clears the entry when it has read it ([`Back::Clear`]): one line goes to and fro. Up to four descriptors
//! share a line and its signal ([`Layout::Group`]). What the paper compares with are other values of [`Sizes`]: with
//! [`Sizes::e810`] the lanes are those of a card of today.
//!
//! **Pools.** A [`Side`] takes buffers from its own end of a pool of both sides ([`pool::sides`](crate::pool::sides),
//! §3.4), and a buffer passes with its frame. The halves of a port take the host's buffers alone, as those of all other
//! interfaces do: the core posts empty ones, and takes back what was sent.
//!
//! **Marks.** A descriptor of 16 B has room for the buffer, its length, the RSS hash and the packet type, but not for a
//! mark. A frame with a mark has a second descriptor before its own.
//!
//! **Stop and start.** The NIC touches nothing of a stopped queue. A core that drains takes back all that it posted and
//! that no frame came back in. As it starts again the NIC passes over what is posted.
//!
//! One direction: `ccnic/lane.rs`; host halves: `ccnic/host.rs`; NIC halves: `ccnic/nic.rs`; both sides of a
//! connection: `ccnic/side.rs`.

mod descriptor;
mod host;
mod lane;
mod nic;
mod shape;
mod side;

use memory::{Memory, Side as Of, Space};

use crate::contract::{About, Choice, Halves, Param, Parameters, Sends, Spec, Today, TxHalves, TxSizes};
use crate::pool::sides;
use crate::sizes::{self, SizeError};
use crate::tx;
use lane::{Names, Plan};
use shape::shaped;

pub use host::{HostHalf, HostTx};
pub use nic::{NicHalf, NicTx};
pub use side::{Side, Sides};

// ## Words

const fn lane(names: [&'static str; 3], writer: Of, reader: Of) -> Names {
    let [entry, tail, head] = names;
    Names { entry, tail, head, writer, reader }
}

const BLANK: Names = lane(["ccnic.blank", "ccnic.blank.tail", "ccnic.blank.head"], Of::Host, Of::Nic);
const FULL: Names = lane(["ccnic.full", "ccnic.full.tail", "ccnic.full.head"], Of::Nic, Of::Host);
const TX: Names = lane(["ccnic.tx", "ccnic.tx.tail", "ccnic.tx.head"], Of::Host, Of::Nic);
const DOWN: Names = lane(["ccnic.down", "ccnic.down.tail", "ccnic.down.head"], Of::Host, Of::Nic);
const UP: Names = lane(["ccnic.up", "ccnic.up.tail", "ccnic.up.head"], Of::Nic, Of::Host);

// ## Sizes

/// How descriptors lie in lines (§3.2, Fig. 14b).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Up to four of 16 B in a line, with one signal.
    Group,
    /// One of 16 B in a line.
    Pad,
    /// Four of 16 B in a line, each with a signal.
    Pack,
    /// Up to eight of 8 B in a line, with one signal: no room for hash and type.
    Dense,
}

impl Choice for Layout {
    const ALL: &'static [(&'static str, Layout)] =
        &[("group", Layout::Group), ("pad", Layout::Pad), ("pack", Layout::Pack), ("dense", Layout::Dense)];
}

/// Where the signal is that tells of an entry (§3.2, Fig. 14a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// In the entry.
    Inline,
    /// In a word of its own, which tells of all entries below it.
    Register,
}

impl Choice for Signal {
    const ALL: &'static [(&'static str, Signal)] =
        &[("inline", Signal::Inline), ("register", Signal::Register)];
}

/// How the writer learns that an entry is read, where signals are in entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// The reader clears it.
    Clear,
    /// The reader tells how far it has read, once for an eighth of the ring. Signals flip from pass to pass.
    Credit,
}

impl Choice for Back {
    const ALL: &'static [(&'static str, Back)] = &[("clear", Back::Clear), ("credit", Back::Credit)];
}

/// Whose memory a lane lies in (§3.2, Fig. 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Homing {
    /// Of the side that writes it.
    Writer,
    /// Of the side that reads it.
    Reader,
    /// The host's.
    Host,
    /// The NIC's.
    Nic,
}

impl Choice for Homing {
    const ALL: &'static [(&'static str, Homing)] = &[
        ("writer", Homing::Writer),
        ("reader", Homing::Reader),
        ("host", Homing::Host),
        ("nic", Homing::Nic),
    ];
}

impl Homing {
    const fn of(self, names: &Names) -> Of {
        match self {
            Homing::Writer => names.writer,
            Homing::Reader => names.reader,
            Homing::Host => Of::Host,
            Homing::Nic => Of::Nic,
        }
    }
}

/// Sizes of a queue, or of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a lane.
    pub ring: u32,
    /// How they lie in lines.
    pub layout: Layout,
    /// Where signals are.
    pub signal: Signal,
    /// How entries come back.
    pub back: Back,
    /// Whose memory lanes lie in.
    pub homing: Homing,
}

impl Default for Sizes {
    /// The paper's (§3.2).
    fn default() -> Sizes {
        Sizes {
            ring: 1024,
            layout: Layout::Group,
            signal: Signal::Inline,
            back: Back::Clear,
            homing: Homing::Writer,
        }
    }
}

impl Sizes {
    /// A card of today over the same link (§5.1): descriptors of 16 B, head and tail registers, all in host memory.
    pub const fn e810(ring: u32) -> Sizes {
        Sizes {
            ring,
            layout: Layout::Pack,
            signal: Signal::Register,
            back: Back::Credit,
            homing: Homing::Host,
        }
    }

    const fn plan(&self, names: &Names) -> Plan {
        Plan { ring: self.ring, signal: self.signal, back: self.back, home: self.homing.of(names) }
    }

    fn check(&self) -> Result<(), SizeError> {
        sizes::ring_size("ccnic: ring", self.ring)
    }
}

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes { ring, layout, signal, back, homing } = self;
        vec![
            Param::ring("ring", ring, "descriptors of a lane"),
            Param::new("layout", layout, "how descriptors lie in lines"),
            Param::new("signal", signal, "where the signal of an entry is"),
            Param::new("back", back, "how an entry comes back to its writer"),
            Param::new("homing", homing, "whose memory a lane lies in"),
        ]
    }

    fn validate(&self, _queues: u32) -> Result<(), SizeError> {
        if self.layout == Layout::Dense {
            let what = "ccnic: layout is dense, which has no room for hash and type of a frame";
            return Err(SizeError::new(format!("{what}; allowed: group, pad, pack")));
        }
        self.check()
    }

    fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(queues)
    }

    fn own_buffers(&self) -> Option<u32> {
        Some(self.ring)
    }
}

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "ccnic",
        essence: "lanes of descriptors over a coherent link, with signals in them",
        today: Today::No,
        descriptors: "ring",
        counters: &["debts", "faults"],
        levels: &[],
        many_pollers: false,
        queue_order: true,
        pointers: true,
        coherent: true,
        not_emulated: Some("the card below would serve the lanes to send"),
    };
    type Host<M: Memory> = HostHalf<M>;
    type Nic<M: Memory> = NicHalf<M>;

    fn build<S: Space>(
        &self,
        space: &mut S,
        queues: u32,
        buffers: <S::Mem as Memory>::Buffers,
    ) -> Result<Halves<Self, S::Mem>, SizeError> {
        self.validate(queues)?;
        let (mut hosts, mut rings) = (Vec::new(), Vec::new());
        for q in 0..queues {
            shaped!(self.layout, W, N, D, wrap => {
                let (blanks, empties) = lane::bind::<S, W, N, D>(space, &BLANK, &self.plan(&BLANK), q)?;
                let (frames, completions) = lane::bind::<S, W, N, D>(space, &FULL, &self.plan(&FULL), q)?;
                hosts.push(HostHalf(wrap(host::Queue::new(blanks, completions, self.ring, buffers))));
                rings.push(wrap(nic::Queue::new(empties, frames, buffers)));
            });
        }
        Ok((hosts, NicHalf { rings }))
    }
}

impl Sends for Sizes {
    type TxHost<M: Memory> = HostTx<M>;
    type TxNic<M: Memory> = NicTx<M>;

    fn transmit<S: Space>(
        &self,
        space: &mut S,
        sizes: TxSizes,
        queues: u32,
    ) -> Result<TxHalves<Self, S::Mem>, SizeError> {
        self.validate(queues)?;
        sizes.validate(queues)?;
        let (mut hosts, mut rings) = (Vec::new(), Vec::new());
        for q in 0..queues {
            shaped!(self.layout, W, N, D, wrap => {
                let plan = Plan { ring: sizes.ring, ..self.plan(&TX) };
                let (posts, sends) = lane::bind::<S, W, N, D>(space, &TX, &plan, q)?;
                hosts.push(HostTx(wrap(host::TxQueue::new(posts, sizes.ring))));
                rings.push(nic::TxQueue(wrap(nic::Posted::new(sends))));
            });
        }
        Ok((hosts, tx::NicTx::new(rings, sizes.complete_every)))
    }
}

/// Connections between both sides, each with lanes both ways and a pool of its own: connection `c` has the buffers
/// `c * pool.count..(c + 1) * pool.count` of `buffers`.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn connect<S: Space>(
    space: &mut S,
    sizes: &Sizes,
    pool: &sides::Sizes,
    connections: u32,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Vec<Sides<S::Mem>>, SizeError> {
    sizes.check()?;
    if sizes.layout == Layout::Dense && u64::from(pool.count) * u64::from(connections) > 1 << 24 {
        let what = format!("{} buffers for {connections} dense connections", pool.count);
        return Err(SizeError::new(format!("ccnic: {what}; allowed: {} together", 1 << 24)));
    }
    let mut all = Vec::new();
    for (c, (host_end, nic_end)) in (0..).zip(sides::build(space, pool, connections, buffers)?) {
        shaped!(sizes.layout, W, N, D, wrap => {
            let down = lane::bind::<S, W, N, D>(space, &DOWN, &sizes.plan(&DOWN), c)?;
            let up = lane::bind::<S, W, N, D>(space, &UP, &sizes.plan(&UP), c)?;
            let host = Side::new(wrap(side::Lanes { tx: down.0, rx: up.1 }), host_end, buffers);
            let nic = Side::new(wrap(side::Lanes { tx: up.0, rx: down.1 }), nic_end, buffers);
            all.push((host, nic));
        });
    }
    Ok(all)
}
