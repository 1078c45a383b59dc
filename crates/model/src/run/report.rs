//! What a run found: the rows of every table and of `--json`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use apps::Fate;
use serde::{Deserialize, Deserializer, Serialize};

use super::confidence::Confidence;

/// Latency in microseconds, wire to wire, with the load generator's stated constant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub mean: f64,
    /// 10th percentile.
    pub p10: f64,
    /// 25th percentile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

/// DRAM traffic in Gbps.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Dram {
    /// Lines read.
    pub read: f64,
    /// Lines written.
    pub write: f64,
}

/// One core's share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CoreReport {
    /// Core number.
    pub core: u32,
    /// Frames processed per second, millions.
    pub mpps: f64,
    /// Frames dropped on the way to this core.
    pub drops: u64,
    /// Share of time at work, percent.
    pub busy_pct: f64,
    /// Mean frames waiting in its completion ring.
    pub ring_mean: f64,
    /// Share of time spent taking buffers from the pool that all cores share, percent.
    pub alloc_pct: f64,
    /// The same for giving buffers back.
    pub free_pct: f64,
    /// Whether it serves the first queue of a port, where `target` traffic goes.
    pub first: bool,
}

/// One port's share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PortReport {
    /// Port number.
    pub port: u32,
    /// The first of its cores, which follow each other.
    pub first_core: u32,
    /// How many they are.
    pub cores: u32,
    /// Offered load of frames, Gbps.
    pub offered_gbps: f64,
    /// Load sent back, Gbps.
    pub throughput_gbps: f64,
    /// Frames dropped, all causes.
    pub drops: u64,
    /// Their share of what was offered, percent.
    pub drop_pct: f64,
    /// Share of time that its cores are at work, percent, their mean.
    pub busy_pct: f64,
}

/// The frames of the window, one by one. What waits at its end is what waited before it and was offered in it, less what
/// was sent and dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// When the window began, us since the start.
    pub from_us: f64,
    /// Frames that arrived in it.
    pub offered: u64,
    /// Their bytes, without FCS.
    pub offered_bytes: u64,
    /// Frames sent in it.
    pub sent: u64,
    /// Frames dropped in it, all causes.
    pub dropped: u64,
    /// Frames that had arrived before it and were still under way when it began.
    pub waiting_before: u64,
}

/// A part of the window.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct PartReport {
    /// Load sent back, Gbps.
    pub throughput_gbps: f64,
    /// Dropped share of what the card decided on, percent.
    pub drop_pct: f64,
    /// Mean latency, us.
    pub latency_mean_us: f64,
    /// 99th percentile of latency, us.
    pub latency_p99_us: f64,
    /// Share of DMA-written lines found in the LLC, percent.
    pub ddio_hit_pct: f64,
    /// DRAM traffic both ways, Gbps.
    pub dram_gbps: f64,
}

/// Exact conservation of frames and buffers over the whole run, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conservation {
    /// Frames that reached the NIC.
    pub offered: u64,
    /// Frames delivered to a core's ring.
    pub delivered: u64,
    /// Frames dropped, all causes.
    pub dropped: u64,
    /// Frames on the card at the end.
    pub in_nic: u64,
    /// Buffers of the pool.
    pub buffers: u64,
    /// Buffers free at the end, after draining every ring.
    pub buffers_free: u64,
}

/// The result of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Offered load of frames without FCS, preamble and gap, Gbps.
    pub offered_gbps: f64,
    /// Load sent back after processing, Gbps.
    pub throughput_gbps: f64,
    /// Frames sent back per second, millions.
    pub mpps: f64,
    /// Dropped share of what was offered, percent.
    pub drop_pct: f64,
    /// Drops by cause in the measured window.
    pub drops: BTreeMap<Fate, u64>,
    /// Latency.
    pub latency_us: Latency,
    /// Share of DMA-written payload and ring lines found in the LLC, percent.
    pub ddio_hit_pct: f64,
    /// Share of core accesses beyond L2 that miss the LLC, percent.
    pub llc_miss_pct: f64,
    /// DRAM traffic.
    pub dram_gbps: Dram,
    /// DRAM traffic of antagonists, Gbps.
    pub antagonist_gbps: f64,
    /// Payload of flows that no core receives, Gbps; none where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypass_gbps: Option<f64>,
    /// Buffers the NIC wrote between two uses of one buffer, times their lines, MiB.
    pub io_working_set_mib: f64,
    /// Posted receive buffers, frames waiting, and filled transmit entries: mean of the window.
    pub circulating_buffers: f64,
    /// Mean filled entries of a transmit ring.
    pub tx_ring_mean: f64,
    /// Cycles a core spends per frame, stalls included.
    pub cycles_per_packet: f64,
    /// How busy the core is that plays the card, the busiest of all ports, percent; none with a card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic_busy_pct: Option<f64>,
    /// Mean frames in the physical rings of an emulated NIC, for each core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_mean: Option<f64>,
    /// The frames of the window.
    pub counted: Counted,
    /// The window part by part, where it has several.
    #[serde(skip)]
    pub parts: Vec<PartReport>,
    /// Each core.
    pub per_core: Vec<CoreReport>,
    /// Each port; empty in rows that do not tell ports apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_port: Vec<PortReport>,
    /// How frames left, by the metrics of RFC 4737, where several cores receive from one ring: percent, places,
    /// microseconds.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_names")]
    pub reordering: Option<BTreeMap<&'static str, f64>>,
    /// Named counters of the interface (lock waits, foreign buffers, debts).
    #[serde(deserialize_with = "names")]
    pub counters: BTreeMap<&'static str, u64>,
    /// Exact totals.
    pub conservation: Conservation,
    /// Simulated seconds measured, after warm-up.
    pub measured_s: f64,
    /// Simulated seconds of warm-up.
    pub warmup_s: f64,
    /// Whether rates had settled when measuring began.
    pub settled: bool,
    /// How sure the means of the window are; none of one with too few batches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Packets simulated in all.
    pub packets: u64,
}

/// A map by names, each of which is kept until the program ends, once.
fn names<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    from: D,
) -> Result<BTreeMap<&'static str, V>, D::Error> {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let read: BTreeMap<String, V> = BTreeMap::deserialize(from)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut name = |text: String| {
        let found = known.get(text.as_str()).copied();
        found.unwrap_or_else(|| {
            let kept: &'static str = text.leak();
            known.insert(kept);
            kept
        })
    };
    Ok(read.into_iter().map(|(text, v)| (name(text), v)).collect())
}

/// The same of one that may be missing.
fn optional_names<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<BTreeMap<&'static str, f64>>, D::Error> {
    names(from).map(Some)
}
