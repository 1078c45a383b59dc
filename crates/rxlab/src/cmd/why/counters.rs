//! What counters of drivers mean: the table in `counters.toml`.

use serde::{Deserialize, Serialize};

use super::dump::Port;
use crate::fail::Fail;

/// Where a frame is lost, or what kind of frame.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// The card's own buffer overflows.
    Card,
    /// No buffer was posted.
    Ring,
    /// The pool had none to post.
    Pool,
    /// On its way out.
    Transmit,
    /// The link or the queue does not run.
    Link,
    /// A filter or a rule says so.
    Filter,
    /// Longer than what takes it.
    TooLong,
    /// Damaged.
    BadFrame,
    /// A rented machine's allowance.
    Limit,
    /// Nothing is lost: somebody was asked to wait.
    Pause,
    /// Between receiving and sending: the program received it and sent nothing for it.
    Program,
}

impl Place {
    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Place::Card => "card",
            Place::Ring => "ring",
            Place::Pool => "pool",
            Place::Transmit => "transmit",
            Place::Link => "link",
            Place::Filter => "filter",
            Place::TooLong => "too long",
            Place::BadFrame => "bad frame",
            Place::Limit => "limit",
            Place::Pause => "pause",
            Place::Program => "program",
        }
    }
}

/// A counter of a driver.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counter {
    /// Its name, with `*` for a number.
    pub name: String,
    /// The same by queue.
    pub queues: Option<String>,
    /// What it counts.
    pub place: Place,
    /// The basic counter that has the same frames.
    pub within: Option<Basic>,
    /// Where that is written.
    pub source: String,
}

/// A basic counter of `struct rte_eth_stats` that tells of losses.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Basic {
    /// Frames that the card had no buffer for.
    Imissed,
    /// Frames with an error.
    Ierrors,
    /// Frames that could not be sent.
    Oerrors,
    /// Buffers that the pool did not have.
    RxNombuf,
}

impl Basic {
    /// All of them, with their name and what they say if nothing says more.
    pub(super) const ALL: [(Basic, &'static str, Place); 4] = [
        (Basic::Imissed, "imissed", Place::Ring),
        (Basic::Ierrors, "ierrors", Place::BadFrame),
        (Basic::Oerrors, "oerrors", Place::Transmit),
        (Basic::RxNombuf, "rx_nombuf", Place::Pool),
    ];

    /// Its value at a port.
    pub(super) fn of(self, port: &Port) -> u64 {
        match self {
            Basic::Imissed => port.stats.imissed,
            Basic::Ierrors => port.stats.ierrors,
            Basic::Oerrors => port.stats.oerrors,
            Basic::RxNombuf => port.stats.rx_nombuf,
        }
    }
}

/// A driver and what it counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Driver {
    /// Its name.
    pub name: String,
    /// What names of its devices begin with.
    devices: Vec<String>,
    /// Counters that it alone has.
    #[serde(default)]
    signature: Vec<String>,
    /// What it cannot tell of, if that is much.
    pub blind: Option<String>,
    /// What it counts beside the basic counters.
    pub counters: Vec<Counter>,
}

/// All drivers.
pub(super) struct Table {
    drivers: Vec<Driver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    driver: Vec<Driver>,
}

impl Table {
    /// The table that comes with the program.
    ///
    /// # Errors
    /// Never in practice: a test reads it.
    pub(super) fn read() -> Result<Table, Fail> {
        let written: Written = toml::from_str(include_str!("counters.toml"))
            .map_err(|e| Fail::new(format!("the table of counters: {e}")))?;
        Ok(Table { drivers: written.driver })
    }

    /// The driver of a port, as far as it is known.
    pub(super) fn driver(&self, port: &Port) -> Option<&Driver> {
        let named = |d: &&Driver| d.devices.iter().any(|name| port.info.name.starts_with(name.as_str()));
        let signed = |d: &&Driver| {
            !d.signature.is_empty() && d.signature.iter().all(|name| port.xstats.contains_key(name))
        };
        self.drivers.iter().find(named).or_else(|| self.drivers.iter().find(signed))
    }
}

/// The number that stands for `*` where `name` is of `pattern`; 0 where the pattern has none and is the name.
pub(super) fn number(pattern: &str, name: &str) -> Option<u32> {
    let Some((before, after)) = pattern.split_once('*') else { return (pattern == name).then_some(0) };
    name.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn port(name: &str, xstats: &[&str]) -> Port {
        let mut port = Port::default();
        port.info.name = name.into();
        port.xstats = xstats.iter().map(|n| (n.to_string(), 1)).collect::<BTreeMap<_, _>>();
        port
    }

    #[test]
    fn drivers_are_known_by_device_and_by_counters() {
        let table = Table::read().unwrap();
        let name = |port: &Port| table.driver(port).map(|d| d.name.clone());
        assert_eq!(name(&port("net_rxlab0", &[])).as_deref(), Some("net_rxlab"));
        assert_eq!(name(&port("0000:3b:00.0", &["rx_out_of_buffer"])).as_deref(), Some("mlx5"));
        let intel = ["rx_dropped_packets", "rx_oversize_errors"];
        let with = |more| [intel.as_slice(), &[more]].concat();
        assert_eq!(name(&port("0000:3b:00.0", &with("rx_len_errors"))).as_deref(), Some("ice"));
        assert_eq!(name(&port("0000:3b:00.0", &with("rx_size_error_packets"))).as_deref(), Some("i40e"));
        assert_eq!(name(&port("0000:3b:00.0", &["rx_good_packets"])), None);
    }

    #[test]
    fn every_counter_has_a_source_and_no_driver_counts_one_twice() {
        for driver in Table::read().unwrap().drivers {
            assert!(!driver.devices.is_empty() || !driver.signature.is_empty(), "{}", driver.name);
            let mut names: Vec<&str> = driver.counters.iter().map(|c| c.name.as_str()).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|w| w[0] != w[1]), "{}", driver.name);
            assert!(driver.counters.iter().all(|c| c.source.contains(".c")), "{}", driver.name);
        }
    }

    #[test]
    fn a_star_is_a_number() {
        assert_eq!(number("rx_q*_errors", "rx_q12_errors"), Some(12));
        assert_eq!(number("rx_q*_errors", "rx_q_errors"), None);
        assert_eq!(number("rx_errors", "rx_errors"), Some(0));
    }
}
