//! A host's thread: it writes frames with the time in them, sends bursts, and reads what comes back.

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Buf, Memory, Ps};
use rings::Segment;

use super::count::Log;
use super::ends::{HostEnd, NOTHING};
use super::{Load, MARK, MOST_BURST, Setup};
use crate::engine::view::View;
use crate::machine::layout::PoolId;

/// A thread, but for its end of the connection.
pub(super) struct Host {
    buffers: PoolId,
    bytes: u16,
    tx_burst: usize,
    rx_burst: usize,
    /// Of this pair: frames under way at most, and ps from one frame to the next where there is a rate.
    window: u64,
    interval: Option<f64>,
    /// When the first frame is due, ps: once all is set up.
    first: f64,
    /// Frames to be sent, where that is said.
    frames: u64,
    sent: u64,
    received: u64,
    log: Rc<RefCell<Log>>,
}

impl Host {
    pub(super) fn new(
        setup: &Setup,
        pair: u32,
        buffers: PoolId,
        frames: Option<u64>,
        log: Rc<RefCell<Log>>,
    ) -> Host {
        let interval = match setup.load {
            Load::Rate(rate) => Some(1e12 / rate * f64::from(setup.pairs)),
            Load::InFlight(_) => None,
        };
        Host {
            buffers,
            bytes: setup.bytes,
            tx_burst: setup.tx_burst,
            rx_burst: setup.rx_burst,
            window: setup.window(),
            interval,
            first: interval.unwrap_or_default() * f64::from(pair) / f64::from(setup.pairs),
            frames: frames.unwrap_or(u64::MAX),
            sent: 0,
            received: 0,
            log,
        }
    }

    /// Sends and receives until all is done, or the run ends.
    pub(super) fn run(mut self, m: &mut View, mut end: impl HostEnd) {
        end.begin(m);
        self.first += m.now().0 as f64;
        while self.received < self.frames {
            let due = self.due(m.now());
            let sent = if due > 0 { self.send(m, &mut end, due) } else { 0 };
            let received = self.receive(m, &mut end);
            if sent + received == 0 {
                match self.next() {
                    Some(due) => m.idles(due),
                    None => m.idle(),
                }
            }
            if m.stopped() {
                return;
            }
        }
        self.log.borrow_mut().under_way -= 1;
    }

    /// Frames to be sent in one burst.
    fn due(&self, now: Ps) -> usize {
        let room = (self.window - (self.sent - self.received)).min(self.frames - self.sent);
        match self.interval {
            Some(interval) => {
                let due = ((now.0 as f64 - self.first) / interval).floor() as i64 + 1 - self.sent as i64;
                room.min(due.max(0) as u64).min(self.tx_burst as u64) as usize
            }
            // A whole burst or nothing.
            None => {
                let burst = (self.tx_burst as u64).min(self.window).min(self.frames - self.sent);
                if room >= burst { burst as usize } else { 0 }
            }
        }
    }

    /// When the next frame is due, ps; none if that is when another one comes back.
    fn next(&self) -> Option<u64> {
        let open = self.sent - self.received < self.window;
        let interval = self.interval.filter(|_| open)?;
        Some((self.first + self.sent as f64 * interval).ceil() as u64)
    }

    fn send(&mut self, m: &mut View, end: &mut impl HostEnd, due: usize) -> usize {
        let mut bufs = [Buf(0); MOST_BURST];
        let room = end.room(m, due);
        let got = end.alloc(m, &mut bufs[..room]);
        let mut segs = [NOTHING; MOST_BURST];
        for (i, (seg, buf)) in segs.iter_mut().zip(bufs).take(got).enumerate() {
            let mut mark = [0; MARK];
            mark[..8].copy_from_slice(&m.now().0.to_le_bytes());
            mark[8..].copy_from_slice(&(self.sent + i as u64).to_le_bytes());
            m.put(self.buffers, buf, 0, &mark, self.bytes.into());
            *seg = Segment { buf, off: 0, len: self.bytes, last: true };
            m.chain();
        }
        let taken = end.send(m, &segs[..got]);
        if taken < got {
            end.free(m, &bufs[taken..got]);
        }
        self.sent += taken as u64;
        taken
    }

    fn receive(&mut self, m: &mut View, end: &mut impl HostEnd) -> usize {
        let mut segs = [NOTHING; MOST_BURST];
        let got = end.receive(m, &mut segs[..self.rx_burst]);
        for s in &segs[..got] {
            let mut mark = [0; MARK];
            m.get(self.buffers, s.buf, s.off.into(), &mut mark, s.len.into());
            self.note(m.now(), &mark, s.len);
            m.chain();
        }
        let bufs = segs.map(|s| s.buf);
        end.free(m, &bufs[..got]);
        got
    }

    /// A frame has come back: they come in the order in which they were sent.
    fn note(&mut self, now: Ps, mark: &[u8; MARK], len: u16) {
        let word =
            |at: usize| mark[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let (time, number) = (word(0), word(8));
        let mut log = self.log.borrow_mut();
        log.received += 1;
        log.wrong += u64::from(number < self.received || len != self.bytes);
        log.latency.saturating_record(now.0.saturating_sub(time));
        self.received = number + 1; // with those that were lost
    }
}
