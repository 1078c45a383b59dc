//! Which interface to take, from the numbers of the runs alone.
//!
//! In the order of what users want: who carries the load without loss; if nobody does, who carries most without loss; then
//! latency; then cost. A lead counts where it is larger than noise and the ranges over placements and arrivals do not
//! touch; where none does there is no winner.

mod words;

use serde::Serialize;

use crate::fail::Fail;
use crate::lab::fields;
use crate::lab::jobs::Pair;
use crate::lab::row::Row;
use crate::verdict::diagnosis::{Contender, Diagnosis, Machine, Mechanism, diagnose};

/// Noise of latency, DRAM traffic and buffers, percent.
const COST_NOISE_PCT: f64 = 10.0;
/// Noise of no-drop rates, percent, where the search's resolution is finer.
const RATE_NOISE_PCT: f64 = 2.0;
/// Noise of the share of frames lost, percent of what is offered.
const LOSS_NOISE: f64 = 1.0;
/// A difference of latencies that nobody minds, us; of DRAM traffic, percent of its peak; of buffers.
const LATENCY_FLOOR_US: f64 = 1.0;
const DRAM_FLOOR_PCT: f64 = 1.0;
const BUFFERS_FLOOR: f64 = 64.0;
/// Frames behind later ones of their flow, percent, from which on an interface does not keep the order.
const REORDERS_PCT: f64 = 0.01;

/// Whether the order of the frames of a flow matters to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// It does: an interface that reorders is left out.
    Strict,
    /// It does not.
    Any,
}

/// Whether an interface carries the load asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Carries {
    /// No run and no trial loses a frame.
    Yes,
    /// All runs from full rings lose frames, or all trials with the server's pauses do.
    No,
    /// Some do, some do not: it depends on placement, start or arrivals.
    Unsure,
}

/// By how much the winner leads the next one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Margin {
    /// The winner's value.
    pub value: f64,
    /// The next one's.
    pub next_value: f64,
    /// Who is next.
    pub next: String,
    /// The unit of both.
    pub unit: &'static str,
    /// The lead in percent of the next one's value; none where that is too small to divide by, or the lead is
    /// many times as large.
    pub pct: Option<f64>,
}

/// The answer of `compare`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdict {
    /// The label of the row to take; none where no lead is larger than noise.
    pub winner: Option<String>,
    /// What decided: `loss` (it alone carries the load), `no_drop_gbps`, `lost_pct`, `latency_p99_us`, `dram_gbps`,
    /// `circulating_buffers`; `none`.
    pub decided_by: &'static str,
    /// By how much.
    pub margin: Option<Margin>,
    /// Offered load of frames, Gbps.
    pub load_gbps: f64,
    /// Of each row, whether it carries the load.
    pub carries: Vec<Standing>,
    /// The answer in one sentence.
    pub headline: String,
    /// The row that carries most without loss, where it does so under these arrivals only.
    pub unconfirmed: Option<String>,
    /// What would separate the best ones first, where nothing does.
    pub separates: Option<String>,
    /// Every interface explained at the load asked for.
    pub diagnoses: Vec<Diagnosis>,
    /// Every interface explained where it begins to drop; only those that drop below the load.
    pub edges: Vec<Diagnosis>,
}

/// How one row stands.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Standing {
    /// The row's label.
    pub label: String,
    /// Whether it carries the load without loss.
    pub carries: Carries,
    /// Frames behind later ones of their flow at the load that it carries, percent.
    pub flow_reordered_pct: f64,
    /// Whether that leaves it out.
    pub left_out: bool,
}

/// A measure of which less is better.
struct Criterion {
    name: &'static str,
    /// Noise beside the percentage, in the measure's unit.
    floor: fn(&Machine) -> f64,
}

