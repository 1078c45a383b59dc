//! A number of a part.

use serde::Deserialize;
use toml::{Table, Value};

/// A number with where it comes from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// In the unit that its name ends with.
    pub value: f64,
    /// As that of a profile's constant.
    pub origin: String,
    /// What it may be instead, where it is assumed.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
}

impl Number {
    /// One without a range.
    pub fn new(value: f64, origin: impl Into<String>) -> Number {
        Number { value, origin: origin.into(), range: None }
    }

    /// The origin, with the range.
    pub(super) fn told(&self) -> String {
        match self.range {
            Some([low, high]) if low < high => format!("{}, {low} to {high}", self.origin),
            _ => self.origin.clone(),
        }
    }

    /// As a profile has it. A whole number is written as one.
    pub(super) fn written(&self) -> Value {
        let whole = self.value.fract() == 0.0 && self.value.abs() < 1e15;
        if whole { Value::Integer(self.value as i64) } else { Value::Float(self.value) }
    }

    /// As a constant of a profile.
    pub(super) fn constant(&self) -> Value {
        let fields = [("value", Value::Float(self.value)), ("origin", self.told().into())];
        Table::from_iter(fields.map(|(key, value)| (key.to_owned(), value))).into()
    }

    /// Cycles as nanoseconds, to the hundredth.
    pub(super) fn in_ns(&self, ghz: f64) -> Number {
        let ns = |cycles: f64| (cycles / ghz * 100.0).round() / 100.0;
        let origin = format!("{} ({} cycles at {ghz} GHz)", self.origin, self.value);
        Number { value: ns(self.value), origin, range: self.range.map(|ends| ends.map(ns)) }
    }
}

/// A switch with where it comes from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// On or off.
    pub value: bool,
    /// As that of a number.
    pub origin: String,
}
