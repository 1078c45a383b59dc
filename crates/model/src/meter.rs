//! What a run counts: fates, frames sent, latencies, and snapshots to subtract.

use hdrhistogram::Histogram;
use rings::Outcome;

use crate::hierarchy::Counts;
use crate::sim::{Gauge, Sim};

/// Counted by the NIC's agents as they go.
pub(crate) struct Meter {
    /// Fates by core and outcome.
    pub fates: Vec<[u64; Outcome::ALL.len()]>,
    /// Frames sent.
    pub sent: u64,
    /// Their bytes, without FCS, port by port: at the place of its first core, or of any other of its cores.
    pub sent_bytes: Vec<u64>,
    /// Bytes offered, without FCS, in the same way.
    pub offered_bytes: Vec<u64>,
    /// Wire to wire, ns, of frames sent while measuring.
    pub latency: Histogram<u64>,
    /// Sum of latencies while measuring, ps.
    pub latency_sum: u128,
    /// Whether latencies count.
    pub measuring: bool,
    /// Frames that a card, or a core that plays it, has taken and not yet decided on.
    pub in_nic: u64,
    /// Frames on their way from the card through an emulated NIC.
    pub passing: u64,
}

/// Digits that a latency keeps.
const DIGITS: u8 = 3;
/// The longest latency that is kept apart, ns: 10 s.
const LONGEST: u64 = 10_000_000_000;

impl Meter {
    pub(crate) fn new(cores: usize) -> Result<Meter, hdrhistogram::CreationError> {
        Ok(Meter {
            fates: vec![[0; Outcome::ALL.len()]; cores],
            sent: 0,
            sent_bytes: vec![0; cores],
            offered_bytes: vec![0; cores],
            latency: Histogram::new_with_max(LONGEST, DIGITS)?,
            latency_sum: 0,
            measuring: false,
            in_nic: 0,
            passing: 0,
        })
    }

    /// A frame of `len` bytes left the server by the port of `core`, `latency` ps after it came.
    #[inline]
    pub(crate) fn send(&mut self, core: usize, len: u32, latency: u64) {
        self.sent += 1;
        self.sent_bytes[core] += u64::from(len);
        if self.measuring {
            self.latency_sum += u128::from(latency);
            self.latency.saturating_record(latency / 1000);
        }
    }
}

/// Everything that a window's rates are made of, at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub at: u64,
    pub fates: Vec<[u64; Outcome::ALL.len()]>,
    pub sent: u64,
    pub sent_bytes: Vec<u64>,
    pub offered_bytes: Vec<u64>,
    pub passing: u64,
    pub counts: Counts,
    pub gauges: Vec<Gauge>,
    pub reuse: (u64, u64),
    /// Bytes that antagonists moved.
    pub pressed: u64,
}

impl Snapshot {
    pub(crate) fn take(at: u64, meter: &Meter, sim: &Sim) -> Snapshot {
        Snapshot {
            at,
            fates: meter.fates.clone(),
            sent: meter.sent,
            sent_bytes: meter.sent_bytes.clone(),
            offered_bytes: meter.offered_bytes.clone(),
            passing: meter.passing,
            counts: sim.hierarchy.counts,
            gauges: sim.gauges_at(at),
            reuse: sim.reuse,
            pressed: sim.pressed,
        }
    }

    /// Gbps sent since `before`.
    pub(crate) fn gbps_since(&self, before: &Snapshot) -> f64 {
        let sent = |s: &Snapshot| s.sent_bytes.iter().sum::<u64>();
        (sent(self) - sent(before)) as f64 * 8e3 / (self.at - before.at).max(1) as f64
    }

    /// Share of DMA-written lines that hit since `before`, percent.
    pub(crate) fn ddio_since(&self, before: &Snapshot) -> f64 {
        let hits = self.counts.dma_write_hits - before.counts.dma_write_hits;
        let misses = self.counts.dma_write_misses - before.counts.dma_write_misses;
        100.0 * hits as f64 / (hits + misses).max(1) as f64
    }

    /// Frames delivered, or on their way through an emulated NIC, and neither sent nor dropped by their core.
    pub(crate) fn inside(&self) -> u64 {
        let delivered: u64 = self.fates.iter().map(|f| f[Outcome::Delivered as usize]).sum();
        let dropped: u64 = self.gauges.iter().map(|g| g.tx_full + g.app_drops).sum();
        (delivered + self.passing).saturating_sub(self.sent + dropped)
    }

    /// Frames of one fate since `before`, over all cores.
    pub(crate) fn fate_since(&self, before: &Snapshot, outcome: Outcome) -> u64 {
        let sum = |s: &Snapshot| s.fates.iter().map(|f| f[outcome as usize]).sum::<u64>();
        sum(self) - sum(before)
    }
}
