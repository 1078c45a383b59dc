//! Runs that meet the same arrivals over the same window, each behind as long a warm-up as it needs.

use std::ops::Range;

use memory::Ps;
use model::{Report, Span};

use super::{Job, longest_first};
use crate::fail::Fail;
use crate::lab::point::Point;
use crate::lab::span;
use crate::show::bar::Bar;

/// A run, and over which span.
pub(super) type Run = (Span, Report);

/// The runs of an interface from one start.
struct Start {
    /// Their places among all points; the first one finds the warm-up of all.
    points: Range<usize>,
    span: Span,
    settled: bool,
    /// What the first one found over `span`.
    found: Option<Report>,
}

/// All runs of all jobs over one window. The warm-up of each interface and start is found by its first placement: it
/// doubles until that has settled. The window of all begins where the longest one ends, so what settles early begins late.
/// Where some never do, the window is longer, and they are a range.
///
/// # Errors
/// The first run, in the order of the jobs, that the model refuses.
pub(super) fn run(jobs: &[&Job], bar: &Bar) -> Result<Vec<Run>, Fail> {
    let points: Vec<&Point> = jobs.iter().flat_map(|job| job.points()).collect();
    let point = *points.first().ok_or_else(|| Fail::new("no placement was run; allowed: at least 1"))?;
    if let Some(span) = jobs.first().and_then(|job| job.span) {
        return all(&points.iter().map(|point| (*point, span)).collect::<Vec<_>>(), bar);
    }
    let first = span::first(&points);
    span::check(&first)?;
    let mut starts = starts(jobs, first);
    let mut span = first;
    loop {
        let mut pending: Vec<&mut Start> = starts.iter_mut().filter(|start| !start.settled).collect();
        let asked: Vec<_> = pending.iter().map(|start| (points[start.points.start], span)).collect();
        bar.inc_length(asked.len() as u64);
        for (start, (span, report)) in pending.iter_mut().zip(all(&asked, bar)?) {
            (start.span, start.settled, start.found) = (span, report.settled, Some(report));
        }
        match span::longer(&span, &first, point) {
            Some(longer) if pending.iter().any(|start| !start.settled) => span = longer,
            _ => break,
        }
    }
    at_one_time(&mut starts, &points);
    let places = starts.iter().flat_map(|start| start.points.clone().map(move |place| (place, start)));
    let missing = places.filter(|(place, start)| start.found.is_none() || *place != start.points.start);
    let asked: Vec<_> = missing.map(|(place, start)| (points[place], start.span)).collect();
    let mut others = all(&asked, bar)?.into_iter();
    let mut found = Vec::with_capacity(points.len());
    for start in starts {
        let known = start.found.map(|report| (start.span, report));
        let rest = start.points.len() - usize::from(known.is_some());
        found.extend(known.into_iter().chain(others.by_ref().take(rest)));
    }
    Ok(found)
}

/// Each interface from empty rings, and from full ones under all arrivals.
fn starts(jobs: &[&Job], span: Span) -> Vec<Start> {
    let mut next = 0;
    let mut starts = Vec::new();
    for job in jobs {
        for count in [job.empty.len(), job.full.len() + job.others.len()] {
            if count > 0 {
                starts.push(Start { points: next..next + count, span, settled: false, found: None });
            }
            next += count;
        }
    }
    starts
}

/// All warm-ups end at one time of the sources, and the windows behind them are alike. Hosts that answer, and flows past the
/// cores, go by the time of the run: beside those all warm-ups are as long as the longest. So is that of an interface that
/// chooses by rounds: before it tries another way its rates look settled.
fn at_one_time(starts: &mut [Start], points: &[&Point]) {
    let Some(longest) = starts.iter().map(|start| start.span).max_by_key(|span| span.warm) else { return };
    let window = if starts.iter().all(|start| start.settled) { longest } else { span::unsettled(&longest) };
    let timed = points.iter().any(|point| point.senders.is_some() || !point.bypass.is_empty());
    for start in starts {
        let chooses = points[start.points.start].interface.round() > Ps::ZERO;
        let own = if timed || chooses { window } else { start.span };
        let late = window.warm.saturating_sub(own.warm);
        let span = Span { late, warm: own.warm, step: own.step, ..window };
        if span != start.span {
            (start.span, start.found) = (span, None);
        }
    }
}

/// These runs, in this order, those over the longest spans begun first.
fn all(asked: &[(&Point, Span)], bar: &Bar) -> Result<Vec<Run>, Fail> {
    let length = |span: &Span| span.window().1;
    let lengths: Vec<u64> = asked.iter().map(|(_, span)| length(span)).collect();
    let found = longest_first(&lengths, |i| {
        let (point, span) = asked[i];
        let report = point.with(|s| s.span = Some(span)).run()?;
        bar.inc(1);
        Ok((span, report))
    });
    found.into_iter().collect()
}
