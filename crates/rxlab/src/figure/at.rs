//! What stands at a point of a figure: runs of the model, or a slice of traffic.

use serde_json::{Value, json};

use crate::lab::Pair;
use crate::row::Row;
use crate::slices::Slice;

/// What was found at a point.
pub(super) enum At {
    /// From empty and from full rings.
    Runs(Box<Pair>),
    /// A slice of traffic, and the command line whose traffic it is.
    Slice(Slice, String),
}

impl At {
    /// A slice at its place on the x axis.
    pub(super) fn slice(slice: Slice, command: &str) -> (f64, At) {
        (slice.at, At::Slice(slice, command.to_string()))
    }

    fn row(&self, full: bool) -> Option<&Row> {
        match self {
            At::Runs(pair) => Some(if full { &pair.full } else { &pair.empty }),
            At::Slice(..) => None,
        }
    }

    /// A field, from full or from empty rings; NaN for an unknown one.
    pub(super) fn value(&self, name: &str, full: bool) -> f64 {
        match (self, name) {
            (At::Runs(_), _) => self.row(full).map_or(f64::NAN, |row| row.value(name)),
            (At::Slice(s, _), "imbalance") => s.imbalance,
            (At::Slice(s, _), "heaviest") => s.heaviest,
            (At::Slice(..), _) => f64::NAN,
        }
    }

    /// Every field by name, from full rings.
    pub(super) fn fields(&self) -> Vec<(&'static str, f64)> {
        match self {
            At::Runs(pair) => pair.full.fields(),
            At::Slice(s, _) => vec![("imbalance", s.imbalance), ("heaviest", s.heaviest)],
        }
    }

    /// Whether the two starts end in different states.
    pub(super) fn hysteresis(&self) -> bool {
        matches!(self, At::Runs(pair) if pair.hysteresis())
    }

    /// The starts to show, each with whether it is from full rings.
    pub(super) fn starts(&self) -> Vec<(&'static str, bool)> {
        match self {
            At::Runs(pair) if pair.hysteresis() => vec![("empty", false), ("full", true)],
            At::Runs(_) => vec![("either", true)],
            At::Slice(..) => vec![("-", true)],
        }
    }

    /// The range of a field over placements.
    pub(super) fn range(&self, name: &str, full: bool) -> Option<[f64; 2]> {
        self.row(full)?.range.get(name).copied()
    }

    /// The command line that runs it again.
    pub(super) fn reproduce(&self) -> &str {
        match self {
            At::Runs(pair) => &pair.full.reproduce,
            At::Slice(_, command) => command,
        }
    }

    /// The point as data.
    pub(super) fn data(&self, x: f64) -> Value {
        match self {
            At::Runs(pair) => json!({
                "x": x,
                "hysteresis": pair.hysteresis(),
                "results": [&pair.empty, &pair.full],
                "reproduce": pair.full.reproduce,
            }),
            At::Slice(s, command) => json!({
                "x": x, "imbalance": s.imbalance, "heaviest": s.heaviest, "reproduce": command,
            }),
        }
    }
}
