//! Lines between two cores: ping-pong, streams one way, a word that both add to.

use std::hint::{black_box, spin_loop};

use memory::native::Words;
use memory::{Class, Memory, NativeView, Region, Space};
use model::BURST;
use rings::{AHEAD, TOGETHER};

use super::bed::{Cpus, LINE, both, cycle, field, timed};
use super::pass::{AtHand, LEAST_NS, Order, Orders, Pass, Pool};
use crate::cpus::median;
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
    halves: [[Orders; 2]; 2],
    at_hand: [AtHand<'r>; 2],
}

/// Where lines are that cores exchange: in [`HALVES`] of such a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// L1s.
    L1,
    /// L2s.
    L2,
}

/// Nanoseconds of a line that comes from elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// What is waited for it, and is no work.
    pub wait: f64,
    /// What reading or copying it takes where it is at hand; 0 where but a word of it is accessed.
    pub work: f64,
}

impl Line {
    /// Of lines that came and of those at hand.
    fn of(all: Vec<(f64, f64)>) -> Line {
        let (came, at_hand) = all.into_iter().unzip();
        let (came, work) = (usual_mean(came), usual_mean(at_hand));
        Line { wait: (came - work).max(LEAST_NS), work }
    }
}

impl<'r> Lines<'r> {
    /// # Errors
    /// No room.
    pub(super) fn new(region: &'r Region, cpus: Cpus, pool: Pool) -> Result<Lines<'r>, Fail> {
        let mut space = region;
        let mut words = |class, len| space.words(&field::<LINE>("lines", class, len), 0).map_err(Fail::new);
        let turn = [words(Class::Signal, 1)?, words(Class::Signal, 1)?];
        let stream = words(Class::Signal, STREAM)?;
        let count = words(Class::Contended, 1)?;
        let trail = field::<4>("trail", Class::Signal, TRAIL);
        let trail = space.words(&trail, 0).map_err(Fail::new)?;
        let (whole, next, halves) =
            (Orders::new(STREAM, pool), cycle(STREAM), HALVES.map(|lines| Orders::halves(lines, pool)));
        let at_hand = [AtHand::new(region)?, AtHand::new(region)?];
        Ok(Lines { region, cpus, turn, stream, trail, count, whole, next, halves, at_hand })
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

    /// Nanoseconds of a line in a stream of lines that the other core has just written. A walk is over
    /// lines at random.
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
                samples.push(self.whole.line(&mut m, self.stream, (what, order)));
            }
            median(samples)
        })
    }

    /// A line that this core loads and the other has stored, and one that the other stores and this
    /// core has loaded, both at work: each has a half of the lines, and then they change hands.
    ///
    /// # Errors
    /// No second thread.
    pub(super) fn exchanged(&self, within: Within, order: Order) -> Result<[Line; 2], Fail> {
        let [here, there] = self.turn;
        let mut m = self.region.view();
        let from = m.acquire(here, 0).max(m.acquire(there, 0));
        let mut far = self.region.view();
        let halves = &self.halves[within as usize];
        // Both begin to go over a half when the other is done with it.
        let meet = |m: &mut NativeView<'r>, mine, other, n: u64| {
            m.release(mine, 0, n); // pairs with the acquire below, on the other side
            while m.acquire(other, 0) < n {
                spin_loop();
            }
        };
        let line = |m: &mut NativeView<'r>, at_hand: &AtHand<'r>, n: u64, what| {
            let half = &halves[n as usize % 2];
            let all = half.line(m, self.stream, (what, order));
            (all, at_hand.line(m, half.frames(), (what, order)))
        };
        let mut stores = Vec::new();
        let [mine, theirs] = &self.at_hand;
        let write = || {
            for n in from + 1..=from + HANDS {
                meet(&mut far, there, here, n);
                stores.push(line(&mut far, theirs, n, Pass::Store));
            }
        };
        let loads = both(self.cpus, write, || {
            let mut loads = Vec::new();
            for n in from + 1..=from + HANDS {
                meet(&mut m, here, there, n);
                loads.push(line(&mut m, mine, n + 1, Pass::Load));
            }
            loads
        })?;
        Ok([loads, stores].map(Line::of))
    }

    /// Nanoseconds from one line to the next that the other core stores and this one takes, which reads all that is there
    /// at once: lines of payload, each word of them stored, for a group of frames, and then their entries, all asked for
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
        let mut laps = Vec::new();
        let store = || {
            for n in 1..=LAPS {
                laps.push(timed(&mut far, |m| lap(m, first + n)));
                until(&mut far, done, seen + n);
            }
        };
        both(self.cpus, store, || {
            for n in 1..=LAPS {
                let mut next = 0;
                while next < all {
                    let burst = (next..all).take(BURST as usize);
                    let written = burst.take_while(|i| m.acquire(trail, *i) == first + n).count() as u64;
                    for i in next..next + written {
                        black_box(m.read(stream, i));
                    }
                    next += written;
                }
                m.release(done, 0, seen + n); // pairs with the acquire in `until` above
            }
        })?;
        Ok(median(laps) / (all + all / ENTRIES) as f64)
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

/// Spins until the word says `n`.
fn until<'r>(m: &mut NativeView<'r>, w: Words<'r, LINE>, n: u64) {
    while m.acquire(w, 0) != n {
        spin_loop();
    }
}
