//! Runs many points at once, and gives rows back in the order in which they were asked for.

use indicatif::ProgressBar;
use model::{Report, Span, Start};
use rayon::prelude::*;

use crate::fail::Fail;
use crate::lab::point::Point;
use crate::lab::row::{Row, middle};
use crate::lab::search::{self, Edge, Search};
use crate::lab::span;
use crate::show::out;

/// One interface with its sizes: from empty and from full rings, over all placements.
pub(crate) struct Job {
    /// Runs from empty rings, one per placement.
    pub empty: Vec<Point>,
    /// The same from full rings.
    pub full: Vec<Point>,
    /// From full rings under other arrivals: how far the results depend on these.
    pub others: Vec<Point>,
    /// How the no-drop rate is searched; `None` for no search.
    pub search: Option<Search>,
    /// The window, where it is stated.
    pub span: Option<Span>,
    /// What results call it.
    pub label: String,
    /// The interface with the parameters that were said.
    pub written: String,
    /// The command line that runs it again, but for other arrivals and the window.
    pub reproduce: String,
}

impl Job {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.empty.iter().chain(&self.full).chain(&self.others)
    }
}

/// What one job found.
#[derive(Clone)]
pub(crate) struct Pair {
    /// From empty rings.
    pub empty: Row,
    /// From full rings: this one decides.
    pub full: Row,
    /// From full rings: every run, placement by placement and then under other arrivals.
    pub runs: Vec<Report>,
    /// Where it begins to drop; `None` where that was not searched.
    pub edge: Option<Edge>,
    /// Of trials at the load asked for, under each arrivals, which drop no frame; none where nothing was searched.
    pub trials: Vec<bool>,
}

impl Pair {
    /// Whether the two starts end in different states.
    pub(crate) fn hysteresis(&self) -> bool {
        self.empty.differs(&self.full)
    }

    /// The rows of a table with the name of their start: two where the starts differ, otherwise one.
    pub(crate) fn shown(&self) -> Vec<(&Row, &'static str)> {
        if self.hysteresis() {
            vec![(&self.empty, "empty"), (&self.full, "full")]
        } else {
            vec![(&self.full, "either")]
        }
    }
}

