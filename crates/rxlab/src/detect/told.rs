//! What is said of a number: its value and where it is from.

use model::profile::{Server, ranges};
use serde::Serialize;

/// A number or a setting, and where it is from or why it is assumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Told {
    /// Its place in the profile, or what it is.
    pub what: String,
    pub value: String,
    /// Where it was read, or why it is assumed.
    pub from: String,
}

impl Told {
    pub(crate) fn new(what: &str, value: impl ToString, from: impl Into<String>) -> Told {
        Told { what: what.into(), value: value.to_string(), from: from.into() }
    }
}

/// The numbers of a profile whose origin begins with `kind`, such as `read: `; their origins without it.
pub(super) fn of(server: &Server, kind: &str) -> Vec<Told> {
    let value = toml::Value::try_from(server).ok();
    let written = |place: &str| {
        let found = place.split('.').try_fold(value.as_ref()?, |table, key| table.get(key))?;
        Some(found.to_string())
    };
    let machine = ranges().filter_map(|(place, _)| {
        let from = server.origins.get(place)?.strip_prefix(kind)?;
        Some(Told::new(place, written(place)?, from))
    });
    let constants = server
        .stated()
        .filter_map(|(declared, c)| Some(Told::new(declared.place, c.value, c.origin.strip_prefix(kind)?)));
    machine.chain(constants).collect()
}
