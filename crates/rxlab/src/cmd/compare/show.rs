//! A comparison as text, as data, as a page.

use serde_json::{Value, json};

use crate::cmd::compare::{Comparison, Remedy};
use crate::fail::Fail;
use crate::lab::fields;
use crate::lab::jobs::Pair;
use crate::lab::row::Row;
use crate::lab::setup::Ready;
use crate::lab::shown::{Columns, ports, setting_lines, title};
use crate::show::html::Html;
use crate::show::out;
use crate::show::palette::Colour;
use crate::show::plot::{self, Bars, Fill};
use crate::show::table::{Table, num};
use crate::verdict::decide::{Carries, Verdict};
use crate::verdict::diagnosis::{Diagnosis, Mechanism};

/// Columns of a terminal that lines of words keep within.
const WIDTH: usize = 100;

/// For programs.
pub(super) fn data(c: &Comparison) -> Value {
    let results: Vec<_> = c.pairs.iter().flat_map(|p| [&p.empty, &p.full]).collect();
    let assumed = c.ready.server.assumed();
    let assumed =
        assumed.iter().map(|(name, value, origin)| json!({"name": name, "value": value, "origin": origin}));
    let headroom = c.headroom.iter().map(|(label, gbps)| json!({"label": label, "no_drop_gbps": gbps}));
    json!({
        "server": c.ready.server.name,
        "traffic": c.ready.traffic_json(),
        "notes": c.ready.traffic_notes(),
        "defaults": c.ready.settings(),
        "seed": c.ready.seed(),
        "verdict": c.verdict,
        "hysteresis": c.pairs.iter().filter(|p| p.hysteresis()).map(|p| &p.full.label).collect::<Vec<_>>(),
        "results": results,
        "remedies": c.remedies,
        "headroom": headroom.collect::<Vec<_>>(),
        "sweep": c.sweep,
        "assumed": assumed.collect::<Vec<_>>(),
    })
}

