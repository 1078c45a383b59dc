//! The sending half: what is on its way, what is lost, what may be sent.

use core::ops::Range;
use std::collections::VecDeque;

use arrayvec::ArrayVec;

use crate::cubic::Cubic;
use crate::rack::{Rack, Sent};
use crate::rtt::Rtt;
use crate::{MSS, US};

/// An ACK that stands alone may be delayed so long (RFC 8985 §7.2).
const LONGEST_DELAY: u64 = 200_000 * US;
/// Probe timeout before the first round-trip sample.
const FIRST_PROBE: u64 = 1_000_000 * US;

/// A segment on its way.
#[derive(Clone, Debug)]
struct Flight {
    bytes: Range<u64>,
    sent: u64,
    again: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Out,
    Sacked,
    Lost,
}

impl Flight {
    fn len(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }

    fn sent(&self) -> Sent {
        (self.sent, self.bytes.end)
    }
}

/// An acknowledgement, its numbers widened.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    /// The next byte that the other side expects.
    pub next: u64,
    /// Bytes that it takes beyond that.
    pub window: u64,
    /// Blocks that it has.
    pub blocks: ArrayVec<Range<u64>, 3>,
    /// Whether the first block is a duplicate.
    pub duplicate: bool,
    /// Our clock as this segment's timestamp repeats it, in ps: when the segment was sent that it answers.
    pub echo: u64,
}

/// A loss probe on its way (RFC 8985 §7).
#[derive(Clone, Copy, Debug)]
struct Probe {
    end: u64,
    again: bool,
}

/// What a recovery may have to take back.
#[derive(Clone, Debug)]
struct Undo {
    before: Cubic,
    /// Retransmissions that no DSACK has called needless yet.
    needed: u64,
}

/// The sending half of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// SYN, data, FIN.
    total: u64,
    /// What may be sent so far: the SYN alone to begin with.
    open: u64,
    una: u64,
    next: u64,
    /// Behind the last byte that the other side takes.
    edge: u64,
    mss: u64,
    flights: VecDeque<Flight>,
    /// Bytes sent and neither SACKed nor lost.
    pipe: u64,
    lost: usize,
    sacked: usize,
    rtt: Rtt,
    rack: Rack,
    cubic: Cubic,
    /// A recovery lasts until this byte is acknowledged.
    recovery: Option<u64>,
    undo: Option<Undo>,
    probe: Option<Probe>,
    /// A probe is to be sent now.
    probing: bool,
    /// When a segment that is behind counts as lost.
    reorder_at: Option<u64>,
    /// When the retransmission timer and the probe timer were started.
    since: u64,
    backoff: u32,
    /// Segments sent again, needlessly or not.
    pub retransmitted: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// Recoveries that turned out to be needless.
    pub undone: u64,
}

impl Sender {
    /// A stream of `bytes` between SYN and FIN.
    pub(crate) fn new(bytes: u64, now: u64) -> Sender {
        Sender {
            total: bytes + 2,
            open: 1,
            una: 0,
            next: 0,
            edge: 1,
            mss: u64::from(MSS),
            flights: VecDeque::new(),
            pipe: 0,
            lost: 0,
            sacked: 0,
            rtt: Rtt::default(),
            rack: Rack::default(),
            cubic: Cubic::default(),
            recovery: None,
            undo: None,
            probe: None,
            probing: false,
            reorder_at: None,
            since: now,
            backoff: 0,
            retransmitted: 0,
            timeouts: 0,
            undone: 0,
        }
    }

    /// The other side takes payloads of `mss` bytes.
    pub(crate) fn limit(&mut self, mss: u16) {
        self.mss = u64::from(mss.clamp(1, MSS));
    }

    /// All but the FIN may be sent, or all.
    pub(crate) fn open(&mut self, fin: bool) {
        self.open = self.open.max(self.total - u64::from(!fin));
    }

    /// The oldest byte that is not acknowledged.
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// The next new byte.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whether everything is acknowledged, the FIN too.
    pub(crate) fn finished(&self) -> bool {
        self.una == self.total
    }

    /// The first byte of the FIN.
    pub(crate) fn fin(&self) -> u64 {
        self.total - 1
    }

    fn room(&self) -> u64 {
        let window = (self.cubic.window() * self.mss as f64) as u64;
        window.max(self.mss).saturating_sub(self.pipe)
    }

    /// Whether the congestion window lets new bytes go. One segment goes in any case: with a FIN it may be
    /// longer than the window.
    fn fits(&self, bytes: &Range<u64>) -> bool {
        self.pipe == 0 || bytes.end - bytes.start <= self.room()
    }

    /// New bytes that may be sent, whatever the congestion window says.
    fn fresh(&self) -> Option<Range<u64>> {
        let all = self.fin();
        let mut end = (self.next + self.mss).min(all.min(self.open)).max(self.next);
        if self.next == 0 {
            end = end.min(1); // no data in a SYN
        }
        if end == all && self.open == self.total && self.next < self.total {
            end = self.total;
        }
        (end > self.next && end <= self.edge).then_some(self.next..end)
    }

