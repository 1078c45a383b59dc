//! One result: an interface with its sizes, from empty or from full rings.

use std::collections::BTreeMap;

use model::{CoreReport, PartReport, Report};
use serde::Serialize;

use crate::lab::interfaces::Today;
use crate::lab::search::{self, REFUSED};
use crate::show::table::{Column, num, number, words};

/// Smallest difference between two starts that counts as hysteresis: of throughput, percent.
const THROUGHPUT_DIFFERS_PCT: f64 = 2.0;
/// The same for mean latency.
const LATENCY_DIFFERS_PCT: f64 = 20.0;

/// A row of every table and an element of `results`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The interface.
    pub interface: String,
    /// The interface, with the size by which it differs from another row of it: `privring:ring=256`.
    pub label: String,
    /// Whether cards and drivers of today give it.
    pub today: Today,
    /// Its sizes.
    pub params: BTreeMap<&'static str, u64>,
    /// `empty` or `full`.
    pub start: &'static str,
    /// Largest offered load without a drop, Gbps of frames; absent where it was not searched.
    pub no_drop_gbps: Option<f64>,
    /// The run nearest to the mean of all placements.
    #[serde(flatten)]
    pub report: Report,
    /// Smallest and largest value over the placements, other arrivals, and the parts of rates that never settle.
    pub range: BTreeMap<&'static str, [f64; 2]>,
    /// Placements run: seeds from the printed one up.
    pub placements: usize,
    /// Runs under other arrivals, which only the range shows.
    pub other_arrivals: usize,
    /// Buffers that full rings hold, of all cores.
    pub posted_buffers: u64,
    /// The command line that runs this point again.
    pub reproduce: String,
}

/// The fields by which the middle run is chosen.
const MIDDLE: [&str; 4] = ["throughput_gbps", "latency_mean_us", "ddio_hit_pct", "dram_gbps"];
/// The fields whose range is told.
const RANGED: [&str; 7] = [
    "throughput_gbps",
    "lost_pct",
    "latency_mean_us",
    "latency_p99_us",
    "ddio_hit_pct",
    "dram_gbps",
    "circulating_buffers",
];

/// Of one point's runs over placements, the one nearest to their mean, and the range of all, of `others` under other
/// arrivals too. `None` for no runs.
pub(crate) fn middle(
    mut runs: Vec<Report>,
    others: &[Report],
) -> Option<(Report, BTreeMap<&'static str, [f64; 2]>)> {
    let mut far = vec![0.0; runs.len()];
    for name in MIDDLE {
        let all: Vec<f64> = runs.iter().map(|r| field(r, name)).collect();
        let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
        for (far, v) in far.iter_mut().zip(&all) {
            *far += (v - mean).abs() / mean.abs().max(1e-9);
        }
    }
    let range = RANGED.into_iter().map(|name| {
        let all = runs.iter().chain(others).flat_map(|r| values(r, name));
        let ends = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], v| [lo.min(v), hi.max(v)]);
        (name, ends)
    });
    let range = range.collect();
    let (best, _) = far.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
    Some((runs.swap_remove(best), range))
}

/// A field of a run; where its rates never settled those of its parts beside it.
fn values(r: &Report, name: &str) -> Vec<f64> {
    let part = |p: &PartReport| match name {
        "throughput_gbps" => Some(p.throughput_gbps),
        "lost_pct" if r.drops.keys().all(|cause| !REFUSED.contains(cause)) => Some(p.drop_pct),
        "latency_mean_us" => Some(p.latency_mean_us),
        "latency_p99_us" => Some(p.latency_p99_us),
        "ddio_hit_pct" => Some(p.ddio_hit_pct),
        "dram_gbps" => Some(p.dram_gbps),
        _ => None,
    };
    let parts = r.parts.iter().filter(|_| !r.settled).filter_map(part);
    std::iter::once(field(r, name)).chain(parts).collect()
}

/// A number of a report by the name that plans and plots use; NaN for an unknown one.
pub(crate) fn field(r: &Report, name: &str) -> f64 {
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
pub(crate) const FIELDS: [Field; 40] = [
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
const NO_DROP: Field = f("no_drop_gbps", "no-drop rate", "Gbps", |_| f64::NAN);
/// Fields of a slice of traffic, see `slices.rs`.
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

/// The fields of a row, by name.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().chain([&NO_DROP]).map(|f| f.name)
}

/// The same, and those of points that are no rows.
pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
    all().map(|f| f.name)
}

fn all() -> impl Iterator<Item = &'static Field> {
    FIELDS.iter().chain([&NO_DROP]).chain(&SLICE).chain(&QUEUE).chain(&TRANSFER)
}

/// The description of a field, `None` for an unknown name.
pub(crate) fn describe(name: &str) -> Option<&'static Field> {
    all().find(|f| f.name == name)
}

impl Row {
    /// Every field by name, for metric expressions.
    pub(crate) fn fields(&self) -> Vec<(&'static str, f64)> {
        FIELDS.iter().chain([&NO_DROP]).map(|f| (f.name, self.value(f.name))).collect()
    }

