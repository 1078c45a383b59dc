//! Lines between two cores: ping-pong, streams one way, a word that both add to.

use std::hint::{black_box, spin_loop};

use memory::native::Words;
use memory::{Class, Memory, NativeView, Region, Space};
use model::BURST;
use rings::{AHEAD, TOGETHER};

use super::bed::{Cpus, LINE, both, cycle, field, timed};
use crate::bench::median;
use crate::fail::Fail;

/// Round trips of one sample, and samples of which the median counts.
const TRIPS: u64 = 200;
const SAMPLES: u64 = 25;
/// Lines of a stream: more than an L1, less than an L2.
const STREAM: u32 = 4096;
/// Streams of one sample.
const STREAMS: u64 = 8;
/// Lines that one core has while the other has as many, in the L1s or in the L2s, and how often they change hands: a
/// processor that fetches ahead changes its ways after some ten or a hundred of them, and stores in a row take 2.9, 3.5 or
/// 6.7 ns a line on one and the same machine.
const HALVES: [u32; 2] = [192, STREAM / 2];
const HANDS: u64 = 400;
/// Entries that one core stores and the other reads, those of a line, and how often.
const TRAIL: u32 = 2048;
const ENTRIES: u64 = 2;
const LAPS: u64 = 9;
/// Additions of each core.
const ADDS: u64 = 20_000;

/// Words on lines of their own.
pub(super) struct Lines<'r> {
    region: &'r Region,
    cpus: Cpus,
    turn: [Words<'r, LINE>; 2],
    stream: Words<'r, LINE>,
    trail: Words<'r, 4>,
    count: Words<'r, LINE>,
    /// All lines, and each one's successor on a random walk.
    whole: Orders,
    next: Vec<u32>,
    /// Lines of the halves.
    halves: [Orders; 2],
}

/// What a core does with each line of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Finds in it which line is next: no load before the last one is over.
    Walk,
    /// Loads a word.
    Load,
    /// Stores a word.
    Store,
}

/// Where lines are that cores exchange: in [`HALVES`] of such a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// L1s.
    L1,
    /// L2s.
    L2,
}

/// In which order it goes over the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// One after the other as far as a frame goes, frames at random.
    Sequential,
    /// At random.
    Scattered,
}

/// Lines of a frame.
const FRAME: usize = 24;

/// Some lines in either order.
pub(super) struct Orders {
    sequential: Vec<u32>,
    scattered: Vec<u32>,
}

impl Orders {
    /// Of `lines`.
    pub(super) fn new(lines: u32) -> Orders {
        let all: Vec<u32> = (0..lines).collect();
        let frames: Vec<&[u32]> = all.chunks(FRAME).collect();
        let order = cycle(frames.len() as u32);
        let sequential = order.iter().flat_map(|i| frames[*i as usize]).copied().collect();
        Orders { sequential, scattered: cycle(lines) }
    }

    /// In this one.
    pub(super) fn of(&self, order: Order) -> &[u32] {
        match order {
            Order::Sequential => &self.sequential,
            Order::Scattered => &self.scattered,
        }
    }
}

