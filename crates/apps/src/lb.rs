//! `lb`: a load balancer that keeps every flow on the server it got first.

use memory::Memory;

use crate::table::{FlowTable, Value};
use crate::{App, Cause, End, Headers, Packet, Verdict};

/// Servers by default (rxbisect §6).
pub const SERVERS: u16 = 32;
/// Cycles per frame beside memory accesses, in the framework that the paper used: assumed until fitted.
pub const CYCLES: u32 = 1000;

/// One server behind the balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its IPv4 address.
    pub ipv4: [u8; 4],
    /// Its IPv6 address.
    pub ipv6: [u8; 16],
    /// Its link address.
    pub mac: [u8; 6],
}

impl Server {
    /// Server number `n` of a made-up rack: 10.100.0.0/16 and fd00:100::/32.
    pub fn numbered(n: u16) -> Server {
        let [high, low] = n.to_be_bytes();
        let mut ipv6 = [0; 16];
        ipv6[..4].copy_from_slice(&[0xfd, 0, 1, 0]);
        ipv6[14..].copy_from_slice(&[high, low]);
        Server { ipv4: [10, 100, high, low], ipv6, mac: [0x02, 0, 0, 1, high, low] }
    }
}

/// Sends each new flow to the less loaded of two servers that its hash picks, and its later frames to
/// the same one.
pub struct Lb<T> {
    flows: T,
    servers: Vec<(Server, u64)>,
    cycles: u32,
    mac: [u8; 6],
    opened: u64,
}

impl<T> Lb<T> {
    /// Balances over servers `0..count`, at least one, with flow table `flows`.
    pub fn new(flows: T, count: u16, cycles: u32) -> Lb<T> {
        let servers = (0..count.max(1)).map(|n| (Server::numbered(n), 0)).collect();
        Lb { flows, servers, cycles, mac: [0x02, 0, 0, 0, 0, 1], opened: 0 }
    }

    /// The servers and the flows that each was given.
    pub fn servers(&self) -> &[(Server, u64)] {
        &self.servers
    }

    /// The flow table.
    pub fn flows(&self) -> &T {
        &self.flows
    }

    /// The less loaded of two.
    fn choose(&self, hash: u64) -> usize {
        let n = self.servers.len() as u64;
        let (a, b) = (((hash >> 32) % n) as usize, ((hash & 0xffff_ffff) % n) as usize);
        if self.servers[b].1 < self.servers[a].1 { b } else { a }
    }
}

/// A flow's state in a table without storage: the server of its hash.
pub fn declared(hash: u64) -> Value {
    [hash >> 32, 0]
}

impl<M: Memory, T: FlowTable<M>> App<M> for Lb<T> {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline(always)]
    fn frame(&mut self, m: &mut M, _: &Packet<M>, headers: &mut Headers) -> Verdict {
        let Some(key) = headers.key() else { return Verdict::Pass };
        if !headers.hop() {
            return Verdict::Drop(Cause::TtlExpired); // and leaves no state
        }
        let (hash, now) = (key.hash(), headers.now());
        let server = match self.flows.find(m, &key, hash, now, headers.opens()) {
            Some(flow) => (flow.value[0] % self.servers.len() as u64) as usize,
            None => {
                let chosen = self.choose(hash);
                if self.flows.insert(m, &key, hash, [chosen as u64, 0], now).is_err() {
                    return Verdict::Drop(Cause::TableFull);
                }
                self.servers[chosen].1 += 1;
                self.opened += 1;
                chosen
            }
        };
        let server = &self.servers[server].0;
        headers.set_ipv4(End::Destination, server.ipv4);
        headers.set_ipv6(End::Destination, server.ipv6);
        headers.set_macs(server.mac, self.mac);
        Verdict::Send
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("flows_opened", self.opened)]
    }
}