    /// Whether [`Sender::send`] has something to send.
    pub(crate) fn wants(&self) -> bool {
        (self.probing && !self.flights.is_empty())
            || (self.lost > 0 && self.room() >= self.mss)
            || self.fresh().is_some_and(|bytes| self.fits(&bytes))
    }

    /// The bytes to send now: a probe, what is lost, something new.
    pub(crate) fn send(&mut self, now: u64) -> Option<Range<u64>> {
        if core::mem::take(&mut self.probing) && !self.flights.is_empty() {
            return self.send_probe(now);
        }
        if self.lost > 0 && self.room() >= self.mss {
            let at = self.flights.iter().position(|f| f.state == State::Lost)?;
            self.lost -= 1;
            return self.send_again(at, now);
        }
        let bytes = self.fresh().filter(|bytes| self.fits(bytes))?;
        Some(self.send_new(bytes, now))
    }

    fn send_new(&mut self, bytes: Range<u64>, now: u64) -> Range<u64> {
        if self.flights.is_empty() {
            self.since = now; // RFC 6298 5.1; the probe timer starts with every segment
        }
        self.next = bytes.end;
        self.pipe += bytes.end - bytes.start;
        self.flights.push_back(Flight { bytes: bytes.clone(), sent: now, again: false, state: State::Out });
        bytes
    }

    fn send_again(&mut self, at: usize, now: u64) -> Option<Range<u64>> {
        let flight = self.flights.get_mut(at)?;
        self.pipe += flight.len();
        (flight.sent, flight.again, flight.state) = (now, true, State::Out);
        self.retransmitted += 1;
        if let Some(undo) = &mut self.undo {
            undo.needed += 1;
        }
        Some(flight.bytes.clone())
    }

    /// New bytes if there are some, else the last ones again.
    fn send_probe(&mut self, now: u64) -> Option<Range<u64>> {
        if let Some(bytes) = self.fresh() {
            self.probe = Some(Probe { end: bytes.end, again: false });
            return Some(self.send_new(bytes, now));
        }
        let last = self.flights.len() - 1;
        let flight = &self.flights[last];
        self.probe = Some(Probe { end: self.next, again: true });
        match flight.state {
            State::Out => self.pipe -= flight.len(),
            State::Lost => self.lost -= 1,
            State::Sacked => return None,
        }
        self.send_again(last, now)
    }

    /// The other side tells what it has.
    pub(crate) fn acknowledged(&mut self, ack: &Ack, now: u64) {
        if ack.next > self.next || ack.next < self.una {
            return;
        }
        self.edge = self.edge.max(ack.next + ack.window);
        let (flying, from) = (self.pipe, self.una);
        let fresh = self.deliver(ack, now);
        if ack.duplicate {
            self.rack.duplicate(self.una, self.next);
            self.needless();
        }
        self.probed(ack, from);
        if self.una > from {
            self.since = now;
            self.backoff = 0;
            self.advanced(flying, from, now);
        }
        if fresh {
            self.detect(now);
        }
    }

    /// Takes what is delivered off; whether that was anything.
    fn deliver(&mut self, ack: &Ack, now: u64) -> bool {
        let mut sample: Option<Sent> = None;
        let mut fresh = false;
        let mut done = |s: &mut Sender, f: &Flight| {
            fresh = true;
            if !f.again {
                sample = sample.max(Some(f.sent()));
            }
            // The timestamp tells whose ACK it is (RFC 8985, step 2).
            if !f.again || ack.echo >= f.sent / US * US {
                s.rack.delivered(f.sent(), now, f.again, s.rtt.least().unwrap_or(0));
            }
        };
        while self.flights.front().is_some_and(|f| f.bytes.end <= ack.next) {
            let Some(f) = self.flights.pop_front() else { break };
            match f.state {
                State::Out => self.pipe -= f.len(),
                State::Lost => self.lost -= 1,
                State::Sacked => self.sacked -= 1,
            }
            if f.state != State::Sacked {
                done(self, &f);
            }
        }
        for block in ack.blocks.iter().skip(usize::from(ack.duplicate)) {
            let mut at = self.flights.partition_point(|f| f.bytes.start < block.start);
            while let Some(f) = self.flights.get_mut(at).filter(|f| f.bytes.end <= block.end) {
                let state = core::mem::replace(&mut f.state, State::Sacked);
                if state != State::Sacked {
                    let f = f.clone();
                    self.sacked += 1;
                    if state == State::Out {
                        self.pipe -= f.len();
                    } else {
                        self.lost -= 1;
                    }
                    done(self, &f);
                }
                at += 1;
            }
        }
        self.una = ack.next;
        if let Some((sent, _)) = sample {
            self.rtt.sample(now - sent);
        }
        fresh
    }

