//! The numbers of a result by the names that plans, tables, plots and conditions know them by.

use model::{CoreReport, Report};

use crate::lab::search;

/// A number of a report by the name that plans and plots use; NaN for an unknown one.
pub(crate) fn value(r: &Report, name: &str) -> f64 {
    FIELDS.iter().find(|f| f.name == name).map_or(f64::NAN, |f| (f.get)(r))
}

/// A number of a report, as plans, tables and plots know it.
pub(crate) struct Field {
    /// Name in plans and metric expressions.
    pub name: &'static str,
    /// What it is, for a heading.
    pub heading: &'static str,
    /// Its unit.
    pub unit: &'static str,
    get: fn(&Report) -> f64,
}

const fn f(name: &'static str, heading: &'static str, unit: &'static str, get: fn(&Report) -> f64) -> Field {
    Field { name, heading, unit, get }
}

/// All of them.
pub(crate) const FIELDS: [Field; 42] = [
    f("offered_gbps", "offered", "Gbps", |r| r.offered_gbps),
    f("throughput_gbps", "throughput", "Gbps", |r| r.throughput_gbps),
    f("mpps", "rate", "Mpps", |r| r.mpps),
    f("received_mpps", "received", "Mpps", |r| r.per_core.iter().map(|c| c.mpps).sum()),
    f("drop_pct", "drops", "%", |r| r.drop_pct),
    f("lost_pct", "loss", "%", |r| search::lost(r) as f64 / r.counted.offered.max(1) as f64 * 100.0),
    f("latency_mean_us", "mean latency", "us", |r| r.latency_us.mean),
    f("latency_p10_us", "p10 latency", "us", |r| r.latency_us.p10),
    f("latency_p25_us", "p25 latency", "us", |r| r.latency_us.p25),
    f("latency_p50_us", "p50 latency", "us", |r| r.latency_us.p50),
    f("latency_p75_us", "p75 latency", "us", |r| r.latency_us.p75),
    f("latency_p90_us", "p90 latency", "us", |r| r.latency_us.p90),
    f("latency_p99_us", "p99 latency", "us", |r| r.latency_us.p99),
    f("latency_p999_us", "p99.9 latency", "us", |r| r.latency_us.p999),
    f("latency_max_us", "max latency", "us", |r| r.latency_us.max),
    f("ddio_hit_pct", "DDIO hit rate", "%", |r| r.ddio_hit_pct),
    f("llc_miss_pct", "LLC miss rate", "%", |r| r.llc_miss_pct),
    f("dram_gbps", "DRAM traffic", "Gbps", |r| r.dram_gbps.read + r.dram_gbps.write),
    f("dram_read_gbps", "DRAM reads", "Gbps", |r| r.dram_gbps.read),
    f("dram_write_gbps", "DRAM writes", "Gbps", |r| r.dram_gbps.write),
    f("io_working_set_mib", "I/O working set", "MiB", |r| r.io_working_set_mib),
    f("circulating_buffers", "circulating buffers", "buffers", |r| r.circulating_buffers),
    f("tx_ring_mean", "Tx ring", "entries", |r| r.tx_ring_mean),
    f("nic_busy_pct", "the NIC's core", "% busy", |r| r.nic_busy_pct.unwrap_or_default()),
    f("physical_mean", "waiting in a physical ring", "frames", |r| r.physical_mean.unwrap_or_default()),
    f("cycles_per_packet", "per frame", "cycles", |r| r.cycles_per_packet),
    f("antagonist_gbps", "antagonists' DRAM traffic", "Gbps", |r| r.antagonist_gbps),
    f("bypass_gbps", "RDMA writes", "Gbps", |r| r.bypass_gbps.unwrap_or_default()),
    f("first_alloc_pct", "allocating, first cores", "%", |r| class(r, true, |c| c.alloc_pct)),
    f("first_free_pct", "freeing, first cores", "%", |r| class(r, true, |c| c.free_pct)),
    f("other_alloc_pct", "allocating, other cores", "%", |r| class(r, false, |c| c.alloc_pct)),
    f("other_free_pct", "freeing, other cores", "%", |r| class(r, false, |c| c.free_pct)),
    f("reordered_pct", "reordered frames", "%", |r| reordering(r, "reordered_pct")),
    f("extent_max", "largest reordering extent", "frames", |r| reordering(r, "extent_max")),
    f("late_max_us", "largest late time", "us", |r| reordering(r, "late_max_us")),
    f("flow_reordered_pct", "reordered in their flow", "%", |r| reordering(r, "flow_reordered_pct")),
    f("flow_extent_max", "largest extent in a flow", "frames", |r| reordering(r, "flow_extent_max")),
    f("flow_n3_reordered_pct", "3-reordered in their flow", "%", |r| reordering(r, "flow_n3_reordered_pct")),
    f("failed_claims_pct", "failed claims", "%", |r| part(r, "failed_claims", &["claims", "failed_claims"])),
    f("deferred_pct", "deferred releases", "% of claims", |r| part(r, "deferred_releases", &["claims"])),
    f("kept_pct", "kept by the card", "% of received", |r| {
        let count = |name: &str| r.counters.get(name).copied().unwrap_or(0) as f64;
        100.0 * count("kept") / (r.conservation.delivered.max(1) as f64)
    }),
    f("ring_mean", "waiting in a ring", "frames", |r| {
        r.per_core.iter().map(|c| c.ring_mean).sum::<f64>() / r.per_core.len().max(1) as f64
    }),
];

/// 0 where cores have rings of their own: frames of a flow keep their order.
fn reordering(r: &Report, name: &str) -> f64 {
    r.reordering.as_ref().and_then(|found| found.get(name)).copied().unwrap_or_default()
}

