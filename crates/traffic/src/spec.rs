//! What a user writes to describe generated traffic: `fixed:1500,flows=10000,arrivals=poisson`.
//!
//! Bytes of a frame are without FCS, so that the shortest has 60. `rfc2544:64` is that one by the name that it has in
//! RFC 2544, which counts the FCS: 64, 128, 256, 512, 1024, 1280 or 1518.

mod text;

use crate::cdf::Cdf;
use crate::{MIN_FRAME, RFC_2544, Sizes, SpecError};
use packet::kv::{Objects, Protocol};
use packet::vxlan;
use serde::Serialize;
use std::str::FromStr;

/// Generated traffic. Its text form is
/// `SIZES[,flows=N][,zipf=S][,slots=N/US][,arrivals=HOW][,partitions=N][,target=WHAT][,tunnel=vxlan]`, or for a key-value store
/// `kv:put=PERCENT[,objects=NAME][,keys=N][,zipf=S][,arrivals=HOW][,partitions=N]`, or in the packets of eRPC
/// `erpc:put=PERCENT[,value=BYTES]` with the same options behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "String")]
pub struct Spec {
    /// Frame sizes.
    pub sizes: Sizes,
    /// Distinct flows (keys) over all ports, 1 to 2^32.
    pub flows: u64,
    /// How a frame's (an object's) flow is drawn.
    pub draw: FlowDraw,
    /// When frames are due.
    pub arrivals: Arrivals,
    /// Partitions of each port's flows, up to 1024, each with equally many flows. The UDP destination port is
    /// [`packet::PARTITION_PORT`] plus the partition. 0: no partitions, and destination ports differ with
    /// flows.
    pub partitions: u32,
    /// What partition 0 gets instead of its equal share; the others share the rest equally.
    pub target: Option<Target>,
    /// Whether frames come in VXLAN, [`packet::vxlan::BEFORE`] bytes longer than their sizes say.
    pub vxlan: bool,
}

/// The traffic of partition 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// So many Gbps of each port, on the wire.
    Gbps(f64),
    /// A part of each port's frames.
    Percent {
        /// Percent, 0 to 100.
        percent: f64,
        /// Their length, without FCS.
        len: u16,
    },
}

impl Spec {
    /// Mean frame length where it is known in advance.
    pub(crate) fn mean_frame(&self) -> Option<f64> {
        let mean = self.sizes.mean_frame()? + f64::from(self.before());
        match self.target {
            Some(Target::Percent { percent, len }) if self.partitions > 0 => {
                let part = percent / 100.0;
                Some(part * f64::from(len) + (1.0 - part) * mean)
            }
            _ => Some(mean),
        }
    }

    /// Bytes before what sizes tell of.
    pub(crate) fn before(&self) -> u16 {
        if self.vxlan { vxlan::BEFORE as u16 } else { 0 }
    }

    /// The length of the longest frame, without FCS, where it is known in advance.
    pub fn longest(&self) -> Option<u16> {
        Some(self.sizes.longest()?.saturating_add(self.before()))
    }
}

/// How a flow is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowDraw {
    /// All flows alike.
    Uniform,
    /// The k-th flow of a port (from 1) with weight k^-s.
    Zipf(f64),
    /// Only `active` of them at a time, alike, drawn anew after every `us` microseconds.
    Slots {
        /// 1 to 4096.
        active: u32,
        /// 1 to 10 million.
        us: u32,
    },
}

/// When frames are due. All have the asked mean rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly paced.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// So many frames back to back at line rate, then a pause.
    Bursty {
        /// Frames of one burst.
        burst: u32,
    },
}

impl Default for Spec {
    /// 1500 B frames of 10 000 uniform flows, evenly paced.
    fn default() -> Self {
        Self {
            sizes: Sizes::Fixed(1500),
            flows: 10_000,
            draw: FlowDraw::Uniform,
            arrivals: Arrivals::Constant,
            partitions: 0,
            target: None,
            vxlan: false,
        }
    }
}

