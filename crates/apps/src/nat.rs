//! `nat`: source translation of IPv4. A frame to one of the public addresses is a reply, every other
//! one comes from inside.

use memory::Memory;
use packet::Rss;

use crate::table::{FlowTable, Key, Value};
use crate::{App, Cause, End, Headers, Packet, Verdict};

/// Cycles per frame beside memory accesses, in the framework that the paper used: assumed until fitted.
pub const CYCLES: u32 = 1100;

/// Ports below are not given out.
const FIRST_PORT: u16 = 1024;
/// Candidates tried before a connection is refused. With 16 queues one in 16 fits, so fewer than one
/// connection in 10^7 finds none.
const TRIES: u64 = 256;

/// Where replies must arrive: the queue of the core that holds the connection's state.
#[derive(Clone, Debug)]
pub struct Home {
    /// The port's hash and indirection table.
    pub rss: Rss,
    /// The queue.
    pub queue: u16,
}

/// Translates connections to a public address and a port, each entered in the flow table in both
/// directions; two connections may share a port when they lead to different places. IPv6, and what an
/// ICMP error quotes, stay as they are.
pub struct Nat<T> {
    flows: T,
    public: Vec<[u8; 4]>,
    home: Option<Home>,
    cycles: u32,
    macs: ([u8; 6], [u8; 6]),
    opened: u64,
}

impl<T> Nat<T> {
    /// Translates to `public` addresses (192.0.2.1 if there is none) with flow table `flows`, choosing
    /// ports such that replies come `home`.
    pub fn new(flows: T, public: &[[u8; 4]], home: Option<Home>, cycles: u32) -> Nat<T> {
        let public = if public.is_empty() { vec![[192, 0, 2, 1]] } else { public.to_vec() };
        let macs = ([0x02, 0, 0, 0, 0, 2], [0x02, 0, 0, 0, 0, 1]);
        Nat { flows, public, home, cycles, macs, opened: 0 }
    }

    /// The flow table.
    pub fn flows(&self) -> &T {
        &self.flows
    }

    fn is_public(&self, address: [u8; 4]) -> bool {
        self.public.contains(&address)
    }

    /// Whether a reply from `remote` to this mapping arrives where its state is.
    fn comes_home(&self, remote: [u8; 4], to: [u8; 4], ports: Option<[u8; 4]>) -> bool {
        let Some(home) = &self.home else { return true };
        let mut hash = home.rss.toeplitz(&remote, 0) ^ home.rss.toeplitz(&to, 4);
        if let Some(ports) = ports {
            hash ^= home.rss.toeplitz(&ports, 8);
        }
        home.rss.queue(hash) == home.queue
    }
}

/// A connection's state in a table without storage.
pub fn declared(hash: u64) -> Value {
    let port = u64::from(FIRST_PORT) + (hash >> 32) % (65_536 - u64::from(FIRST_PORT));
    [hash & 0xffff, port]
}

/// What a reply to a translated frame looks like when it arrives.
struct Reply {
    remote: [u8; 4],
    to: [u8; 4],
    ports: [u8; 4],
    protocol: u8,
}

impl Reply {
    /// The reply to `headers` once its source is `public` and, if it has one, `port`.
    fn to(headers: &Headers, remote: [u8; 4], public: [u8; 4], port: Option<u16>) -> Reply {
        let parsed = headers.parsed();
        let own = parsed.ports(headers.bytes()).map(|p| [p[2], p[3], p[0], p[1]]);
        let ports = match (own, port.map(u16::to_be_bytes)) {
            (Some([a, b, ..]), Some([c, d])) => [a, b, c, d],
            (Some(swapped), None) => swapped,
            (None, Some([a, b])) => [a, b, 0, 0], // an echo's identifier comes back in its place
            (None, None) => [0; 4],
        };
        Reply { remote, to: public, ports, protocol: parsed.proto }
    }

    fn key(&self) -> Key {
        let [a, b, c, d] = self.ports;
        let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        Key::ipv4(self.remote, self.to, from, to, self.protocol)
    }
}