/// A counter's share of the sum of others, percent; 0 where the interface has none of them.
fn part(r: &Report, of: &str, all: &[&str]) -> f64 {
    let count = |name: &str| r.counters.get(name).copied().unwrap_or(0) as f64;
    100.0 * count(of) / all.iter().map(|name| count(name)).sum::<f64>().max(1.0)
}

/// The mean over the first cores of all ports, or over the others.
fn class(r: &Report, first: bool, of: fn(&CoreReport) -> f64) -> f64 {
    let all: Vec<f64> = r.per_core.iter().filter(|c| c.first == first).map(of).collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// Found by search, and so a field of the row and not of its run.
pub(crate) const NO_DROP: Field = f("no_drop_gbps", "no-drop rate", "Gbps", |_| f64::NAN);
/// Fields of a slice of traffic, see `paper/slices.rs`.
const SLICE: [Field; 2] = [
    f("imbalance", "most / fewest frames of a core", "ratio", |_| f64::NAN),
    f("heaviest", "most / mean frames of a core", "ratio", |_| f64::NAN),
];

/// Fields of a queueing system, see `queues.rs`.
const QUEUE: [Field; 9] = [
    f("sojourn_mean", "mean time in the system", "service times", |_| f64::NAN),
    f("sojourn_p99", "p99 time in the system", "service times", |_| f64::NAN),
    f("mean_ratio", "mean / theory's", "ratio", |_| f64::NAN),
    f("p99_ratio", "p99 / theory's", "ratio", |_| f64::NAN),
    f("mean_off_pct", "distance of the mean from theory", "%", |_| f64::NAN),
    f("p99_off_pct", "distance of the p99 from theory", "%", |_| f64::NAN),
    f("mean_ci_pct", "95% interval of the mean", "+- %", |_| f64::NAN),
    f("p99_ci_pct", "95% interval of the p99", "+- %", |_| f64::NAN),
    f("customers", "customers", "", |_| f64::NAN),
];

/// Fields of operations on rules, see `operations.rs`.
const RULES: [Field; 4] = [
    f("krules_per_s", "rate of rules", "krules/s", |_| f64::NAN),
    f("rule_us", "a rule", "us", |_| f64::NAN),
    f("core_ms", "all rules", "ms of a core", |_| f64::NAN),
    f("operations", "operations", "", |_| f64::NAN),
];

/// Fields of a coherent link, see `link.rs`; streams have `throughput_gbps` as well.
const LINK: [Field; 4] = [
    f("latency_ns", "latency", "ns", |_| f64::NAN),
    f("remote_reads", "remote reads", "lines", |_| f64::NAN),
    f("remote_rfos", "remote RFOs", "lines", |_| f64::NAN),
    f("dram_lines", "DRAM traffic", "lines a line", |_| f64::NAN),
];

/// Fields of a transfer, see `transfer.rs`.
const TRANSFER: [Field; 14] = [
    f("fct_mean_us", "mean flow completion time", "us", |_| f64::NAN),
    f("fct_p50_us", "p50 flow completion time", "us", |_| f64::NAN),
    f("fct_p99_us", "p99 flow completion time", "us", |_| f64::NAN),
    f("fct_max_us", "max flow completion time", "us", |_| f64::NAN),
    f("fct_s", "mean flow completion time", "s", |_| f64::NAN),
    f("goodput_gbps", "goodput of a flow", "Gbps", |_| f64::NAN),
    f("retransmissions", "retransmissions", "of a flow", |_| f64::NAN),
    f("needless", "recoveries undone", "of a flow", |_| f64::NAN),
    f("timeouts", "timeouts", "of a flow", |_| f64::NAN),
    f("late_pct", "frames behind later ones", "%", |_| f64::NAN),
    f("dropped", "drops", "frames", |_| f64::NAN),
    f("frames", "frames", "", |_| f64::NAN),
    f("connections", "connections", "", |_| f64::NAN),
    f("unfinished", "unfinished connections", "", |_| f64::NAN),
];

/// Fields of a loopback beside those of a report, see `loopback.rs`.
const LOOPBACK: [Field; 10] = [
    f("latency_p50_ns", "median latency", "ns", |_| f64::NAN),
    f("latency_p99_ns", "p99 latency", "ns", |_| f64::NAN),
    f("lost", "lost or wrong", "frames", |_| f64::NAN),
    f("link_pct", "load of the link", "%", |_| f64::NAN),
    f("host_reads", "lines that the host reads over the link", "a frame", |_| f64::NAN),
    f("host_word_reads", "those of words", "a frame", |_| f64::NAN),
    f("host_rfos", "lines that it takes to write them", "a frame", |_| f64::NAN),
    f("nic_reads", "lines that the NIC reads over the link", "a frame", |_| f64::NAN),
    f("nic_word_reads", "those of words", "a frame", |_| f64::NAN),
    f("nic_rfos", "lines that it takes to write them", "a frame", |_| f64::NAN),
];

/// The fields of a row, by name.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().chain([&NO_DROP]).map(|f| f.name)
}

/// The same, and those of points that are no rows.
pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
    all().map(|f| f.name)
}

fn all() -> impl Iterator<Item = &'static Field> {
    FIELDS
        .iter()
        .chain([&NO_DROP])
        .chain(&SLICE)
        .chain(&QUEUE)
        .chain(&RULES)
        .chain(&LINK)
        .chain(&TRANSFER)
        .chain(&LOOPBACK)
}

/// The description of a field, `None` for an unknown name.
pub(crate) fn describe(name: &str) -> Option<&'static Field> {
    all().find(|f| f.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_unique_names_and_unknown_ones_are_nan() {
        let mut names: Vec<_> = FIELDS.iter().map(|f| f.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FIELDS.len());
        assert!(value(&Report::default(), "nothing").is_nan());
    }
}
