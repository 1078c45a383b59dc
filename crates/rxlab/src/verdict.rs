//! Which interface wins, and by how much: from the numbers of the runs alone.

use serde::Serialize;

use crate::diagnosis::{Contender, Diagnosis, Machine, Mechanism, diagnose, dram};

/// Differences of throughput and no-drop rate below this are noise (the search's own resolution).
const RATE_NOISE_PCT: f64 = 1.0;
/// Differences of latency and DRAM traffic below this are noise.
const COST_NOISE_PCT: f64 = 10.0;

/// The answer of `compare`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdict {
    /// The interface to take.
    pub winner: String,
    /// By how much it leads the next one in `decided_by`, percent.
    pub margin_pct: f64,
    /// The first of throughput, no-drop rate, p99 latency, DRAM traffic and circulating buffers in
    /// which the best of those still level leads by more than noise; `none` where none does.
    pub decided_by: &'static str,
    /// Who leads whom in what.
    pub lead: String,
    /// Why: the lead, and every interface explained.
    pub reason: String,
    /// Every interface explained.
    pub diagnoses: Vec<Diagnosis>,
}

/// What interfaces are ranked by, in this order, with what counts as noise.
struct Criterion {
    name: &'static str,
    noise_pct: f64,
    /// Larger is better.
    score: fn(&Contender) -> Option<f64>,
    /// Gbps or us; the sign is the score's.
    show: fn(f64) -> String,
}

const CRITERIA: [Criterion; 5] = [
    Criterion {
        name: "throughput_gbps",
        noise_pct: RATE_NOISE_PCT,
        score: |c| Some(c.report.throughput_gbps),
        show: |v| format!("{v:.1} Gbps"),
    },
    Criterion {
        name: "no_drop_gbps",
        noise_pct: RATE_NOISE_PCT,
        score: |c| c.no_drop_gbps,
        show: |v| format!("{v:.1} Gbps without a drop"),
    },
    Criterion {
        name: "latency_p99_us",
        noise_pct: COST_NOISE_PCT,
        score: |c| Some(-c.report.latency_us.p99),
        show: |v| format!("a p99 latency of {:.1} us", -v),
    },
    Criterion {
        name: "dram_gbps",
        noise_pct: COST_NOISE_PCT,
        score: |c| Some(-dram(c.report)),
        show: |v| format!("{:.1} Gbps of DRAM traffic", -v),
    },
    Criterion {
        name: "circulating_buffers",
        noise_pct: COST_NOISE_PCT,
        score: |c| Some(-c.report.circulating_buffers),
        show: |v| format!("{:.0} circulating buffers", -v),
    },
];

/// Ranks the contenders (at least one) and explains each.
pub(crate) fn decide(machine: &Machine, contenders: &[Contender]) -> Option<Verdict> {
    let mut left: Vec<&Contender> = contenders.iter().collect();
    for criterion in &CRITERIA {
        let scores: Vec<f64> = left.iter().filter_map(|c| (criterion.score)(c)).collect();
        if scores.len() < left.len() {
            continue;
        }
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let near: Vec<&Contender> = left
            .iter()
            .zip(&scores)
            .filter(|(_, s)| lead_pct(best, **s) <= criterion.noise_pct)
            .map(|(c, _)| *c)
            .collect();
        if let [winner] = near.as_slice() {
            let score = |c: &Contender| (criterion.score)(c).unwrap_or(f64::NEG_INFINITY);
            let others = left.iter().filter(|c| !std::ptr::eq(**c, *winner));
            let Some(next) = others.max_by(|a, b| score(a).total_cmp(&score(b))) else { break };
            return Some(won(machine, contenders, winner, next, criterion));
        }
        left = near;
    }
    left.first().map(|first| tie(machine, contenders, &left, first))
}

/// How far `best` leads `other`, percent of `other`'s size.
fn lead_pct(best: f64, other: f64) -> f64 {
    let size = other.abs().min(best.abs()).max(1e-9);
    if best == other { 0.0 } else { (best - other) / size * 100.0 }
}

fn won(m: &Machine, all: &[Contender], winner: &Contender, next: &Contender, by: &Criterion) -> Verdict {
    let diagnoses = explain(m, all, winner);
    let (best, second) = ((by.score)(winner).unwrap_or(0.0), (by.score)(next).unwrap_or(0.0));
    let lead =
        format!("{} reaches {}, {} {}", winner.interface, (by.show)(best), next.interface, (by.show)(second));
    Verdict {
        winner: winner.interface.into(),
        margin_pct: lead_pct(best, second),
        decided_by: by.name,
        reason: format!("{lead}{}", losers(&diagnoses, winner, next)),
        lead,
        diagnoses,
    }
}

fn tie(m: &Machine, all: &[Contender], level: &[&Contender], first: &Contender) -> Verdict {
    let diagnoses = explain(m, all, first);
    let names: Vec<&str> = level.iter().map(|c| c.interface).collect();
    let lead = match names.as_slice() {
        [_] => "the only interface asked for".to_string(),
        [but_last @ .., last] => {
            format!("{} and {last} do not differ by more than noise", but_last.join(", "))
        }
        [] => String::new(),
    };
    let reason = format!("{lead}{}", losers(&diagnoses, first, first));
    Verdict { winner: first.interface.into(), margin_pct: 0.0, decided_by: "none", lead, reason, diagnoses }
}

/// Why `next` is behind, then the others, then what even the winner loses.
fn losers(diagnoses: &[Diagnosis], winner: &Contender, next: &Contender) -> String {
    let mut order: Vec<&Diagnosis> = diagnoses.iter().filter(|d| d.interface != winner.interface).collect();
    order.sort_by_key(|d| d.interface != next.interface);
    let mut text: String = order.iter().map(|d| format!("; {}: {}", d.interface, d.text)).collect();
    if let Some(own) = diagnoses.iter().find(|d| d.interface == winner.interface) {
        let even = if own.mechanism == Mechanism::None { "" } else { "even " };
        text += &format!("; {even}{}: {}", own.interface, own.text);
    }
    text
}

fn explain(m: &Machine, all: &[Contender], winner: &Contender) -> Vec<Diagnosis> {
    all.iter().map(|c| diagnose(m, c, winner)).collect()
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
