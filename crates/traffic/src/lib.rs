//! Packets in: captures replayed, and generated traffic.
//!
//! A [`Workload`] is what a user names; [`Workload::source`] gives one port's stream of
//! [`Arrival`]s, the frames as they come off the wire, in order of time. Every stream is a function
//! of its arguments and the seed alone.

mod cdf;
mod clock;
pub mod dctcp;
mod error;
mod flows;
pub mod fuzz;
mod generate;
mod late;
mod link;
mod partition;
mod phases;
mod powers;
mod rate;
mod read;
mod replay;
mod requests;
mod rewrite;
mod schedule;
mod seed;
mod senders;
mod sizes;
mod spec;
pub mod stats;
mod trace;
mod wire;
mod write;

pub use cdf::Cdf;
pub use error::{SpecError, TraceError};
pub use late::Late;
pub use phases::Phases;
pub use rate::Rate;
pub use schedule::{IDLE, Idle};
pub use senders::{Network, Sender, Senders};
pub use sizes::{RFC_2544, Sizes};
pub use spec::{Arrivals, FlowDraw, KEYS, Spec, Target};
pub use trace::{Left, Skipped, Stamps, Trace, TraceInfo, each_frame, frames};
pub use wire::{Line, MIN_FRAME, OVERHEAD, wire_bytes};
pub use write::write_pcap;

use std::sync::Arc;

/// Bytes of a frame that an [`Arrival`] carries.
pub const HEAD: usize = 128;

/// A frame that has arrived at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When its last bit was received, in picoseconds since the start.
    pub at: u64,
    /// Frame bytes, without FCS.
    pub len: u16,
    /// The number of its flow, an IP 5-tuple, at this port; 0 where it has none. A source that makes new flows without
    /// end numbers them around.
    pub flow: u32,
    /// How many bytes of `head` are known: the rest of the frame is zeros.
    pub head_len: u8,
    /// The frame's first bytes, zeros from `head_len` on.
    pub head: [u8; HEAD],
}

impl Arrival {
    /// Nothing yet: what [`Source::next`] fills.
    pub const EMPTY: Arrival = Arrival { at: 0, len: 0, flow: 0, head_len: 0, head: [0; HEAD] };

    /// The part of the frame that is stored: the first bytes, at most [`HEAD`] and at most `len`.
    pub fn bytes(&self) -> &[u8] {
        &self.head[..HEAD.min(usize::from(self.len))]
    }
}

impl Default for Arrival {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// One port's frames, in order of time.
pub trait Source: Send {
    /// Fills `out` with the next arrival; `false` when there is none and never will be.
    fn next(&mut self, out: &mut Arrival) -> bool;

    /// After how long lengths and gaps repeat; `None` where they never do.
    fn lap(&self) -> Option<Lap> {
        None
    }
}

/// A round of a source that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lap {
    /// Its length, picoseconds.
    pub ps: u64,
    /// Its frames.
    pub frames: u64,
}

/// A host at the far end of a port's wire: what it sends depends on what it gets.
///
/// Times are those of the wire, in picoseconds. A frame changes nothing before [`Peer::delay`] has passed
/// since its last bit. So once a peer has taken all frames that end before a time, it can be asked for all
/// that it sends before that time plus the delay.
pub trait Peer {
    /// A frame has arrived: its last bit at `at`, no earlier than that of the frame before it. `head` are its
    /// first bytes, at most [`HEAD`].
    fn take(&mut self, at: u64, head: &[u8]);

    /// Fills `out` with the next frame if its first bit leaves before `before`; `false` if there is none yet.
    fn next(&mut self, before: u64, out: &mut Arrival) -> bool;

    /// The least time between a frame's last bit and what the host does about it.
    fn delay(&self) -> u64;

    /// Whether everything is transferred.
    fn done(&self) -> bool;

    /// Whether it sends for as long as it is asked.
    fn is_endless(&self) -> bool {
        false
    }

    /// How often the server's host looks at its own congestion, to mark what it receives, ps; `None`: never.
    fn watches(&self) -> Option<u64> {
        None
    }

    /// The card has decided on the frame that came at `at`, by `now`: whether it is stored, and whether it is marked.
    fn met(&mut self, _now: u64, _at: u64, _stored: bool, _marked: bool) {}

    /// The frame that came at `came` has left the server by `at`, or the answer to it.
    fn answered(&mut self, _at: u64, _came: u64) {}

    /// What it has counted.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// What is offered to a server's ports.
#[derive(Clone, Debug)]
pub enum Workload {
    /// A capture, looped; its frames come at its own time stamps, or as stated.
    Pcap(Arc<Trace>, Option<Arrivals>),
    /// Generated traffic.
    Generated(Spec),
}

impl Workload {
    /// The frames of port `port` (from 0) of `ports`, at 100 Gbps of line rate each.
    pub fn source(&self, port: u32, ports: u32, rate: Rate, seed: u64) -> Box<dyn Source> {
        let loads = vec![1; ports as usize];
        self.source_on(Line { port, loads: &loads, gbps: Line::GBPS }, rate, seed)
    }

    /// The frames of one port. A flow stays on one port, and ports have flows in proportion to their loads. A
    /// capture's flows are dealt by their bytes: heaviest first, each to the port that has the fewest for its
    /// load. So a capture is compressed alike on all ports. A generator's flows are dealt by number.
    ///
    /// Each port gets its share of `rate`, at most its line rate. A port beyond the number of flows,
    /// one that does not exist and a rate that is not positive get no frames.
    pub fn source_on(&self, line: Line<'_>, rate: Rate, seed: u64) -> Box<dyn Source> {
        match self {
            Workload::Pcap(trace, arrivals) => {
                Box::new(replay::Replay::new(trace.clone(), *arrivals, line, rate, seed))
            }
            Workload::Generated(spec @ Spec { sizes: Sizes::Kv { put_percent, objects, protocol }, .. }) => {
                Box::new(requests::Requests::new(spec, (*put_percent, *objects, *protocol), line, rate, seed))
            }
            Workload::Generated(spec) => Box::new(generate::Generator::new(spec, line, rate, seed)),
        }
    }
}

impl Spec {
    /// A put of each key that the requests of one port ask for, then nothing; `None` where there are no requests.
    pub fn puts(&self, seed: u64) -> Option<Box<dyn Source>> {
        let Sizes::Kv { objects, protocol, .. } = self.sizes else { return None };
        Some(Box::new(requests::Requests::puts(self, (objects, protocol), seed)))
    }
}
