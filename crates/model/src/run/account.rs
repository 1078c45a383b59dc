//! From two snapshots to a report.

use core::ops::Range;
use std::collections::BTreeMap;

use apps::Fate;
use memory::Ps;
use nic::reorder::Found;

use super::confidence::{Confidence, Rates};
use super::report::{Conservation, CoreReport, Counted, Dram, Latency, PartReport, PortReport, Report};
use super::snapshot::{Part, Snapshot, by_card};
use crate::agents::meter::Meter;
use crate::engine::gauge::Gauge;
use crate::scenario::Scenario;

/// The measured window.
pub(crate) struct Measured {
    pub before: Snapshot,
    pub after: Snapshot,
    /// Its parts, where it has several.
    pub parts: Vec<Part>,
    /// The rates of equally long batches of it.
    pub batches: Vec<Rates>,
    /// Mean frames waiting for each core.
    pub waiting: Vec<f64>,
    /// Mean filled transmit entries, all queues.
    pub tx_filled: f64,
    /// Mean frames in the physical rings of an emulated NIC.
    pub passing: f64,
    /// The order in which frames left, of all ports; none where cores have rings of their own.
    pub reordering: Option<Found>,
    /// The cores that play the NIC.
    pub nic_cores: Range<u32>,
    pub warmup: Ps,
}

impl Measured {
    fn span(&self) -> f64 {
        (self.after.at - self.before.at).max(1) as f64
    }

    /// The rate of something that grew by `n`, per second.
    fn per_second(&self, n: u64) -> f64 {
        n as f64 * 1e12 / self.span()
    }