/// What those that carry the load are ranked by, in this order.
const CRITERIA: [Criterion; 3] = [
    Criterion { name: "latency_p99_us", floor: |_| LATENCY_FLOOR_US },
    Criterion { name: "dram_gbps", floor: |m| m.dram_peak_gbps * DRAM_FLOOR_PCT / 100.0 },
    Criterion { name: "circulating_buffers", floor: |_| BUFFERS_FLOOR },
];

/// Whether `p` carries the load that it was offered.
pub(crate) fn carries(p: &Pair) -> Carries {
    let lossy = |row: &Row| row.range.get("lost_pct").is_some_and(|[_, hi]| *hi > 0.0);
    let lost = p.runs.iter().filter(|r| crate::lab::search::lost(r) > 0).count();
    let failed = p.trials.iter().filter(|passed| !**passed).count();
    if lost + failed == 0 && !lossy(&p.empty) && !lossy(&p.full) {
        return Carries::Yes;
    }
    let all = |n: usize, of: usize| of > 0 && n == of;
    if all(lost, p.runs.len()) || all(failed, p.trials.len()) { Carries::No } else { Carries::Unsure }
}

/// Frames behind later ones of their flow, percent: the most of its runs and of the trial at its no-drop rate.
pub(crate) fn reordered(p: &Pair) -> f64 {
    let at_edge = p.edge.as_ref().and_then(|e| e.carried.as_ref());
    let runs = p.runs.iter().filter(|_| at_edge.is_none() || carries(p) != Carries::No);
    let all = runs.chain(at_edge).map(|r| fields::value(r, "flow_reordered_pct"));
    all.fold(0.0, f64::max)
}

/// Ranks the rows (at least one) and explains each. `confirm` tells by trials under other arrivals whether the first
/// carries without loss what the second does not; it is asked where their no-drop rates decide.
///
/// # Errors
/// As `confirm`.
pub(crate) fn decide(
    machine: &Machine,
    pairs: &[Pair],
    order: Order,
    resolution_pct: f64,
    mut confirm: impl FnMut(&Pair, &Pair) -> Result<bool, Fail>,
) -> Result<Option<Verdict>, Fail> {
    let Some(first) = pairs.first() else { return Ok(None) };
    let load_gbps = first.full.report.offered_gbps;
    let standing = |p: &Pair| {
        let flow_reordered_pct = reordered(p);
        let left_out = order == Order::Strict && flow_reordered_pct > REORDERS_PCT;
        Standing { label: p.full.label.clone(), carries: carries(p), flow_reordered_pct, left_out }
    };
    let standings: Vec<Standing> = pairs.iter().map(standing).collect();
    let among = |wanted: &dyn Fn(&Standing) -> bool| -> Vec<&Pair> {
        pairs.iter().zip(&standings).filter(|(_, s)| wanted(s)).map(|(p, _)| p).collect()
    };
    let able = among(&|s| !s.left_out);
    let carriers = among(&|s| !s.left_out && s.carries == Carries::Yes);
    let found = if carriers.is_empty() {
        let noise = RATE_NOISE_PCT.max(2.0 * resolution_pct) / 100.0;
        most_without_loss(&able, noise * load_gbps, &mut confirm)?
    } else {
        let hopeful = among(&|s| !s.left_out && s.carries != Carries::No);
        cheapest(machine, &able, &carriers, hopeful)
    };
    let best = found.winner.or_else(|| found.level.first().copied()).unwrap_or(first);
    let mut verdict = Verdict {
        winner: found.winner.map(|p| p.full.label.clone()),
        decided_by: found.by,
        margin: found.margin,
        load_gbps,
        carries: standings,
        headline: String::new(),
        unconfirmed: found.unconfirmed.map(|p| p.full.label.clone()),
        separates: (found.winner.is_none() && !carriers.is_empty())
            .then(|| closest(machine, &found.level))
            .flatten(),
        diagnoses: pairs.iter().map(|p| at_load(machine, p, best)).collect(),
        edges: pairs.iter().filter_map(|p| at_edge(machine, p, best)).collect(),
    };
    verdict.headline = words::headline(machine, pairs, &verdict, best);
    Ok(Some(verdict))
}

