//! What an end does with its side of a link: the tasks of rxbench, through the crate's own calls.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use ccnic::{Buf, Channel, Error, Segment};
use memory::native::clock::{ns, ticks};

use super::frame::Frame;
use crate::cmd::bench::child::TaskSample;

/// Steps between two looks at the clock, which costs as much as a short burst.
const STEPS: u32 = 32;
/// The most frames of a call.
pub(super) const MOST: usize = 256;
/// Spans kept of one sample; later ones of the sample are not.
const SPANS: usize = 1 << 20;

/// By their names in rxbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Mode {
    /// Receives
    Rx,
    /// Sends
    Tx,
    /// Sends, and receives what comes back
    Loop,
    /// Sends back
    Echo,
    /// The same as loop, one frame in flight
    Rtt,
}

/// What it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) mode: Mode,
    pub(super) size: u16,
    pub(super) burst: usize,
    /// Frames in flight.
    pub(super) window: u64,
    pub(super) samples: u32,
    pub(super) ms: u32,
    pub(super) check: bool,
}

/// Counts since a sample began.
#[derive(Default)]
struct Counts {
    received: u64,
    bad: u64,
    lost: u64,
    reordered: u64,
}

/// A task at work.
pub(super) struct Task<'a> {
    channel: &'a mut Channel,
    order: Order,
    stop: &'a AtomicBool,
    sent: Frame,
    received: Frame,
    bufs: [Buf; MOST],
    segs: [Segment; MOST],
    /// Of the next frame to send, and of the next to receive.
    number: u64,
    expected: u64,
    now: Counts,
    spans: Vec<u64>,
}

impl<'a> Task<'a> {
    pub(super) fn new(channel: &'a mut Channel, order: Order, stop: &'a AtomicBool) -> Task<'a> {
        let none = Segment { buf: Buf(0), off: 0, len: order.size, last: true };
        Task {
            channel,
            order,
            stop,
            sent: Frame::new(order.size),
            received: Frame::new(order.size),
            bufs: [Buf(0); MOST],
            segs: [none; MOST],
            number: 0,
            expected: 0,
            now: Counts::default(),
            spans: Vec::with_capacity(if order.mode == Mode::Rtt { SPANS } else { 0 }),
        }
    }

    /// Until it is stopped; tells each sample.
    ///
    /// # Errors
    /// The other end is gone.
    pub(super) fn run(mut self, mut tell: impl FnMut(TaskSample)) -> Result<(), Error> {
        let period = (f64::from(self.order.ms) * 1e6 / ns()) as u64;
        let (mut taken, mut start) = (0, ticks());
        while !self.stopped() {
            for _ in 0..STEPS {
                self.step()?;
            }
            let now = ticks();
            if now.wrapping_sub(start) >= period {
                // One more than asked for: the first has the start of the other end in it.
                if (1..=self.order.samples).contains(&taken) {
                    tell(self.sample(now.wrapping_sub(start) as f64 * ns() / 1e9));
                }
                (taken, start) = (taken + 1, now);
                self.now = Counts::default();
                self.spans.clear();
            }
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Relaxed) // a flag alone: nothing is handed over with it
    }

    #[inline(always)]
    fn step(&mut self) -> Result<(), Error> {
        match self.order.mode {
            Mode::Rx => self.receive().map(drop),
            Mode::Tx => self.produce(self.order.burst),
            Mode::Loop => {
                if self.number - self.expected + self.order.burst as u64 <= self.order.window {
                    self.produce(self.order.burst)?;
                }
                self.receive().map(drop)
            }
            Mode::Echo => self.echo(),
            Mode::Rtt => self.round_trip(),
        }
    }

    /// Allocates, writes and sends frames: so many, or as many as there are buffers.
    #[inline(always)]
    fn produce(&mut self, frames: usize) -> Result<(), Error> {
        let n = self.channel.alloc(&mut self.bufs[..frames]);
        for (buf, seg) in self.bufs[..n].iter().zip(&mut self.segs) {
            self.channel.write(*buf, 0, self.sent.write(self.number))?;
            *seg = Segment { buf: *buf, off: 0, len: self.order.size, last: true };
            self.number += 1;
        }
        self.send(n)
    }

    /// Sends the first of the segments, however often it takes.
    #[inline(always)]
    fn send(&mut self, n: usize) -> Result<(), Error> {
        let mut sent = self.channel.send(&self.segs[..n])?;
        while sent < n && !self.stopped() {
            sent += self.channel.send(&self.segs[sent..n])?;
        }
        for seg in &self.segs[sent..n] {
            self.channel.free(&[seg.buf]);
        }
        Ok(())
    }

    /// Receives, reads and frees; how many frames.
    #[inline(always)]
    fn receive(&mut self) -> Result<usize, Error> {
        let n = self.channel.receive(&mut self.segs[..self.order.burst])?;
        let mut sums = 0;
        for (seg, buf) in self.segs[..n].iter().zip(&mut self.bufs) {
            self.channel.read(seg.buf, seg.off.into(), self.received.room(seg.len))?;
            let (sum, number) = self.received.read();
            sums |= sum;
            if self.order.check {
                self.now.bad += u64::from(sum != 0 || !seg.last || seg.len != self.order.size);
                self.now.lost += number.saturating_sub(self.expected);
                self.now.reordered += u64::from(number < self.expected);
            }
            self.expected = number + 1;
            *buf = seg.buf;
        }
        std::hint::black_box(sums); // what is read must count
        self.channel.free(&self.bufs[..n]);
        self.now.received += n as u64;
        Ok(n)
    }

    #[inline(always)]
    fn echo(&mut self) -> Result<(), Error> {
        let n = self.channel.receive(&mut self.segs[..self.order.burst])?;
        self.now.received += n as u64;
        if n == 0 { Ok(()) } else { self.send(n) }
    }

    /// A frame there and back: taken, written, sent, received, read and freed.
    #[inline(always)]
    fn round_trip(&mut self) -> Result<(), Error> {
        let start = ticks();
        self.produce(1)?;
        while self.receive()? == 0 && !self.stopped() {
            std::hint::spin_loop();
        }
        if self.spans.len() < SPANS {
            self.spans.push(ticks().wrapping_sub(start));
        }
        Ok(())
    }

    fn sample(&mut self, seconds: f64) -> TaskSample {
        self.spans.sort_unstable();
        let ns = |ticks: u64| ticks as f64 * ns();
        let at = |share: f64| {
            let i = (self.spans.len() as f64 * share) as usize;
            self.spans.get(i).map_or(0.0, |span| ns(*span))
        };
        let kept = &self.spans[..self.spans.len() * 99 / 100];
        let total: u64 = kept.iter().sum();
        TaskSample {
            task: 0,
            rx_mpps: self.now.received as f64 / seconds / 1e6,
            bad: self.now.bad,
            lost: self.now.lost,
            reordered: self.now.reordered,
            timed: self.spans.len() as u64,
            mean: if kept.is_empty() { 0.0 } else { ns(total) / kept.len() as f64 },
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
        }
    }
}
