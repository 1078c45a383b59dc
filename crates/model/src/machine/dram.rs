//! DRAM: bandwidth counted in intervals, latency that rises with the load of the last ones.

use crate::profile::constants;

/// Length of an interval, ps.
const INTERVAL: u64 = 5_000_000;
/// Share of the newest interval in the load: latency is convex in it, so noise would add to it.
const NEWEST: f64 = 0.25;
/// Intervals without traffic after which nothing of the load is left.
const QUIET: u64 = 64;
/// The highest utilisation that the latency formula sees.
const CEILING: f64 = 0.97;

/// One socket's memory.
pub(crate) struct Dram {
    idle: f64,
    load: f64,
    /// Usable bytes in an interval.
    usable: f64,
    start: u64,
    bytes: f64,
    /// Bytes of an interval, smoothed.
    load_bytes: f64,
    /// Latency now, ps.
    latency: u64,
}

impl Dram {
    /// Idle memory.
    pub(crate) fn new(c: &constants::Dram) -> Dram {
        let idle = c.idle_ns.value * 1e3;
        let usable = c.peak_gbytes.value * c.usable.value * 1e9 * INTERVAL as f64 * 1e-12;
        Dram {
            idle,
            load: c.load_ns.value * 1e3,
            usable,
            start: 0,
            bytes: 0.0,
            load_bytes: 0.0,
            latency: idle as u64,
        }
    }

    /// Latency of a read, ps.
    pub(crate) fn latency(&self) -> u64 {
        self.latency
    }

    /// `bytes` read or written at `at` ps; whether a new interval began, and with it a new latency.
    #[inline]
    pub(crate) fn add(&mut self, at: u64, bytes: f64) -> bool {
        let new = at >= self.start + INTERVAL;
        if new {
            self.roll(at);
        }
        self.bytes += bytes;
        new
    }

    fn roll(&mut self, at: u64) {
        let passed = (at - self.start) / INTERVAL;
        self.load_bytes += NEWEST * (self.bytes - self.load_bytes);
        for _ in 1..passed.min(QUIET) {
            self.load_bytes -= NEWEST * self.load_bytes;
        }
        if passed > QUIET {
            self.load_bytes = 0.0;
        }
        let u = (self.load_bytes / self.usable).min(CEILING);
        self.latency = (self.idle + self.load * u / (1.0 - u)) as u64;
        self.start += passed * INTERVAL;
        self.bytes = 0.0;
    }
}
