//! How fast a workload is offered.

use crate::SpecError;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The offered rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "String")]
pub enum Rate {
    /// Gbps in total over all ports, on the wire (24 B of overhead per frame): a capture is
    /// compressed or stretched in time to it, its bursts kept.
    Gbps(f64),
    /// A capture's own timing; a generator, which has none, runs at line rate.
    Own,
}

impl FromStr for Rate {
    type Err = SpecError;

    fn from_str(s: &str) -> Result<Self, SpecError> {
        match s {
            "own" => Ok(Self::Own),
            _ => match s.parse() {
                Ok(gbps) if gbps > 0.0 && f64::is_finite(gbps) => Ok(Self::Gbps(gbps)),
                _ => Err(SpecError::new("rate", s, "own, or a number of Gbps above 0")),
            },
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gbps(gbps) => write!(f, "{gbps}"),
            Self::Own => write!(f, "own"),
        }
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}
