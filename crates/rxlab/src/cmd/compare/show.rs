//! A comparison as text, as data, as a page.

use serde_json::{Value, json};

use super::Comparison;
use super::plots::plots;
use super::words::{assumptions, notes, settings};
use crate::fail::Fail;
use crate::lab::jobs::Pair;
use crate::lab::shown::{Columns, ports, setting_lines, title};
use crate::show::html::Html;
use crate::show::out;
use crate::show::table::Table;
use crate::show::text::wrapped;
use crate::verdict::robust;

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
        "notes": c.traffic_notes(),
        "defaults": c.ready.settings(),
        "seed": c.ready.seed(),
        "verdict": c.verdict,
        "hysteresis": c.pairs.iter().filter(|p| p.hysteresis()).map(|p| &p.full.label).collect::<Vec<_>>(),
        "results": results,
        "remedies": c.remedies,
        "headroom": headroom.collect::<Vec<_>>(),
        "sweep": c.sweep,
        "uncertainty": c.robust,
        "sensitivity": c.sensitivity,
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

/// For a terminal.
pub(super) fn text(c: &Comparison, verbose: bool) -> String {
    let colour = out::colour();
    let mut out = wrapped("", &title(&c.ready, &c.pairs));
    c.traffic_notes().iter().for_each(|note| out += &wrapped("- ", note));
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
    if let Some(robust) = &c.robust {
        out += &format!("\n{}\n", robust::table(robust).text(colour));
        uncertain(c).iter().for_each(|line| out += &wrapped("- ", line));
    }
    if let Some(sensitivity) = &c.sensitivity {
        out += &format!("\n{}\n", sensitivity.table().text(colour));
        sensitivity.lines().iter().for_each(|line| out += &wrapped("- ", line));
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

/// How robust the verdict is, in sentences.
fn uncertain(c: &Comparison) -> Vec<String> {
    c.robust.as_ref().map_or_else(Vec::new, |r| robust::lines(r, c.verdict.winner.as_deref()))
}

/// As a page.
pub(super) fn report(c: &Comparison) -> Result<Html, Fail> {
    let mut html = Html::new(&title(&c.ready, &c.pairs));
    html.list(c.traffic_notes());
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
    if let Some(robust) = &c.robust {
        html.section("How sure");
        html.table(&robust::table(robust));
        html.list(uncertain(c));
    }
    if let Some(sensitivity) = &c.sensitivity {
        html.section("What constants move");
        html.table(&sensitivity.table());
        html.list(sensitivity.lines());
    }
    html.section("Run it again");
    html.commands(c.pairs.iter().map(|p| (p.full.label.clone(), p.full.reproduce.clone())));
    html.section("Settings and constants");
    html.list(setting_lines(&c.ready).into_iter().take(1));
    let all = c.ready.server.assumed();
    html.list(all.iter().map(|(name, value, origin)| format!("{name} = {value}: {origin}")));
    Ok(html)
}
