//! A figure for a terminal and as a report.

use crate::fail::Fail;
use crate::lab::fields;
use crate::paper::at::At;
use crate::show::html::Html;
use crate::show::palette::{self, Colour};
use crate::show::plot::{self, Bars, Curve, Fill};
use crate::show::table::{Column, Table, num, number, plain, words};
use serde_json::Value;

use super::{Answer, Figure, Found, Met};

fn point_table(f: &Figure) -> Table {
    let swept = !f.plan.x.is_empty();
    let mut columns = vec![words("series")];
    if swept {
        columns.push(Column { name: f.plan.x.clone().into(), unit: "", right: true });
    }
    if f.plan.has_starts() {
        columns.push(words("start"));
    }
    let fields: Vec<_> = f.plan.fields.iter().filter_map(|name| fields::describe(name)).collect();
    columns.extend(fields.iter().map(|d| number(d.heading, d.unit)));
    let ranged: &[&str] = if f.plan.has_starts() { &["throughput_gbps", "ddio_hit_pct"] } else { &[] };
    for (name, unit) in [("over placements", "throughput"), ("", "DDIO hit rate")].iter().take(ranged.len()) {
        columns.push(number(name, unit));
    }
    let mut table = Table::new(&columns);
    for (series, points) in f.plan.series.iter().zip(&f.points) {
        for (x, pair) in points {
            for (start, full) in pair.starts() {
                let mut cells = vec![series.label.clone()];
                if swept {
                    cells.push(plain(*x));
                }
                if f.plan.has_starts() {
                    cells.push(start.into());
                }
                cells.extend(fields.iter().map(|d| num(pair.value(d.name, full))));
                for name in ranged {
                    let range = pair.range(name, full);
                    cells.push(range.map_or("-".into(), |[lo, hi]| format!("{lo:.1}..{hi:.1}")));
                }
                table.rows.push(cells);
            }
        }
    }
    table
}

fn claim_table<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Table {
    let right = |name| number(name, "");
    let mut table = Table::new(&[
        words("id"),
        words("holds"),
        right("published"),
        right("obtained"),
        words("unit"),
        words("rule"),
        right("tolerance"),
        right("deviation"),
        words("what"),
    ]);
    for a in answers {
        let holds = a.holds.map_or("input", |h| if h { "yes" } else { "NO" });
        let rule = serde_json::to_value(a.rule)
            .ok()
            .and_then(|v| v.as_str().map(str::to_string))
            .unwrap_or_default();
        table.rows.push(vec![
            a.id.clone(),
            holds.into(),
            a.published.clone(),
            shown(&a.obtained),
            a.unit.clone(),
            rule,
            a.tolerance.to_string(),
            shown(&a.deviation),
            a.what.clone(),
        ]);
    }
    table
}

/// How far each curve was met, in percent.
fn curve_table<'a>(curves: impl IntoIterator<Item = &'a Met>) -> Table {
    let mut table = Table::new(&[
        words("curve"),
        words("holds"),
        number("points", ""),
        number("median", "% off"),
        number("worst", "% off"),
        number("at", ""),
        words("what"),
    ]);
    let percent = |v: &Value| v.as_f64().map_or("-".into(), |off| format!("{:.1}", 100.0 * off));
    for c in curves {
        table.rows.push(vec![
            c.id.clone(),
            if c.holds { "yes" } else { "NO" }.into(),
            c.points.to_string(),
            percent(&c.median),
            percent(&c.worst),
            plain(c.worst_x),
            format!("{}, {}", c.what, c.unit),
        ]);
    }
    table
}

/// How many curves are met.
fn met<'a>(curves: impl Iterator<Item = &'a Met>) -> String {
    let all: Vec<&Met> = curves.collect();
    let (met, most) =
        (all.iter().filter(|c| c.holds).count(), all.first().map_or(0.0, |c| 100.0 * c.tolerance));
    format!("{met} of {} published curves are met within {most}% in the median.", all.len())
}

fn finding_table(found: &[Found]) -> Table {
    let mut table = Table::new(&[words("id"), number("obtained", ""), words("unit"), words("what")]);
    table.rows = found
        .iter()
        .map(|f| vec![f.id.clone(), shown(&f.obtained), f.unit.clone(), f.what.clone()])
        .collect();
    table
}

fn shown(v: &Value) -> String {
    match v {
        Value::Array(all) => all.iter().map(shown).collect::<Vec<_>>().join(" "),
        other => plain(other.as_f64().unwrap_or(f64::NAN)),
    }
}

/// How many claims hold.
pub(crate) fn held(figures: &[Figure]) -> String {
    count(figures.iter().flat_map(|f| &f.claims))
}

fn count<'a>(claims: impl Iterator<Item = &'a Answer>) -> String {
    let judged: Vec<bool> = claims.filter_map(|c| c.holds).collect();
    if judged.is_empty() {
        return "No published claim is judged: the published values are inputs.".into();
    }
    let held = judged.iter().filter(|h| **h).count();
    format!("{held} of {} published claims hold.", judged.len())
}

/// Every claim of all figures.
pub(crate) fn all_claims(figures: &[Figure]) -> Table {
    claim_table(figures.iter().flat_map(|f| &f.claims))
}

