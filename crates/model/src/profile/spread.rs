//! What the assumed and fitted constants of a server may be instead: `profiles/spreads.toml`, and the ranges that a server
//! of parts has in its origins.

use std::sync::OnceLock;

use serde::Deserialize;

use super::declare::{Constant, Declared};
use super::{ProfileError, Server, declared};

const TABLE: &str = include_str!("../../../../profiles/spreads.toml");

/// A constant of a server with what it may be instead. The value is its median.
#[derive(Clone, Debug)]
pub struct Spread {
    /// The constant's name in results.
    pub name: &'static str,
    /// Where a profile has it.
    pub place: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The least value.
    pub low: f64,
    /// That of the profile.
    pub value: f64,
    /// The largest.
    pub high: f64,
    /// Where the constant itself is from.
    pub origin: String,
    /// Where both ends are from.
    pub ends: String,
    whole: bool,
}

impl Spread {
    /// The value below which a `share` of all draws is, 0 to 1: as many on either side of the profile's, and on each side
    /// evenly by ratio, or where an end is 0 by difference.
    pub fn at(&self, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0) * 2.0;
        let (from, to, part) =
            if share < 1.0 { (self.low, self.value, share) } else { (self.value, self.high, share - 1.0) };
        let even = if from > 0.0 { from * (to / from).powf(part) } else { from + (to - from) * part };
        if self.whole { even.round() } else { even }
    }

    /// The share of all draws below `value`, the inverse of [`at`](Self::at) but for whole numbers.
    pub fn share(&self, value: f64) -> f64 {
        let part = |from: f64, to: f64| {
            let inside = value.clamp(from, to);
            if to <= from {
                0.0
            } else if from > 0.0 {
                (inside / from).ln() / (to / from).ln()
            } else {
                (inside - from) / (to - from)
            }
        };
        (part(self.low, self.value) + part(self.value, self.high)) / 2.0
    }
}

impl Server {
    /// The spreads of its assumed and fitted constants, in the order of results. A constant of 0 and those of a card's
    /// tables have none.
    ///
    /// # Errors
    /// None: the table is one of ours.
    pub fn spreads(&self) -> Result<Vec<Spread>, ProfileError> {
        let table = table()?;
        let open = self.stated().filter(|(d, c)| {
            (c.origin.starts_with("assumed: ") || c.origin.starts_with("fitted: "))
                && c.value > 0.0
                && !d.place.starts_with("tables.")
        });
        Ok(open.filter_map(|(d, c)| spread(table, d, c)).filter(|s| s.low < s.high).collect())
    }

