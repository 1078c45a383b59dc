//! A host at the far end of a wire: many connections, one after the other on the wire.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use traffic::{Arrival, Peer, wire_bytes};

use crate::MS;
use crate::connection::Connection;
use crate::segment::{Flow, Segment};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [48, 0, 0, 1];
/// The server's port, and the client's first one.
const SERVICE: u16 = 5001;
const FIRST: u16 = 1024;
/// When the first connections open: by then what lies between the hosts has started.
const START: u64 = MS;

/// What is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Connections at a time; all of a round open together.
    pub flows: u32,
    /// Bytes that the client sends on each.
    pub bytes: u64,
    /// Rounds, one when all of the last have closed. Every connection has a port of its own.
    pub rounds: u32,
    /// Of the first sequence numbers.
    pub seed: u64,
}

impl Job {
    /// Connections in all; a port number for each is the most there can be.
    pub fn connections(&self) -> u64 {
        u64::from(self.flows) * u64::from(self.rounds)
    }

    /// The most connections of a job.
    pub const MOST: u64 = (u16::MAX - FIRST) as u64;
}

/// What a host's connections did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Segments sent again.
    pub retransmitted: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Recoveries that proved needless.
    pub undone: u64,
    /// Segments that arrived behind later ones.
    pub late: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that were none of a connection here, or damaged.
    pub strange: u64,
}

/// A client or a server of TCP.
///
/// It has no speed of its own: it reacts to a frame a fixed time after the frame's last bit. Connections that
/// have something to send take turns, a frame each.
pub struct Host {
    job: Job,
    client: bool,
    delay: u64,
    ps_per_byte: f64,
    connections: Vec<Connection>,
    /// When each was opened.
    opened: Vec<u64>,
    /// The client's port of each, and the way back.
    ports: Vec<u16>,
    by_port: BTreeMap<u16, usize>,
    /// Segments and the times at which they are dealt with.
    inbox: VecDeque<(u64, usize, Segment)>,
    ready: VecDeque<usize>,
    queued: Vec<bool>,
    timers: BTreeSet<(u64, usize)>,
    armed: Vec<Option<u64>>,
    now: u64,
    /// When the wire has carried everything.
    wire: u64,
    closed: u64,
    sent: u64,
    strange: u64,
}

impl Host {
    /// The client of `job` on a wire of `gbps`; it opens the first connections after a millisecond. It answers
    /// `delay` ps after a frame.
    pub fn client(job: Job, gbps: f64, delay: u64) -> Host {
        let mut host = Host::new(job, true, gbps, delay);
        host.open();
        host
    }

    /// The server of `job`.
    pub fn server(job: Job, gbps: f64, delay: u64) -> Host {
        Host::new(job, false, gbps, delay)
    }

    fn new(job: Job, client: bool, gbps: f64, delay: u64) -> Host {
        Host {
            job,
            client,
            delay,
            ps_per_byte: 8000.0 / gbps,
            connections: Vec::new(),
            opened: Vec::new(),
            ports: Vec::new(),
            by_port: BTreeMap::new(),
            inbox: VecDeque::new(),
            ready: VecDeque::new(),
            queued: Vec::new(),
            timers: BTreeSet::new(),
            armed: Vec::new(),
            now: START,
            wire: 0,
            closed: 0,
            sent: 0,
            strange: 0,
        }
    }

    /// From SYN to the end of both directions, ps, of the connections that have closed, in order of opening.
    pub fn times(&self) -> Vec<u64> {
        let times = self.connections.iter().zip(&self.opened);
        times.filter_map(|(c, opened)| Some(c.closed()? - opened)).collect()
    }

    /// What the connections did.
    pub fn totals(&self) -> Totals {
        let sum = |of: fn(&Connection) -> u64| self.connections.iter().map(of).sum();
        Totals {
            retransmitted: sum(Connection::retransmitted),
            timeouts: sum(Connection::timeouts),
            undone: sum(Connection::undone),
            late: sum(Connection::late),
            sent: self.sent,
            strange: self.strange,
        }
    }

    /// Opens the next round of connections.
    fn open(&mut self) {
        let first = self.connections.len() as u64;
        let last = (first + u64::from(self.job.flows)).min(self.job.connections());
        for number in first..last {
            let isn = self.isn(number);
            let i = self.add(FIRST + number as u16, Connection::connect(self.job.bytes, isn, self.now));
            self.settle(i);
        }
    }