/// All figures in one table for a terminal.
pub(crate) fn overview(figures: &[Figure]) -> String {
    let curves = || figures.iter().flat_map(|f| &f.curves);
    let mut out = String::new();
    if curves().next().is_some() {
        out += &format!("{}\n\n{}\n", met(curves()), curve_table(curves()).text(false));
    }
    if figures.iter().any(|f| !f.claims.is_empty()) || out.is_empty() {
        out += &format!("{}\n\n{}", held(figures), all_claims(figures).text(false));
    }
    out
}

/// The figure for a terminal.
pub(crate) fn text(f: &Figure) -> String {
    let mut out = format!("{}: {}\n{}\n\n", f.plan.id, f.plan.title, f.plan.source);
    out += &point_table(f).text(false);
    if !f.claims.is_empty() {
        out += &format!("\n{}\n\n{}", count(f.claims.iter()), claim_table(&f.claims).text(false));
    }
    if !f.curves.is_empty() {
        out += &format!("\n{}\n\n{}", met(f.curves.iter()), curve_table(&f.curves).text(false));
    }
    if !f.goals.is_empty() {
        out += &format!("\nNarrower bands, not counted:\n\n{}", claim_table(&f.goals).text(false));
    }
    if !f.findings.is_empty() {
        out += &format!("\nAlso found:\n\n{}", finding_table(&f.findings).text(false));
    }
    out += "\n";
    for note in &f.plan.notes {
        out += &format!("- {note}\n");
    }
    out += &format!("\nseed {}\nreproduce: {}\n", f.overrides.seed, f.command());
    let mut again = commands(f);
    // All parts of a run come of one command.
    again.dedup();
    for (label, command) in again {
        out += &format!("  {label}: {command}\n");
    }
    out
}

fn commands(f: &Figure) -> Vec<(String, String)> {
    let each = f.plan.series.iter().zip(&f.points).flat_map(|(s, points)| {
        points.iter().map(move |(x, p)| {
            let label = if s.sweep.is_some() { format!("{} {x}", s.label) } else { s.label.clone() };
            (label, p.reproduce().to_string())
        })
    });
    each.collect()
}

/// The figure as a report.
///
/// # Errors
/// A plot cannot be drawn.
pub(crate) fn report(f: &Figure) -> Result<Html, Fail> {
    let mut html = Html::new(&format!("{}: {}", f.plan.id, f.plan.title));
    html.note(&f.plan.source);
    if !f.claims.is_empty() {
        let how = if f.plan.has_starts() { "Decided from full rings." } else { "" };
        html.verdict(&count(f.claims.iter()), how);
        html.table(&claim_table(&f.claims));
    }
    if !f.curves.is_empty() {
        html.verdict(&met(f.curves.iter()), "");
        html.table(&curve_table(&f.curves));
    }
    if !f.goals.is_empty() {
        html.section("Narrower bands, not counted");
        html.table(&claim_table(&f.goals));
    }
    if !f.findings.is_empty() {
        html.section("Also found");
        html.table(&finding_table(&f.findings));
    }
    html.section("Plots");
    let svgs = f
        .plan
        .fields
        .iter()
        .filter_map(|name| fields::describe(name))
        .map(|d| plot_field(f, d))
        .collect::<Result<Vec<_>, _>>()?;
    html.plots(&svgs);
    html.section("Points");
    html.table(&point_table(f));
    html.list(f.plan.notes.clone());
    html.section("Run it again");
    let mut again = vec![("everything".to_string(), f.command())];
    again.extend(commands(f));
    // All slices of a series come of one command.
    again.dedup();
    html.commands(again);
    if !f.assumed.is_empty() {
        html.section("Constants not published for this server");
    }
    html.list(f.assumed.iter().map(|(name, value, origin)| format!("{name} = {value}: {origin}")));
    Ok(html)
}

/// One field: lines where something is swept, otherwise a bar for each series.
fn plot_field(f: &Figure, d: &fields::Field) -> Result<String, Fail> {
    let value = |at: &At, full: bool| at.value(d.name, full);
    if f.plan.x.is_empty() {
        // Names stand below the bars: however many an interface has, they have its colour.
        let names = f.plan.series.iter().map(|s| (s.label.clone(), Colour::interface(&s.interface)));
        let names: Vec<_> = names.collect();
        let bars = |label: &str, fill, full: bool| Bars {
            label: label.into(),
            fill,
            colour: None,
            values: f.points.iter().flatten().map(|(_, p)| value(p, full)).collect(),
        };
        let mut all = vec![bars("from full rings", Fill::Solid, true)];
        if f.plan.has_starts() {
            all.insert(0, bars("from empty rings", Fill::Light, false));
        }
        return plot::bars(d.heading, d.unit, &names, &all, false);
    }
    let interfaces: Vec<&str> = f.plan.series.iter().map(|s| s.interface.as_str()).collect();
    let colours = palette::series(&interfaces);
    let mut curves = Vec::new();
    for ((series, points), colour) in f.plan.series.iter().zip(&f.points).zip(colours) {
        let mut push = |label: Option<String>, full: bool| {
            let points = points.iter().map(|(x, p)| (*x, value(p, full))).collect();
            curves.push(Curve { label, colour, points });
        };
        push(Some(series.label.clone()), true);
        if points.iter().any(|(_, p)| p.hysteresis()) {
            push(None, false);
        }
    }
    let dashed = "from empty rings, where that differs";
    plot::lines(d.heading, d.unit, (&f.plan.x, f.plan.scale), &curves, dashed)
}