/// Keys unless told otherwise: 10 GB of items of this size, as in MICA's data set. Where keys are asked for
/// equally often, no cache holds a part of it worth mentioning.
pub const KEYS: u64 = 8 << 20;
/// Keys of an eRPC store unless told otherwise (CEIO, section 6.1).
const SMALL_KEYS: u64 = 1000;
/// The longest value of an eRPC store: a request is one packet.
const MAX_VALUE: u16 = 1408;
/// Bytes of a value of one unless told otherwise (CEIO, section 6.1).
const SMALL_VALUE: u16 = 64;
/// The most flows that are active at a time.
pub(crate) const MOST_ACTIVE: u32 = 4096;
const MAX_FLOWS: u64 = 1 << 32;
const MAX_PARTITIONS: u32 = 1024;
const OPTIONS: &str = "flows=N, zipf=S, slots=N/US, arrivals=HOW, partitions=N, target=WHAT, tunnel=vxlan";
const KV_OPTIONS: &str =
    "objects=fixed, ads or geo (kv), value=BYTES (erpc), keys=N, zipf=S, arrivals=HOW, partitions=N";

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(s: &str) -> Result<Self, SpecError> {
        let mut parts = s.split(',').map(str::trim);
        let sizes = sizes(parts.next().unwrap_or_default())?;
        let protocol = match sizes {
            Sizes::Kv { protocol, .. } => Some(protocol),
            _ => None,
        };
        let (kv, erpc) = (protocol.is_some(), protocol == Some(Protocol::Erpc));
        let mut spec = Spec { sizes, ..Spec::default() };
        if kv {
            spec.flows = if erpc { SMALL_KEYS } else { KEYS };
        }
        let mut seen = Vec::new();
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if seen.contains(&key) {
                return Err(SpecError::new("workload option", part, "each option once"));
            }
            seen.push(key);
            match key {
                "flows" if !kv => spec.flows = flows("flows", value)?,
                "keys" if kv => spec.flows = flows("keys", value)?,
                "objects" if kv && !erpc => spec.sizes = spec.sizes.of(named_objects(value)?),
                "value" if erpc => spec.sizes = spec.sizes.of(small(value)?),
                "tunnel" if !kv && value == "vxlan" => spec.vxlan = true,
                "zipf" => spec.draw = zipf(value)?,
                "slots" if !kv => spec.draw = slots(value)?,
                "arrivals" => spec.arrivals = value.parse()?,
                "partitions" => spec.partitions = partitions(value)?,
                "target" if !kv => spec.target = Some(target(value)?),
                _ if kv => return Err(SpecError::new("workload option", part, KV_OPTIONS)),
                _ => return Err(SpecError::new("workload option", part, OPTIONS)),
            }
        }
        if spec.vxlan && (spec.partitions > 0 || spec.target.is_some()) {
            return Err(SpecError::new(
                "tunnel",
                "vxlan",
                "without partitions and target: ports are those of the tunnel",
            ));
        }
        Ok(spec)
    }
}

fn sizes(s: &str) -> Result<Sizes, SpecError> {
    match s.split_once(':') {
        None if s == "imix" => Ok(Sizes::Imix),
        Some(("fixed", n)) => frame(n).map(Sizes::Fixed),
        Some(("rfc2544", n)) => named(n).map(Sizes::Rfc2544),
        Some(("empirical", name)) => Cdf::load(name).map(Sizes::Empirical),
        Some(("kv", mix)) => {
            let (objects, protocol) = (Objects::default(), Protocol::Plain);
            puts(mix).map(|put_percent| Sizes::Kv { put_percent, objects, protocol })
        }
        Some(("erpc", mix)) => {
            let (objects, protocol) = (Objects::Small(SMALL_VALUE), Protocol::Erpc);
            puts(mix).map(|put_percent| Sizes::Kv { put_percent, objects, protocol })
        }
        _ => {
            let allowed = "fixed:BYTES (without FCS), rfc2544:BYTES (with FCS), imix, empirical:NAME, empirical:FILE, kv:put=PERCENT or erpc:put=PERCENT";
            Err(SpecError::new("workload", s, allowed))
        }
    }
}

fn puts(s: &str) -> Result<f64, SpecError> {
    let percent = s.strip_prefix("put=").and_then(|n| n.parse().ok());
    percent
        .filter(|n| (0.0..=100.0).contains(n))
        .ok_or_else(|| SpecError::new("requests", s, "put=PERCENT, 0 to 100"))
}

