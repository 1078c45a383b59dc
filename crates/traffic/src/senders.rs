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
    /// Bytes in the queue of the switch from which on a frame is marked.
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
}

struct Host {
    sender: Sender,
    window: Window,
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
        let hosts =
            senders.iter().map(|&sender| Host { sender, window: Window::default(), next: 0, flying: 0 });
        let cores = senders.iter().map(|s| usize::from(s.core) + 1).max().unwrap_or(0);
        let mut all = Senders {
            network,
            hosts: hosts.collect(),
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
                Event::Starts => {}
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
            if one.flying >= one.window.frames() || now > one.sender.until {
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
        if queued + u64::from(bytes) > self.network.queue {
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
mod tests {
    use super::*;

    const US: u64 = 1_000_000;
    const RTT: u64 = 10 * US;

    /// Frames of 1500 B, for core 0, 1, 0, 1 ..
    struct Frames(u16);

    impl Source for Frames {
        fn next(&mut self, out: &mut Arrival) -> bool {
            self.0 ^= 1;
            out.len = 1500;
            out.head[36..38].copy_from_slice(&(PARTITION_PORT + self.0).to_be_bytes());
            true
        }
    }

    fn senders(network: Network, from: &[u64]) -> Senders {
        let sender = |(n, from): (usize, &u64)| Sender { core: n as u16 % 2, from: *from, until: u64::MAX };
        let all: Vec<Sender> = from.iter().enumerate().map(sender).collect();
        Senders::new(network, &all, Box::new(Frames(0)), true)
    }

    /// Runs until `until` with a server that answers each frame of a core `each` ps behind the one before, and drops what
    /// waits longer than `patience`; frames of each core since `from`, and the longest wait for the port.
    fn run(s: &mut Senders, [from, until]: [u64; 2], each: u64, patience: u64) -> ([u64; 2], u64) {
        let (mut got, mut free, mut longest) = ([0; 2], [0; 2], 0);
        let (mut a, mut known) = (Arrival::EMPTY, 0);
        while known < until {
            known += US;
            while s.next(known, &mut a) {
                let core = usize::from(u16::from_be_bytes([a.head[36], a.head[37]]) - PARTITION_PORT);
                let end = a.at.max(free[core]) + each;
                let stored = end - a.at <= patience;
                s.met(a.at, a.at, stored, false);
                if stored {
                    free[core] = end;
                    s.answered(end, a.at);
                }
                longest = longest.max(a.at.saturating_sub(known));
                got[core] += u64::from(a.at > from && stored);
            }
        }
        (got, longest)
    }

    #[test]
    fn two_senders_share_the_port_whoever_came_first() {
        let mut s = senders(Network::new(100.0, RTT), &[0, 2000 * US]);
        let (got, _) = run(&mut s, [10_000 * US, 40_000 * US], 1000, u64::MAX);
        let sum = got[0] + got[1];
        let most = 30_000 * US / 121_920; // 1524 B at 100 Gbps
        assert!(sum > most * 97 / 100 && sum <= most + 20, "{got:?} of {most}");
        assert!(got[0].abs_diff(got[1]) < sum / 10, "{got:?}");
        assert_eq!((s.counts.lost, s.counts.dropped_by_switch, s.counts.timeouts), (0, 0, 0));
        assert!(s.counts.marked_by_switch > 0);
    }

    #[test]
    fn the_queue_of_the_switch_stays_near_the_threshold() {
        let network = Network::new(100.0, RTT);
        let (mark, full) = (network.mark, network.queue);
        let mut s = senders(network, &[0, 0, 0, 0]);
        run(&mut s, [0, 5_000 * US], 1000, u64::MAX);
        let (_, longest) = run(&mut s, [5_000 * US, 20_000 * US], 1000, u64::MAX);
        let bytes = longest / 80;
        assert!(bytes < mark * 4 && bytes < full, "{bytes} B wait; marks from {mark} B on");
    }

    #[test]
    fn a_slow_server_is_met_by_losses_alone_and_its_rate_is_reached() {
        // 2 x 20 Gbps of 100: what waits longer than 200 us is dropped.
        let each = 600_000;
        let mut s = senders(Network::new(100.0, RTT), &[0, 0]);
        let (got, _) = run(&mut s, [10_000 * US, 60_000 * US], each, 200 * US);
        let most = 2 * 50_000 * US / each;
        assert!(got[0] + got[1] > most * 95 / 100, "{got:?} of {most}");
        assert!(s.counts.lost > 0 && s.counts.lost * 100 < got[0] + got[1], "{:?}", s.counts);
    }

    #[test]
    fn marks_of_the_host_hold_a_sender_back_before_anything_is_lost() {
        let mut s = senders(Network::new(100.0, RTT), &[0]);
        let (mut a, mut known, mut got, mut worst) = (Arrival::EMPTY, 0, 0, 0);
        let mut free = 0;
        while known < 20_000 * US {
            known += US;
            while s.next(known, &mut a) {
                free = a.at.max(free) + 600_000;
                let waits = free - a.at;
                s.met(a.at, a.at, true, waits > 20 * US);
                s.answered(free, a.at);
                got += 1;
                worst = if known > 10_000 * US { worst.max(waits) } else { 0 };
            }
        }
        assert!(got > 20_000 * US / 600_000 * 95 / 100, "{got}");
        assert!(worst < 60 * US, "{worst} ps of waiting with marks from 20 us on");
    }

    #[test]
    fn a_frame_of_which_nothing_is_heard_is_timed_out_and_the_sender_goes_on() {
        let network = Network { timeout: 100 * US, ..Network::new(100.0, RTT) };
        let mut s = senders(network, &[0]);
        let (mut a, mut frames) = (Arrival::EMPTY, 0);
        while s.next(1_000 * US, &mut a) {
            frames += 1;
        }
        assert!((11..40).contains(&frames), "{frames}: a window, then one at a time");
        assert_eq!(s.windows(), [1]);
        s.answered(2_000 * US, 7); // no frame came then
    }

    #[test]
    fn others_take_their_part_and_a_sender_stops_when_it_is_told() {
        let others = vec![(0, 20_000 * US, 50.0)];
        let mut s = senders(Network { others, ..Network::new(100.0, RTT) }, &[0, 0]);
        s.hosts[1].sender.until = 10_000 * US;
        let (got, _) = run(&mut s, [11_000 * US, 20_000 * US], 1000, u64::MAX);
        let most = 9_000 * US / 121_920;
        assert_eq!(got[1], 0, "its sender has stopped");
        assert!(got[0] * 2 > most * 95 / 100 && got[0] * 2 <= most + 40, "{got:?} of half of {most}");
    }
}
