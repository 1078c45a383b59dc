//! The client of a TCP server as the host at the far end of a wire.

use std::collections::VecDeque;

use apps::echo::{Client, Found, Order};
use memory::Ps;
use traffic::{Arrival, HEAD, Peer, wire_bytes};

/// When it connects: by then the server has started.
const START: u64 = 1_000_000_000;

/// The client of crate `apps`, with a time to react and a wire.
///
/// Its segments fit what a frame keeps of its bytes, as those of the server do. Its timers are not looked at: a segment
/// that is dropped stays away, and the run goes on to its limit.
pub struct Caller {
    client: Client,
    delay: u64,
    ps_per_byte: f64,
    /// Frames that came, and when they are dealt with.
    inbox: VecDeque<(u64, Vec<u8>)>,
    /// Frames that wait for the wire.
    outbox: VecDeque<Vec<u8>>,
    now: u64,
    /// When the wire has carried everything.
    wire: u64,
    begun: bool,
    /// When the last answer had come.
    end: u64,
}

impl Caller {
    /// A client on a wire of `gbps` that reacts to a frame `delay` ps after its last bit.
    ///
    /// # Errors
    /// The order is not allowed.
    pub fn new(order: &Order, gbps: f64, delay: u64) -> Result<Caller, String> {
        Ok(Caller {
            client: Client::new(order)?,
            delay,
            ps_per_byte: 8000.0 / gbps,
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            now: START,
            wire: 0,
            begun: false,
            end: START,
        })
    }

    /// What the client found.
    pub fn found(&self) -> Found {
        self.client.found()
    }

    /// Answers per second, from its start to the last answer.
    pub fn per_second(&self) -> f64 {
        let span = Ps(self.end - START).secs();
        if span > 0.0 { self.client.answered() as f64 / span } else { 0.0 }
    }

    /// When something happens here next.
    fn event(&self) -> u64 {
        if self.begun { self.inbox.front().map_or(u64::MAX, |(at, _)| *at) } else { START }
    }

    /// Deals with what has come by `at`.
    fn step(&mut self, at: u64) {
        self.begun = true;
        self.now = at.max(self.now);
        while self.inbox.front().is_some_and(|(at, _)| *at <= self.now)
            && let Some((_, frame)) = self.inbox.pop_front()
        {
            self.client.receive(&frame);
        }
        let before = self.client.answered();
        self.client.turn(Ps(self.now));
        if self.client.answered() > before {
            self.end = self.now;
        }
        while let Some(frame) = self.client.send() {
            self.outbox.push_back(frame);
        }
    }
}

impl Peer for Caller {
    fn take(&mut self, at: u64, head: &[u8]) {
        self.inbox.push_back((at + self.delay, head.to_vec()));
    }

    fn next(&mut self, before: u64, out: &mut Arrival) -> bool {
        loop {
            let start = if self.outbox.is_empty() { u64::MAX } else { self.wire.max(self.now) };
            let event = self.event();
            if start.min(event) >= before {
                return false;
            }
            if event <= start {
                self.step(event);
                continue;
            }
            let Some(frame) = self.outbox.pop_front() else { return false };
            let known = frame.len().min(HEAD);
            out.head = [0; HEAD];
            out.head[..known].copy_from_slice(&frame[..known]);
            (out.len, out.head_len) = (frame.len() as u16, known as u8);
            let span = (f64::from(wire_bytes(out.len)) * self.ps_per_byte).ceil() as u64;
            self.wire = start + span;
            out.at = self.wire;
            // The number 0 is that of no flow; a segment's own port tells flows apart.
            out.flow = u32::from(u16::from_be_bytes([frame[34], frame[35]])) + 1;
            return true;
        }
    }

    fn delay(&self) -> u64 {
        self.delay
    }

    fn done(&self) -> bool {
        self.client.is_done()
    }
}
