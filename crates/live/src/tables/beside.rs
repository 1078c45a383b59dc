//! A core that forwards while another one changes rules.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flow::{BURST, Ending, Error, Key, Reader};

use super::Tables;
use super::keys::{self, FRAME, Order};

/// Frames that come round and round.
const FRAMES: usize = 4096;

/// What the other core does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// Inserts so many rules a second, and removes as many once there are enough.
    Rate(u32),
    /// The forwarding core itself does that, between bursts; the other one does nothing.
    Same(u32),
    /// Inserts so many in one batch, after a third of the time.
    Batch(u32),
}

/// What came of forwarding.
#[derive(Clone, Copy, Debug)]
pub struct Forwarded {
    /// Millions of frames a second.
    pub mpps: f64,
    /// From when a frame is due to when it is forwarded, ns: 50, 99.9 of a hundred, and the longest.
    pub latency_ns: [f64; 3],
    /// Frames that no rule took.
    pub missed: u64,
    /// Rules that were inserted meanwhile, a second.
    pub inserted: f64,
}

/// Forwards on this thread for `time`: frames are parsed, looked up, their addresses written. They come at `mpps`
/// millions a second, or as fast as they are taken. `start` runs on the thread of the writer first.
///
/// # Errors
/// There is no room for the rules.
pub fn forward(
    tables: &mut Tables,
    beside: Beside,
    mpps: Option<f64>,
    time: Duration,
    start: impl FnOnce() + Send,
) -> Result<Forwarded, Error> {
    let reader = tables.writer.reader();
    let mut order = Order::below(tables.ids.len() as u32);
    let mut frames: Vec<[u8; FRAME]> = (0..FRAMES).map(|_| keys::frame(order.next())).collect();
    let mut course = Course::new(&reader, &mut frames, mpps);
    let first = tables.ids.len();
    let inserted = if let Beside::Same(rate) = beside {
        let mut steady = Steady { rate, first, inserted: 0, begin: Instant::now() };
        course.run(time, || steady.catch_up(tables))?;
        steady.inserted
    } else {
        course.beside(tables, beside, time, start)?
    };
    tables.remove_from(first)?;
    Ok(course.told(f64::from(inserted) / time.as_secs_f64()))
}

/// Forwarding, and what it took.
struct Course<'a> {
    reader: &'a Reader,
    frames: &'a mut [[u8; FRAME]],
    /// Nanoseconds from frame to frame; none: as fast as they are taken.
    pace_ns: Option<f64>,
    forwarded: u64,
    missed: u64,
    spent: Duration,
    /// The longest of each burst, ns.
    latencies: Vec<u32>,
}