impl<T> Nat<T> {
    fn outward<M: Memory>(&mut self, m: &mut M, headers: &mut Headers, key: &Key) -> Result<(), Cause>
    where
        T: FlowTable<M>,
    {
        let (hash, now) = (key.hash(), headers.now());
        let (index, port) = match self.flows.find(m, key, hash, now, headers.opens()) {
            Some(flow) => ((flow.value[0] % self.public.len() as u64) as usize, flow.value[1] as u16),
            None => self.open(m, headers, key, hash)?,
        };
        headers.set_ipv4(End::Source, self.public[index]);
        headers.set_port(End::Source, port);
        Ok(())
    }

    /// A new connection: the first free mapping from where its hash points, in both directions.
    fn open<M: Memory>(
        &mut self,
        m: &mut M,
        headers: &Headers,
        key: &Key,
        hash: u64,
    ) -> Result<(usize, u16), Cause>
    where
        T: FlowTable<M>,
    {
        let now = headers.now();
        let (index, port, reply) = self.free_mapping(m, headers, hash).ok_or(Cause::TableFull)?;
        let value = [index as u64, u64::from(port)];
        let out = self.flows.insert(m, key, hash, value, now).map_err(|_| Cause::TableFull)?;
        let inside = headers.ipv4(End::Source).map_or(0, u32::from_be_bytes);
        let inside_port = headers.port(End::Source).unwrap_or(0);
        let back = [u64::from(inside), u64::from(inside_port)];
        let Ok(back) = self.flows.insert(m, &reply, reply.hash(), back, now) else {
            self.flows.remove(m, key, hash);
            return Err(Cause::TableFull);
        };
        self.flows.link(out, back);
        self.opened += 1;
        Ok((index, port))
    }

    /// The first mapping from where `hash` points that is free and whose replies come home: its public
    /// address, its port and the key of its replies.
    fn free_mapping<M: Memory>(
        &mut self,
        m: &mut M,
        headers: &Headers,
        hash: u64,
    ) -> Option<(usize, u16, Key)>
    where
        T: FlowTable<M>,
    {
        let remote = headers.ipv4(End::Destination)?;
        let has_port = headers.port(End::Source).is_some();
        let ports = u64::from(u16::MAX - FIRST_PORT) + 1;
        let tries = if has_port { TRIES } else { self.public.len() as u64 };
        for i in 0..tries {
            let index = (hash.wrapping_add(i) % self.public.len() as u64) as usize;
            let port = FIRST_PORT + ((hash >> 32).wrapping_add(i) % ports) as u16;
            let reply = Reply::to(headers, remote, self.public[index], has_port.then_some(port));
            let hashed = headers.parsed().has_ports().then_some(reply.ports);
            if !self.comes_home(remote, reply.to, hashed) {
                continue;
            }
            let key = reply.key();
            if !self.flows.taken(m, &key, key.hash()) {
                return Some((index, port, key));
            }
        }
        None
    }

    fn inward<M: Memory>(&mut self, m: &mut M, headers: &mut Headers, key: &Key) -> Result<(), Cause>
    where
        T: FlowTable<M>,
    {
        let now = headers.now();
        let flow = self.flows.find(m, key, key.hash(), now, false).ok_or(Cause::NoRoute)?;
        headers.set_ipv4(End::Destination, (flow.value[0] as u32).to_be_bytes());
        headers.set_port(End::Destination, flow.value[1] as u16);
        Ok(())
    }
}

impl<M: Memory, T: FlowTable<M>> App<M> for Nat<T> {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline(always)]
    fn frame(&mut self, m: &mut M, _: &Packet<M>, headers: &mut Headers) -> Verdict {
        let (Some(to), Some(key)) = (headers.ipv4(End::Destination), headers.key()) else {
            return Verdict::Pass;
        };
        if !headers.hop() {
            return Verdict::Drop(Cause::TtlExpired); // and leaves no state
        }
        let done =
            if self.is_public(to) { self.inward(m, headers, &key) } else { self.outward(m, headers, &key) };
        match done {
            Err(cause) => Verdict::Drop(cause),
            Ok(()) => {
                headers.set_macs(self.macs.0, self.macs.1);
                Verdict::Send
            }
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("flows_opened", self.opened)]
    }
}
