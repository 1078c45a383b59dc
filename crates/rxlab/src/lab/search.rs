//! The largest load that an interface carries without a drop (RFC 2544, by bisection).

use memory::Ps;
use model::Report;
use traffic::Rate;

use crate::fail::Fail;
use crate::lab::point::Point;
use crate::lab::span;

/// How a no-drop rate is searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// The largest rate, tried first, Gbps on the wire.
    pub full: f64,
    /// The search ends when the rate is known to this share of `full`, percent.
    pub resolution_pct: f64,
    /// Time in which drops count.
    pub trial: Ps,
}

/// Where an interface begins to drop frames.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// The offered load, in Gbps of frames, of the largest rate that passed; 0 where even the smallest did not.
    pub no_drop_gbps: f64,
    /// That rate, Gbps on the wire.
    pub wire_gbps: f64,
    /// The trial at that rate; `None` where even the smallest drops.
    pub carried: Option<Report>,
    /// The trial at the smallest rate that did not pass; `None` where the largest did.
    pub refused: Option<Report>,
}

/// Searches the largest rate at which no frame drops. Every trial starts anew, and cores pause as the profile says.
/// Malformed frames and those that the application refuses do not count: they drop at any rate.
///
/// # Errors
/// As [`Point::run`].
pub(crate) fn edge(point: &Point, search: &Search, done: impl Fn()) -> Result<Edge, Fail> {
    let mut edge = Edge { no_drop_gbps: 0.0, wire_gbps: 0.0, carried: None, refused: None };
    bisect(search, |gbps| {
        let report = trial(point, gbps, search)?;
        done();
        let passed = clean(&report);
        if passed {
            (edge.no_drop_gbps, edge.wire_gbps) = (report.offered_gbps, gbps);
            edge.carried = Some(report);
        } else {
            edge.refused = Some(report);
        }
        Ok(passed)
    })?;
    Ok(edge)
}

/// One trial of a search, at `gbps` on the wire.
///
/// # Errors
/// As [`Point::run`].
pub(crate) fn trial(point: &Point, gbps: f64, search: &Search) -> Result<Report, Fail> {
    let mut point = Point { rate: Rate::Gbps(gbps), ..point.clone() };
    point.setting.pauses = true;
    point.setting.span = Some(span::trial(&point, search.trial));
    point.run()
}

impl Search {
    /// Trials at most, for progress bars.
    pub(crate) fn trials(&self) -> u64 {
        1 + (100.0 / self.resolution_pct).log2().ceil() as u64 + FURTHER
    }
}

/// Halvings beyond the resolution while nothing has passed: a tenth of a percent is not nothing.
const FURTHER: u64 = 4;

/// Whether a trial passed.
pub(crate) fn clean(report: &Report) -> bool {
    lost(report) == 0
}

/// Frames that dropped although the server takes such frames: not the malformed ones, and not those that the
/// application refuses, which drop at any rate.
pub(crate) fn lost(report: &Report) -> u64 {
    report.drops.iter().filter(|(cause, _)| !cause.at_any_load()).map(|(_, n)| n).sum()
}

/// Tries rates until the largest that passes is known: `probe` tells whether one does.
fn bisect(search: &Search, mut probe: impl FnMut(f64) -> Result<bool, Fail>) -> Result<(), Fail> {
    let full = search.full;
    if probe(full)? {
        return Ok(());
    }
    let (mut lo, mut hi) = (0.0, full);
    let resolution = full * search.resolution_pct / 100.0;
    let finest = resolution / f64::from(1u32 << FURTHER);
    while hi - lo > if lo > 0.0 { resolution } else { finest } {
        let middle = (lo + hi) / 2.0;
        if probe(middle)? { lo = middle } else { hi = middle }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use apps::Fate;
    use rings::Outcome;

    use super::*;

    const SEARCH: Search = Search { full: 200.0, resolution_pct: 1.0, trial: Ps::from_us(1000) };

    #[test]
    fn finds_the_edge_within_the_resolution() {
        for edge in [0.3, 17.0, 99.0, 162.0, 199.9] {
            let (mut runs, mut found) = (0, 0.0);
            let probe = |r| {
                runs += 1;
                if r <= edge {
                    found = r;
                }
                Ok(r <= edge)
            };
            bisect(&SEARCH, probe).unwrap();
            assert!(found <= edge && edge - found <= 2.0, "{edge}: {found}");
            assert!(runs <= SEARCH.trials(), "{runs}");
        }
        let mut tried = Vec::new();
        bisect(&SEARCH, |r| {
            tried.push(r);
            Ok(false)
        })
        .unwrap();
        assert!(tried.last().is_some_and(|r| *r < 0.2) && tried.len() as u64 <= SEARCH.trials(), "{tried:?}");
    }

    #[test]
    fn frames_that_nobody_wants_do_not_count() {
        let mut report = Report::default();
        report.drops.insert(Fate::Card(Outcome::BadFrame), 7);
        report.drops.insert(Fate::App(None), 7);
        assert!(clean(&report));
        report.drops.insert(Fate::Card(Outcome::RingFull), 1);
        assert!(!clean(&report));
        assert_eq!(lost(&report), 1);
    }
}
