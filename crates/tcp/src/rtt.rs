//! Round-trip times and the retransmission timeout (RFC 6298).

use crate::{MS, SECOND};

/// Timeout before the first sample.
const FIRST: u64 = SECOND;
/// Shortest and longest timeout: Linux's (the RFC asks for a second at least).
const SHORTEST: u64 = 200 * MS;
const LONGEST: u64 = 60 * SECOND;

/// Smoothed round-trip time of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rtt {
    smoothed: Option<u64>,
    variation: u64,
    least: Option<u64>,
}

impl Rtt {
    /// A sample, of a segment that was sent once (Karn).
    pub(crate) fn sample(&mut self, rtt: u64) {
        self.least = Some(self.least.map_or(rtt, |l| l.min(rtt)));
        let Some(s) = self.smoothed else {
            (self.smoothed, self.variation) = (Some(rtt), rtt / 2);
            return;
        };
        self.variation = (3 * self.variation + s.abs_diff(rtt)) / 4;
        self.smoothed = Some((7 * s + rtt) / 8);
    }

    /// Smoothed round-trip time.
    pub(crate) fn smoothed(&self) -> Option<u64> {
        self.smoothed
    }

    /// The least one.
    pub(crate) fn least(&self) -> Option<u64> {
        self.least
    }

    /// The retransmission timeout after `backoff` timeouts in a row.
    pub(crate) fn timeout(&self, backoff: u32) -> u64 {
        let first = self.smoothed.map_or(FIRST, |s| (s + 4 * self.variation).max(SHORTEST));
        first.saturating_mul(1 << backoff.min(16)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::US;

    #[test]
    fn the_first_samples_are_those_of_the_rfc() {
        let mut r = Rtt::default();
        assert_eq!((r.timeout(0), r.timeout(1), r.timeout(30)), (SECOND, 2 * SECOND, 60 * SECOND));
        r.sample(400 * MS);
        assert_eq!((r.smoothed(), r.timeout(0)), (Some(400 * MS), 1200 * MS));
        r.sample(480 * MS);
        assert_eq!((r.smoothed(), r.timeout(0)), (Some(410 * MS), 410 * MS + 4 * 170 * MS));
        let mut fast = Rtt::default();
        fast.sample(50 * US);
        assert_eq!((fast.timeout(0), fast.least()), (200 * MS, Some(50 * US)));
    }
}