/// Runs jobs on all cores, each over a window of its own. What comes back does not depend on how many those are.
///
/// # Errors
/// The first run, in the order of the jobs, that the model refuses.
pub(crate) fn run<'a>(
    jobs: impl IntoIterator<Item = &'a Job>,
    what: &'static str,
) -> Result<Vec<Pair>, Fail> {
    let jobs: Vec<&Job> = jobs.into_iter().collect();
    let bar = out::progress(jobs.iter().map(|job| steps(job)).sum(), what);
    let found: Vec<Result<Vec<Pair>, Fail>> =
        jobs.par_iter().with_max_len(1).map(|job| group(&[job], &bar)).collect();
    bar.finish_and_clear();
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Runs jobs that are compared: all meet the same arrivals over the same window.
///
/// # Errors
/// As [`run`].
pub(crate) fn compare(jobs: &[Job], what: &'static str) -> Result<Vec<Pair>, Fail> {
    let jobs: Vec<&Job> = jobs.iter().collect();
    let bar = out::progress(jobs.iter().map(|job| steps(job)).sum(), what);
    let pairs = group(&jobs, &bar);
    bar.finish_and_clear();
    pairs
}

/// Runs and trials of a job, for a progress bar.
fn steps(job: &Job) -> u64 {
    let trials = job.search.map_or(0, |s| s.trials() + 1 + job.others.len() as u64);
    job.points().count() as u64 + trials
}

/// Searches and runs side by side.
fn group(jobs: &[&Job], bar: &ProgressBar) -> Result<Vec<Pair>, Fail> {
    let searches = || jobs.par_iter().with_max_len(1).map(|job| searched(job, bar)).collect();
    let (edges, runs): (Vec<Result<_, Fail>>, _) = rayon::join(searches, || together(jobs, bar));
    let (span, reports) = runs?;
    let mut reports = reports.into_iter();
    let mut pairs = Vec::new();
    for (job, edge) in jobs.iter().zip(edges) {
        let mine = reports.by_ref().take(job.points().count()).collect();
        pairs.push(pair(job, &span, mine, edge?)?);
    }
    Ok(pairs)
}

/// The edge of a job's no-drop rate, and which trials at the full rate pass under each arrivals.
fn searched(job: &Job, bar: &ProgressBar) -> Result<(Option<Edge>, Vec<bool>), Fail> {
    let (Some(search), Some(point)) = (job.search, job.full.first()) else { return Ok((None, Vec::new())) };
    let edge = search::edge(point, &search, || bar.inc(1))?;
    let passes = |point: &Point| {
        let report = search::trial(point, search.full, &search)?;
        bar.inc(1);
        Ok(search::clean(&report))
    };
    let others: Vec<Result<bool, Fail>> = job.others.par_iter().with_max_len(1).map(passes).collect();
    let trials = std::iter::once(Ok(edge.refused.is_none())).chain(others).collect::<Result<_, _>>()?;
    Ok((Some(edge), trials))
}

/// All runs of all jobs over one window. Its warm-up is found by one placement of each interface and start: it doubles
/// until all of these have settled. Where some never do, the window is longer, and they are a range.
fn together(jobs: &[&Job], bar: &ProgressBar) -> Result<(Span, Vec<Report>), Fail> {
    let points: Vec<&Point> = jobs.iter().flat_map(|job| job.points()).collect();
    let nothing = || Fail::new("no placement was run; allowed: at least 1");
    let point = *points.first().ok_or_else(nothing)?;
    let run = |which: &[usize], span: Span| -> Result<Vec<Report>, Fail> {
        let one = |i: &usize| {
            let report = points[*i].with(|s| s.span = Some(span)).run();
            bar.inc(1);
            report
        };
        let found: Vec<Result<Report, Fail>> = which.par_iter().with_max_len(1).map(one).collect();
        found.into_iter().collect()
    };
    let all: Vec<usize> = (0..points.len()).collect();
    if let Some(span) = jobs.first().and_then(|job| job.span) {
        return Ok((span, run(&all, span)?));
    }
    let mut pending = scouts(jobs);
    let first = span::first(&points);
    span::check(&first)?;
    let mut span = first;
    // What has run by the span that all will have need not run again.
    let mut found: Vec<Option<(Span, Report)>> = vec![None; points.len()];
    loop {
        bar.inc_length(pending.len() as u64);
        for (i, report) in pending.iter().zip(run(&pending, span)?) {
            found[*i] = Some((span, report));
        }
        pending.retain(|i| found[*i].as_ref().is_some_and(|f| !f.1.settled));
        match span::longer(&span, &first, point) {
            _ if pending.is_empty() => break,
            Some(longer) => span = longer,
            None => {
                span = span::unsettled(&span);
                break;
            }
        }
    }
    let missing = |i: &usize| found[*i].as_ref().is_none_or(|f| f.0 != span);
    let missing: Vec<usize> = all.into_iter().filter(missing).collect();
    for (i, report) in missing.iter().zip(run(&missing, span)?) {
        found[*i] = Some((span, report));
    }
    Ok((span, found.into_iter().flatten().map(|f| f.1).collect()))
}

/// The places of the first placements of all jobs and starts, among all points.
fn scouts(jobs: &[&Job]) -> Vec<usize> {
    let mut next = 0;
    let mut scouts = Vec::new();
    for job in jobs {
        scouts.extend([next, next + job.empty.len()]);
        next += job.points().count();
    }
    scouts
}

fn pair(
    job: &Job,
    span: &Span,
    mut reports: Vec<Report>,
    (edge, trials): (Option<Edge>, Vec<bool>),
) -> Result<Pair, Fail> {
    let runs = reports.split_off(job.empty.len().min(reports.len()));
    let others = runs.get(job.full.len()..).unwrap_or_default().to_vec();
    let full = runs[..job.full.len().min(runs.len())].to_vec();
    let row = |points: &[Point], reports: Vec<Report>, others: &[Report], start: Start| {
        let nothing = || Fail::new("no placement was run; allowed: at least 1");
        let point = points.first().ok_or_else(nothing)?;
        let placements = reports.len();
        let (report, range) = middle(reports, others).ok_or_else(nothing)?;
        Ok(Row {
            interface: point.interface.name().to_string(),
            label: job.label.clone(),
            written: job.written.clone(),
            today: point.interface.about().today,
            params: point.params(),
            start: start.name(),
            no_drop_gbps: edge.as_ref().map(|e| e.no_drop_gbps),
            report,
            range,
            placements,
            other_arrivals: others.len(),
            posted_buffers: point.scenario(Vec::new()).posted_buffers(),
            reproduce: format!(
                "{} --other-arrivals {} --window {}",
                job.reproduce,
                job.others.len(),
                span::text(span)
            ),
        })
    };
    Ok(Pair {
        empty: row(&job.empty, reports, &[], Start::Empty)?,
        full: row(&job.full, full, &others, Start::Full)?,
        runs,
        edge,
        trials,
    })
}
