//! A plan carried out: its points, its claims judged, and how both are shown.

use model::Start;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fail::Fail;
use crate::html::Html;
use crate::judge::{self, Rule};
use crate::lab::{self, Job, Pair};
use crate::metric::{self, Sample, Samples};
use crate::plan::{Claim, Plan, Series};
use crate::plot::{self, Curve};
use crate::row;
use crate::setup::Setup;
use crate::table::{Column, Table, num, number, plain, words};

/// A plan with what its runs found.
pub(crate) struct Figure {
    plan: Plan,
    seed: u64,
    placements: u32,
    sampling: u32,
    /// For each series its points: the swept value and the pair of rows.
    points: Vec<Vec<(f64, Pair)>>,
    claims: Vec<Answer>,
    goals: Vec<Answer>,
    assumed: Vec<(&'static str, f64, String)>,
}

/// A claim and what was obtained for it.
#[derive(Serialize)]
struct Answer {
    id: String,
    what: String,
    published: String,
    /// The raw value, or several in the order of the published ones.
    obtained: Value,
    unit: String,
    rule: Rule,
    tolerance: f64,
    deviation: Value,
    /// Absent for inputs.
    holds: Option<bool>,
}

impl Figure {
    /// Runs every point of `plan` and judges its claims from full rings.
    ///
    /// # Errors
    /// A setting that is not allowed, or a metric that cannot be read.
    pub(crate) fn run(
        plan: Plan,
        seed: u64,
        placements: Option<u32>,
        sampling: Option<u32>,
    ) -> Result<Figure, Fail> {
        let defaults = Setup::defaults()?;
        let placements = placements.unwrap_or(plan.placements);
        let sampling = sampling.unwrap_or(defaults.sampling);
        let (mut jobs, mut places, mut assumed) = (Vec::new(), Vec::new(), Vec::new());
        for (index, series) in plan.series.iter().enumerate() {
            let swept: Vec<Option<u32>> = if series.sweep_ring.is_empty() {
                vec![None]
            } else {
                series.sweep_ring.iter().copied().map(Some).collect()
            };
            for ring in swept {
                let setup = Setup { seed, placements, sampling, ..setup(&plan, series, ring, &defaults) };
                let named = |e: Fail| Fail::new(format!("{}: series {}: {e}", plan.id, series.id));
                let ready = setup.ready().map_err(named)?;
                let interface = series.interface.as_str();
                jobs.push(Job {
                    empty: ready.points(interface, Start::Empty).map_err(named)?,
                    full: ready.points(interface, Start::Full).map_err(named)?,
                    search: None,
                    reproduce: ready.command(interface) + " --no-search",
                });
                places.push((index, ring.map_or(0.0, f64::from)));
                assumed = ready.server.assumed();
            }
        }
        let mut points: Vec<Vec<(f64, Pair)>> = plan.series.iter().map(|_| Vec::new()).collect();
        for ((index, x), pair) in places.into_iter().zip(lab::run(&jobs, "running")?) {
            points[index].push((x, pair));
        }
        let samples: Vec<Samples> = plan.series.iter().zip(&points).map(|(s, p)| samples(s, p)).collect();
        let answer = |c: &Claim| {
            answer(c, &samples).map_err(|e| Fail::new(format!("{}: claim {}: {e}", plan.id, c.id)))
        };
        let claims = plan.claims.iter().map(answer).collect::<Result<_, _>>()?;
        let goals = plan.goals.iter().map(answer).collect::<Result<_, _>>()?;
        Ok(Figure { plan, seed, placements, sampling, points, claims, goals, assumed })
    }

