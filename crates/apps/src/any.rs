//! The choice of an application by name; dispatch once per burst.

use memory::{Buf, Memory};
use packet::kv::Protocol;
use rings::Completion;

use crate::ipsec::{self, Ipsec};
use crate::kv::{self, ErpcKv, Kv, Store};
use crate::l3fwd::L3fwd;
use crate::lb::{self, Lb};
use crate::nat::{self, Nat};
use crate::nf::{self, Nf};
use crate::table::FlowTable;
use crate::udp_ack::{self, UdpAck};
use crate::udp_echo::{self, UdpEcho};
use crate::vxlan::{self, Vxlan};
use crate::{App, Batch, Headers, Packet, Verdict};

/// Which application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Longest-prefix-match forwarding.
    L3fwd,
    /// Load balancer over 32 servers.
    Lb,
    /// Address translation.
    Nat,
    /// Random reads and a route.
    Nf,
    /// Key-value store.
    Kv,
    /// IPsec gateway.
    Ipsec,
    /// Sends datagrams back.
    UdpEcho,
    /// Answers datagrams with short ones.
    UdpAck,
    /// Takes VXLAN headers off.
    Vxlan,
    /// Key-value store behind eRPC.
    ErpcKv,
}

impl Kind {
    /// All applications.
    pub const ALL: [Kind; 10] = [
        Kind::L3fwd,
        Kind::Lb,
        Kind::Nat,
        Kind::Nf,
        Kind::Kv,
        Kind::Ipsec,
        Kind::UdpEcho,
        Kind::UdpAck,
        Kind::Vxlan,
        Kind::ErpcKv,
    ];

    /// What requests it answers, if it is a store.
    pub const fn protocol(self) -> Option<Protocol> {
        match self {
            Kind::Kv => Some(Protocol::Plain),
            Kind::ErpcKv => Some(Protocol::Erpc),
            _ => None,
        }
    }

    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::L3fwd => "l3fwd",
            Kind::Lb => "lb",
            Kind::Nat => "nat",
            Kind::Nf => "nf",
            Kind::Kv => "kv",
            Kind::Ipsec => "ipsec",
            Kind::UdpEcho => "udp-echo",
            Kind::UdpAck => "udp-ack",
            Kind::Vxlan => "vxlan",
            Kind::ErpcKv => "erpc-kv",
        }
    }

    /// Default cycles per frame beside memory accesses.
    pub const fn cycles(self) -> u32 {
        match self {
            Kind::L3fwd => crate::l3fwd::CYCLES,
            Kind::Lb => lb::CYCLES,
            Kind::Nat => nat::CYCLES,
            Kind::Nf => nf::CYCLES,
            Kind::Kv | Kind::ErpcKv => kv::CYCLES,
            Kind::Ipsec => ipsec::CYCLES,
            Kind::UdpEcho => udp_echo::CYCLES,
            Kind::UdpAck => udp_ack::CYCLES,
            Kind::Vxlan => vxlan::CYCLES,
        }
    }
}

/// Any application over flow table `T` and partition `S`.
pub enum AnyApp<M: Memory, T, S> {
    /// Longest-prefix-match forwarding.
    L3fwd(L3fwd<M>),
    /// Load balancer.
    Lb(Lb<T>),
    /// Address translation.
    Nat(Nat<T>),
    /// Random reads and a route.
    Nf(Nf<M>),
    /// Key-value store.
    Kv(Kv<S>),
    /// IPsec gateway.
    Ipsec(Ipsec<M>),
    /// Sends datagrams back.
    UdpEcho(UdpEcho),
    /// Answers datagrams with short ones.
    UdpAck(UdpAck),
    /// Takes VXLAN headers off.
    Vxlan(Vxlan),
    /// Key-value store behind eRPC.
    ErpcKv(ErpcKv<S>),
}

/// Calls the same method on whichever application it is.
macro_rules! each {
    ($self:expr, $app:ident => $call:expr) => {
        match $self {
            AnyApp::L3fwd($app) => $call,
            AnyApp::Lb($app) => $call,
            AnyApp::Nat($app) => $call,
            AnyApp::Nf($app) => $call,
            AnyApp::Kv($app) => $call,
            AnyApp::Ipsec($app) => $call,
            AnyApp::UdpEcho($app) => $call,
            AnyApp::UdpAck($app) => $call,
            AnyApp::Vxlan($app) => $call,
            AnyApp::ErpcKv($app) => $call,
        }
    };
}

impl<M: Memory, T: FlowTable<M>, S: Store<M>> App<M> for AnyApp<M, T, S> {
    fn cycles(&self) -> u32 {
        each!(self, app => App::<M>::cycles(app))
    }

    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        each!(self, app => App::<M>::frame(app, m, packet, headers))
    }

    fn process(&mut self, m: &mut M, frames: M::Buffers, burst: &[Completion], batch: &mut Batch) {
        each!(self, app => apart(app, m, frames, burst, batch))
    }

    fn own_buffers(&self) -> u64 {
        each!(self, app => App::<M>::own_buffers(app))
    }

    fn returned(&mut self, m: &mut M, bufs: &[Buf]) {
        each!(self, app => app.returned(m, bufs));
    }

    fn kept(&self) -> u64 {
        each!(self, app => App::<M>::kept(app))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        each!(self, app => App::<M>::counters(app))
    }
}

/// [`App::process`] in a function of its own. Inlined into one function with the others, each application's
/// locals would be spread over one large stack frame.
#[inline(never)]
fn apart<M: Memory, A: App<M>>(
    app: &mut A,
    m: &mut M,
    frames: M::Buffers,
    burst: &[Completion],
    batch: &mut Batch,
) {
    app.process(m, frames, burst, batch);
}
