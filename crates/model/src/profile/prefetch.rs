//! Which side's cores fetch the other line of a pair.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// Whose misses to DRAM also fetch the other line of their 128 B pair. A profile says `true` of all cores, `false` of
/// none, or `"host"` or `"nic"` of those of one side: servers have it as a switch of each processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdjacentPrefetch {
    /// Nobody's.
    #[default]
    None,
    /// Of cores that run applications.
    Host,
    /// Of cores that play a NIC.
    Nic,
    /// Of all cores.
    Both,
}

impl AdjacentPrefetch {
    /// Whether it is on for the cores of a side, the NIC's if `nic`.
    #[inline(always)]
    pub fn is_on(self, nic: bool) -> bool {
        self == AdjacentPrefetch::Both
            || self == if nic { AdjacentPrefetch::Nic } else { AdjacentPrefetch::Host }
    }

    /// As words for people.
    pub fn name(self) -> &'static str {
        match self {
            AdjacentPrefetch::None => "off",
            AdjacentPrefetch::Host => "on at the host",
            AdjacentPrefetch::Nic => "on at the NIC",
            AdjacentPrefetch::Both => "on",
        }
    }
}

impl rings::Choice for AdjacentPrefetch {
    const ALL: &'static [(&'static str, AdjacentPrefetch)] = &[
        ("off", AdjacentPrefetch::None),
        ("host", AdjacentPrefetch::Host),
        ("nic", AdjacentPrefetch::Nic),
        ("both", AdjacentPrefetch::Both),
    ];
}

impl Serialize for AdjacentPrefetch {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            AdjacentPrefetch::None => to.serialize_bool(false),
            AdjacentPrefetch::Both => to.serialize_bool(true),
            AdjacentPrefetch::Host => to.serialize_str("host"),
            AdjacentPrefetch::Nic => to.serialize_str("nic"),
        }
    }
}

impl<'de> Deserialize<'de> for AdjacentPrefetch {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Written;
        impl Visitor<'_> for Written {
            type Value = AdjacentPrefetch;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("true, false, \"host\" or \"nic\"")
            }

            fn visit_bool<E: de::Error>(self, all: bool) -> Result<AdjacentPrefetch, E> {
                Ok(if all { AdjacentPrefetch::Both } else { AdjacentPrefetch::None })
            }

            fn visit_str<E: de::Error>(self, side: &str) -> Result<AdjacentPrefetch, E> {
                match side {
                    "host" => Ok(AdjacentPrefetch::Host),
                    "nic" => Ok(AdjacentPrefetch::Nic),
                    other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
                }
            }
        }
        from.deserialize_any(Written)
    }
}