    fn command(&self) -> String {
        format!(
            "rxlab experiment run {} --seed {} --placements {} --sampling {}",
            self.plan.id, self.seed, self.placements, self.sampling
        )
    }
}

fn setup(plan: &Plan, series: &Series, ring: Option<u32>, d: &Setup) -> Setup {
    Setup {
        workload: series.workload.clone().unwrap_or_else(|| plan.workload.clone()),
        rate: Some(plan.rate_gbps.to_string()),
        server: plan.server.clone(),
        cores: Some(plan.cores),
        app: series.app.clone().unwrap_or_else(|| plan.app.clone()),
        ddio_ways: series.ddio_ways,
        ring: ring.or(series.ring).unwrap_or(d.ring),
        ax: series.ax.unwrap_or(d.ax),
        bx: series.bx.unwrap_or(d.bx),
        tx_ring: series.tx_ring.unwrap_or(d.tx_ring),
        ..d.clone()
    }
}

fn samples(series: &Series, points: &[(f64, Pair)]) -> Samples {
    let points = points.iter().map(|(x, pair)| Sample { x: *x, fields: pair.full.fields() }).collect();
    Samples { id: series.id.clone(), points }
}

fn answer(claim: &Claim, samples: &[Samples]) -> Result<Answer, String> {
    let mut obtained = Vec::new();
    for text in &claim.metric {
        obtained.extend(metric::eval(text, samples)?);
    }
    let judged = judge::judge(claim.rule, &judge::cells(&claim.published)?, claim.tolerance, &obtained);
    Ok(Answer {
        id: claim.id.clone(),
        what: claim.what.clone(),
        published: claim.published.clone(),
        obtained: one_or_many(&obtained),
        unit: claim.unit.clone(),
        rule: claim.rule,
        tolerance: claim.tolerance,
        deviation: one_or_many(&judged.deviation),
        holds: judged.holds,
    })
}

/// A number alone, several as an array; what could not be obtained is null.
fn one_or_many(values: &[f64]) -> Value {
    match values {
        [one] => json!(one),
        many => json!(many),
    }
}

/// The figure as data.
pub(crate) fn data(f: &Figure) -> Value {
    let point = |x: f64, pair: &Pair| json!({"x": x, "hysteresis": pair.hysteresis(), "results": [&pair.empty, &pair.full], "reproduce": pair.full.reproduce});
    let series = f.plan.series.iter().zip(&f.points).map(|(s, points)| {
        json!({"id": s.id, "label": s.label, "interface": s.interface, "x": f.plan.x,
            "points": points.iter().map(|(x, p)| point(*x, p)).collect::<Vec<_>>()})
    });
    let assumed =
        f.assumed.iter().map(|(name, value, origin)| json!({"name": name, "value": value, "origin": origin}));
    json!({
        "id": f.plan.id,
        "title": f.plan.title,
        "source": f.plan.source,
        "notes": f.plan.notes,
        "seed": f.seed,
        "series": series.collect::<Vec<_>>(),
        "claims": f.claims,
        "goals": f.goals,
        "assumed": assumed.collect::<Vec<_>>(),
        "reproduce": f.command(),
    })
}

fn point_table(f: &Figure) -> Table {
    let swept = !f.plan.x.is_empty();
    let mut columns = vec![words("series")];
    if swept {
        columns.push(number("ring", "entries"));
    }
    columns.push(words("start"));
    let fields: Vec<_> = f.plan.fields.iter().filter_map(|name| row::describe(name)).collect();
    columns.extend(fields.iter().map(|d| Column { name: d.heading, unit: d.unit, right: true }));
    columns.push(number("over placements", "throughput"));
    columns.push(number("", "DDIO hit rate"));
    let mut table = Table::new(&columns);
    for (series, points) in f.plan.series.iter().zip(&f.points) {
        for (x, pair) in points {
            for (shown, start) in pair.shown() {
                let mut cells = vec![series.label.clone()];
                if swept {
                    cells.push(plain(*x));
                }
                cells.push(start.into());
                cells.extend(fields.iter().map(|d| num(row::field(&shown.report, d.name))));
                for name in ["throughput_gbps", "ddio_hit_pct"] {
                    cells.push(
                        shown.range.get(name).map_or("-".into(), |[lo, hi]| format!("{lo:.1}..{hi:.1}")),
                    );
                }
                table.rows.push(cells);
            }
        }
    }
    table
}

fn claim_table(answers: &[Answer]) -> Table {
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

fn shown(v: &Value) -> String {
    match v {
        Value::Array(all) => all.iter().map(shown).collect::<Vec<_>>().join(" "),
        other => plain(other.as_f64().unwrap_or(f64::NAN)),
    }
}

fn summary(f: &Figure) -> String {
    let judged = f.claims.iter().filter(|c| c.holds.is_some()).count();
    let held = f.claims.iter().filter(|c| c.holds == Some(true)).count();
    format!("{held} of {judged} published claims hold.")
}

/// The figure for a terminal.
pub(crate) fn text(f: &Figure) -> String {
    let mut out = format!("{}: {}\n{}\n\n", f.plan.id, f.plan.title, f.plan.source);
    out += &point_table(f).text(false);
    out += &format!("\n{}\n\n{}", summary(f), claim_table(&f.claims).text(false));
    if !f.goals.is_empty() {
        out += &format!("\nNarrower bands, not counted:\n\n{}", claim_table(&f.goals).text(false));
    }
    out += "\n";
    for note in &f.plan.notes {
        out += &format!("- {note}\n");
    }
    out += &format!(
        "\nseed {}, {} placements, one cache set in {}\nreproduce: {}\n",
        f.seed,
        f.placements,
        f.sampling,
        f.command()
    );
    for (label, command) in commands(f) {
        out += &format!("  {label}: {command}\n");
    }
    out
}

fn commands(f: &Figure) -> Vec<(String, String)> {
    let each = f.plan.series.iter().zip(&f.points).flat_map(|(s, points)| {
        points.iter().map(move |(x, p)| {
            let label = if *x > 0.0 { format!("{} {x}", s.label) } else { s.label.clone() };
            (label, p.full.reproduce.clone())
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
    html.verdict(&summary(f), "Decided from full rings.");
    html.table(&claim_table(&f.claims));
    if !f.goals.is_empty() {
        html.section("Narrower bands, not counted");
        html.table(&claim_table(&f.goals));
    }
    html.section("Plots");
    let svgs = f
        .plan
        .fields
        .iter()
        .filter_map(|name| row::describe(name))
        .map(|d| plot_field(f, d))
        .collect::<Result<Vec<_>, _>>()?;
    html.plots(&svgs);
    html.section("Points");
    html.table(&point_table(f));
    html.list(f.plan.notes.clone());
    html.section("Run it again");
    html.commands(std::iter::once(("everything".to_string(), f.command())).chain(commands(f)));
    html.section("Constants not published for this server");
    html.list(f.assumed.iter().map(|(name, value, origin)| format!("{name} = {value}: {origin}")));
    Ok(html)
}

/// One field: lines where something is swept, otherwise a bar for each series.
fn plot_field(f: &Figure, d: &row::Field) -> Result<String, Fail> {
    let value =
        |pair: &Pair, full: bool| row::field(&if full { &pair.full } else { &pair.empty }.report, d.name);
    if f.plan.x.is_empty() {
        let names: Vec<String> = f.plan.series.iter().map(|s| s.label.clone()).collect();
        let curve = |label: &str, full: bool| Curve {
            label: label.into(),
            points: f.points.iter().flatten().map(|(_, p)| (0.0, value(p, full))).collect(),
        };
        return plot::bars(
            d.heading,
            d.unit,
            &names,
            &[curve("from empty rings", false), curve("from full rings", true)],
            false,
        );
    }
    let mut curves = Vec::new();
    for (series, points) in f.plan.series.iter().zip(&f.points) {
        let mut push = |label: String, full: bool| {
            curves.push(Curve { label, points: points.iter().map(|(x, p)| (*x, value(p, full))).collect() })
        };
        push(series.label.clone(), true);
        if points.iter().any(|(_, p)| p.hysteresis()) {
            push(format!("{}, from empty", series.label), false);
        }
    }
    plot::lines(d.heading, d.unit, &f.plan.x, &curves)
}