    /// The oldest byte was acknowledged: the window grows, a recovery may end.
    fn advanced(&mut self, flying: u64, from: u64, now: u64) {
        if self.recovery.is_some_and(|end| self.una >= end) {
            self.recovery = None;
            self.rack.recovered();
        }
        // A window that was not used does not grow (RFC 9438 §4.2, RFC 7661).
        let used = flying as f64 / self.mss as f64;
        let slow = self.cubic.slow_start();
        let limits = if slow { self.cubic.window() < 2.0 * used } else { self.cubic.window() < used + 3.0 };
        if limits && (self.recovery.is_none() || slow) {
            let acked = (self.una - from) as f64 / self.mss as f64;
            self.cubic.acked(acked, now, self.rtt.smoothed().unwrap_or(0));
        }
    }

    /// A retransmission was needless. If all of a recovery were, there was no loss.
    fn needless(&mut self) {
        let Some(undo) = &mut self.undo else { return };
        undo.needed = undo.needed.saturating_sub(1);
        if undo.needed == 0 && self.lost == 0 {
            self.cubic.undo(&undo.before);
            self.undo = None;
            self.recovery = None;
            self.undone += 1;
        }
    }

    /// What an ACK says of a probe (RFC 8985 §7.4).
    fn probed(&mut self, ack: &Ack, from: u64) {
        let Some(probe) = self.probe.filter(|p| ack.next >= p.end) else { return };
        let twice = ack.next == from && ack.blocks.is_empty();
        if probe.again && !ack.duplicate && ack.next > probe.end {
            // The probe itself repaired a loss.
            self.cubic.lost();
            self.probe = None;
        } else if !probe.again || ack.duplicate || twice {
            self.probe = None;
        }
    }

    /// Marks what is lost (RFC 8985 §6.2, step 5).
    fn detect(&mut self, now: u64) {
        let (least, smoothed) = (self.rtt.least().unwrap_or(0), self.rtt.smoothed().unwrap_or(0));
        let window = self.rack.window(self.recovery.is_some(), self.sacked, least, smoothed);
        let lost = self.lost;
        self.reorder_at = None;
        for f in &mut self.flights {
            if !self.rack.is_behind(f.sent()) {
                if !f.again {
                    break; // what follows was first sent even later
                }
                continue;
            }
            if f.state != State::Out {
                continue;
            }
            let at = self.rack.lost_at(f.sent(), window);
            if at <= now {
                f.state = State::Lost;
                self.pipe -= f.len();
                self.lost += 1;
            } else {
                self.reorder_at = Some(self.reorder_at.map_or(at, |t| t.min(at)));
            }
        }
        if self.lost > lost && self.recovery.is_none() {
            self.undo = Some(Undo { before: self.cubic.clone(), needed: 0 });
            self.recovery = Some(self.next);
            self.cubic.lost();
        }
    }

    /// When a timer expires; none while nothing is on its way.
    pub(crate) fn due(&self) -> Option<u64> {
        if self.flights.is_empty() {
            return None;
        }
        let timeout = self.since + self.rtt.timeout(self.backoff);
        let probe = self.probe_at().unwrap_or(timeout);
        Some(timeout.min(probe).min(self.reorder_at.unwrap_or(timeout)))
    }

    /// When a probe is due: not in recovery, nor while one is on its way (RFC 8985 §7.2).
    fn probe_at(&self) -> Option<u64> {
        let calm = self.recovery.is_none() && self.sacked == 0 && self.probe.is_none() && self.backoff == 0;
        let last = self.flights.back()?.sent.max(self.since);
        let alone = if self.flights.len() == 1 { LONGEST_DELAY } else { 0 };
        let wait = self.rtt.smoothed().map_or(FIRST_PROBE, |s| 2 * s + alone);
        (calm && self.una > 0).then_some(last + wait)
    }

    /// Timers that are due by `now` expire.
    pub(crate) fn tick(&mut self, now: u64) {
        if self.due().is_none_or(|due| due > now) {
            return;
        }
        if self.reorder_at.is_some_and(|at| at <= now) {
            return self.detect(now);
        }
        if self.probe_at().is_some_and(|at| at <= now && at < self.since + self.rtt.timeout(0)) {
            self.probing = true;
            self.since = now;
            // None is due again before this one is answered.
            self.probe = Some(Probe { end: self.next, again: false });
            return;
        }
        self.time_out(now);
    }

    /// RFC 8985 §6.3: the first segment is lost, and all that are overdue.
    fn time_out(&mut self, now: u64) {
        self.timeouts += 1;
        self.backoff += 1;
        self.since = now;
        let smoothed = self.rtt.smoothed().unwrap_or(0);
        for (i, f) in self.flights.iter_mut().enumerate() {
            if f.state == State::Out && (i == 0 || f.sent + smoothed <= now) {
                f.state = State::Lost;
                self.pipe -= f.len();
                self.lost += 1;
            }
        }
        (self.reorder_at, self.probe, self.undo) = (None, None, None);
        self.cubic.timed_out();
        self.recovery = Some(self.next);
    }
}
