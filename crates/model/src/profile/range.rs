//! What a number may be, and what is said of one that is not.

use std::fmt;

use super::ProfileError;

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest value.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Of the number and of both ends.
    pub unit: &'static str,
    /// Whether it has to be whole.
    pub whole: bool,
    /// Whether it may be 0 as well, which means that there is no such thing.
    pub or_zero: bool,
}

impl Range {
    pub(super) const fn real(low: f64, high: f64, unit: &'static str) -> Range {
        Range { low, high, unit, whole: false, or_zero: false }
    }

    pub(super) const fn whole(low: u32, high: u32, unit: &'static str) -> Range {
        Range { low: low as f64, high: high as f64, unit, whole: true, or_zero: false }
    }

    pub(super) const fn or_zero(self) -> Range {
        Range { or_zero: true, ..self }
    }

    /// Whether `value` is allowed.
    pub fn has(&self, value: f64) -> bool {
        let inside = (self.low..=self.high).contains(&value) || self.or_zero && value == 0.0;
        inside && (!self.whole || value.fract() == 0.0)
    }

    /// # Errors
    /// `value` is not allowed: `name` with it, and what is.
    pub(super) fn check(&self, name: &str, value: f64) -> Result<(), ProfileError> {
        if self.has(value) {
            return Ok(());
        }
        Err(ProfileError(format!("{name} is {value} {}; allowed: {self}", self.unit)))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zero = if self.or_zero { "0, or " } else { "" };
        let whole = if self.whole { ", a whole number" } else { "" };
        write!(f, "{zero}{} to {} {}{whole}", self.low, self.high, self.unit)
    }
}
