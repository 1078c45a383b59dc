//! A verdict in sentences.

use rings::Today;

use crate::lab::fields;
use crate::lab::jobs::Pair;
use crate::show::table::num;
use crate::verdict::diagnosis::{Machine, Mechanism};

use super::{Carries, Margin, Standing, Verdict};

/// The answer in a sentence or two.
pub(super) fn headline(machine: &Machine, pairs: &[Pair], v: &Verdict, best: &Pair) -> String {
    let load = num(v.load_gbps);
    let labels = |wanted: &dyn Fn(&Standing) -> bool| {
        let found: Vec<&str> = v.carries.iter().filter(|s| wanted(s)).map(|s| s.label.as_str()).collect();
        list(&found)
    };
    let carriers = labels(&|s| !s.left_out && s.carries == Carries::Yes);
    let mut text = match (&v.winner, v.decided_by) {
        (Some(winner), "loss") => {
            format!("{winner} alone carries {load} Gbps without loss; {}.", next_in_line(v, pairs))
        }
        (Some(winner), by @ "no_drop_gbps") => {
            let told = told(by, v.margin.as_ref());
            format!("None carries {load} Gbps without loss; {winner} carries most without loss: {told}.")
        }
        (Some(winner), by @ "lost_pct") => {
            let told = told(by, v.margin.as_ref());
            format!(
                "None carries {load} Gbps without loss; of those that carry most, {winner} loses least of it: {told}."
            )
        }
        (Some(winner), by) => {
            let told = told(by, v.margin.as_ref());
            format!("{carriers} carry {load} Gbps without loss; {winner} wins by {}: {told}.", name(by))
        }
        (None, _) if v.carries.iter().all(|s| s.left_out) => {
            format!("No winner at {load} Gbps: all that was compared reorders frames of a flow.")
        }
        (None, _) if carriers.is_empty() => none_carries(v, best),
        (None, _) if pairs.len() == 1 => format!("{carriers} carries {load} Gbps without loss."),
        (None, _) => {
            let also = labels(&|s| !s.left_out && s.carries == Carries::Unsure);
            let also = if also.is_empty() {
                String::new()
            } else {
                format!(" ({also} in some placements or arrivals only)")
            };
            let verb = if carriers.contains(" and ") { "carry" } else { "carries" };
            format!(
                "No winner: {carriers} {verb} {load} Gbps without loss{also}, and nothing tells the best apart by more than noise."
            )
        }
    };
    if carriers.is_empty() && !v.carries.iter().all(|s| s.left_out) {
        text += &wants(machine, v, best);
    }
    text += &for_sale(pairs, v);
    for s in v.carries.iter().filter(|s| s.left_out) {
        text += &format!(
            " {} is left out: {}% of the frames leave behind later ones of their flow (--order any counts it).",
            s.label,
            num(s.flow_reordered_pct)
        );
    }
    text
}

/// Nobody carries the load, and nobody is better than the others.
fn none_carries(v: &Verdict, best: &Pair) -> String {
    let load = num(v.load_gbps);
    let eligible: Vec<&Standing> = v.carries.iter().filter(|s| !s.left_out).collect();
    let carried = best.full.no_drop_gbps.map(num);
    let unsure: Vec<&str> =
        eligible.iter().filter(|s| s.carries == Carries::Unsure).map(|s| s.label.as_str()).collect();
    let sometimes = match unsure.as_slice() {
        [] => String::new(),
        some => format!(" ({} in some placements or under some arrivals)", list(some)),
    };
    if let [only] = eligible.as_slice() {
        let carried = carried.map_or(String::new(), |n| format!(", but {n} Gbps"));
        return format!("{} does not carry {load} Gbps without loss{sometimes}{carried}.", only.label);
    }
    let which = match (&v.unconfirmed, carried) {
        (Some(label), Some(n)) => {
            format!("{label} carries most without loss, {n} Gbps, but under these arrivals only")
        }
        (_, Some(n)) => format!("what they carry without loss, {n} Gbps, does not differ by more than noise"),
        _ => "they lose alike".into(),
    };
    format!("No winner: none carries {load} Gbps without loss{sometimes}; {which}.")
}

