//! The largest load that an interface carries without a drop (RFC 2544, by bisection).

use memory::Ps;
use model::Report;
use traffic::Rate;

use crate::fail::Fail;
use crate::point::Point;

/// Resolution of the search, percent of the full load.
pub(crate) const RESOLUTION_PCT: f64 = 1.0;
/// A probe need not settle as far as a measured run: drops show early.
const PROBE_LIMIT: Ps = Ps::from_us(60_000);

/// The offered load, in Gbps of frames, of the largest rate up to `full` (Gbps on the wire) at which no
/// frame drops; 0 where even the smallest rate drops. Malformed frames and those that the application
/// refuses do not count: they drop at any rate.
///
/// # Errors
/// As [`Point::run`].
pub(crate) fn no_drop(point: &Point, full: f64, done: impl Fn()) -> Result<f64, Fail> {
    bisect(full, |gbps| {
        let probe = Point { rate: Rate::Gbps(gbps), limit: point.limit.min(PROBE_LIMIT), ..point.clone() };
        let report = probe.run()?;
        done();
        Ok((clean(&report), report.offered_gbps))
    })
}

/// Probes at most, for progress bars.
pub(crate) fn probes() -> u64 {
    1 + (100.0 / RESOLUTION_PCT).log2().ceil() as u64
}

fn clean(report: &Report) -> bool {
    report.drops.iter().all(|(cause, &n)| n == 0 || matches!(*cause, "bad_frame" | "application"))
}

/// The load of the largest passing rate: `probe` tells whether a rate passes, and the load it offers.
fn bisect(full: f64, mut probe: impl FnMut(f64) -> Result<(bool, f64), Fail>) -> Result<f64, Fail> {
    let (passed, load) = probe(full)?;
    if passed {
        return Ok(load);
    }
    let (mut lo, mut hi, mut best) = (0.0, full, 0.0);
    while hi - lo > full * RESOLUTION_PCT / 100.0 {
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

    #[test]
    fn finds_the_edge_within_the_resolution() {
        for edge in [0.3, 17.0, 99.0, 162.0, 199.9] {
            let mut runs = 0;
            let found = bisect(200.0, |r| {
                runs += 1;
                Ok((r <= edge, r))
            });
            let found = found.unwrap();
            assert!(found <= edge && edge - found <= 2.0, "{edge}: {found}");
            assert!(runs <= probes(), "{runs}");
        }
        assert_eq!(bisect(200.0, |r| Ok((true, r * 0.98))).unwrap(), 196.0);
        assert_eq!(bisect(200.0, |r| Ok((false, r))).unwrap(), 0.0);
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
