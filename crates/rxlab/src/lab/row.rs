//! One result: an interface with its sizes, from empty or from full rings.

use std::collections::BTreeMap;

use model::{PartReport, Report};
use rings::{Interface, Today};
use serde::{Serialize, Serializer};

use crate::lab::fields::{self, FIELDS, NO_DROP};
use crate::lab::interfaces;
use crate::show::table::num;

/// Smallest difference between two starts that counts as hysteresis: of throughput, percent.
const THROUGHPUT_DIFFERS_PCT: f64 = 2.0;
/// The same for mean latency.
const LATENCY_DIFFERS_PCT: f64 = 20.0;

/// A row of every table and an element of `results`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The interface.
    pub interface: String,
    /// The interface, with what tells it from another row of it: `privring:ring=256`.
    pub label: String,
    /// The interface with the parameters that were said, to run it again beside other settings.
    #[serde(skip)]
    pub written: String,
    /// Whether cards and drivers of today give it.
    #[serde(serialize_with = "word")]
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

/// As tables have it.
fn word<S: Serializer>(today: &Today, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(today.word())
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
        let all: Vec<f64> = runs.iter().map(|r| fields::value(r, name)).collect();
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
        "lost_pct" if !r.drops.keys().any(|cause| cause.at_any_load()) => Some(p.drop_pct),
        "latency_mean_us" => Some(p.latency_mean_us),
        "latency_p99_us" => Some(p.latency_p99_us),
        "ddio_hit_pct" => Some(p.ddio_hit_pct),
        "dram_gbps" => Some(p.dram_gbps),
        _ => None,
    };
    let parts = r.parts.iter().filter(|_| !r.settled).filter_map(part);
    std::iter::once(fields::value(r, name)).chain(parts).collect()
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
        fields::value(&self.report, name)
    }

    /// `1024` or `128/1024`: the ring sizes, in the order that the interface names them.
    pub(crate) fn sizes(&self) -> String {
        let sizes = self.rings().into_iter().filter_map(|name| self.params.get(name));
        sizes.map(u64::to_string).collect::<Vec<_>>().join("/")
    }

    /// What a table calls it beside its sizes: `shring:unlock=swap` of `shring:ring=256,unlock=swap`.
    pub(crate) fn name(&self) -> String {
        let (name, said) = self.label.split_once(':').unwrap_or((&self.label, ""));
        let rings = self.rings();
        let more =
            said.split(',').filter(|piece| !rings.contains(&piece.split('=').next().unwrap_or_default()));
        let more = more.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(",");
        if more.is_empty() { name.into() } else { format!("{name}:{more}") }
    }

    /// The parameters that sizes are told of.
    fn rings(&self) -> Vec<&'static str> {
        let mine = Interface::usual().into_iter().filter(|one| one.name() == self.interface);
        mine.flat_map(|one| interfaces::rings(&one)).map(|(name, _)| name).collect()
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
}
