//! A plan carried out: its points, its claims judged. `show` says how both are shown.

mod at;
mod show;

use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fail::Fail;
use crate::lab::jobs::{Job, Pair};
use crate::lab::measured::Measured;
use crate::lab::queues;
use crate::lab::setup::Setup;
use crate::lab::transfer;
use crate::paper::judge::{self, Rule};
use crate::paper::metric::{self, Sample, Samples};
use crate::paper::plan::{Claim, Finding, Kind, Plan, Series};
use crate::paper::slices::slices;
use crate::show::out;
use crate::verdict::fail_if::{Shown, started};

use at::At;
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
    goals: Vec<Answer>,
    findings: Vec<Found>,
    assumed: Vec<(&'static str, f64, String)>,
}

/// A plan's runs before they are run.
pub(crate) struct Prepared {
    plan: Plan,
    overrides: Overrides,
    /// One for each point, in the order of `places`.
    pub jobs: Vec<Job>,
    /// Files that its points read.
    pub inputs: Vec<PathBuf>,
    /// Number of the series and swept value.
    places: Vec<(usize, f64)>,
    /// Number of the series, swept value, and what is to be found there, where that is no job.
    others: Vec<(usize, f64, Other)>,
    assumed: Vec<(&'static str, f64, String)>,
}

/// A point of another kind than runs of the model.
enum Other {
    /// Found already: a slice of traffic.
    Found(Measured),
    /// A queueing system.
    Queue(queues::Options),
    /// Connections through a router.
    Tcp(transfer::Options),
}

impl Other {
    fn new(kind: Kind, series: &Series, words: &[String], overrides: Overrides) -> Result<Other, Fail> {
        if kind == Kind::Queue {
            let mut options = queues::Options::parse(words)?;
            options.seed = overrides.seed;
            return Ok(Other::Queue(options));
        }
        let mut words = words.to_vec();
        if !series.interface.is_empty() {
            words.extend(["--interface".to_string(), series.interface.clone()]);
        }
        let mut options = transfer::Options::parse(&words)?;
        options.seed = overrides.seed;
        options.placements = overrides.placements.unwrap_or(options.placements);
        options.sampling = overrides.sampling.unwrap_or(options.sampling);
        Ok(Other::Tcp(options))
    }

    /// The profile that it reads, if that is a file.
    fn input(&self) -> Option<PathBuf> {
        match self {
            Other::Tcp(options) => Some(PathBuf::from(&options.server)),
            Other::Found(_) | Other::Queue(_) => None,
        }
    }

    fn find(self) -> Result<Measured, Fail> {
        match self {
            Other::Found(found) => Ok(found),
            Other::Queue(options) => options.measure(),
            Other::Tcp(options) => options.measure(),
        }
    }
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

impl Prepared {
    /// Reads every point's options.
    ///
    /// # Errors
    /// The first option that is not allowed, with plan and series.
    pub(crate) fn new(plan: Plan, overrides: Overrides) -> Result<Prepared, Fail> {
        let (mut jobs, mut places, mut others, mut assumed) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut inputs = Vec::new();
        for (index, series) in plan.series.iter().enumerate() {
            let named = |e: Fail| Fail::new(format!("{}: series {}: {e}", plan.id, series.id));
            for (x, words) in plan.points(series) {
                if plan.kind != Kind::Compare {
                    let other = Other::new(plan.kind, series, &words, overrides).map_err(named)?;
                    inputs.extend(other.input());
                    others.push((index, x, other));
                    continue;
                }
                let mut setup = Setup::parse(&words).map_err(named)?;
                inputs.extend(setup.inputs());
                setup.seed = overrides.seed;
                setup.placements = overrides.placements.unwrap_or(setup.placements);
                setup.sampling = overrides.sampling.unwrap_or(setup.sampling);
                let ready = setup.ready().map_err(named)?;
                if let Some(count) = plan.slices {
                    let command = format!("rxlab experiment run {} --seed {}", plan.id, overrides.seed);
                    let _bar = out::working("counting");
                    for (at, found) in slices(&ready, count, &command).map_err(named)? {
                        others.push((index, at, Other::Found(found)));
                    }
                    continue;
                }
                let interface = series.interface.as_str();
                let mut job = ready.job(interface, plan.search).map_err(named)?;
                let points = job.empty.iter_mut().chain(&mut job.full);
                points.filter(|_| plan.redraw).for_each(|p| p.arrivals = p.seed);
                job.reproduce += if plan.search { "" } else { " --no-search" };
                jobs.push(job);
                places.push((index, x));
                assumed = ready.server.assumed();
            }
        }
        Ok(Prepared { plan, overrides, jobs, inputs, places, others, assumed })
    }