fn named_objects(s: &str) -> Result<Objects, SpecError> {
    let one = Objects::ALL.into_iter().find(|objects| objects.name() == s);
    one.ok_or_else(|| SpecError::new("objects", s, &Objects::ALL.map(Objects::name).join(", ")))
}

fn small(s: &str) -> Result<Objects, SpecError> {
    let value = s.parse().ok().filter(|n| *n <= MAX_VALUE);
    value.map(Objects::Small).ok_or_else(|| SpecError::new("value", s, "0 to 1408 bytes"))
}

fn frame(s: &str) -> Result<u16, SpecError> {
    let len = s.parse().ok().filter(|n| *n >= MIN_FRAME);
    len.ok_or_else(|| SpecError::new("frame size", s, "60 to 65535 bytes, without the 4 bytes of FCS"))
}

fn named(s: &str) -> Result<u16, SpecError> {
    let len = s.parse().ok().filter(|n| RFC_2544.contains(n));
    let allowed = RFC_2544.map(|n| n.to_string()).join(", ");
    len.ok_or_else(|| SpecError::new("frame size of RFC 2544, with FCS", s, &allowed))
}

fn flows(what: &str, s: &str) -> Result<u64, SpecError> {
    let (digits, unit) = match s.strip_suffix('k').map(|d| (d, 1000)) {
        Some(thousands) => thousands,
        None => s.strip_suffix('M').map_or((s, 1), |d| (d, 1_000_000)),
    };
    let n = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    n.filter(|n| (1..=MAX_FLOWS).contains(n))
        .ok_or_else(|| SpecError::new(what, s, "1 to 4294967296, with k or M for thousands or millions"))
}

fn zipf(s: &str) -> Result<FlowDraw, SpecError> {
    let exponent: Option<f64> = s.parse().ok();
    exponent
        .filter(|e| *e > 0.0 && *e <= 10.0)
        .map(FlowDraw::Zipf)
        .ok_or_else(|| SpecError::new("zipf", s, "an exponent above 0, at most 10"))
}

fn slots(s: &str) -> Result<FlowDraw, SpecError> {
    let parts = s.split_once('/').and_then(|(n, us)| Some((n.parse().ok()?, us.parse().ok()?)));
    let fits = |(n, us): &(u32, u32)| (1..=MOST_ACTIVE).contains(n) && (1..=10_000_000).contains(us);
    let found = parts.filter(fits).map(|(active, us)| FlowDraw::Slots { active, us });
    found.ok_or_else(|| SpecError::new("slots", s, "FLOWS/MICROSECONDS, 1 to 4096 and 1 to 10000000"))
}

impl FromStr for Arrivals {
    type Err = SpecError;

    fn from_str(s: &str) -> Result<Self, SpecError> {
        let bursty = |n: &str| n.parse().ok().filter(|n| (1..=1 << 20).contains(n));
        match s.split_once(':') {
            None if s == "constant" => Some(Arrivals::Constant),
            None if s == "poisson" => Some(Arrivals::Poisson),
            Some(("bursty", n)) => bursty(n).map(|burst| Arrivals::Bursty { burst }),
            _ => None,
        }
        .ok_or_else(|| SpecError::new("arrivals", s, "constant, poisson, bursty:FRAMES (1 to 1048576)"))
    }
}

fn partitions(s: &str) -> Result<u32, SpecError> {
    let n = s.parse().ok().filter(|n| (1..=MAX_PARTITIONS).contains(n));
    n.ok_or_else(|| SpecError::new("partitions", s, "1 to 1024"))
}

fn target(s: &str) -> Result<Target, SpecError> {
    let number = |n: &str| n.parse().ok().filter(|n: &f64| *n >= 0.0 && n.is_finite());
    let what = match s.split_once(':') {
        Some(("gbps", n)) => number(n).map(Target::Gbps),
        Some(("pct", rest)) => match rest.split_once('/') {
            Some((n, size)) => {
                let len = frame(size)?;
                number(n).filter(|n| *n <= 100.0).map(|percent| Target::Percent { percent, len })
            }
            None => None,
        },
        _ => None,
    };
    what.ok_or_else(|| {
        SpecError::new("target", s, "gbps:GBPS (of each port), pct:PERCENT/BYTES (of its frames)")
    })
}
