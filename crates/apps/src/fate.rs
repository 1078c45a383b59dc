//! What became of a frame that was not sent back, by one name everywhere.

use core::cmp::Ordering;

use rings::Outcome;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Cause;

/// Where a frame ended that did not come back. Reports count by it, and tell causes by [`name`](Self::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The card dropped it. [`of`](Self::of) makes it, of outcomes that are drops.
    Card(Outcome),
    /// The transmit ring of its core had no room.
    TxFull,
    /// Its core stopped before the transmit ring had room.
    Stopped,
    /// The application dropped it: for which cause, or none where a report tells the sum of all its causes.
    App(Option<Cause>),
}

impl Fate {
    /// All fates, of which every dropped frame has one: those of the card in the order of its outcomes, then those
    /// behind it. The application's causes are one.
    pub const ALL: [Fate; 14] = [
        Fate::Card(Outcome::RingFull),
        Fate::Card(Outcome::NoBuffer),
        Fate::Card(Outcome::NicBufferFull),
        Fate::Card(Outcome::NicMemoryFull),
        Fate::Card(Outcome::NoCredit),
        Fate::Card(Outcome::BadFrame),
        Fate::Card(Outcome::QueueStopped),
        Fate::Card(Outcome::Filtered),
        Fate::Card(Outcome::LinkDown),
        Fate::Card(Outcome::FlowDrop),
        Fate::Card(Outcome::FlowMiss),
        Fate::TxFull,
        Fate::Stopped,
        Fate::App(None),
    ];

    /// The fate of a frame that met `outcome` at the card; none where a core has it now.
    pub const fn of(outcome: Outcome) -> Option<Fate> {
        if outcome.is_drop() { Some(Fate::Card(outcome)) } else { None }
    }

    /// The name in every table and report.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Card(outcome) => outcome.name(),
            Fate::TxFull => "tx_full",
            Fate::Stopped => "stopped",
            Fate::App(None) => "application",
            Fate::App(Some(cause)) => cause.name(),
        }
    }

    /// Whether such frames drop at any load: they say nothing of what a server can carry.
    pub const fn at_any_load(self) -> bool {
        match self {
            Fate::Card(Outcome::BadFrame | Outcome::FlowDrop | Outcome::FlowMiss) | Fate::App(_) => true,
            Fate::Card(
                Outcome::Delivered
                | Outcome::RingFull
                | Outcome::NoBuffer
                | Outcome::NicBufferFull
                | Outcome::NicMemoryFull
                | Outcome::NoCredit
                | Outcome::QueueStopped
                | Outcome::Filtered
                | Outcome::LinkDown,
            )
            | Fate::TxFull
            | Fate::Stopped => false,
        }
    }
}

/// By name: maps of fates are written as they are kept.
impl Ord for Fate {
    fn cmp(&self, other: &Fate) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Fate {
    fn partial_cmp(&self, other: &Fate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl core::fmt::Display for Fate {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Fate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// From the name that it is written by. An application's single causes are no fates of reports.
impl<'de> Deserialize<'de> for Fate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fate, D::Error> {
        struct Named;
        impl Visitor<'_> for Named {
            type Value = Fate;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("the name of a fate")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Fate, E> {
                let unknown = || E::custom(format!("`{name}` is no fate"));
                Fate::ALL.into_iter().find(|fate| fate.name() == name).ok_or_else(unknown)
            }
        }
        from.deserialize_str(Named)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Files and scripts know these names.
    const NAMES: [&str; 14] = [
        "application",
        "bad_frame",
        "filtered",
        "flow_drop",
        "flow_miss",
        "link_down",
        "nic_buffer_full",
        "nic_memory_full",
        "no_buffer",
        "no_credit",
        "queue_stopped",
        "ring_full",
        "stopped",
        "tx_full",
    ];

    #[test]
    fn fates_have_the_names_that_files_know_and_stand_by_name() {
        let fates = BTreeSet::from(Fate::ALL);
        assert_eq!(fates.iter().map(|f| f.name()).collect::<Vec<_>>(), NAMES);
        assert_eq!(format!("{:>12}", Fate::TxFull), "     tx_full");
    }

    /// Maps hold fates by name: two of one name would be one.
    #[test]
    fn causes_of_the_application_have_names_of_their_own() {
        let causes = Cause::ALL.into_iter().map(|cause| Fate::App(Some(cause)));
        let all: BTreeSet<Fate> = Fate::ALL.into_iter().chain(causes).collect();
        assert_eq!(all.len(), Fate::ALL.len() + Cause::ALL.len());
    }

    #[test]
    fn every_outcome_that_is_a_drop_is_a_fate_and_no_other() {
        let card: Vec<Fate> = Outcome::ALL.into_iter().filter_map(Fate::of).collect();
        assert_eq!([&card[..], &[Fate::TxFull, Fate::Stopped, Fate::App(None)]].concat(), Fate::ALL);
        assert_eq!(Fate::of(Outcome::Delivered), None);
    }

    #[test]
    fn what_is_malformed_or_refused_drops_at_any_load() {
        let any: Vec<&str> = Fate::ALL.iter().filter(|f| f.at_any_load()).map(|f| f.name()).collect();
        assert_eq!(any, ["bad_frame", "flow_drop", "flow_miss", "application"]);
    }

    #[test]
    fn the_concepts_name_every_fate() {
        let page = include_str!("../../../docs/concepts.md");
        let drops = page.lines().skip_while(|l| !l.starts_with("**Drops**")).take_while(|l| !l.is_empty());
        let drops = drops.collect::<String>();
        for fate in Fate::ALL {
            assert!(drops.contains(&format!("`{fate}`")), "docs/concepts.md does not name `{fate}`");
        }
    }
}