    fn grew(&self, of: impl Fn(&Snapshot) -> u64) -> u64 {
        of(&self.after) - of(&self.before)
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn received(s: &Snapshot) -> u64 {
    s.gauges.iter().map(|g| g.received).sum()
}

pub(crate) fn report(
    s: &Scenario,
    w: &Measured,
    meter: &Meter,
    conservation: Conservation,
    counters: BTreeMap<&'static str, u64>,
    settled: bool,
) -> Report {
    let scale = f64::from(s.sampling);
    let counted = counted(s, w, meter);
    let drops = drops(&w.before, &w.after);
    let sent = w.grew(|s| s.sent);
    let beyond = |s: &Snapshot| s.counts.llc_hits + s.counts.snoops + s.counts.llc_misses;
    let reuse = w.grew(|s| s.reuse.0) as f64 / w.grew(|s| s.reuse.1).max(1) as f64;
    let per_frame = counted.offered_bytes as f64 / counted.offered.max(1) as f64;
    let busy: u64 = (0..s.cores() as usize).map(|c| busy(w, c)).sum();
    Report {
        offered_gbps: w.per_second(counted.offered_bytes) * 8e-9,
        throughput_gbps: w.after.gbps_since(&w.before),
        mpps: w.per_second(sent) / 1e6,
        drop_pct: percent(drops.values().sum(), counted.offered),
        drops,
        latency_us: latency(meter),
        ddio_hit_pct: w.after.ddio_since(&w.before),
        llc_miss_pct: percent(w.grew(|s| s.counts.llc_misses), w.grew(beyond)),
        dram_gbps: dram(&w.before, &w.after, scale),
        antagonist_gbps: w.per_second(w.grew(|s| s.pressed)) * 8e-9,
        bypass_gbps: (!s.bypass.is_empty()).then(|| w.per_second(w.grew(|s| s.written_remotely)) * 8e-9),
        io_working_set_mib: reuse * (per_frame / 64.0).ceil() * 64.0 / f64::from(1 << 20),
        circulating_buffers: reuse,
        tx_ring_mean: w.tx_filled / f64::from(s.cores()),
        cycles_per_packet: busy as f64 * s.server.ghz / 1e3 / w.grew(received).max(1) as f64,
        nic_busy_pct: w.nic_cores.clone().map(|core| busy_pct(w, core as usize)).reduce(f64::max),
        physical_mean: s.emulated.then_some(w.passing / f64::from(s.cores())),
        per_core: per_core(&s.port_cores, w),
        per_port: per_port(&s.port_cores, w, meter),
        parts: parts(w, scale),
        confidence: Confidence::of(&w.batches, scale),
        counted,
        reordering: w.reordering.map(|found| found.named().into()),
        counters,
        conservation,
        measured_s: w.span() / 1e12,
        warmup_s: w.warmup.secs(),
        settled,
        packets: conservation.offered,
    }
}

/// The frames of the window, one by one. Where the window is laid down, a frame was offered in it if it arrived in it;
/// otherwise, if the card decided on it then.
fn counted(s: &Scenario, w: &Measured, meter: &Meter) -> Counted {
    let dropped: u64 = drops(&w.before, &w.after).values().sum();
    let sent = w.grew(|s| s.sent);
    let ports: Option<Vec<(u64, u64)>> =
        first_cores(&s.port_cores).map(|first| meter.counted(first)).collect();
    let (offered, offered_bytes, waiting_before) = match (ports, meter.early()) {
        (Some(ports), Some(early)) => {
            let gone = w.before.sent + w.before.dropped();
            let (frames, bytes) = ports.iter().fold((0, 0), |all, p| (all.0 + p.0, all.1 + p.1));
            (frames, bytes, early.saturating_sub(gone))
        }
        _ => (w.grew(Snapshot::decided), w.grew(|s| s.offered_bytes.iter().sum()), w.before.inside()),
    };
    let from = w.before.at + s.span.map_or(0, |span| span.late.0);
    Counted { from_us: from as f64 / 1e6, offered, offered_bytes, sent, dropped, waiting_before }
}

/// The first core of each port.
fn first_cores(queues: &[u32]) -> impl Iterator<Item = usize> {
    queues.iter().scan(0, |next, &n| Some(std::mem::replace(next, *next + n as usize)))
}

/// DRAM traffic from one moment to the next; `scale` is that of the sampled sets.
fn dram(before: &Snapshot, after: &Snapshot, scale: f64) -> Dram {
    let span = (after.at - before.at).max(1) as f64;
    let gbps = |of: fn(&Snapshot) -> u64| (of(after) - of(before)) as f64 * 1e12 / span * scale * 64.0 * 8e-9;
    Dram { read: gbps(|s| s.counts.dram_reads), write: gbps(|s| s.counts.dram_writes) }
}

/// The window part by part.
fn parts(w: &Measured, scale: f64) -> Vec<PartReport> {
    let mut before = &w.before;
    let part = |p: &'_ Part, before: &Snapshot| {
        let decided = p.after.decided() - before.decided();
        let dram = dram(before, &p.after, scale);
        PartReport {
            throughput_gbps: p.after.gbps_since(before),
            drop_pct: percent(drops(before, &p.after).values().sum(), decided),
            latency_mean_us: p.latency.0,
            latency_p99_us: p.latency.1,
            ddio_hit_pct: p.after.ddio_since(before),
            dram_gbps: dram.read + dram.write,
        }
    };
    w.parts.iter().map(|p| part(p, std::mem::replace(&mut before, &p.after))).collect()
}

/// Drops by cause: the card's, the transmit ring's and the application's.
fn drops(before: &Snapshot, after: &Snapshot) -> BTreeMap<Fate, u64> {
    let all = Fate::ALL.into_iter().map(|fate| (fate, after.fate_since(before, fate)));
    all.filter(|(_, n)| *n > 0).collect()
}

/// Time that a core was not idle, ps.
fn busy(w: &Measured, core: usize) -> u64 {
    // A core that is parked at a snapshot counts as idle until then. It may have woken a poll earlier: if it has not been
    // idle since, it was so for less time at the end than at the beginning.
    let idle = w.after.gauges[core].idle.saturating_sub(w.before.gauges[core].idle);
    (w.after.at - w.before.at).saturating_sub(idle)
}

fn busy_pct(w: &Measured, core: usize) -> f64 {
    100.0 * busy(w, core) as f64 / w.span()
}

/// Ports follow each other; `queues` are those of each.
fn per_core(queues: &[u32], w: &Measured) -> Vec<CoreReport> {
    let first = queues.iter().flat_map(|&n| (0..n).map(|q| q == 0));
    first.enumerate().map(|(c, first)| core(w, c, first)).collect()
}

fn core(w: &Measured, core: usize, first: bool) -> CoreReport {
    let drops = |s: &Snapshot| s.of_any(core, by_card);
    let share = |of: fn(&Gauge) -> u64| {
        100.0 * (of(&w.after.gauges[core]) - of(&w.before.gauges[core])) as f64 / w.span()
    };
    CoreReport {
        core: core as u32,
        mpps: w.per_second(w.after.gauges[core].received - w.before.gauges[core].received) / 1e6,
        drops: drops(&w.after) - drops(&w.before),
        busy_pct: busy_pct(w, core),
        ring_mean: w.waiting[core],
        alloc_pct: share(|g| g.taking),
        free_pct: share(|g| g.giving),
        first,
    }
}

/// A port's cores follow those of the port before.
fn per_port(queues: &[u32], w: &Measured, meter: &Meter) -> Vec<PortReport> {
    let mut first = 0;
    let ports = queues.iter().enumerate().map(|(p, &cores)| {
        let mine = first..first + cores as usize;
        first = mine.end;
        port(w, meter, p as u32, mine)
    });
    ports.collect()
}

fn port(w: &Measured, meter: &Meter, port: u32, cores: Range<usize>) -> PortReport {
    let sum = |of: fn(&Snapshot, usize) -> u64| w.grew(|s| cores.clone().map(|core| of(s, core)).sum());
    let gbps = |bytes: u64| w.per_second(bytes) * 8e-9;
    let decided = || (sum(|s, core| s.fates.decided_of(core)), sum(|s, core| s.offered_bytes[core]));
    let (offered, offered_bytes) = meter.counted(cores.start).unwrap_or_else(decided);
    let drops = sum(|s, core| s.of_any(core, |_| true));
    PortReport {
        port,
        first_core: cores.start as u32,
        cores: cores.len() as u32,
        offered_gbps: gbps(offered_bytes),
        throughput_gbps: gbps(sum(|s, core| s.sent_bytes[core])),
        drops,
        drop_pct: percent(drops, offered),
        busy_pct: cores.clone().map(|core| busy_pct(w, core)).sum::<f64>() / cores.len().max(1) as f64,
    }
}

fn latency(meter: &Meter) -> Latency {
    let h = &meter.latency;
    let at = |q: f64| h.value_at_quantile(q) as f64 / 1e3;
    if h.is_empty() {
        return Latency::default();
    }
    Latency {
        mean: meter.latency_sum as f64 / h.len() as f64 / 1e6,
        p10: at(0.1),
        p25: at(0.25),
        p50: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: h.max() as f64 / 1e3,
    }
}
