//! A comparison in sentences: every row explained, what to set, what else must be known.

use super::{Comparison, Remedy};
use crate::lab::jobs::Pair;
use crate::lab::setup::Ready;
use crate::show::table::num;
use crate::verdict::decide::{Carries, Verdict, reordered};
use crate::verdict::diagnosis::{Diagnosis, Mechanism};

/// Each row explained: what it carries, and why no more.
fn explanations(v: &Verdict, pairs: &[Pair]) -> Vec<String> {
    let of = |all: &[Diagnosis], label: &str| all.iter().find(|d| d.interface == label).cloned();
    let line = |p: &Pair| {
        let label = &p.full.label;
        let carries = v.carries.iter().find(|s| s.label == *label).map_or(Carries::Unsure, |s| s.carries);
        let load = of(&v.diagnoses, label);
        let (Some(edge), true) = (of(&v.edges, label), carries != Carries::Yes) else {
            return format!("{label}: {}", load.map_or(String::new(), |load| load.text));
        };
        let carried = num(p.full.no_drop_gbps.unwrap_or(0.0));
        let text =
            format!("{label}: carries {carried} Gbps without loss; at {}: {}", num(edge.gbps), edge.text);
        match load {
            // The same reason a second time would only hide the numbers.
            Some(load) if load.mechanism == edge.mechanism => {
                format!("{text}; at the load asked for {}% drop", num(p.full.report.drop_pct))
            }
            Some(load) if load.mechanism != Mechanism::None => {
                format!("{text}. At the load asked for: {}", load.text)
            }
            _ => text,
        }
    };
    pairs.iter().map(line).collect()
}

/// What to set, row by row.
pub(super) fn settings(remedies: &[Remedy]) -> Vec<String> {
    let line = |r: &Remedy| match (&r.set, r.no_drop_now_gbps) {
        (Some(set), _) => format!(
            "{}: set {set}: {} Gbps without loss, p99 {} us (predicted, one placement)",
            r.label,
            num(r.throughput_gbps.unwrap_or(f64::NAN)),
            num(r.latency_p99_us.unwrap_or(f64::NAN))
        ),
        (None, Some(no_drop)) if no_drop > 0.0 => {
            format!("{}: lower the load to {} Gbps of frames; {}", r.label, num(no_drop), in_vain(r))
        }
        (None, _) => format!("{}: {}", r.label, in_vain(r)),
    };
    remedies.iter().map(line).collect()
}

/// What does not help.
fn in_vain(r: &Remedy) -> String {
    /// Changes that are named.
    const NAMED: usize = 4;
    match r.tried.as_slice() {
        [] => "no size of a ring gives the cores the time, and there are no more of them".into(),
        [one] => format!("{one} does not help"),
        all if all.len() <= NAMED => format!("none of {} helps", all.join(", ")),
        all => format!("none of {} and {} others helps", all[..NAMED].join(", "), all.len() - NAMED),
    }
}

/// What the two starts did where they did not do the same.
fn hysteresis(pairs: &[Pair]) -> Vec<String> {
    let differing = pairs.iter().filter(|p| p.hysteresis());
    let line = |p: &Pair| {
        let (e, f) = (&p.empty.report, &p.full.report);
        format!(
            "{}: hysteresis: {} Gbps at {} us from empty rings, {} Gbps at {} us once the rings were full",
            p.full.label,
            num(e.throughput_gbps),
            num(e.latency_us.mean),
            num(f.throughput_gbps),
            num(f.latency_us.mean)
        )
    };
    differing.map(line).collect()
}

/// How frames leave where cores share a ring without a queue each.
fn reordering(pairs: &[Pair]) -> Vec<String> {
    let rows = pairs.iter().filter(|p| p.full.report.reordering.is_some());
    let line = |p: &Pair| {
        let value = |name: &str| num(p.full.value(name));
        format!(
            "{}: at the load asked for {}% of what leaves does so behind later frames, by {} places at the most; {}% behind later ones of its flow, at the load it carries {}%",
            p.full.label,
            value("reordered_pct"),
            value("extent_max"),
            value("flow_reordered_pct"),
            num(reordered(p))
        )
    };
    rows.map(line).collect()
}

/// What the middle run does not show: rates that had not settled, and what depends on placement and arrivals.
fn reservations(pairs: &[Pair]) -> Vec<String> {
    let rows = || pairs.iter().flat_map(|p| [&p.empty, &p.full]);
    let unsettled: Vec<_> =
        rows().filter(|r| !r.report.settled).map(|r| format!("{} from {}", r.label, r.start)).collect();
    let mut lines = Vec::new();
    if !unsettled.is_empty() {
        lines.push(format!("rates never settle, so these are ranges: {}", unsettled.join(", ")));
    }
    lines.extend(rows().filter_map(|r| {
        let wide = r.wide_ranges();
        let others = if r.other_arrivals > 0 {
            format!(" and {} other arrivals", r.other_arrivals)
        } else {
            String::new()
        };
        (!wide.is_empty()).then(|| {
            format!(
                "{} from {}, over {} placements{others}: {}",
                r.label,
                r.start,
                r.placements,
                wide.join(", ")
            )
        })
    }));
    lines
}

/// Everything that is not a row, in the order of its weight.
pub(super) fn notes(c: &Comparison) -> Vec<String> {
    let level = c.verdict.separates.iter().cloned();
    let headroom = c.headroom.iter().map(|(label, gbps)| format!("{label} {}", num(*gbps)));
    let headroom: Vec<String> = headroom.collect();
    let more = (!headroom.is_empty()).then(|| {
        format!(
            "a higher load would tell them apart where these differ: without loss they carry {} Gbps",
            headroom.join(", ")
        )
    });
    level
        .chain(more)
        .chain(explanations(&c.verdict, &c.pairs))
        .chain(hysteresis(&c.pairs))
        .chain(reordering(&c.pairs))
        .chain(reservations(&c.pairs))
        .collect()
}

/// How much of the server is assumed, in a line.
pub(super) fn assumptions(ready: &Ready) -> String {
    let assumed = ready.server.assumed();
    let fitted = assumed.iter().filter(|(.., origin)| origin.starts_with("fitted")).count();
    format!(
        "seed {}; {} constants of {} are assumed, {fitted} fitted (--verbose lists them and every command)",
        ready.seed(),
        assumed.len() - fitted,
        ready.server.name
    )
}
