//! What a loopback counts, and what comes of it.

use hdrhistogram::{CreationError, Histogram};
use memory::Ps;

use super::Setup;
use crate::machine::coherence::link::Crossed;
use crate::profile::Server;

/// Digits that a latency keeps, and the longest one that is kept apart, ps: 1 s.
const DIGITS: u8 = 3;
const LONGEST: u64 = 1_000_000_000_000;

/// Counted by all threads.
pub(super) struct Log {
    /// Frames that came back.
    pub received: u64,
    /// Frames that a NIC's thread had no room or no buffer for.
    pub lost: u64,
    /// Frames that came back with other bytes than were sent.
    pub wrong: u64,
    /// From the time in a frame until its last byte is read, ps.
    pub latency: Histogram<u64>,
    /// Hosts that have not received all that they sent.
    pub under_way: u32,
}

impl Log {
    pub(super) fn new(pairs: u32) -> Result<Log, CreationError> {
        Ok(Log {
            received: 0,
            lost: 0,
            wrong: 0,
            latency: Histogram::new_with_max(LONGEST, DIGITS)?,
            under_way: pairs,
        })
    }

    /// Counts from here on.
    pub(super) fn restart(&mut self) {
        (self.received, self.lost, self.wrong) = (0, 0, 0);
        self.latency.reset();
    }
}

/// What a side gets over the link for each frame, there and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accesses {
    /// Lines for loads.
    pub reads: f64,
    /// Those of them that are of words: descriptors, registers, slots of the pool. The others are of frames.
    pub words: f64,
    /// Lines for stores.
    pub rfos: f64,
}

impl Accesses {
    pub(super) fn between(before: Crossed, after: Crossed, frames: u64) -> Accesses {
        let each = |n: u64| n as f64 / frames.max(1) as f64;
        let [reads, words, rfos] = [|c: Crossed| c.reads, |c: Crossed| c.words, |c: Crossed| c.rfos]
            .map(|of| each(of(after) - of(before)));
        Accesses { reads, words, rfos }
    }
}

/// What a loopback reaches.
#[derive(Clone, Debug)]
pub struct Found {
    /// Frames a second that came back, in millions.
    pub mpps: f64,
    /// Their bytes, Gbps.
    pub gbps: f64,
    /// From the time in a frame until it is read.
    pub median: Ps,
    /// The same of the slowest hundredth.
    pub p99: Ps,
    /// Frames that came back.
    pub frames: u64,
    /// Frames that the NIC dropped.
    pub lost: u64,
    /// Frames that came back with other bytes.
    pub wrong: u64,
    /// Of the host, and of the NIC.
    pub accesses: [Accesses; 2],
    /// Share of the link that lines to the host use, and lines to the NIC; 0 where the profile has no limit.
    pub link: [f64; 2],
}

impl Found {
    pub(super) fn new(
        server: &Server,
        setup: &Setup,
        log: &Log,
        span: Ps,
        [before, after]: [[Crossed; 2]; 2],
    ) -> Found {
        let us = span.0 as f64 / 1e6;
        let mpps = log.received as f64 / us;
        let limit = &server.constants.interconnect.link_gbytes;
        let link = [0, 1].map(|side: usize| {
            let lines = after[side].lines() - before[side].lines();
            if limit.is_absent() { 0.0 } else { lines as f64 * 64.0 / us / 1e3 / limit.value }
        });
        let latency = |share| Ps(log.latency.value_at_quantile(share));
        Found {
            mpps,
            gbps: mpps * f64::from(setup.bytes) * 8.0 / 1e3,
            median: latency(0.5),
            p99: latency(0.99),
            frames: log.received,
            lost: log.lost,
            wrong: log.wrong,
            accesses: [0, 1].map(|side: usize| Accesses::between(before[side], after[side], log.received)),
            link,
        }
    }
}