impl<'r> Lines<'r> {
    /// # Errors
    /// No room.
    pub(super) fn new(region: &'r Region, cpus: Cpus) -> Result<Lines<'r>, Fail> {
        let mut space = region;
        let mut words = |class, len| space.words(&field::<LINE>("lines", class, len), 0).map_err(Fail::new);
        let turn = [words(Class::Signal, 1)?, words(Class::Signal, 1)?];
        let stream = words(Class::Signal, STREAM)?;
        let count = words(Class::Contended, 1)?;
        let trail = field::<4>("trail", Class::Signal, TRAIL);
        let trail = space.words(&trail, 0).map_err(Fail::new)?;
        let (whole, next, halves) = (Orders::new(STREAM), cycle(STREAM), HALVES.map(Orders::new));
        Ok(Lines { region, cpus, turn, stream, trail, count, whole, next, halves })
    }

    /// Round trip of one line that both write, or of two, each written by one side; ns.
    ///
    /// # Errors
    /// No second thread.
    pub(super) fn ping_pong(&self, lines: usize) -> Result<f64, Fail> {
        let (ping, pong) = (self.turn[0], self.turn[lines - 1]);
        let mut m = self.region.view();
        let from = (m.acquire(pong, 0).max(m.acquire(ping, 0)) + 1) & !1;
        let end = from + 2 * TRIPS * SAMPLES;
        let mut far = self.region.view();
        let answer = move || {
            for n in (from..end).step_by(2) {
                until(&mut far, ping, n + 1);
                far.release(pong, 0, n + 2); // pairs with the acquire in `until` on the other side
            }
        };
        both(self.cpus, answer, || {
            let mut samples = Vec::new();
            for first in (from..end).step_by(2 * TRIPS as usize) {
                samples.push(timed(&mut m, |m| {
                    for n in (first..first + 2 * TRIPS).step_by(2) {
                        m.release(ping, 0, n + 1); // pairs with the acquire in `until` on the other side
                        until(m, pong, n + 2);
                    }
                }));
            }
            median(samples) / TRIPS as f64
        })
    }

    /// Nanoseconds of a line in a stream of lines that the other core has just written. A walk goes at
    /// random in any case.
    ///
    /// # Errors
    /// No second thread.
    pub(super) fn one_way(&self, what: Pass, order: Order) -> Result<f64, Fail> {
        let [go, done] = self.turn;
        let mut m = self.region.view();
        let from = m.acquire(go, 0).max(m.acquire(done, 0));
        let mut far = self.region.view();
        let (stream, next) = (self.stream, &self.next);
        let write = move || {
            for n in from + 1..=from + STREAMS {
                until(&mut far, go, n);
                for (line, next) in (0u64..).zip(next) {
                    far.release(stream, line, u64::from(*next));
                }
                far.release(done, 0, n); // pairs with the acquire in `until` below
            }
        };
        both(self.cpus, write, || {
            let mut samples = Vec::new();
            for n in from + 1..=from + STREAMS {
                m.release(go, 0, n); // pairs with the acquire in `until` above
                until(&mut m, done, n);
                samples.push(timed(&mut m, |m| pass(m, self.stream, 0, self.whole.of(order), what)));
            }
            median(samples) / f64::from(STREAM)
        })
    }

    /// Nanoseconds of a line that this core loads and the other has stored, and of one that the other stores and this
    /// core has loaded, both at work: each has a half of the lines, and then they change hands.
    ///
    /// # Errors
    /// No second thread.
    pub(super) fn exchanged(&self, within: Within, order: Order) -> Result<[f64; 2], Fail> {
        let [here, there] = self.turn;
        let mut m = self.region.view();
        let from = m.acquire(here, 0).max(m.acquire(there, 0));
        let mut far = self.region.view();
        let (stream, half) = (self.stream, self.halves[within as usize].of(order));
        let lines = half.len();
        // Both begin to go over a half when the other is done with it.
        let meet = |m: &mut NativeView<'r>, mine, other, n: u64| {
            m.release(mine, 0, n); // pairs with the acquire below, on the other side
            while m.acquire(other, 0) < n {
                spin_loop();
            }
        };
        let first = |n: u64| n % 2 * lines as u64;
        let mut stores = Vec::new();
        let write = || {
            for n in from + 1..=from + HANDS {
                meet(&mut far, there, here, n);
                stores.push(timed(&mut far, |m| pass(m, stream, first(n), half, Pass::Store)));
            }
        };
        let loads = both(self.cpus, write, || {
            let mut loads = Vec::new();
            for n in from + 1..=from + HANDS {
                meet(&mut m, here, there, n);
                loads.push(timed(&mut m, |m| pass(m, stream, first(n + 1), half, Pass::Load)));
            }
            loads
        })?;
        Ok([loads, stores].map(|all| usual_mean(all) / lines as f64))
    }

