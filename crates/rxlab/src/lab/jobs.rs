//! Runs many points at once, and gives rows back in the order in which they were asked for.

mod together;

use std::cmp::Reverse;

use model::{Report, Span, Start};
use rayon::prelude::*;

use crate::fail::Fail;
use crate::lab::point::Point;
use crate::lab::row::{Row, middle};
use crate::lab::search::{self, Edge, Search};
use crate::lab::span;
use crate::show::bar::{self, Bar};
use together::Run;

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
    let bar = bar::progress(jobs.iter().map(|job| steps(job)).sum(), what);
    // What has most buffers takes longest to settle.
    let buffers =
        |job: &&Job| job.full.first().map_or(0, |point| point.scenario(Vec::new()).posted_buffers());
    let lengths: Vec<u64> = jobs.iter().map(buffers).collect();
    let found = longest_first(&lengths, |i| group(&[jobs[i]], &bar));
    bar.finish_and_clear();
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// What `run` gives for each number below that of `lengths`, in order. All cores take numbers, the greatest length first: a
/// long run that came last would keep one core busy and the others waiting.
fn longest_first<T: Send>(lengths: &[u64], run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|i| (Reverse(lengths[*i]), *i));
    let mut found: Vec<(usize, T)> = order.into_iter().par_bridge().map(|i| (i, run(i))).collect();
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, found)| found).collect()
}

/// Runs jobs that are compared: all meet the same arrivals over the same window.
///
/// # Errors
/// As [`run`].
pub(crate) fn compare(jobs: &[Job], what: &'static str) -> Result<Vec<Pair>, Fail> {
    let jobs: Vec<&Job> = jobs.iter().collect();
    let bar = bar::progress(jobs.iter().map(|job| steps(job)).sum(), what);
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
fn group(jobs: &[&Job], bar: &Bar) -> Result<Vec<Pair>, Fail> {
    let searches = || jobs.par_iter().with_max_len(1).map(|job| searched(job, bar)).collect();
    let (edges, runs): (Vec<Result<_, Fail>>, _) = rayon::join(searches, || together::run(jobs, bar));
    let mut runs = runs?.into_iter();
    let mut pairs = Vec::new();
    for (job, edge) in jobs.iter().zip(edges) {
        let mine = runs.by_ref().take(job.points().count()).collect();
        pairs.push(pair(job, mine, edge?)?);
    }
    Ok(pairs)
}

/// The edge of a job's no-drop rate, and which trials at the full rate pass under each arrivals.
fn searched(job: &Job, bar: &Bar) -> Result<(Option<Edge>, Vec<bool>), Fail> {
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

fn pair(job: &Job, mut found: Vec<Run>, (edge, trials): (Option<Edge>, Vec<bool>)) -> Result<Pair, Fail> {
    let mut full = found.split_off(job.empty.len().min(found.len()));
    let runs: Vec<Report> = full.iter().map(|(_, report)| report.clone()).collect();
    let others = full.split_off(job.full.len().min(full.len()));
    let others: Vec<Report> = others.into_iter().map(|(_, report)| report).collect();
    let row = |points: &[Point], found: Vec<Run>, others: &[Report], start: Start| {
        let nothing = || Fail::new("no placement was run; allowed: at least 1");
        let (point, (span, _)) = points.first().zip(found.first().cloned()).ok_or_else(nothing)?;
        let placements = found.len();
        let reports = found.into_iter().map(|(_, report)| report).collect();
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
                span::text(&span)
            ),
        })
    };
    Ok(Pair {
        empty: row(&job.empty, found, &[], Start::Empty)?,
        full: row(&job.full, full, &others, Start::Full)?,
        runs,
        edge,
        trials,
    })
}