/// What a ranking has found.
struct Ranked<'a> {
    winner: Option<&'a Pair>,
    /// Those that nothing tells apart, the winner alone where there is one.
    level: Vec<&'a Pair>,
    by: &'static str,
    margin: Option<Margin>,
    /// Who leads in what carries without loss, but not under other arrivals.
    unconfirmed: Option<&'a Pair>,
}

impl<'a> Ranked<'a> {
    fn level(level: Vec<&'a Pair>) -> Ranked<'a> {
        Ranked { winner: None, level, by: "none", margin: None, unconfirmed: None }
    }

    fn won(winner: &'a Pair, next: Option<&Pair>, by: &'static str, field: &str) -> Ranked<'a> {
        let margin = next.map(|next| margin(winner, next, field));
        Ranked { winner: Some(winner), level: vec![winner], by, margin, unconfirmed: None }
    }
}

/// Nobody carries the load: who carries most without loss, or loses least of it.
fn most_without_loss<'a>(
    able: &[&'a Pair],
    noise: f64,
    confirm: &mut impl FnMut(&Pair, &Pair) -> Result<bool, Fail>,
) -> Result<Ranked<'a>, Fail> {
    let mut level = able.to_vec();
    let mut unconfirmed = None;
    let no_drop = |p: &Pair| p.full.no_drop_gbps.unwrap_or(f64::NAN);
    if level.len() > 1 && level.iter().all(|p| p.full.no_drop_gbps.is_some()) {
        level.sort_by(|a, b| no_drop(b).total_cmp(&no_drop(a)));
        let (best, next) = (level[0], level[1]);
        let leads = no_drop(best) - no_drop(next) > noise.max(RATE_NOISE_PCT / 100.0 * no_drop(best));
        if leads && confirm(best, next)? {
            return Ok(Ranked::won(best, Some(next), "no_drop_gbps", "no_drop_gbps"));
        }
        unconfirmed = leads.then_some(best);
        let near = no_drop(next).min(no_drop(best) - noise);
        level.retain(|p| no_drop(p) >= near);
    }
    let Some(best) = least(&level, "lost_pct") else { return Ok(Ranked::level(level)) };
    match behind(&level, best, "lost_pct", LOSS_NOISE, 0.0) {
        (near, Some(next)) if near.len() == 1 => Ok(Ranked::won(best, Some(next), "lost_pct", "lost_pct")),
        _ => Ok(Ranked { unconfirmed, ..Ranked::level(level) }),
    }
}

/// Some carry the load: the only one, or the best of them in latency, then cost. Who is `hopeful` but not among the
/// `carriers` can spoil a lead and not win.
fn cheapest<'a>(
    machine: &Machine,
    able: &[&'a Pair],
    carriers: &[&'a Pair],
    hopeful: Vec<&'a Pair>,
) -> Ranked<'a> {
    let carrier = |p: &Pair| carriers.iter().any(|c| std::ptr::eq(*c, p));
    if let ([only], [_, ..]) = (hopeful.as_slice(), able) {
        let rest: Vec<&Pair> = able.iter().copied().filter(|p| !std::ptr::eq(*p, *only)).collect();
        if let Some(next) = least(&rest, "lost_pct") {
            let by_rate = only.full.no_drop_gbps.is_some() && next.full.report.drops.is_empty();
            let field = if by_rate { "no_drop_gbps" } else { "lost_pct" };
            return Ranked::won(only, Some(next), "loss", field);
        }
    }
    let mut level = hopeful;
    for criterion in &CRITERIA {
        let Some(best) = least(&level, criterion.name) else { break };
        let (near, next) = behind(&level, best, criterion.name, (criterion.floor)(machine), COST_NOISE_PCT);
        match (near.len(), next) {
            (1, Some(next)) if carrier(best) => {
                return Ranked::won(best, Some(next), criterion.name, criterion.name);
            }
            (1, Some(_)) => return Ranked::level(level),
            _ => level = near,
        }
    }
    Ranked::level(level)
}

