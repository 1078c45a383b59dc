//! A description of traffic as its text.

use std::fmt;

use packet::kv::Objects;

use super::{Arrivals, FlowDraw, Spec, Target};
use crate::Sizes;

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sizes {
            Sizes::Fixed(n) => write!(f, "fixed:{n}")?,
            Sizes::Rfc2544(n) => write!(f, "rfc2544:{n}")?,
            Sizes::Imix => write!(f, "imix")?,
            Sizes::Empirical(cdf) => write!(f, "empirical:{}", cdf.name)?,
            Sizes::Kv { put_percent, protocol, .. } => write!(f, "{}:put={put_percent}", protocol.name())?,
        }
        let flows = if matches!(self.sizes, Sizes::Kv { .. }) { "keys" } else { "flows" };
        match self.sizes {
            Sizes::Kv { objects: Objects::Small(value), .. } => write!(f, ",value={value}")?,
            Sizes::Kv { objects, .. } if objects != Objects::default() => {
                write!(f, ",objects={}", objects.name())?;
            }
            _ => {}
        }
        write!(f, ",{flows}={}", self.flows)?;
        match self.draw {
            FlowDraw::Uniform => {}
            FlowDraw::Zipf(s) => write!(f, ",zipf={s}")?,
            FlowDraw::Slots { active, us } => write!(f, ",slots={active}/{us}")?,
        }
        write!(f, ",arrivals={}", self.arrivals)?;
        if self.partitions > 0 {
            write!(f, ",partitions={}", self.partitions)?;
        }
        if self.vxlan {
            write!(f, ",tunnel=vxlan")?;
        }
        match self.target {
            None => Ok(()),
            Some(Target::Gbps(gbps)) => write!(f, ",target=gbps:{gbps}"),
            Some(Target::Percent { percent, len }) => write!(f, ",target=pct:{percent}/{len}"),
        }
    }
}

impl From<Spec> for String {
    fn from(spec: Spec) -> Self {
        spec.to_string()
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrivals::Constant => write!(f, "constant"),
            Arrivals::Poisson => write!(f, "poisson"),
            Arrivals::Bursty { burst } => write!(f, "bursty:{burst}"),
        }
    }
}