    /// First sequence numbers lie anywhere.
    fn isn(&self, number: u64) -> u32 {
        let mixed =
            (self.job.seed ^ number << 1 ^ u64::from(self.client)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as u32
    }

    fn add(&mut self, port: u16, connection: Connection) -> usize {
        let i = self.connections.len();
        self.by_port.insert(port, i);
        self.ports.push(port);
        self.connections.push(connection);
        self.opened.push(self.now);
        self.queued.push(false);
        self.armed.push(None);
        i
    }

    /// Connection `i` was called: it may have something to send, another timer, or be closed.
    fn settle(&mut self, i: usize) {
        let c = &self.connections[i];
        if c.wants() && !std::mem::replace(&mut self.queued[i], true) {
            self.ready.push_back(i);
        }
        // A timer that was put off is looked at when it would have been due.
        if let Some(due) = c.due()
            && self.armed[i].is_none_or(|armed| due < armed)
        {
            if let Some(armed) = self.armed[i].replace(due) {
                self.timers.remove(&(armed, i));
            }
            self.timers.insert((due, i));
        }
    }

    /// When something happens here next.
    fn event(&self) -> u64 {
        let timer = self.timers.first().map(|t| t.0);
        let segment = self.inbox.front().map(|s| s.0);
        timer.into_iter().chain(segment).min().unwrap_or(u64::MAX)
    }

    /// Deals with the next event.
    fn step(&mut self) {
        let timer = self.timers.first().copied();
        let first = self.inbox.front().is_some_and(|s| timer.is_none_or(|t| s.0 <= t.0));
        if first && let Some((_, i, segment)) = self.inbox.pop_front() {
            let open = self.connections[i].closed().is_none();
            self.connections[i].receive(&segment, self.now);
            if open && self.connections[i].closed().is_some() {
                self.closed += 1;
                if self.client && self.closed == self.connections.len() as u64 {
                    self.open();
                }
            }
            self.settle(i);
        } else if let Some((_, i)) = self.timers.pop_first() {
            self.armed[i] = None;
            self.connections[i].tick(self.now);
            self.settle(i);
        }
    }

    /// The connection that a frame belongs to; a server opens one for a SYN.
    fn find(&mut self, flow: &Flow, segment: &Segment) -> Option<usize> {
        let (mine, theirs) = self.addresses();
        if (flow.src, flow.dst) != (theirs, mine) {
            return None;
        }
        let (port, service) = if self.client { (flow.dport, flow.sport) } else { (flow.sport, flow.dport) };
        let known = self.by_port.get(&port).copied().filter(|_| service == SERVICE);
        if known.is_some() || self.client || service != SERVICE || segment.syn.is_none() {
            return known;
        }
        let isn = self.isn(u64::from(port));
        // It sends nothing before it has dealt with the SYN.
        Some(self.add(port, Connection::accept(isn, self.now)))
    }

    fn addresses(&self) -> ([u8; 4], [u8; 4]) {
        if self.client { (CLIENT, SERVER) } else { (SERVER, CLIENT) }
    }

    fn flow(&self, i: usize) -> Flow {
        let (src, dst) = self.addresses();
        let port = self.ports[i];
        let (sport, dport) = if self.client { (port, SERVICE) } else { (SERVICE, port) };
        Flow { src, dst, sport, dport }
    }
}

impl Peer for Host {
    fn take(&mut self, at: u64, head: &[u8]) {
        let found =
            Segment::decode(head).and_then(|(flow, segment)| Some((self.find(&flow, &segment)?, segment)));
        match found {
            Some((i, segment)) => self.inbox.push_back((at + self.delay, i, segment)),
            None => self.strange += 1,
        }
    }

    fn next(&mut self, before: u64, out: &mut Arrival) -> bool {
        loop {
            let start = if self.ready.is_empty() { u64::MAX } else { self.wire.max(self.now) };
            let event = self.event();
            if start.min(event) >= before {
                return false;
            }
            self.now = start.min(event).max(self.now);
            if event <= start {
                self.step();
                continue;
            }
            let Some(i) = self.ready.pop_front() else { return false };
            self.queued[i] = false;
            let sent = self.connections[i].send(self.now);
            if let Some(segment) = &sent {
                segment.encode(&self.flow(i), out);
                let span = libm::ceil(f64::from(wire_bytes(out.len)) * self.ps_per_byte) as u64;
                self.wire = self.now + span;
                out.at = self.wire;
                out.flow = u32::from(self.ports[i]) + 1;
                self.sent += 1;
            }
            self.settle(i);
            if sent.is_some() {
                return true;
            }
        }
    }

    fn delay(&self) -> u64 {
        self.delay
    }

    fn done(&self) -> bool {
        self.closed == self.job.connections()
    }
}
