//! How robust a verdict is: what becomes of it on servers whose constants are drawn within their spreads.
//!
//! `words` shows it.

mod change;
mod words;

use model::profile::Spread;
use serde::Serialize;

use crate::fail::Fail;
use crate::lab::draws::{self, Values};
use crate::lab::jobs::{self, Job, Pair};
use crate::lab::search;
use crate::lab::span;
use crate::verdict::decide::{Carries, Order, decide};
use crate::verdict::diagnosis::Machine;

pub(crate) use change::Change;
pub(crate) use words::{lines, table};

/// Draws unless told otherwise.
pub(crate) const DRAWS: &str = "32";
/// The fields whose intervals are told.
const FIELDS: [&str; 8] = [
    "throughput_gbps",
    "no_drop_gbps",
    "lost_pct",
    "latency_mean_us",
    "latency_p99_us",
    "ddio_hit_pct",
    "dram_gbps",
    "cycles_per_packet",
];

/// What a comparison is asked again: its jobs, and how it decides.
pub(crate) struct Asked<'a> {
    /// A job for each row.
    pub jobs: &'a [Job],
    /// Whether frames must keep their order.
    pub order: Order,
    /// The server's sizes.
    pub machine: Machine,
    /// Who won in full length.
    pub winner: Option<&'a str>,
    /// Seed of the design.
    pub seed: u64,
}

/// What was found over all draws.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Robust {
    /// How many draws there are.
    pub draws: u32,
    /// Seed of the design.
    pub seed: u64,
    /// The window of each run, as `--window` takes it.
    pub window: Option<String>,
    /// Who wins with the profile's own constants in runs as short; none where no lead is larger than noise.
    pub nominal: Option<String>,
    /// Draws that end as the comparison did.
    pub same: u32,
    /// Draws in which nobody leads.
    pub level: u32,
    /// Each row: how often it wins, and its intervals.
    pub rows: Vec<Standing>,
    /// What tells draws that end otherwise from the rest, the clearest first.
    pub changes: Vec<Change>,
    /// The constants that were drawn.
    pub constants: Vec<Drawn>,
}

/// A row over all draws.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Standing {
    /// Its label.
    pub label: String,
    /// Draws in which it wins.
    pub wins: u32,
    /// Draws in which it carries the load without loss.
    pub carries: u32,
    /// Of each field, what a tenth, half and nine tenths of the draws are below.
    pub intervals: Vec<Interval>,
}

/// A field over all draws.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Interval {
    /// The field.
    pub field: &'static str,
    /// A tenth of the draws is below.
    pub low: f64,
    /// Half of them.
    pub median: f64,
    /// Nine tenths.
    pub high: f64,
}

/// A constant with its spread.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Drawn {
    /// Its name.
    pub name: &'static str,
    /// The least value.
    pub low: f64,
    /// That of the profile.
    pub value: f64,
    /// The largest.
    pub high: f64,
    /// The unit.
    pub unit: &'static str,
    /// Where the ends are from.
    pub ends: String,
}

impl From<&Spread> for Drawn {
    fn from(s: &Spread) -> Drawn {
        let Spread { name, low, value, high, unit, .. } = *s;
        Drawn { name, low, value, high, unit, ends: s.ends.clone() }
    }
}

/// One server's answer.
pub(super) struct Answer {
    /// The label of the winner.
    pub winner: Option<String>,
    /// Whether each row carries the load.
    pub carries: Vec<bool>,
    /// A pair for each row.
    pub pairs: Vec<Pair>,
}

