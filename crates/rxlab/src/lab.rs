//! Runs many points at once, and gives rows back in the order in which they were asked for.

use model::{Report, Start};
use rayon::prelude::*;

use crate::fail::Fail;
use crate::out;
use crate::point::Point;
use crate::row::{Row, middle};
use crate::search::{self, Search};

/// One interface with its sizes: from empty and from full rings, over all placements.
pub(crate) struct Job {
    /// Runs from empty rings, one per placement.
    pub empty: Vec<Point>,
    /// The same from full rings.
    pub full: Vec<Point>,
    /// How the no-drop rate is searched; `None` for no search.
    pub search: Option<Search>,
    /// The command line that runs it again.
    pub reproduce: String,
}

/// A job's two rows.
pub(crate) struct Pair {
    /// From empty rings.
    pub empty: Row,
    /// From full rings: this one decides.
    pub full: Row,
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

enum Task<'a> {
    Run(&'a Point),
    Search(&'a Point, Search),
}

enum Found {
    Run(Box<Report>),
    NoDrop(f64),
}

/// Runs all jobs on all cores. What comes back does not depend on how many those are.
///
/// # Errors
/// The first run, in the order of the jobs, that the model refuses.
pub(crate) fn run<'a>(
    jobs: impl IntoIterator<Item = &'a Job>,
    what: &'static str,
) -> Result<Vec<Pair>, Fail> {
    let jobs: Vec<&Job> = jobs.into_iter().collect();
    let mut tasks = Vec::new();
    for job in &jobs {
        // A search is the longest task: it goes first.
        tasks.extend(job.full.first().zip(job.search).map(|(p, full)| Task::Search(p, full)));
        tasks.extend(job.empty.iter().chain(&job.full).map(Task::Run));
    }
    let steps = |t: &Task| if let Task::Search(_, s) = t { s.trials() } else { 1 };
    let bar = out::progress(tasks.iter().map(steps).sum(), what);
    let found: Vec<Result<Found, Fail>> = tasks
        .par_iter()
        .with_max_len(1)
        .map(|task| match task {
            Task::Run(point) => {
                let report = point.run()?;
                bar.inc(1);
                Ok(Found::Run(Box::new(report)))
            }
            Task::Search(point, search) => Ok(Found::NoDrop(search::no_drop(point, search, || bar.inc(1))?)),
        })
        .collect();
    bar.finish_and_clear();
    let mut found = found.into_iter();
    jobs.into_iter().map(|job| pair(job, &mut found)).collect()
}

fn pair(job: &Job, found: &mut impl Iterator<Item = Result<Found, Fail>>) -> Result<Pair, Fail> {
    let (mut no_drop, mut reports) = (None, Vec::new());
    let tasks = usize::from(job.search.is_some()) + job.empty.len() + job.full.len();
    for result in found.take(tasks) {
        match result? {
            Found::Run(report) => reports.push(*report),
            Found::NoDrop(gbps) => no_drop = Some(gbps),
        }
    }
    let full = reports.split_off(job.empty.len().min(reports.len()));
    let row = |points: &[Point], reports: Vec<Report>, start: Start| {
        let nothing = || Fail::new("no placement was run; allowed: at least 1");
        let point = points.first().ok_or_else(nothing)?;
        let placements = reports.len();
        let (report, range) = middle(reports).ok_or_else(nothing)?;
        Ok(Row {
            interface: point.interface.name().to_string(),
            params: point.params(),
            start: start.name(),
            no_drop_gbps: no_drop,
            report,
            range,
            placements,
            reproduce: job.reproduce.clone(),
        })
    };
    Ok(Pair { empty: row(&job.empty, reports, Start::Empty)?, full: row(&job.full, full, Start::Full)? })
}
