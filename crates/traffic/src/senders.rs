//! Hosts whose rate answers to what becomes of their frames: DCTCP over one switch that marks (CEIO, section 2.3).
//!
//! All of them send into the queue of the switch before the port. A frame that finds more than a threshold there is marked,
//! one that finds it full is dropped. What the server's card drops or marks, and what the server has answered, they hear
//! a round trip later: so long is the way there and back with empty queues, and it is counted all at once. A loss
//! is heard as soon as an acknowledgement would be, and its frame is sent again as a next one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use packet::PARTITION_PORT;

use crate::dctcp::Window;
use crate::{Arrival, Peer, Source, wire_bytes};

/// What the network between the hosts and the port is. Times in ps.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The rate of the port, Gbps.
    pub gbps: f64,
    /// The round trip with empty queues.
    pub rtt: u64,
    /// Bytes in the queue of the switch from which on a frame is marked; `u64::MAX`: never. So it is where all senders are of
    /// one host, whose card holds them up, and the queue is theirs.
    pub mark: u64,
    /// Bytes that it holds.
    pub queue: u64,
    /// Nothing is heard of a frame for so long: it is lost.
    pub timeout: u64,
    /// What other flows take of the rate: from when, until when, Gbps.
    pub others: Vec<(u64, u64, f64)>,
    /// How often the receiving host looks at its own congestion, which it has the senders hear; 0: never.
    pub watched: u64,
}

impl Network {
    /// That of a port of `gbps`: frames are marked from a seventh of rate x round trip on (DCTCP, section 3.4), and the queue
    /// holds ten times that.
    pub fn new(gbps: f64, rtt: u64) -> Network {
        let bytes = (gbps * rtt as f64 / 8000.0) as u64;
        let mark = (bytes / 7).max(3000);
        Network { gbps, rtt, mark, queue: 10 * mark, timeout: 5_000_000_000, others: Vec::new(), watched: 0 }
    }

    /// Of a byte in the queue at time `at`, ps.
    fn ps_per_byte(&self, at: u64) -> f64 {
        let others = self.others.iter().filter(|(from, until, _)| (*from..*until).contains(&at));
        let left = self.gbps - others.map(|other| other.2).sum::<f64>();
        8000.0 / left.max(self.gbps / 1000.0)
    }
}

/// One sender: the core whose frames it sends, if a frame names one, and when it sends, ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The partition that its frames are for.
    pub core: u16,
    /// Its first frame is no earlier.
    pub from: u64,
    /// Its last one is no later.
    pub until: u64,
    /// The window that it begins with, in frames; `None`: slow start from a few. Additive growth to what a server with long
    /// rings lets be on its way takes seconds: this begins where that would end.
    pub window: Option<u32>,
}

struct Host {
    sender: Sender,
    window: Window,
    /// How much of it may be used: a grown one is filled step by step.
    opened: u32,
    /// The number of its next frame.
    next: u64,
    /// Frames on their way.
    flying: u32,
}

/// A frame on its way.
struct Flight {
    /// When its last bit is at the port: its name.
    at: u64,
    sent: u64,
    host: u32,
    number: u64,
    marked: bool,
    /// Nothing was heard of it yet.
    open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Starts,
    Acknowledged { number: u64, marked: bool },
    Lost { number: u64 },
}

/// Frames of one core that wait because another one's were asked for. What is more is not kept.
const STASH: usize = 1024;

/// Frames by which a grown window is filled at a time, at half the rate at which the port would carry frames of 1500 B.
const STEP: u32 = 1;

/// All senders of a port, and the switch.
pub struct Senders {
    network: Network,
    hosts: Vec<Host>,
    /// Where their frames come from, whoever sends them; by core, what was drawn and not sent.
    frames: Box<dyn Source>,
    stash: Vec<VecDeque<Arrival>>,
    /// Whether frames name their core.
    named: bool,
    /// What hosts will hear: when, in which order, who, what.
    events: BinaryHeap<Reverse<(u64, u64, u32, Event)>>,
    order: u64,
    /// In order of both times.
    flights: VecDeque<Flight>,
    /// Frames that have left the switch.
    left: VecDeque<Arrival>,
    /// When the queue of the switch is empty.
    free: f64,
    counts: Counts,
}

