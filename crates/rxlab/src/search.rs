//! The largest load that an interface carries without a drop (RFC 2544, by bisection).

use memory::Ps;
use model::{Report, Trial};
use traffic::Rate;

use crate::fail::Fail;
use crate::point::Point;

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

/// Time of a trial that does not count: rings fill, and drain behind a stall.
const SETTLE: Ps = Ps::from_us(10_000);

/// The offered load, in Gbps of frames, of the largest rate at which no frame drops; 0 where even the
/// smallest rate drops. Every trial starts anew, and cores pause as the profile says. Malformed frames and those
/// that the application refuses do not count: they drop at any rate.
///
/// # Errors
/// As [`Point::run`].
pub(crate) fn no_drop(point: &Point, search: &Search, done: impl Fn()) -> Result<f64, Fail> {
    bisect(search, |gbps| {
        let report = trial(point, gbps, search)?;
        done();
        Ok((clean(&report), report.offered_gbps))
    })
}

/// One trial of a search, at `gbps` on the wire.
///
/// # Errors
/// As [`Point::run`].
pub(crate) fn trial(point: &Point, gbps: f64, search: &Search) -> Result<Report, Fail> {
    let trial = Some(Trial { settle: SETTLE, span: search.trial });
    Point { rate: Rate::Gbps(gbps), trial, ..point.clone() }.run()
}

impl Search {
    /// Trials at most, for progress bars.
    pub(crate) fn trials(&self) -> u64 {
        1 + (100.0 / self.resolution_pct).log2().ceil() as u64
    }
}

/// Whether a trial passed.
pub(crate) fn clean(report: &Report) -> bool {
    report.drops.iter().all(|(cause, &n)| n == 0 || matches!(*cause, "bad_frame" | "application"))
}

/// The load of the largest passing rate: `probe` tells whether a rate passes, and the load it offers.
fn bisect(search: &Search, mut probe: impl FnMut(f64) -> Result<(bool, f64), Fail>) -> Result<f64, Fail> {
    let full = search.full;
    let (passed, load) = probe(full)?;
    if passed {
        return Ok(load);
    }
    let (mut lo, mut hi, mut best) = (0.0, full, 0.0);
    while hi - lo > full * search.resolution_pct / 100.0 {
        let middle = (lo + hi) / 2.0;
        match probe(middle)? {
            (true, load) => (lo, best) = (middle, load),
            (false, _) => hi = middle,
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search = Search { full: 200.0, resolution_pct: 1.0, trial: Ps::from_us(1000) };

    #[test]
    fn finds_the_edge_within_the_resolution() {
        for edge in [0.3, 17.0, 99.0, 162.0, 199.9] {
            let mut runs = 0;
            let found = bisect(&SEARCH, |r| {
                runs += 1;
                Ok((r <= edge, r))
            });
            let found = found.unwrap();
            assert!(found <= edge && edge - found <= 2.0, "{edge}: {found}");
            assert!(runs <= SEARCH.trials(), "{runs}");
        }
        assert_eq!(bisect(&SEARCH, |r| Ok((true, r * 0.98))).unwrap(), 196.0);
        assert_eq!(bisect(&SEARCH, |r| Ok((false, r))).unwrap(), 0.0);
    }

    #[test]
    fn malformed_frames_do_not_count() {
        let mut report = Report::default();
        report.drops.insert("bad_frame", 7);
        report.drops.insert("application", 7);
        assert!(clean(&report));
        report.drops.insert("ring_full", 1);
        assert!(!clean(&report));
    }
}
