//! Which application the cores run.

use apps::Kind;
use packet::kv::Objects;

/// Which application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App {
    /// Longest-prefix-match forwarding.
    L3fwd,
    /// Load balancer.
    Lb,
    /// Address translation.
    Nat,
    /// Random reads and a route; the first core of each port, the target, reads `target_reads` times more.
    Nf {
        /// Of each frame.
        target_reads: u32,
    },
    /// A key-value store, a partition on every core.
    Kv {
        /// Keys, all present.
        keys: u64,
        /// What they and their values are.
        objects: Objects,
    },
    /// An IPsec gateway.
    Ipsec,
    /// Datagrams back to where they came from.
    UdpEcho,
    /// Short answers to datagrams.
    UdpAck,
    /// The end of VXLAN tunnels.
    Vxlan,
    /// A key-value store behind eRPC, a partition on every core.
    ErpcKv {
        /// Keys, all present.
        keys: u64,
        /// What they and their values are.
        objects: Objects,
    },
    /// A TCP server that sends back what it receives, for one host ([`crate::serve`]).
    TcpEcho {
        /// Connections that a core has places for.
        flows: u32,
        /// Cycles of the stack and the service for a frame that comes, the answer to it included.
        cycles: u32,
    },
    /// Reads every byte of a frame and frees its buffer: the receiver of `bench live`.
    Sink,
}

impl App {
    /// The packet application; none of a benchmark's receiver, nor of a server of connections.
    pub fn kind(self) -> Option<Kind> {
        match self {
            App::L3fwd => Some(Kind::L3fwd),
            App::Lb => Some(Kind::Lb),
            App::Nat => Some(Kind::Nat),
            App::Nf { .. } => Some(Kind::Nf),
            App::Kv { .. } => Some(Kind::Kv),
            App::Ipsec => Some(Kind::Ipsec),
            App::UdpEcho => Some(Kind::UdpEcho),
            App::UdpAck => Some(Kind::UdpAck),
            App::Vxlan => Some(Kind::Vxlan),
            App::ErpcKv { .. } => Some(Kind::ErpcKv),
            App::TcpEcho { .. } | App::Sink => None,
        }
    }
}

impl From<Kind> for App {
    fn from(kind: Kind) -> App {
        match kind {
            Kind::L3fwd => App::L3fwd,
            Kind::Lb => App::Lb,
            Kind::Nat => App::Nat,
            Kind::Nf => App::Nf { target_reads: 0 },
            Kind::Kv => App::Kv { keys: traffic::KEYS, objects: Objects::default() },
            Kind::Ipsec => App::Ipsec,
            Kind::UdpEcho => App::UdpEcho,
            Kind::UdpAck => App::UdpAck,
            Kind::Vxlan => App::Vxlan,
            Kind::ErpcKv => App::ErpcKv { keys: traffic::KEYS, objects: Objects::default() },
        }
    }
}