impl<'a> Course<'a> {
    fn new(reader: &'a Reader, frames: &'a mut [[u8; FRAME]], mpps: Option<f64>) -> Course<'a> {
        let pace_ns = mpps.map(|mpps| 1e3 / mpps);
        let latencies = Vec::with_capacity(1 << 22);
        Course { reader, frames, pace_ns, forwarded: 0, missed: 0, spent: Duration::ZERO, latencies }
    }

    /// Forwards while another thread works on the tables; how many rules it inserted.
    fn beside(
        &mut self,
        tables: &mut Tables,
        beside: Beside,
        time: Duration,
        start: impl FnOnce() + Send,
    ) -> Result<u32, Error> {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let stop = &stop;
            let writer = scope.spawn(move || {
                start();
                tables.beside(beside, time, stop)
            });
            let ran = self.run(time, || Ok(()));
            // Relaxed: it orders nothing; the join does.
            stop.store(true, Ordering::Relaxed);
            let inserted = writer.join().unwrap_or(Ok(0));
            ran.and(inserted)
        })
    }

    /// Forwards for `time`, and does `more` between bursts.
    fn run(&mut self, time: Duration, mut more: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let begin = Instant::now();
        loop {
            more()?;
            let now = begin.elapsed();
            if now >= time {
                self.spent = now;
                return Ok(());
            }
            let due = match self.pace_ns {
                Some(pace) => (now.as_nanos() as f64 / pace) as u64,
                None => self.forwarded + BURST as u64,
            };
            let n = due.saturating_sub(self.forwarded).min(BURST as u64) as usize;
            if n == 0 {
                continue;
            }
            let first_due = self.pace_ns.map_or(now.as_nanos() as f64, |pace| self.forwarded as f64 * pace);
            self.burst(n);
            let latency = begin.elapsed().as_nanos() as f64 - first_due;
            if self.latencies.len() < self.latencies.capacity() {
                self.latencies.push(latency as u32);
            }
        }
    }

    fn burst(&mut self, n: usize) {
        let at = self.forwarded as usize % self.frames.len();
        let frames = &mut self.frames[at..(at + n).min(FRAMES)];
        let n = frames.len();
        let mut keys: [Key; BURST] = std::array::from_fn(|i| match frames.get(i) {
            Some(frame) => Key::read(frame, &packet::parse(frame)),
            None => Key::default(),
        });
        let burst = self.reader.burst(0);
        let verdicts = burst.classify_burst(&mut keys[..n], &[FRAME as u32; BURST]);
        for (frame, verdict) in frames.iter_mut().zip(&verdicts) {
            match verdict.ending {
                Ending::Queue(queue) => frame[..2].copy_from_slice(&queue.to_be_bytes()),
                _ => self.missed += 1,
            }
        }
        self.forwarded += n as u64;
    }

    fn told(mut self, inserted: f64) -> Forwarded {
        self.latencies.sort_unstable();
        let at = |part: f64| {
            let index = (self.latencies.len() as f64 * part) as usize;
            self.latencies
                .get(index.min(self.latencies.len().saturating_sub(1)))
                .map_or(f64::NAN, |ns| (*ns).into())
        };
        let mpps = self.forwarded as f64 / self.spent.as_secs_f64() / 1e6;
        Forwarded { mpps, latency_ns: [at(0.5), at(0.999), at(1.0)], missed: self.missed, inserted }
    }
}

/// Insertion at a rate. Rules stay until there are [`MORE`] of them.
struct Steady {
    /// A second.
    rate: u32,
    /// Rules that stay.
    first: usize,
    inserted: u32,
    begin: Instant,
}

impl Steady {
    /// Inserts what is due, in one batch.
    fn catch_up(&mut self, tables: &mut Tables) -> Result<(), Error> {
        let due = (self.begin.elapsed().as_secs_f64() * f64::from(self.rate)) as u32;
        if self.inserted == due {
            return Ok(());
        }
        while self.inserted < due {
            if tables.ids.len() >= self.first + MORE {
                let id = tables.ids.swap_remove(self.first);
                tables.writer.remove(id)?;
            }
            let id = tables.insert_unused()?;
            tables.ids.push(id);
            self.inserted += 1;
        }
        tables.writer.commit();
        Ok(())
    }
}

impl Tables {
    /// Changes until it is told to stop; how many rules were inserted.
    fn beside(&mut self, beside: Beside, time: Duration, stop: &AtomicBool) -> Result<u32, Error> {
        match beside {
            Beside::Nothing | Beside::Same(_) => Ok(0),
            Beside::Rate(rate) => {
                let mut steady = Steady { rate, first: self.ids.len(), inserted: 0, begin: Instant::now() };
                // Relaxed: pairs with nothing, see above.
                while !stop.load(Ordering::Relaxed) {
                    steady.catch_up(self)?;
                }
                Ok(steady.inserted)
            }
            Beside::Batch(n) => {
                thread::sleep(time / 3);
                for _ in 0..n {
                    let id = self.insert_unused()?;
                    self.ids.push(id);
                }
                self.writer.commit();
                Ok(n)
            }
        }
    }

    /// Removes the rules behind the first ones.
    pub(super) fn remove_from(&mut self, first: usize) -> Result<(), Error> {
        for id in self.ids.split_off(first) {
            self.writer.remove(id)?;
        }
        self.writer.commit();
        Ok(())
    }
}

/// Rules that are inserted at a rate stay until there are so many.
const MORE: usize = 10_000;