/// The comparison on each of these servers, in short runs side by side.
///
/// # Errors
/// A run that the model refuses.
pub(super) fn answers(asked: &Asked, servers: &[Values], what: &'static str) -> Result<Vec<Answer>, Fail> {
    let span = draws::short(asked.jobs);
    let all: Vec<Job> = servers
        .iter()
        .flat_map(|values| asked.jobs.iter().map(move |job| draws::job(job, values, span)))
        .collect();
    let mut pairs = jobs::run(&all, what)?.into_iter();
    let mut answers = Vec::new();
    for _ in servers {
        let pairs: Vec<Pair> = pairs.by_ref().take(asked.jobs.len()).map(drained).collect();
        let verdict = decide(&asked.machine, &pairs, asked.order, draws::RESOLUTION_PCT, |_, _| Ok(true))?;
        let verdict =
            verdict.ok_or_else(|| Fail::new("nothing is compared; allowed: one interface at least"))?;
        let carries = verdict.carries.iter().map(|s| s.carries == Carries::Yes).collect();
        answers.push(Answer { winner: verdict.winner, carries, pairs });
    }
    Ok(answers)
}

/// A row that carries the load is told from empty rings: from full ones a short run is still draining.
fn drained(pair: Pair) -> Pair {
    let carries = match pair.trials.as_slice() {
        [] => search::clean(&pair.full.report),
        trials => trials.iter().all(|passed| *passed),
    };
    if !carries {
        return pair;
    }
    Pair { full: pair.empty.clone(), runs: vec![pair.empty.report.clone()], ..pair }
}

/// Draws `count` servers and asks all of them.
///
/// # Errors
/// Too few or too many draws, a run that the model refuses.
pub(crate) fn robust(asked: &Asked, count: u32) -> Result<Robust, Fail> {
    if !(8..=1024).contains(&count) {
        return Err(Fail::new(format!("--uncertainty {count}: allowed: 8 to 1024 draws")));
    }
    let point = asked.jobs.iter().find_map(|job| job.full.first());
    let point = point.ok_or_else(|| Fail::new("--uncertainty: allowed: with one interface at least"))?;
    let spreads = draws::spreads(point)?;
    let mut servers = draws::hypercube(&spreads, count, asked.seed);
    servers.push(Values::new());
    let mut found = answers(asked, &servers, "drawing constants")?;
    let nominal = found.pop().and_then(|answer| answer.winner);
    servers.pop();
    let same = |a: &Answer| a.winner.as_deref() == asked.winner;
    let other: Vec<bool> = found.iter().map(|a| !same(a)).collect();
    Ok(Robust {
        draws: count,
        seed: asked.seed,
        window: draws::short(asked.jobs).map(|s| span::text(&s)),
        nominal,
        same: found.iter().filter(|a| same(a)).count() as u32,
        level: found.iter().filter(|a| a.winner.is_none()).count() as u32,
        rows: asked.jobs.iter().enumerate().map(|(i, job)| standing(i, &job.label, &found)).collect(),
        changes: change::changes(&spreads, &servers, &other),
        constants: spreads.iter().map(Drawn::from).collect(),
    })
}

fn standing(row: usize, label: &str, found: &[Answer]) -> Standing {
    let count = |of: &dyn Fn(&Answer) -> bool| found.iter().filter(|a| of(a)).count() as u32;
    let interval = |field: &'static str| {
        let mut all: Vec<f64> = found.iter().map(|a| value(&a.pairs[row], field)).collect();
        all.retain(|v| !v.is_nan());
        all.sort_by(f64::total_cmp);
        let [low, median, high] = [0.1, 0.5, 0.9].map(|share| quantile(&all, share));
        Interval { field, low, median, high }
    };
    Standing {
        label: label.to_string(),
        wins: count(&|a| a.winner.as_deref() == Some(label)),
        carries: count(&|a| a.carries.get(row) == Some(&true)),
        intervals: FIELDS.into_iter().map(interval).filter(|i| !i.median.is_nan()).collect(),
    }
}

/// A field of a row from full rings.
pub(super) fn value(pair: &Pair, field: &str) -> f64 {
    pair.full.value(field)
}

/// What a `share` of values, in ascending order, is below: between two of them in proportion.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len().saturating_sub(1)) as f64;
    let (below, part) = (at.floor() as usize, at.fract());
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(a), Some(b)) => a + (b - a) * part,
        (Some(a), None) => *a,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let all = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!([0.0, 0.1, 0.5, 1.0].map(|share| quantile(&all, share)), [1.0, 1.4, 3.0, 5.0]);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