fn least<'a>(of: &[&'a Pair], field: &str) -> Option<&'a Pair> {
    of.iter().copied().min_by(|a, b| a.full.value(field).total_cmp(&b.full.value(field)))
}

/// Of `level`, those that `best` does not lead in `field` by more than noise, itself among them; and the best of all
/// others.
fn behind<'a>(
    level: &[&'a Pair],
    best: &'a Pair,
    field: &str,
    floor: f64,
    noise_pct: f64,
) -> (Vec<&'a Pair>, Option<&'a Pair>) {
    let near = |p: &&Pair| std::ptr::eq(*p, best) || !leads(best, p, field, floor, noise_pct);
    let others: Vec<&Pair> = level.iter().copied().filter(|p| !std::ptr::eq(*p, best)).collect();
    (level.iter().copied().filter(near).collect(), least(&others, field))
}

/// Whether `a` has less of `field` than `b` by more than noise, with ranges apart.
fn leads(a: &Pair, b: &Pair, field: &str, floor: f64, noise_pct: f64) -> bool {
    let gap = b.full.value(field) - a.full.value(field);
    let [_, worst] = range(&a.full, field);
    let [best, _] = range(&b.full, field);
    gap > floor && gap > noise_pct / 100.0 * b.full.value(field).abs() && best > worst
}

fn range(row: &Row, field: &str) -> [f64; 2] {
    row.range.get(field).copied().unwrap_or([row.value(field); 2])
}

fn margin(winner: &Pair, next: &Pair, field: &str) -> Margin {
    let (value, next_value) = (winner.full.value(field), next.full.value(field));
    let unit = crate::lab::fields::describe(field).map_or("", |f| f.unit);
    // A share of a share, or of next to nothing, tells nobody anything.
    let pct = (value - next_value).abs() / next_value.abs().max(f64::MIN_POSITIVE) * 100.0;
    let tells = field != "lost_pct" && next_value.abs() >= 0.1 && pct <= 1000.0;
    Margin { value, next_value, next: next.full.label.clone(), unit, pct: tells.then_some(pct) }
}

/// The measure in which the best of `level` leads the next one by most of what counts as a lead.
fn closest(machine: &Machine, level: &[&Pair]) -> Option<String> {
    if level.len() < 2 {
        return None;
    }
    let gaps = CRITERIA.iter().filter_map(|c| {
        let best = least(level, c.name)?;
        let others: Vec<&Pair> = level.iter().copied().filter(|p| !std::ptr::eq(*p, best)).collect();
        let next = least(&others, c.name)?;
        let (a, b) = (best.full.value(c.name), next.full.value(c.name));
        let wanted = (c.floor)(machine).max(COST_NOISE_PCT / 100.0 * b.abs());
        let clear = leads(best, next, c.name, (c.floor)(machine), COST_NOISE_PCT);
        Some(((b - a) / wanted.max(1e-9), c.name, clear, best, next))
    });
    let (_, name, clear, best, next) = gaps.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(words::closest(name, clear, best, next))
}

fn contender(p: &Pair) -> Contender<'_> {
    let posted = p.full.posted_buffers;
    Contender { interface: &p.full.label, report: &p.full.report, pauses: false, posted }
}

fn at_load(machine: &Machine, p: &Pair, best: &Pair) -> Diagnosis {
    diagnose(machine, &contender(p), &contender(best))
}

/// The trial at the smallest rate that was refused, explained.
fn at_edge(machine: &Machine, p: &Pair, best: &Pair) -> Option<Diagnosis> {
    let refused = p.edge.as_ref()?.refused.as_ref()?;
    let edge = Contender { report: refused, pauses: true, ..contender(p) };
    let found = diagnose(machine, &edge, &contender(best));
    (found.mechanism != Mechanism::None).then_some(found)
}

#[cfg(test)]
mod tests;