    /// Nanoseconds from one line to the next that this core stores and the other takes, which reads all that is there at
    /// once: lines of payload, each word of them stored, for a group of frames, and then their entries, all asked for
    /// as far ahead as the rings do.
    ///
    /// # Errors
    /// No second thread.
    pub(super) fn taken(&self) -> Result<f64, Fail> {
        let [_, done] = self.turn;
        let (mut m, mut far, trail, stream) =
            (self.region.view(), self.region.view(), self.trail, self.stream);
        let (first, seen, all) = (m.acquire(trail, 0), m.acquire(done, 0), u64::from(TRAIL));
        let lap = |m: &mut NativeView<'r>, n: u64| {
            for from in (0..all).step_by(TOGETHER) {
                let group = from..from + TOGETHER as u64;
                for i in group.clone() {
                    m.entry_ahead(stream, i + AHEAD);
                    m.write(stream, i, [n; LINE]);
                }
                for i in group {
                    m.entry_ahead(trail, i + AHEAD);
                    m.publish(trail, i, [i, n, 0, n]); // pairs with the acquire of who reads
                }
            }
        };
        let read = move || {
            for n in 1..=LAPS {
                let mut next = 0;
                while next < all {
                    let burst = (next..all).take(BURST as usize);
                    let written = burst.take_while(|i| far.acquire(trail, *i) == first + n).count() as u64;
                    for i in next..next + written {
                        black_box(far.read(stream, i));
                    }
                    next += written;
                }
                far.release(done, 0, seen + n); // pairs with the acquire in `until` below
            }
        };
        let taken = both(self.cpus, read, || {
            let laps = (1..=LAPS).map(|n| {
                let ns = timed(&mut m, |m| lap(m, first + n));
                until(&mut m, done, seen + n);
                ns
            });
            median(laps.collect())
        })?;
        Ok(taken / (all + all / ENTRIES) as f64)
    }

    /// Nanoseconds between two additions to a word that both cores add to all the time.
    ///
    /// # Errors
    /// No second thread.
    pub(super) fn shared_add(&self) -> Result<f64, Fail> {
        let add = |m: &mut NativeView<'r>| {
            for _ in 0..ADDS {
                m.add(self.count, 0, 1);
            }
        };
        let (mut m, mut far) = (self.region.view(), self.region.view());
        let start = m.acquire(self.count, 0);
        let count = self.count;
        let there = move || {
            far.add(count, 0, 1);
            for _ in 0..ADDS {
                far.add(count, 0, 1);
            }
        };
        both(self.cpus, there, || {
            // Both are there.
            while m.acquire(count, 0) == start {
                spin_loop();
            }
            let (from, mut to) = (m.acquire(count, 0), 0);
            let ns = timed(&mut m, |m| {
                add(m);
                to = m.acquire(count, 0);
            });
            ns / (to - from).max(1) as f64
        })
    }
}

/// The mean but for the longest in a hundred, in which the CPU was away.
fn usual_mean(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.truncate(all.len() - all.len() / 100);
    all.iter().sum::<f64>() / all.len() as f64
}

/// Goes once over `lines`, counted from line `first` on.
pub(super) fn pass<'r>(m: &mut NativeView<'r>, on: Words<'r, LINE>, first: u64, lines: &[u32], what: Pass) {
    let lines = lines.iter().map(|line| first + u64::from(*line));
    match what {
        Pass::Walk => {
            black_box(lines.fold(0, |at, _| m.acquire(on, at)));
        }
        Pass::Load => {
            black_box(lines.fold(0, |sum, line| sum ^ m.acquire(on, line)));
        }
        Pass::Store => lines.for_each(|line| m.release(on, line, line)),
    }
}

/// Spins until the word says `n`.
fn until<'r>(m: &mut NativeView<'r>, w: Words<'r, LINE>, n: u64) {
    while m.acquire(w, 0) != n {
        spin_loop();
    }
}