    /// Gives the constant that results call `name` another value, if there is one.
    pub fn set(&mut self, name: &str, value: f64) {
        if let Some(declared) = declared().find(|d| d.name == name) {
            (declared.get_mut)(self).value = value;
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    spreads: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    constant: String,
    /// The assumption that it is about, with its value; all others without.
    id: Option<String>,
    value: Option<f64>,
    /// Both ends, or both over the value.
    between: Option<[f64; 2]>,
    times: Option<[f64; 2]>,
    origin: String,
}

fn table() -> Result<&'static [Entry], ProfileError> {
    static ALL: OnceLock<Result<Table, String>> = OnceLock::new();
    match ALL.get_or_init(|| toml::from_str(TABLE).map_err(|e| e.to_string())) {
        Ok(table) => Ok(&table.spreads),
        Err(e) => Err(ProfileError(format!("spreads: {e}"))),
    }
}

fn spread(table: &[Entry], declared: &'static Declared, c: &Constant) -> Option<Spread> {
    let (ends, origin) = match told(&c.origin) {
        Some(ends) => (ends, c.origin.clone()),
        None => listed(table, declared.name, c)?,
    };
    let Declared { range, .. } = declared;
    let [low, high] = ends.map(|end| end.clamp(range.low, range.high));
    Some(Spread {
        name: declared.name,
        place: declared.place,
        unit: range.unit,
        low: low.min(c.value),
        value: c.value,
        high: high.max(c.value),
        origin: c.origin.clone(),
        ends: origin,
        whole: range.whole,
    })
}

/// The range at the end of an origin, as parts write it: `assumed: A1, 17 to 27`, perhaps with the cycles behind it.
fn told(origin: &str) -> Option<[f64; 2]> {
    let (_, range) = origin.rsplit_once(", ")?;
    let (low, high) = range.split_once(" to ")?;
    Some([low.parse().ok()?, high.parse().ok()?])
}

fn listed(table: &[Entry], name: &str, c: &Constant) -> Option<([f64; 2], String)> {
    let id = c.origin.strip_prefix("assumed: ").map(|rest| rest.split([',', ' ']).next().unwrap_or_default());
    let mut mine = table
        .iter()
        .filter(|e| e.constant == name)
        .filter(|e| e.id.is_none() || e.id.as_deref() == id && e.value == Some(c.value));
    // Those with an assumption's id come first in the table.
    let entry = mine.next()?;
    let ends = entry.between.or_else(|| entry.times.map(|ends| ends.map(|end| end * c.value)))?;
    Some((ends, entry.origin.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assumed_or_fitted_constant_has_one() {
        let parts = ["icelake-6346,nic=cx6dx:2", "rome,nic=cx5", "altra,nic=cx6dx", "skylake,nic=cx5:2"];
        for name in Server::names().chain(parts) {
            let server = Server::by_name(name).unwrap();
            let spreads = server.spreads().unwrap();
            for (declared, c) in server.stated() {
                let open = c.origin.starts_with("assumed") || c.origin.starts_with("fitted");
                if !open || c.value == 0.0 || declared.place.starts_with("tables.") {
                    continue;
                }
                let found = spreads.iter().find(|s| s.name == declared.name);
                let s = found.unwrap_or_else(|| panic!("{name}: no spread of {}", declared.name));
                assert!(s.low <= c.value && c.value <= s.high && s.low < s.high, "{name}: {s:?}");
                assert!(declared.range.has(s.low) && declared.range.has(s.high), "{name}: {s:?}");
            }
        }
    }

    #[test]
    fn every_entry_has_ends_and_is_of_a_constant() {
        for e in table().unwrap() {
            assert!(declared().any(|d| d.name == e.constant), "{}", e.constant);
            assert!(e.between.is_some() != e.times.is_some(), "{}", e.constant);
            assert_eq!(e.id.is_some(), e.value.is_some(), "{}", e.constant);
            assert_eq!(e.id.is_some(), e.between.is_some(), "{}: ends of one value", e.constant);
            let [low, high] = e.between.or(e.times).unwrap();
            let value = e.value.unwrap_or(1.0);
            assert!(low <= value && value <= high && !e.origin.is_empty(), "{}", e.constant);
        }
    }

    #[test]
    fn the_value_is_the_median_and_both_ends_are_reached() {
        let server = Server::by_name("rxbisect-testbed").unwrap();
        let idle = server.spreads().unwrap().into_iter().find(|s| s.name == "dram_idle_ns").unwrap();
        assert_eq!([0.0, 0.5, 1.0].map(|share| idle.at(share)), [75.0, 85.0, 95.0]);
        for share in [0.1, 0.5, 0.77] {
            assert!((idle.share(idle.at(share)) - share).abs() < 1e-9);
        }
        let away = Server::by_name("icx").unwrap().spreads().unwrap();
        let away = away.iter().find(|s| s.name == "away_ns").unwrap();
        assert_eq!([0.0, 0.25, 0.5].map(|share| away.at(share)), [0.0, 5.5, 11.0]);
    }

    #[test]
    fn a_server_of_parts_has_its_ranges_in_its_origins() {
        let server = Server::by_name("skylake,nic=cx5:2").unwrap();
        let doorbell = server.spreads().unwrap().into_iter().find(|s| s.name == "doorbell_ns").unwrap();
        assert_eq!((doorbell.low, doorbell.high), (400.0, 1000.0));
        assert_eq!(told("assumed: A90, 4.33 to 5 (13 cycles at 3 GHz)"), None);
    }

    #[test]
    fn a_constant_is_set_by_its_name() {
        let mut server = Server::by_name("ddio-bench").unwrap();
        server.set("dram_idle_ns", 99.0);
        assert_eq!(server.constants.dram.idle_ns.value, 99.0);
    }
}