    /// A field by name; NaN for an unknown one and for what was not searched.
    pub(crate) fn value(&self, name: &str) -> f64 {
        if name == NO_DROP.name {
            return self.no_drop_gbps.unwrap_or(f64::NAN);
        }
        field(&self.report, name)
    }

    /// `1024` or `128/1024`: the ring sizes, in the order that the interface names them.
    pub(crate) fn sizes(&self) -> String {
        let rings = self.params.iter().filter(|p| matches!(*p.0, "ring" | "ax" | "bx"));
        rings.map(|p| p.1.to_string()).collect::<Vec<_>>().join("/")
    }

    /// The fields that depend on placement by more than 5% of their largest value, with their range.
    pub(crate) fn wide_ranges(&self) -> Vec<String> {
        let wide = FIELDS.iter().filter_map(|f| {
            let [lo, hi] = *self.range.get(f.name)?;
            (hi - lo > 0.05 * hi).then(|| format!("{} {}..{} {}", f.heading, num(lo), num(hi), f.unit))
        });
        wide.collect()
    }

    /// Whether two starts of one point end in different states.
    pub(crate) fn differs(&self, other: &Row) -> bool {
        let apart = |a: f64, b: f64, pct: f64| (a - b).abs() > pct / 100.0 * a.abs().max(b.abs());
        let (a, b) = (&self.report, &other.report);
        apart(a.throughput_gbps, b.throughput_gbps, THROUGHPUT_DIFFERS_PCT)
            || apart(a.latency_us.mean, b.latency_us.mean, LATENCY_DIFFERS_PCT)
    }
}

/// Mean frame, bytes without FCS, below which rates of frames say more than those of bits.
const SMALL_FRAME: f64 = 300.0;

/// What a table of results shows beside the first columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Rates in Gbps.
    Large,
    /// Rates in Gbps and in Mpps.
    Small,
}

impl Columns {
    /// What suits these results.
    pub(crate) fn of(r: &Report) -> Columns {
        let mean = r.counted.offered_bytes as f64 / r.counted.offered.max(1) as f64;
        if mean < SMALL_FRAME { Columns::Small } else { Columns::Large }
    }

    /// Headings.
    pub(crate) fn headings(self) -> Vec<Column> {
        let mut columns = vec![
            words("interface"),
            words("today"),
            number("sizes", "entries"),
            words("start"),
            number("sent", "Gbps"),
            number("no-drop", "Gbps"),
        ];
        if self == Columns::Small {
            columns.extend([number("sent", "Mpps"), number("no-drop", "Mpps")]);
        }
        columns.push(number("drops", "%"));
        // With both rates there is no room for it in a terminal's width.
        if self == Columns::Large {
            columns.push(number("mean", "us"));
        }
        columns.extend([number("p99", "us"), number("DDIO", "hit %"), number("DRAM", "Gbps")]);
        if self == Columns::Large {
            columns.push(number("buffers", "in use"));
        }
        columns.push(number("frame", "cycles"));
        columns
    }

    /// A row as text; `start` is told apart only where it matters.
    pub(crate) fn cells(self, row: &Row, start: &str) -> Vec<String> {
        let r = &row.report;
        let mut cells = vec![
            row.interface.clone(),
            row.today.word().into(),
            row.sizes(),
            start.into(),
            num(r.throughput_gbps),
            row.no_drop_gbps.map_or("-".into(), num),
        ];
        if self == Columns::Small {
            let frames = r.counted.offered as f64 / r.counted.offered_bytes.max(1) as f64;
            let no_drop = row.no_drop_gbps.map_or("-".into(), |gbps| num(gbps / 8e-3 * frames));
            cells.extend([num(r.mpps), no_drop]);
        }
        cells.push(if r.drops.values().all(|&n| n == 0) { "0".into() } else { num(r.drop_pct) });
        if self == Columns::Large {
            cells.push(num(r.latency_us.mean));
        }
        cells.extend([num(r.latency_us.p99), num(r.ddio_hit_pct), hundredths(field(r, "dram_gbps"))]);
        if self == Columns::Large {
            cells.push(num(r.circulating_buffers));
        }
        cells.push(num(r.cycles_per_packet));
        cells
    }
}

/// Nobody minds less than a hundredth, and it takes as much room as a hundred.
fn hundredths(v: f64) -> String {
    num((v * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(throughput: f64, ddio: f64) -> Report {
        Report { throughput_gbps: throughput, ddio_hit_pct: ddio, ..Report::default() }
    }

    #[test]
    fn the_middle_run_is_the_one_nearest_to_the_mean() {
        let (report, range) =
            middle(vec![run(100.0, 90.0), run(160.0, 60.0), run(130.0, 76.0)], &[run(90.0, 76.0)]).unwrap();
        assert_eq!(report.throughput_gbps, 130.0);
        assert_eq!(range["throughput_gbps"], [90.0, 160.0]);
        assert_eq!(range["ddio_hit_pct"], [60.0, 90.0]);
        assert!(middle(Vec::new(), &[]).is_none());
    }

    #[test]
    fn fields_have_unique_names_and_unknown_ones_are_nan() {
        let mut names: Vec<_> = FIELDS.iter().map(|f| f.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FIELDS.len());
        assert!(field(&Report::default(), "nothing").is_nan());
    }
}
