//! The forwarding table: DIR-24-8 for IPv4 (one line for most lookups, two for prefixes longer than 24
//! bits), one hash lookup per prefix length for IPv6.

use std::collections::BTreeMap;
use std::net::IpAddr;

use memory::{LINE, Memory, Touch};

use super::routes::{NextHop, Route};

/// Entries of the first IPv4 table, one for each /24.
const FIRST: usize = 1 << 24;
/// Entries of a group that resolves the last 8 bits.
const GROUP: usize = 256;
/// An entry that names a group, not a hop.
const EXTENDED: u32 = 1 << 31;
/// Bytes that the model charges for IPv6 prefixes: 2^16 lines.
const IPV6_BYTES: u64 = LINE as u64 * 65_536;

/// A table for lookups; immutable, shared by all cores.
pub struct Fib {
    /// For each /24: 0 without a route, a hop plus one, or a group with [`EXTENDED`].
    first: Vec<u32>,
    groups: Vec<[u32; GROUP]>,
    /// IPv6 prefixes by length and network.
    ipv6: BTreeMap<(u8, u128), u32>,
    /// The lengths that occur, longest first.
    lengths: Vec<u8>,
    hops: Vec<NextHop>,
}

impl Fib {
    /// The table of `routes`; of two equal prefixes the later one counts.
    pub fn new(routes: &[Route]) -> Fib {
        let mut fib = Fib {
            first: vec![0; FIRST],
            groups: Vec::new(),
            ipv6: BTreeMap::new(),
            lengths: Vec::new(),
            hops: Vec::new(),
        };
        // Shorter prefixes first: longer ones then overwrite their part.
        let mut sorted: Vec<_> = routes.iter().collect();
        sorted.sort_by_key(|r| r.length);
        for route in sorted {
            fib.hops.push(route.hop);
            let hop = fib.hops.len() as u32;
            match route.prefix {
                IpAddr::V4(prefix) => fib.add_ipv4(prefix.to_bits(), route.length.min(32), hop),
                IpAddr::V6(prefix) => {
                    let length = route.length.min(128);
                    fib.ipv6.insert((length, network(prefix.to_bits(), length)), hop);
                }
            }
        }
        fib.lengths = fib.ipv6.keys().rev().map(|(length, _)| *length).collect();
        fib.lengths.dedup();
        fib
    }

    /// A default route for both protocols, so that nothing is without one.
    pub fn default_route() -> Fib {
        let hop = NextHop { mac: [0x02, 0, 0, 0, 0, 2] };
        let zero = |prefix| Route { prefix, length: 0, hop };
        Fib::new(&[
            zero(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED)),
            zero(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED)),
        ])
    }

    /// The name of the table.
    pub const NAME: &'static str = "l3fwd.fib";

    /// Bytes of the table.
    pub fn bytes(&self) -> u64 {
        self.ipv6_at() + IPV6_BYTES
    }

    /// The route of an IPv4 destination.
    #[inline]
    pub fn ipv4<M: Memory>(&self, m: &mut M, table: M::Table, to: [u8; 4]) -> Option<NextHop> {
        let to = u32::from_be_bytes(to) as usize;
        m.touch(table, (to >> 8) as u64 * 4, Touch::Read);
        let mut entry = self.first[to >> 8];
        if entry & EXTENDED != 0 {
            let group = (entry & !EXTENDED) as usize;
            m.touch(table, ((FIRST + group * GROUP + (to & 255)) * 4) as u64, Touch::Read);
            entry = self.groups[group][to & 255];
        }
        self.hop(entry)
    }

    /// The route of an IPv6 destination.
    #[inline]
    pub fn ipv6<M: Memory>(&self, m: &mut M, table: M::Table, to: [u8; 16]) -> Option<NextHop> {
        let to = u128::from_be_bytes(to);
        let hop = self.lengths.iter().find_map(|length| {
            let network = network(to, *length);
            m.touch(table, self.ipv6_at() + place(network, *length), Touch::Read);
            self.ipv6.get(&(*length, network))
        })?;
        self.hop(*hop)
    }

    fn hop(&self, entry: u32) -> Option<NextHop> {
        self.hops.get((entry as usize).checked_sub(1)?).copied()
    }

    fn ipv6_at(&self) -> u64 {
        ((FIRST + self.groups.len() * GROUP) * 4) as u64
    }

    fn add_ipv4(&mut self, prefix: u32, length: u8, hop: u32) {
        let prefix = if length == 0 { 0 } else { prefix & (u32::MAX << (32 - length)) };
        let slot = (prefix >> 8) as usize;
        if length <= 24 {
            return self.first[slot..slot + (1 << (24 - length))].fill(hop);
        }
        if self.first[slot] & EXTENDED == 0 {
            self.groups.push([self.first[slot]; GROUP]);
            self.first[slot] = (self.groups.len() - 1) as u32 | EXTENDED;
        }
        let group = (self.first[slot] & !EXTENDED) as usize;
        let from = (prefix & 255) as usize;
        self.groups[group][from..from + (1 << (32 - length))].fill(hop);
    }
}

fn network(address: u128, length: u8) -> u128 {
    if length == 0 { 0 } else { address & (u128::MAX << (128 - length)) }
}

/// Where a prefix would lie in a hash table: what the model charges.
fn place(network: u128, length: u8) -> u64 {
    let mixed =
        ((network >> 64) as u64 ^ network as u64 ^ u64::from(length)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 48) * LINE as u64
}
