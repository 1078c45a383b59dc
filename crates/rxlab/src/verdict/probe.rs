//! A quick look at one setting: a short run from full rings, and a trial at the load asked for.

use model::{Report, Start};
use rayon::prelude::*;

use crate::fail::Fail;
use crate::lab::point::Point;
use crate::lab::search;
use crate::lab::setup::Ready;
use crate::lab::span;
use crate::show::bar;

/// What a look found.
pub(crate) struct Probe {
    /// The run from full rings.
    pub report: Report,
    /// The 99th percentile of latency from empty rings, us: from full ones a short run is still draining.
    pub latency_p99_us: f64,
    /// Whether neither a run nor the trial lost a frame.
    pub carries: bool,
}

/// Looks at many settings, each of the interface beside it, one placement each, on all CPUs.
///
/// # Errors
/// A size that is not allowed, a run that the model refuses.
pub(crate) fn all(settings: &[(&Ready, &str)], what: &'static str) -> Result<Vec<Probe>, Fail> {
    let bar = bar::progress(settings.len() as u64, what);
    let look = |(ready, interface): &(&Ready, &str)| {
        let found = one(ready, interface);
        bar.inc(1);
        found
    };
    let found: Vec<Result<Probe, Fail>> = settings.par_iter().with_max_len(1).map(look).collect();
    bar.finish_and_clear();
    found.into_iter().collect()
}

fn one(ready: &Ready, interface: &str) -> Result<Probe, Fail> {
    let run = |start: Start| -> Result<(Point, Report), Fail> {
        let nothing = || Fail::new("no placement was run; allowed: at least 1");
        let point = ready.points(interface, start)?.into_iter().next().ok_or_else(nothing)?;
        let report = point.with(|s| s.span = Some(span::quick(&point))).run()?;
        Ok((point, report))
    };
    let (point, report) = run(Start::Full)?;
    let (_, empty) = run(Start::Empty)?;
    let carries = search::clean(&report)
        && search::clean(&empty)
        && match ready.search() {
            Some(search) => search::clean(&search::trial(&point, search.full, &search)?),
            None => true,
        };
    Ok(Probe { report, latency_p99_us: empty.latency_us.p99, carries })
}
