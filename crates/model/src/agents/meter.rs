//! What agents count as they go: fates, frames sent, latencies.

use hdrhistogram::Histogram;
use memory::Ps;
use nic::Counters;
use traffic::{Arrival, Source};

/// Counted by the NIC's agents as they go.
pub(crate) struct Meter {
    /// What cards have decided, by core.
    pub fates: Counters,
    /// Frames sent.
    pub sent: u64,
    /// Their bytes, without FCS, by core. A card counts at the first core of its port: those of a port are the sum over
    /// its cores.
    pub sent_bytes: Vec<u64>,
    /// Bytes offered, without FCS, in the same way.
    pub offered_bytes: Vec<u64>,
    /// From when to when arrivals count by their own time, ps, where that is laid down.
    span: Option<(u64, u64)>,
    /// Frames that arrived before it.
    early: u64,
    /// Frames and bytes that arrived in it, port by port as above.
    counted: Vec<(u64, u64)>,
    /// Wire to wire, ns, of frames sent while measuring.
    pub latency: Histogram<u64>,
    /// Of those since the last part of the window.
    part: Histogram<u64>,
    /// Sum of latencies while measuring, ps, and that of the last part.
    pub latency_sum: u128,
    part_sum: u128,
    /// Whether latencies count.
    pub measuring: bool,
    /// Frames that a card, or a core that plays it, has taken and not yet decided on.
    pub in_nic: u64,
    /// Frames on their way from the card through an emulated NIC.
    pub passing: u64,
}

/// Digits that a latency keeps.
const DIGITS: u8 = 3;
/// The longest latency that is kept apart, ns: 10 s.
const LONGEST: u64 = 10_000_000_000;

impl Meter {
    pub(crate) fn new(cores: usize, span: Option<(u64, u64)>) -> Result<Meter, hdrhistogram::CreationError> {
        Ok(Meter {
            span,
            early: 0,
            counted: vec![(0, 0); cores],
            part: Histogram::new_with_max(LONGEST, DIGITS)?,
            part_sum: 0,
            fates: Counters::new(cores),
            sent: 0,
            sent_bytes: vec![0; cores],
            offered_bytes: vec![0; cores],
            latency: Histogram::new_with_max(LONGEST, DIGITS)?,
            latency_sum: 0,
            measuring: false,
            in_nic: 0,
            passing: 0,
        })
    }

    /// A frame of `len` bytes arrived at time `at`, ps, at the port whose first core is `first`. It counts by its
    /// own time: how far ahead of the others a card runs must not matter.
    #[inline]
    pub(crate) fn offer(&mut self, first: usize, at: u64, len: u16) {
        self.offered_bytes[first] += u64::from(len);
        self.count(first, at, len);
    }

    #[inline]
    pub(crate) fn count(&mut self, first: usize, at: u64, len: u16) {
        let Some((from, to)) = self.span else { return };
        if at < from {
            self.early += 1;
        } else if at < to {
            let (frames, bytes) = &mut self.counted[first];
            *frames += 1;
            *bytes += u64::from(len);
        }
    }

    /// The window ends now, before its time: later frames that no card has taken yet do not count. A card runs ahead of
    /// the others: the few later frames that it has taken do count, and how many differs by interface.
    pub(crate) fn ends(&mut self, now: Ps) {
        if let Some((_, to)) = &mut self.span {
            *to = now.0;
        }
    }

    /// Frames of the window that nobody had taken off the wire when the run ended: `source` has them still.
    pub(crate) fn left(&mut self, first: usize, source: &mut dyn Source) {
        let Some((_, to)) = self.span else { return };
        let mut a = Arrival::EMPTY;
        while source.next(&mut a) && a.at < to {
            self.count(first, a.at, a.len);
        }
    }

    /// Frames and bytes that arrived in the window at the port whose first core is `first`, where one is laid down.
    pub(crate) fn counted(&self, first: usize) -> Option<(u64, u64)> {
        self.span.map(|_| self.counted[first])
    }

    /// Frames that arrived before the window, where one is laid down.
    pub(crate) fn early(&self) -> Option<u64> {
        self.span.map(|_| self.early)
    }

    /// Latencies count from now on.
    pub(crate) fn begin(&mut self) {
        self.latency.reset();
        self.part.reset();
        (self.latency_sum, self.part_sum) = (0, 0);
        self.measuring = true;
    }

    /// Ends a part of the window; its mean and 99th percentile of latency, us.
    pub(crate) fn next_part(&mut self) -> (f64, f64) {
        let sum = self.latency_sum - self.part_sum;
        self.part_sum = self.latency_sum;
        let found = match self.part.len() {
            0 => (0.0, 0.0),
            n => (sum as f64 / n as f64 / 1e6, self.part.value_at_quantile(0.99) as f64 / 1e3),
        };
        // Both have the same bounds.
        let _ = self.latency.add(&self.part);
        self.part.reset();
        found
    }

    /// A frame of `len` bytes left the server by the port of `core`, `latency` ps after it came.
    #[inline]
    pub(crate) fn send(&mut self, core: usize, len: u32, latency: u64) {
        self.sent += 1;
        self.sent_bytes[core] += u64::from(len);
        if self.measuring {
            self.latency_sum += u128::from(latency);
            self.part.saturating_record(latency / 1000);
        }
    }
}
