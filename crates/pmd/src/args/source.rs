//! Where a port's frames come from.

use super::parse::invalid;
use crate::error::Error;

/// Where a port's frames come from and go to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// What is sent comes back.
    Loop,
    /// Generated frames; what is sent is counted and gone.
    Generated(traffic::Spec),
    /// A capture over and over; what is sent is counted and gone.
    Capture(String),
    /// Another DPDK port.
    Port(String),
    /// Another port of this driver, and nobody else.
    Pair(String),
}

impl Source {
    /// # Errors
    /// It is none of these.
    pub(super) fn parse(value: &str) -> Result<Source, Error> {
        let allowed = "loop, gen:SPEC, pcap:FILE, port:NAME or pair:NAME";
        let bad = || invalid("source", value, allowed);
        if value == "loop" {
            return Ok(Source::Loop);
        }
        let (kind, what) = value.split_once(':').ok_or_else(bad)?;
        if what.is_empty() {
            return Err(bad());
        }
        let what = what.to_owned();
        match kind {
            "gen" => match traffic_spec(&what).parse() {
                Ok(spec) => Ok(Source::Generated(spec)),
                Err(e) => Err(Error::Invalid(format!("source={value}: {e} (here + for a comma, : for =)"))),
            },
            "pcap" => Ok(Source::Capture(what)),
            "port" => Ok(Source::Port(what)),
            "pair" => Ok(Source::Pair(what)),
            _ => Err(bad()),
        }
    }
}

/// A generator's description as crate `traffic` reads it. DPDK takes a comma for the end of an argument and
/// `=` for the end of its name: `fixed:64+flows:4096` stands for `fixed:64,flows=4096`.
fn traffic_spec(what: &str) -> String {
    let mut parts = what.split('+');
    let sizes = parts.next().unwrap_or_default().to_owned();
    parts.fold(sizes, |spec, option| format!("{spec},{}", option.replacen(':', "=", 1)))
}