    /// The plan's id.
    pub(crate) fn id(&self) -> &str {
        &self.plan.id
    }

    /// Names of its series and their interfaces, for conditions.
    pub(crate) fn owners(&self) -> impl Iterator<Item = String> {
        self.plan.series.iter().flat_map(owners)
    }

    /// How many points are no runs of the model: [`Prepared::judge`] finds them.
    pub(crate) fn others(&self) -> usize {
        self.others.len()
    }

    /// Finds what is no run of the model, and judges all; one pair for each job. Tells each that is `done`.
    ///
    /// # Errors
    /// A metric that cannot be read.
    pub(crate) fn judge(self, pairs: Vec<Pair>, done: impl Fn() + Sync) -> Result<Figure, Fail> {
        let plan = self.plan;
        let mut points: Vec<Vec<(f64, At)>> = plan.series.iter().map(|_| Vec::new()).collect();
        for ((index, x), pair) in self.places.into_iter().zip(pairs) {
            points[index].push((x, At::Runs(Box::new(pair))));
        }
        let others: Vec<_> = self
            .others
            .into_par_iter()
            .with_max_len(1)
            .map(|(index, x, other)| Ok((index, x, other.find().inspect(|_| done())?)))
            .collect::<Result<_, Fail>>()?;
        for (index, x, found) in others {
            points[index].push((x, At::Measured(found)));
        }
        let samples: Vec<Samples> = plan.series.iter().zip(&points).map(|(s, p)| samples(s, p)).collect();
        let named = |id: &str, e: String| Fail::new(format!("{}: {id}: {e}", plan.id));
        let answer = |c: &Claim| answer(c, &samples).map_err(|e| named(&c.id, e));
        let found = |f: &Finding| found(f, &samples).map_err(|e| named(&f.id, e));
        let claims = plan.claims.iter().map(answer).collect::<Result<_, _>>()?;
        let goals = plan.goals.iter().map(answer).collect::<Result<_, _>>()?;
        let findings = plan.findings.iter().map(found).collect::<Result<_, _>>()?;
        let (overrides, assumed) = (self.overrides, self.assumed);
        Ok(Figure { plan, overrides, points, claims, goals, findings, assumed })
    }
}

impl Figure {
    /// The plan's id.
    pub(crate) fn id(&self) -> &str {
        &self.plan.id
    }

    /// The plan's title.
    pub(crate) fn title(&self) -> &str {
        &self.plan.title
    }

    /// The claims that were judged and do not hold.
    pub(crate) fn failed_claims(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().filter(|c| c.holds == Some(false)).map(|c| c.id.as_str())
    }

    /// Its points as the table shows them, for conditions.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let mut rows = Vec::new();
        for (series, points) in self.plan.series.iter().zip(&self.points) {
            for (x, at) in points {
                let swept = if series.sweep.is_some() { format!(" {x}") } else { String::new() };
                let label = format!("{}: {}{swept}", self.plan.id, series.label);
                rows.extend(at.starts().into_iter().map(|(start, full)| Shown {
                    of: owners(series).collect(),
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

/// Names by which a condition may ask for a series.
fn owners(series: &Series) -> impl Iterator<Item = String> {
    [&series.id, &series.interface].into_iter().filter(|name| !name.is_empty()).cloned()
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
    json!({
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
    })
}