/// What became of the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    marked_by_switch: u64,
    marked_by_host: u64,
    dropped_by_switch: u64,
    lost: u64,
    timeouts: u64,
}

impl Senders {
    /// Senders of `frames` over `network`; `named` tells whether each frame has the partition in its destination port
    /// that it is for. Without a frame for its core a sender is silent.
    pub fn new(network: Network, senders: &[Sender], frames: Box<dyn Source>, named: bool) -> Senders {
        let host = |&sender: &Sender| {
            let window = sender.window.map_or_else(Window::default, Window::grown);
            let opened = if sender.window.is_some() { 0 } else { u32::MAX };
            Host { sender, window, opened, next: 0, flying: 0 }
        };
        let hosts: Vec<Host> = senders.iter().map(host).collect();
        let cores = senders.iter().map(|s| usize::from(s.core) + 1).max().unwrap_or(0);
        let mut all = Senders {
            network,
            hosts,
            frames,
            stash: (0..cores).map(|_| VecDeque::new()).collect(),
            named,
            events: BinaryHeap::new(),
            order: 0,
            flights: VecDeque::new(),
            left: VecDeque::new(),
            free: 0.0,
            counts: Counts::default(),
        };
        for (host, sender) in senders.iter().enumerate() {
            all.later(sender.from, host as u32, Event::Starts);
        }
        all
    }

    /// Frames in the window of each sender.
    pub fn windows(&self) -> Vec<u32> {
        self.hosts.iter().map(|host| host.window.frames()).collect()
    }

    fn later(&mut self, at: u64, host: u32, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, host, event)));
    }

    /// When something happens next at a host, ps.
    fn due(&mut self) -> u64 {
        while self.flights.front().is_some_and(|flight| !flight.open) {
            self.flights.pop_front();
        }
        let waits = self.flights.front().map_or(u64::MAX, |flight| flight.sent + self.network.timeout);
        self.events.peek().map_or(waits, |Reverse(event)| event.0.min(waits))
    }

    /// What is due at `now` happens.
    fn happen(&mut self, now: u64) {
        if self.events.peek().is_some_and(|Reverse(event)| event.0 == now) {
            let Some(Reverse((_, _, host, event))) = self.events.pop() else { return };
            let one = &mut self.hosts[host as usize];
            one.flying -= u32::from(event != Event::Starts);
            match event {
                Event::Starts => {
                    one.opened = one.opened.saturating_add(STEP);
                    if one.opened < one.window.frames() {
                        let frames = f64::from(2 * STEP) * self.hosts.len() as f64;
                        let step = frames * f64::from(wire_bytes(1500)) * 8000.0 / self.network.gbps;
                        self.later(now + step as u64, host, Event::Starts);
                    } else {
                        one.opened = u32::MAX;
                    }
                }
                Event::Acknowledged { number, marked } => one.window.acknowledged(number, one.next, marked),
                Event::Lost { number } => one.window.lost(number, one.next),
            }
            return self.send(host, now);
        }
        if let Some(flight) = self.flights.pop_front() {
            let one = &mut self.hosts[flight.host as usize];
            one.flying -= 1;
            one.window.timed_out(flight.number, one.next);
            self.counts.timeouts += 1;
            self.send(flight.host, now);
        }
    }

    /// A host sends what its window allows.
    fn send(&mut self, host: u32, now: u64) {
        loop {
            let one = &mut self.hosts[host as usize];
            if one.flying >= one.window.frames().min(one.opened) || now > one.sender.until {
                return;
            }
            let core = one.sender.core;
            let Some(frame) = self.draw(core) else { return };
            let one = &mut self.hosts[host as usize];
            let number = one.next;
            (one.next, one.flying) = (one.next + 1, one.flying + 1);
            self.enter(host, number, now, frame);
        }
    }

    /// The next frame for `core`.
    fn draw(&mut self, core: u16) -> Option<Arrival> {
        let mut frame = Arrival::EMPTY;
        if !self.named {
            return self.frames.next(&mut frame).then_some(frame);
        }
        if let Some(frame) = self.stash[usize::from(core)].pop_front() {
            return Some(frame);
        }
        for _ in 0..STASH * self.stash.len() {
            if !self.frames.next(&mut frame) {
                return None;
            }
            let of = u16::from_be_bytes([frame.head[36], frame.head[37]]).wrapping_sub(PARTITION_PORT);
            if of == core {
                return Some(frame);
            }
            if let Some(stash) = self.stash.get_mut(usize::from(of)).filter(|stash| stash.len() < STASH) {
                stash.push_back(frame.clone());
            }
        }
        None
    }

    /// A frame reaches the switch.
    fn enter(&mut self, host: u32, number: u64, now: u64, mut frame: Arrival) {
        let ps_per_byte = self.network.ps_per_byte(now);
        let bytes = wire_bytes(frame.len);
        let queued = ((self.free - now as f64) / ps_per_byte).max(0.0) as u64;
        if queued.saturating_add(bytes.into()) > self.network.queue {
            self.counts.dropped_by_switch += 1;
            return self.later(now + self.network.rtt, host, Event::Lost { number });
        }
        let marked = queued > self.network.mark;
        self.counts.marked_by_switch += u64::from(marked);
        self.free = self.free.max(now as f64) + f64::from(bytes) * ps_per_byte;
        // No two frames end in one picosecond.
        let before = self.flights.back().map_or(0, |flight| flight.at + 1);
        frame.at = (self.free.ceil() as u64).max(before);
        self.flights.push_back(Flight { at: frame.at, sent: now, host, number, marked, open: true });
        self.left.push_back(frame);
    }

    /// The frame that came to the port at `at`, of which nothing was heard yet.
    fn flight(&mut self, at: u64) -> Option<&mut Flight> {
        let place = self.flights.partition_point(|flight| flight.at < at);
        self.flights.get_mut(place).filter(|flight| flight.at == at && flight.open)
    }
}

