//! `l3fwd`: longest-prefix-match forwarding of IPv4 and IPv6.

mod fib;
mod routes;

pub use fib::Fib;
pub use routes::{NextHop, Route, RouteError, parse_routes};

use std::sync::Arc;

use memory::Memory;

use crate::{App, Cause, End, Headers, Packet, Verdict};

/// Cycles per frame beside memory accesses: assumed, of the order of DPDK's example of this name.
pub const CYCLES: u32 = 150;
/// Frames whose headers are prefetched.
const AHEAD: usize = 3;

/// Looks up the destination, takes one hop off, and addresses the frame to the next hop.
pub struct L3fwd<M: Memory> {
    fib: Arc<Fib>,
    table: M::Table,
    cycles: u32,
    /// Our port's own link address.
    mac: [u8; 6],
}

impl<M: Memory> L3fwd<M> {
    /// Forwards by `fib`, whose addresses are those of `table`.
    pub fn new(fib: Arc<Fib>, table: M::Table, cycles: u32) -> L3fwd<M> {
        L3fwd { fib, table, cycles, mac: [0x02, 0, 0, 0, 0, 1] }
    }

    /// The next hop to an IPv4 destination.
    pub(crate) fn hop(&self, m: &mut M, to: [u8; 4]) -> Option<NextHop> {
        self.fib.ipv4(m, self.table, to)
    }

    /// Destination and source of a frame to `hop`.
    pub(crate) fn macs(&self, hop: NextHop) -> [[u8; 6]; 2] {
        [hop.mac, self.mac]
    }
}

impl<M: Memory> App<M> for L3fwd<M> {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    /// As DPDK's l3fwd.
    fn ahead(&self) -> usize {
        AHEAD
    }

    #[inline(always)]
    fn frame(&mut self, m: &mut M, _: &Packet<M>, headers: &mut Headers) -> Verdict {
        if !headers.hop() {
            return Verdict::Drop(Cause::TtlExpired);
        }
        let hop = match (headers.ipv4(End::Destination), headers.ipv6(End::Destination)) {
            (Some(v4), _) => self.fib.ipv4(m, self.table, v4),
            (_, Some(v6)) => self.fib.ipv6(m, self.table, v6),
            _ => return Verdict::Pass,
        };
        let Some(hop) = hop else { return Verdict::Drop(Cause::NoRoute) };
        headers.set_macs(hop.mac, self.mac);
        Verdict::Send
    }
}
