//! What a run has counted at one moment: snapshots are subtracted from each other.

use apps::Fate;
use nic::Counters;

use super::confidence::Rates;
use crate::agents::meter::Meter;
use crate::engine::gauge::Gauge;
use crate::engine::sim::Sim;
use crate::machine::hierarchy::Counts;

/// A part of a window.
pub(crate) struct Part {
    /// When it ended.
    pub after: Snapshot,
    /// Mean and 99th percentile of its latencies, us.
    pub latency: (f64, f64),
}

/// Everything that a window's rates are made of, at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub at: u64,
    pub fates: Counters,
    pub sent: u64,
    pub sent_bytes: Vec<u64>,
    pub offered_bytes: Vec<u64>,
    pub passing: u64,
    pub counts: Counts,
    pub gauges: Vec<Gauge>,
    pub reuse: (u64, u64),
    /// Bytes that antagonists moved.
    pub pressed: u64,
    /// Bytes written for flows that no core receives.
    pub written_remotely: u64,
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
            counts: sim.counts(),
            gauges: sim.gauges_at(at),
            reuse: sim.machine.buffers.reuse,
            pressed: sim.machine.pressed,
            written_remotely: sim.machine.written_remotely,
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

    /// The rates since `before`.
    pub(crate) fn rates_since(&self, before: &Snapshot) -> Rates {
        let lines = |s: &Snapshot| s.counts.dram_reads + s.counts.dram_writes;
        let span = (self.at - before.at).max(1) as f64;
        Rates {
            throughput_gbps: self.gbps_since(before),
            ddio_hit_pct: self.ddio_since(before),
            dram_gbps: (lines(self) - lines(before)) as f64 * 1e12 / span * 64.0 * 8e-9,
        }
    }

    /// Frames of one core that have met `fate` so far.
    fn of(&self, core: usize, fate: Fate) -> u64 {
        match fate {
            Fate::Card(outcome) => self.fates.of(core, outcome),
            Fate::TxFull => self.gauges[core].tx_full,
            Fate::Stopped => 0, // cores stop when the run is over
            Fate::App(None) => self.gauges[core].app.lost(),
            Fate::App(Some(cause)) => self.gauges[core].app.of(cause),
        }
    }

    /// Frames of one core that have met any fate that `counts`.
    pub(crate) fn of_any(&self, core: usize, counts: fn(&Fate) -> bool) -> u64 {
        Fate::ALL.into_iter().filter(counts).map(|fate| self.of(core, fate)).sum()
    }

    /// The same, of all cores.
    fn all_of_any(&self, counts: fn(&Fate) -> bool) -> u64 {
        (0..self.fates.queues()).map(|core| self.of_any(core, counts)).sum()
    }

    /// Frames lost so far: dropped, and not because they are malformed or the application refuses them.
    pub(crate) fn lost(&self) -> u64 {
        self.all_of_any(|fate| !fate.at_any_load())
    }

    /// Frames dropped so far: by the card, and by cores.
    pub(crate) fn dropped(&self) -> u64 {
        self.all_of_any(|_| true)
    }

    /// Frames that the card has decided on so far.
    pub(crate) fn decided(&self) -> u64 {
        self.fates.decided()
    }

    /// Frames delivered, or on their way through an emulated NIC, and neither sent nor dropped by their core.
    pub(crate) fn inside(&self) -> u64 {
        let dropped = self.all_of_any(|fate| !by_card(fate));
        (self.fates.delivered() + self.passing).saturating_sub(self.sent + dropped)
    }

    /// Frames of one fate since `before`, over all cores.
    pub(crate) fn fate_since(&self, before: &Snapshot, fate: Fate) -> u64 {
        let sum = |s: &Snapshot| (0..s.fates.queues()).map(|core| s.of(core, fate)).sum::<u64>();
        sum(self) - sum(before)
    }
}

/// Whether a frame of this fate never reached its core.
pub(crate) fn by_card(fate: &Fate) -> bool {
    match fate {
        Fate::Card(_) => true,
        Fate::TxFull | Fate::Stopped | Fate::App(_) => false,
    }
}
