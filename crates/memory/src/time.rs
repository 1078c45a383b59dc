//! Time as rings and model know it: integer picoseconds since the start of a run.

use core::ops::{Add, AddAssign, Sub};

/// A point in time or a span, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ps(pub u64);

impl Ps {
    /// The beginning of a run.
    pub const ZERO: Ps = Ps(0);
    /// Later than anything that happens.
    pub const NEVER: Ps = Ps(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_ns(n: u64) -> Ps {
        Ps(n * 1_000)
    }

    /// `n` microseconds.
    pub const fn from_us(n: u64) -> Ps {
        Ps(n * 1_000_000)
    }

    /// Whole nanoseconds, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / 1_000
    }

    /// Microseconds as a number to print.
    pub fn us(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds as a number to print.
    pub fn secs(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// `self - other`, or zero where `other` is later.
    pub const fn saturating_sub(self, other: Ps) -> Ps {
        Ps(self.0.saturating_sub(other.0))
    }
}

impl Add for Ps {
    type Output = Ps;
    fn add(self, other: Ps) -> Ps {
        Ps(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Ps {
    fn add_assign(&mut self, other: Ps) {
        *self = *self + other;
    }
}

impl Sub for Ps {
    type Output = Ps;
    fn sub(self, other: Ps) -> Ps {
        Ps(self.0 - other.0)
    }
}
