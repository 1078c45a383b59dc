//! The constants of applications: `lb.cycles` is in `[apps.lb]`.

use apps::Kind;
use serde::{Deserialize, Serialize};

use super::declare::{Constant, Declared, Of, components, is_default};
use super::range::Range;

components! {
    /// What applications cost beside their accesses to memory.
    Apps at apps, listed in APPS;
    /// Longest-prefix-match forwarding. `kv`, `ipsec`, `udp-echo`, `udp-ack`, `vxlan` and `erpc-kv` have its base cycles as well (A41).
    l3fwd: L3fwd {
        /// Base cycles of a frame in L3FWD.
        cycles = "l3fwd_cycles": Of::Card, Range::real(0.0, 1e6, "cycles");
    }
    /// Load balancer.
    lb: Lb {
        /// Base cycles of a frame in LB.
        cycles = "lb_cycles": Of::Card, Range::real(0.0, 1e6, "cycles");
    }
    /// Address translation.
    nat: Nat {
        /// Base cycles of a frame in NAT.
        cycles = "nat_cycles": Of::Card, Range::real(0.0, 1e6, "cycles");
    }
    /// Random reads and a route.
    nf: Nf {
        /// Base cycles of a frame in NF.
        cycles = "nf_cycles": Of::Card, Range::real(0.0, 1e6, "cycles");
    }
    /// IPsec gateway: what sealing costs.
    ipsec: Ipsec {
        /// Cycles to seal a packet by ESP, beside those of its bytes.
        frame_cycles = "esp_frame_cycles": Of::Card, Range::real(0.0, 1e6, "cycles");
        /// Cycles to encipher and sign a byte.
        byte_cycles = "esp_byte_cycles": Of::Card, Range::real(0.0, 1000.0, "cycles");
    }
}

impl Apps {
    /// Base cycles of a frame, and where a profile has them. Some applications begin as `l3fwd` does: stores of keys
    /// (A41), what looks up nothing, and a gateway, which routes packets beside sealing them.
    pub(crate) fn cycles(&self, kind: Kind) -> (&'static str, &Constant) {
        match kind {
            Kind::L3fwd
            | Kind::Kv
            | Kind::Ipsec
            | Kind::UdpEcho
            | Kind::UdpAck
            | Kind::Vxlan
            | Kind::ErpcKv => ("apps.l3fwd.cycles", &self.l3fwd.cycles),
            Kind::Lb => ("apps.lb.cycles", &self.lb.cycles),
            Kind::Nat => ("apps.nat.cycles", &self.nat.cycles),
            Kind::Nf => ("apps.nf.cycles", &self.nf.cycles),
        }
    }

    /// Whether a constant, by its place, has a part in runs of an application: those of others have none.
    pub fn concern(&self, place: &str, kind: Option<Kind>) -> bool {
        let of_mine =
            |kind| self.cycles(kind).0 == place || kind == Kind::Ipsec && place.starts_with("apps.ipsec.");
        !place.starts_with("apps.") || kind.is_some_and(of_mine)
    }

    /// The base cycles of a frame in an application for which they are all that is beside its accesses.
    pub fn own_cycles(&mut self, kind: Kind) -> Option<&mut Constant> {
        match kind {
            Kind::L3fwd | Kind::UdpEcho | Kind::UdpAck | Kind::Vxlan => Some(&mut self.l3fwd.cycles),
            Kind::Lb => Some(&mut self.lb.cycles),
            Kind::Nat => Some(&mut self.nat.cycles),
            Kind::Nf => Some(&mut self.nf.cycles),
            Kind::Kv | Kind::Ipsec | Kind::ErpcKv => None,
        }
    }
}
