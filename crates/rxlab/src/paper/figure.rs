//! A plan carried out: its points, its claims judged. `show` says how both are shown.

mod show;

use serde::Serialize;
use serde_json::{Value, json};

use crate::fail::Fail;
use crate::paper::at::At;
use crate::paper::curve::{Met, Published};
use crate::paper::judge::{self, Rule};
use crate::paper::metric::{self, Sample, Samples};
use crate::paper::plan::{Claim, Finding, Plan, Series};
use crate::verdict::fail_if::{Shown, started};

pub(crate) use show::{all_claims, held, overview, report, text};

/// What overrides a plan's own settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overrides {
    /// Seed of the first placement.
    pub seed: u64,
    /// Placements per point.
    pub placements: Option<u32>,
    /// One cache set in so many.
    pub sampling: Option<u32>,
}

/// A plan with what its runs found.
pub(crate) struct Figure {
    plan: Plan,
    overrides: Overrides,
    /// For each series its points: the swept value and what was found there.
    points: Vec<Vec<(f64, At)>>,
    claims: Vec<Answer>,
    curves: Vec<Met>,
    goals: Vec<Answer>,
    findings: Vec<Found>,
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

/// A finding and its values.
#[derive(Serialize)]
struct Found {
    id: String,
    what: String,
    obtained: Value,
    unit: String,
}

impl Figure {
    /// Judges `plan` by what was found at its points, series by series.
    ///
    /// # Errors
    /// A metric that cannot be read.
    pub(super) fn judged(
        plan: Plan,
        overrides: Overrides,
        points: Vec<Vec<(f64, At)>>,
        assumed: Vec<(&'static str, f64, String)>,
    ) -> Result<Figure, Fail> {
        let samples: Vec<Samples> = plan.series.iter().zip(&points).map(|(s, p)| samples(s, p)).collect();
        let named = |id: &str, e: String| Fail::new(format!("{}: {id}: {e}", plan.id));
        let answer = |c: &Claim| answer(c, &samples).map_err(|e| named(&c.id, e));
        let found = |f: &Finding| found(f, &samples).map_err(|e| named(&f.id, e));
        let claims = plan.claims.iter().map(answer).collect::<Result<_, _>>()?;
        let met = |c: &Published| c.judge(&samples).map_err(|e| named(&c.id, e));
        let curves = plan.curves.iter().map(met).collect::<Result<_, _>>()?;
        let goals = plan.goals.iter().map(answer).collect::<Result<_, _>>()?;
        let findings = plan.findings.iter().map(found).collect::<Result<_, _>>()?;
        Ok(Figure { plan, overrides, points, claims, curves, goals, findings, assumed })
    }

    /// The plan's id.
    pub(crate) fn id(&self) -> &str {
        &self.plan.id
    }

    /// The plan's title.
    pub(crate) fn title(&self) -> &str {
        &self.plan.title
    }

    /// The claims and curves that were judged and do not hold.
    pub(crate) fn failed_claims(&self) -> impl Iterator<Item = &str> {
        let claims = self.claims.iter().filter(|c| c.holds == Some(false)).map(|c| c.id.as_str());
        claims.chain(self.curves.iter().filter(|c| !c.holds).map(|c| c.id.as_str()))
    }

    /// Its points as the table shows them, for conditions.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let mut rows = Vec::new();
        for (series, points) in self.plan.series.iter().zip(&self.points) {
            for (x, at) in points {
                let swept = if series.sweep.is_some() { format!(" {x}") } else { String::new() };
                let label = format!("{}: {}{swept}", self.plan.id, series.label);
                rows.extend(at.starts().into_iter().map(|(start, full)| Shown {
                    of: series.owners().collect(),
                    label: started(&label, start),
                    fields: at.fields_from(full),
                }));
            }
        }
        rows
    }

    fn command(&self) -> String {
        let o = self.overrides;
        let given = |flag: &str, n: Option<u32>| n.map_or(String::new(), |n| format!(" --{flag} {n}"));
        format!(
            "rxlab experiment run {} --seed {}{}{}",
            self.plan.id,
            o.seed,
            given("placements", o.placements),
            given("sampling", o.sampling)
        )
    }
}

fn found(finding: &Finding, samples: &[Samples]) -> Result<Found, String> {
    Ok(Found {
        id: finding.id.clone(),
        what: finding.what.clone(),
        obtained: one_or_many(&values(&finding.metric, samples)?),
        unit: finding.unit.clone(),
    })
}

fn values(metric: &[String], samples: &[Samples]) -> Result<Vec<f64>, String> {
    let mut obtained = Vec::new();
    for text in metric {
        obtained.extend(metric::eval(text, samples)?);
    }
    Ok(obtained)
}

fn samples(series: &Series, points: &[(f64, At)]) -> Samples {
    let points = points.iter().map(|(x, pair)| Sample { x: *x, fields: pair.fields() }).collect();
    Samples { id: series.id.clone(), points }
}

fn answer(claim: &Claim, samples: &[Samples]) -> Result<Answer, String> {
    let obtained = values(&claim.metric, samples)?;
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
    let series = f.plan.series.iter().zip(&f.points).map(|(s, points)| {
        json!({"id": s.id, "label": s.label, "interface": s.interface, "x": f.plan.x,
            "points": points.iter().map(|(x, p)| p.data(*x)).collect::<Vec<_>>()})
    });
    let assumed =
        f.assumed.iter().map(|(name, value, origin)| json!({"name": name, "value": value, "origin": origin}));
    let mut data = json!({
        "id": f.plan.id,
        "title": f.plan.title,
        "source": f.plan.source,
        "notes": f.plan.notes,
        "seed": f.overrides.seed,
        "series": series.collect::<Vec<_>>(),
        "claims": f.claims,
        "goals": f.goals,
        "findings": f.findings,
        "assumed": assumed.collect::<Vec<_>>(),
        "reproduce": f.command(),
    });
    if !f.curves.is_empty() {
        data["curves"] = json!(f.curves);
    }
    data
}