impl Peer for Senders {
    fn take(&mut self, _at: u64, _head: &[u8]) {}

    fn next(&mut self, before: u64, out: &mut Arrival) -> bool {
        while self.left.is_empty() {
            let due = self.due();
            if due >= before {
                return false;
            }
            self.happen(due);
        }
        let Some(frame) = self.left.pop_front() else { return false };
        *out = frame;
        true
    }

    fn delay(&self) -> u64 {
        self.network.rtt
    }

    fn done(&self) -> bool {
        false
    }

    fn is_endless(&self) -> bool {
        true
    }

    fn watches(&self) -> Option<u64> {
        (self.network.watched > 0).then_some(self.network.watched)
    }

    fn met(&mut self, now: u64, at: u64, stored: bool, marked: bool) {
        let heard = now + self.network.rtt;
        let Some(flight) = self.flight(at) else { return };
        let counts = marked && !flight.marked;
        flight.marked |= marked;
        flight.open = stored;
        let (host, number) = (flight.host, flight.number);
        self.counts.marked_by_host += u64::from(counts);
        if !stored {
            self.counts.lost += 1;
            self.later(heard, host, Event::Lost { number });
        }
    }

    fn answered(&mut self, at: u64, came: u64) {
        let heard = at + self.network.rtt;
        let Some(flight) = self.flight(came) else { return };
        flight.open = false;
        let (host, event) =
            (flight.host, Event::Acknowledged { number: flight.number, marked: flight.marked });
        self.later(heard, host, event);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Counts { marked_by_switch, marked_by_host, dropped_by_switch, lost, timeouts } = self.counts;
        vec![
            ("marked_by_switch", marked_by_switch),
            ("marked_by_host", marked_by_host),
            ("dropped_by_switch", dropped_by_switch),
            ("lost_by_server", lost),
            ("timeouts", timeouts),
        ]
    }
}

#[cfg(test)]
mod tests;