/// What a reader can set today, where the answer is something else.
fn for_sale(pairs: &[Pair], v: &Verdict) -> String {
    let standing = |p: &Pair| v.carries.iter().find(|s| s.label == p.full.label);
    let able = |p: &&Pair| p.full.today == Today::Yes && standing(p).is_some_and(|s| !s.left_out);
    let sold: Vec<&Pair> = pairs.iter().filter(able).collect();
    if v.winner.as_ref().is_some_and(|w| sold.iter().any(|p| p.full.label == *w)) || sold.len() == pairs.len()
    {
        return String::new();
    }
    let labels = |wanted: Carries| -> Vec<&str> {
        let is = |p: &&&Pair| standing(p).is_some_and(|s| s.carries == wanted);
        sold.iter().filter(is).map(|p| p.full.label.as_str()).collect()
    };
    let carried = |p: &Pair| p.full.no_drop_gbps.unwrap_or(f64::NAN);
    match (labels(Carries::Yes).as_slice(), sold.iter().max_by(|a, b| carried(a).total_cmp(&carried(b)))) {
        ([], None) => " None of these can be bought.".into(),
        ([], Some(most)) if carried(most).is_nan() => {
            format!(
                " Of these one can buy {}.",
                list(&sold.iter().map(|p| p.full.label.as_str()).collect::<Vec<_>>())
            )
        }
        ([], Some(most)) => {
            format!(" Of what can be bought {} carries most, {} Gbps.", most.full.label, num(carried(most)))
        }
        (all, _) => format!(
            " Of what can be bought {} {} the load.",
            list(all),
            if all.len() > 1 { "carry" } else { "carries" }
        ),
    }
}

/// What a load would take that none carries.
fn wants(machine: &Machine, v: &Verdict, best: &Pair) -> String {
    let cores = best.full.report.per_core.len();
    let (label, load) = (&best.full.label, v.load_gbps);
    let why = v.diagnoses.iter().find(|d| d.interface == *label).map_or(Mechanism::None, |d| d.mechanism);
    match (best.full.no_drop_gbps, why) {
        (_, Mechanism::RssImbalance | Mechanism::PortImbalance) => {
            format!(" More cores do not help {label} while its load lies on few of them.")
        }
        (Some(carried), Mechanism::CoresBusy | Mechanism::CacheLeak) if carried > 0.0 => {
            let wanted = (cores as f64 * load / carried).ceil();
            let carry = if cores == 1 { "core carries" } else { "cores carry" };
            let carry = format!(" {cores} {carry} {} Gbps with {label};", num(carried));
            if cores < machine.cores as usize && wanted <= f64::from(machine.cores) {
                return format!("{carry} for {} it takes more of them, or a lower rate.", num(load));
            }
            format!("{carry} for {} you need about {wanted:.0}, or a lower rate.", num(load))
        }
        (_, Mechanism::CoresBusy | Mechanism::CacheLeak) => {
            let r = &best.full.report;
            let mpps = r.counted.offered as f64 / r.measured_s.max(1e-12) / 1e6;
            let wanted = (mpps * r.cycles_per_packet / (machine.ghz * 1e3)).ceil();
            format!(
                " For {} Gbps {label} needs about {wanted:.0} cores like these, or a lower rate.",
                num(load)
            )
        }
        (Some(carried), _) if carried > 0.0 => format!(" Up to {} Gbps {label} loses nothing.", num(carried)),
        _ => String::new(),
    }
}

/// What the others lose.
fn next_in_line(v: &Verdict, pairs: &[Pair]) -> String {
    let next = v.margin.as_ref().and_then(|m| pairs.iter().find(|p| p.full.label == m.next));
    let Some(next) = next else { return String::new() };
    let lost = next.full.value("lost_pct");
    let carried = next.full.no_drop_gbps.map(|n| format!("carries {}", num(n)));
    let lost = (lost > 0.0).then(|| format!("loses {}%", num(lost)));
    let parts: Vec<String> = lost.into_iter().chain(carried).collect();
    format!("{}, the next, {}", next.full.label, parts.join(" and "))
}

/// `92.0 against 107 us of shring, 14% less`.
fn told(field: &str, margin: Option<&Margin>) -> String {
    let Some(m) = margin else { return String::new() };
    let less = if m.value < m.next_value { "less" } else { "more" };
    let apart = num((m.value - m.next_value).abs());
    let lead = match m.pct {
        Some(pct) => format!("{}% {less}", num(pct)),
        None if m.unit == "%" => format!("{apart} points {less}"),
        None => format!("{apart} {} {less}", m.unit),
    };
    let unit = if field == "circulating_buffers" { "" } else { m.unit };
    format!("{} against {} {unit} of {}, {lead}", num(m.value), num(m.next_value), m.next).replace("  ", " ")
}

/// What would separate two that are level.
pub(super) fn closest(field: &str, clear: bool, best: &Pair, next: &Pair) -> String {
    let why = match super::carries(best) {
        Carries::Unsure if clear => {
            "which does not count: the first loses frames in some placements or arrivals"
        }
        _ if clear => "but the range of another reaches it",
        _ => "too little for the range over placements and arrivals",
    };
    let unit = fields::describe(field).map_or("", |f| f.unit);
    format!(
        "the largest difference is in {}: {} of {} against {} {unit} of {}, {why}",
        name(field),
        num(best.full.value(field)),
        best.full.label,
        num(next.full.value(field)),
        next.full.label
    )
}

fn name(field: &str) -> &'static str {
    fields::describe(field).map_or("", |f| f.heading)
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
