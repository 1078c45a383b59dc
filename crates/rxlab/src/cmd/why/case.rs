//! What a diagnosis begins from, and what it ends in.

use serde::Serialize;

use super::counters::Place;
use super::dump::{Dump, Thread};
use super::programs::{self, Named};
use super::rates::Rates;

/// The thread in which driver net_rxlab plays the card: it is none of the program's cores.
const CARD_THREAD: &str = "rxlab-nic";
/// Of a polling thread's time the share that it has to run, below which somebody else has its CPU.
const ALONE: f64 = 0.9;

/// A program between two looks.
pub(super) struct Case<'a> {
    /// What was told.
    pub dump: &'a Dump,
    /// The program's words.
    pub named: Named<'a>,
    /// Its ports.
    pub rates: Vec<Rates>,
    /// Seconds between the first look and the last.
    pub seconds: f64,
}

/// Why frames are lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The pool has no buffer left to post.
    PoolTooSmall,
    /// One queue is offered more than its core can do, others less.
    QueueImbalance,
    /// One core does less than others under the same load.
    SlowCore,
    /// All cores of the port have too little time.
    TooLittleCpu,
    /// Rings hold more than the cache ways that DDIO fills, and the cores wait for memory.
    RingsBeyondDdio,
    /// More than rings hold came at once, with time to spare.
    Bursts,
    /// The card's own buffer overflows.
    CardBuffer,
    /// The card's PCI link is narrower or slower than it could be.
    PcieWidth,
    /// A port's link is down.
    PortDown,
    /// What was received is not sent.
    TransmitBlocked,
    /// Frames longer than what takes them.
    FramesTooLong,
    /// Damaged frames.
    BadFrames,
    /// Filters or rules drop them.
    Filtered,
    /// A rented machine's allowance is used up.
    Allowance,
}

impl Kind {
    /// The heading of a diagnosis.
    pub(super) fn words(self) -> &'static str {
        match self {
            Kind::PoolTooSmall => "the pool is too small",
            Kind::QueueImbalance => "imbalance over queues",
            Kind::SlowCore => "a slow core",
            Kind::TooLittleCpu => "too little CPU",
            Kind::RingsBeyondDdio => "rings too large for DDIO",
            Kind::Bursts => "bursts longer than the rings",
            Kind::CardBuffer => "the card's buffer overflows",
            Kind::PcieWidth => "PCIe link below what the card can do",
            Kind::PortDown => "a port is down",
            Kind::TransmitBlocked => "transmit is blocked",
            Kind::FramesTooLong => "frames longer than the buffer",
            Kind::BadFrames => "damaged frames",
            Kind::Filtered => "filters drop them",
            Kind::Allowance => "the machine's allowance is used up",
        }
    }
}

/// A cause, with what speaks for it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Cause {
    /// Which.
    pub cause: Kind,
    /// At which port.
    pub port: u16,
    /// Frames that it explains.
    pub frames: u64,
    /// What speaks for it, with the numbers.
    pub evidence: Vec<String>,
    /// The line for the program's options, or what else to do.
    pub set: String,
    /// What the cores of the port were asked for, where they were the limit.
    #[serde(skip)]
    pub asked: Option<Asked>,
}

/// What cores were asked for, and what they did.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Cores that poll the queues.
    pub cores: u32,
    /// Frames a second that came for them.
    pub offered: f64,
    /// Frames a second that they received.
    pub done: f64,
    /// Bytes of a frame.
    pub frame_bytes: f64,
    /// Queues of all of them.
    pub queues: u32,
    /// Entries of the ring of a queue, where known.
    pub entries: Option<u32>,
    /// The share of the time in which these cores had their CPU.
    pub share: f64,
    /// Buffers of the pool, where it is what lacks.
    pub pool: Option<u64>,
}

impl Case<'_> {
    /// The share of the time in which a thread ran, and in which it wanted to.
    pub(super) fn time_of(&self, thread: &Thread) -> Option<(f64, f64)> {
        let first = self.dump.looks.first()?.threads.iter().find(|t| t.tid == thread.tid)?;
        let share = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9 / self.seconds;
        let run = share(first.run_ns, thread.run_ns);
        Some((run, run + share(first.wait_ns, thread.wait_ns)))
    }

    /// The threads that poll, of the lcores named, or of all that do.
    pub(super) fn polling(&self, lcores: &[u32]) -> Vec<&Thread> {
        let Some(look) = self.dump.looks.last() else { return Vec::new() };
        if !lcores.is_empty() {
            return lcores.iter().filter_map(|lcore| self.named.thread(look, *lcore)).collect();
        }
        let poller = |t: &&Thread| {
            let named =
                programs::worker(t).is_some() || t.name.starts_with("pmd-") || t.tid == self.dump.program.pid;
            named && t.name != CARD_THREAD && self.time_of(t).is_some_and(|(_, wanted)| wanted > ALONE)
        };
        look.threads.iter().filter(poller).collect()
    }

    /// Those of the threads whose CPU others have for part of the time, in words.
    pub(super) fn starved(&self, threads: &[&Thread]) -> Vec<String> {
        let one = |t: &&Thread| {
            let (run, wanted) = self.time_of(t)?;
            let told = || {
                format!(
                    "thread {} on CPU {} ran {:.0}% of the time and waited {:.0}% for its CPU: others run there",
                    t.name,
                    t.cpus,
                    run * 100.0,
                    (wanted - run) * 100.0
                )
            };
            (run < ALONE && wanted > ALONE).then(told)
        };
        threads.iter().filter_map(one).collect()
    }

    /// Frames received and not sent, beyond what counters of transmission tell of.
    pub(super) fn vanished(&self) -> u64 {
        let sum = |f: fn(&Rates) -> u64| self.rates.iter().map(f).sum::<u64>();
        let [received, sent] = [sum(|r| r.frames[0]), sum(|r| r.frames[1])];
        received.saturating_sub(sent + sum(|r| r.lost(&[Place::Transmit])))
    }

    /// Frames received by all ports.
    pub(super) fn received(&self) -> u64 {
        self.rates.iter().map(|r| r.frames[0]).sum()
    }
}