/// The table: a row for each interface, two where the starts differ.
fn table(c: &Comparison) -> Table {
    let columns = c.pairs.first().map_or(Columns::Large, |p| Columns::of(&p.full.report));
    let mut table = Table::new(&columns.headings());
    for (row, start) in c.pairs.iter().flat_map(Pair::shown) {
        if Some(&row.label) == c.verdict.winner.as_ref() {
            table.bold.push(table.rows.len());
        }
        table.rows.push(columns.cells(row, start));
    }
    table
}

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
fn settings(remedies: &[Remedy]) -> Vec<String> {
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
            num(crate::verdict::decide::reordered(p))
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
fn notes(c: &Comparison) -> Vec<String> {
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
fn assumptions(ready: &Ready) -> String {
    let assumed = ready.server.assumed();
    let fitted = assumed.iter().filter(|(.., origin)| origin.starts_with("fitted")).count();
    format!(
        "seed {}; {} constants of {} are assumed, {fitted} fitted (--verbose lists them and every command)",
        ready.seed(),
        assumed.len() - fitted,
        ready.server.name
    )
}

/// For a terminal.
pub(super) fn text(c: &Comparison, verbose: bool) -> String {
    let colour = out::colour();
    let mut out = wrapped("", &title(&c.ready, &c.pairs));
    c.ready.traffic_notes().iter().for_each(|note| out += &wrapped("- ", note));
    out += &format!("\n{}", table(c).text(colour));
    if let Some(ports) = ports(&c.pairs) {
        out += &format!("\n{}", ports.text(colour));
    }
    out += &format!("\n{}", wrapped("", &c.verdict.headline));
    notes(c).iter().for_each(|line| out += &wrapped("- ", line));
    if !c.remedies.is_empty() {
        out += "\nSet this:\n";
        settings(&c.remedies).iter().for_each(|line| out += &wrapped("- ", line));
    }
    if let Some(sweep) = &c.sweep {
        out += &format!("\n{}", sweep.table().text(colour));
    }
    if verbose {
        setting_lines(&c.ready).iter().for_each(|line| out += &format!("\n{}", wrapped("", line)));
        out += "\nRun it again:\n";
        c.pairs.iter().for_each(|p| out += &format!("  {}\n", p.full.reproduce));
    } else {
        out += &format!("\n{}", wrapped("", &assumptions(&c.ready)));
    }
    out
}

/// `text` behind `bullet`, in lines of a terminal's width.
fn wrapped(bullet: &str, text: &str) -> String {
    let mut out = bullet.to_string();
    let mut width = bullet.len();
    for (i, word) in text.split_whitespace().enumerate() {
        let len = word.chars().count();
        if i > 0 && width + 1 + len > WIDTH {
            out += &format!("\n{}", " ".repeat(bullet.len()));
            width = bullet.len();
        } else if i > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += len;
    }
    out + "\n"
}

/// As a page.
pub(super) fn report(c: &Comparison) -> Result<Html, Fail> {
    let mut html = Html::new(&title(&c.ready, &c.pairs));
    html.list(c.ready.traffic_notes());
    html.verdict(&c.verdict.headline, "");
    html.table(&table(c));
    if let Some(ports) = ports(&c.pairs) {
        html.table(&ports);
    }
    if !c.remedies.is_empty() {
        html.section("Set this");
        html.list(settings(&c.remedies));
    }
    html.section("Why");
    html.list(notes(c));
    html.section("Plots");
    html.plots(&plots(c)?);
    if let Some(sweep) = &c.sweep {
        html.section("Over the load");
        html.plots(&sweep.plots()?);
        html.table(&sweep.table());
    }
    html.section("Run it again");
    html.commands(c.pairs.iter().map(|p| (p.full.label.clone(), p.full.reproduce.clone())));
    html.section("Settings and constants");
    html.list(setting_lines(&c.ready).into_iter().take(1));
    let all = c.ready.server.assumed();
    html.list(all.iter().map(|(name, value, origin)| format!("{name} = {value}: {origin}")));
    Ok(html)
}

/// The plots of a comparison: each measure by interface, from both starts, and the drops by cause.
fn plots(c: &Comparison) -> Result<Vec<String>, Fail> {
    let pairs = &c.pairs;
    let interface = |p: &Pair| (p.full.label.clone(), Colour::interface(&p.full.interface));
    let names: Vec<_> = pairs.iter().map(interface).collect();
    let mut figures = Vec::new();
    for name in [
        "throughput_gbps",
        "latency_mean_us",
        "latency_p99_us",
        "ddio_hit_pct",
        "dram_gbps",
        "circulating_buffers",
    ] {
        let Some(field) = fields::describe(name) else { continue };
        let bars = |label: &str, fill, of: fn(&Pair) -> &Row| Bars {
            label: label.into(),
            fill,
            colour: None,
            values: pairs.iter().map(|p| of(p).value(name)).collect(),
        };
        let starts = [
            bars("from empty rings", Fill::Light, |p| &p.empty),
            bars("from full rings", Fill::Solid, |p| &p.full),
        ];
        figures.push(plot::bars(field.heading, field.unit, &names, &starts, false)?);
    }
    if pairs.iter().all(|p| p.full.no_drop_gbps.is_some()) {
        let values = pairs.iter().map(|p| p.full.no_drop_gbps.unwrap_or(0.0)).collect();
        let bars = Bars { label: "without a drop".into(), fill: Fill::Solid, colour: None, values };
        figures.insert(1, plot::bars("no-drop rate", "Gbps", &names, &[bars], false)?);
    }
    figures.push(drops(&names, pairs)?);
    Ok(figures)
}

fn drops(names: &[(String, Colour)], pairs: &[Pair]) -> Result<String, Fail> {
    let causes: std::collections::BTreeSet<&str> =
        pairs.iter().flat_map(|p| p.full.report.drops.iter().filter(|d| *d.1 > 0).map(|d| *d.0)).collect();
    let share = |p: &Pair, cause: &str| {
        let r = &p.full.report;
        let all: u64 = r.drops.values().sum();
        r.drops.get(cause).map_or(0.0, |&n| n as f64 / all.max(1) as f64 * r.drop_pct)
    };
    let bars = |cause: &str| Bars {
        label: cause.into(),
        fill: Fill::Solid,
        colour: Some(Colour::cause(cause)),
        values: pairs.iter().map(|p| share(p, cause)).collect(),
    };
    let all: Vec<Bars> = causes.into_iter().map(bars).collect();
    plot::bars("drops by cause, from full rings", "% of offered frames", names, &all, true)
}
