//! What stands at a point of a figure: runs of the model, or numbers of another kind.

use serde_json::{Map, Value, json};

use crate::lab::jobs::Pair;
use crate::lab::measured::Measured;
use crate::lab::row::Row;

/// What was found at a point.
pub(crate) enum At {
    /// From empty and from full rings.
    Runs(Box<Pair>),
    /// A slice of traffic, a queueing system.
    Measured(Measured),
}

impl At {
    fn row(&self, full: bool) -> Option<&Row> {
        match self {
            At::Runs(pair) => Some(if full { &pair.full } else { &pair.empty }),
            At::Measured(_) => None,
        }
    }

    /// A field, from full or from empty rings; NaN for an unknown one.
    pub(crate) fn value(&self, name: &str, full: bool) -> f64 {
        match self {
            At::Runs(_) => self.row(full).map_or(f64::NAN, |row| row.value(name)),
            At::Measured(found) => found.value(name),
        }
    }

    /// Every field by name, from full rings: those decide.
    pub(crate) fn fields(&self) -> Vec<(&'static str, f64)> {
        self.fields_from(true)
    }

    /// Every field by name, from full or from empty rings.
    pub(crate) fn fields_from(&self, full: bool) -> Vec<(&'static str, f64)> {
        match self {
            At::Runs(_) => self.row(full).map(Row::fields).unwrap_or_default(),
            At::Measured(found) => found.fields.clone(),
        }
    }

    /// Whether the two starts end in different states.
    pub(crate) fn hysteresis(&self) -> bool {
        matches!(self, At::Runs(pair) if pair.hysteresis())
    }

    /// The starts to show, each with whether it is from full rings.
    pub(crate) fn starts(&self) -> Vec<(&'static str, bool)> {
        match self {
            At::Runs(pair) if pair.hysteresis() => vec![("empty", false), ("full", true)],
            At::Runs(_) => vec![("either", true)],
            At::Measured(_) => vec![("-", true)],
        }
    }

    /// The range of a field over placements.
    pub(crate) fn range(&self, name: &str, full: bool) -> Option<[f64; 2]> {
        self.row(full)?.range.get(name).copied()
    }

    /// The command line that runs it again.
    pub(crate) fn reproduce(&self) -> &str {
        match self {
            At::Runs(pair) => &pair.full.reproduce,
            At::Measured(found) => &found.reproduce,
        }
    }

    /// The point as data.
    pub(crate) fn data(&self, x: f64) -> Value {
        match self {
            At::Runs(pair) => json!({
                "x": x,
                "hysteresis": pair.hysteresis(),
                "results": [&pair.empty, &pair.full],
                "reproduce": pair.full.reproduce,
            }),
            At::Measured(found) => {
                let mut data = Map::from_iter([("x".to_string(), json!(x))]);
                data.extend(found.data());
                data.into()
            }
        }
    }
}
