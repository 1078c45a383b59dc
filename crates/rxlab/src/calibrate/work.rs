//! Work on frames and buffers that needs no other core: a word of a ring's size, a swap, a parsed and hashed
//! frame, a pooled buffer.

use std::hint::black_box;

use memory::{Buf, Class, Memory, NativeView, Region, Space};
use packet::Rss;
use rings::Buffers;
use rings::pool::{self, CoreCache};
use traffic::{Arrival, Rate, Spec, Workload};

use super::bed::{LINE, field, timed};
use crate::fail::Fail;

/// Entries of a field in L1, buffers of a burst and of the pool, frames in L1.
const ENTRIES: u64 = 256;
const BURST: usize = 32;
const BUFFERS: u32 = 4096;
const FRAMES: usize = 64;
const REPEATS: u32 = 500;

/// All of it.
pub(super) struct Work<'r> {
    entries: <NativeView<'r> as Memory>::Words<4>,
    count: <NativeView<'r> as Memory>::Words<LINE>,
    pool: CoreCache<NativeView<'r>>,
    frames: Vec<Arrival>,
    rss: Rss,
}

impl<'r> Work<'r> {
    /// # Errors
    /// No room.
    pub(super) fn new(mut region: &'r Region) -> Result<Work<'r>, Fail> {
        let field = self::field::<4>("entries", Class::Signal, ENTRIES as u32);
        let entries = region.words(&field, 0).map_err(Fail::new)?;
        let count = region.words(&self::field::<LINE>("count", Class::Contended, 1), 0).map_err(Fail::new)?;
        let pools = pool::build(&mut region, BUFFERS, 1, pool::CACHE).map_err(Fail::new)?;
        let pool = pools.into_iter().next().ok_or_else(|| Fail::new("no pool"))?;
        let spec: Spec = "fixed:60,flows=1M".parse().map_err(Fail::new)?;
        let mut source = Workload::Generated(spec).source(0, 1, Rate::Own, 1);
        let mut frames = vec![Arrival::EMPTY; FRAMES];
        for frame in &mut frames {
            source.next(frame);
        }
        Ok(Work { entries, count, pool, frames, rss: Rss::spread(4) })
    }

    /// Nanoseconds of one of three calls: an entry stored, its signal loaded and tested, its body loaded.
    pub(super) fn operation(&self, m: &mut NativeView<'r>) -> f64 {
        let mut sum = 0u64;
        let ns = timed(m, |m| {
            for round in 1..=u64::from(REPEATS) {
                for i in 0..ENTRIES {
                    m.publish(self.entries, i, [i, round, sum, round]);
                }
                for i in 0..ENTRIES {
                    if m.acquire(self.entries, i) == round {
                        let [a, b]: [u64; 2] = m.body(self.entries, i);
                        sum = sum.wrapping_add(a ^ b);
                    }
                }
            }
        });
        black_box(sum);
        ns / (3 * u64::from(REPEATS) * ENTRIES) as f64
    }

    /// Nanoseconds of a compare-and-swap on a line that this core owns.
    pub(super) fn own_swap(&self, m: &mut NativeView<'r>) -> f64 {
        let start = m.acquire(self.count, 0);
        let swaps = u64::from(REPEATS) * BURST as u64;
        let ns = timed(m, |m| {
            for n in start..start + swaps {
                black_box(m.swap_if(self.count, 0, n, n + 1)).ok();
            }
        });
        ns / swaps as f64
    }

    /// Nanoseconds to take a buffer from the core's own stack and give it back, in bursts.
    pub(super) fn buffer(&mut self, m: &mut NativeView<'r>) -> f64 {
        let mut bufs = [Buf(0); BURST];
        let rounds = REPEATS * 10;
        let pool = &mut self.pool;
        let ns = timed(m, |m| {
            for _ in 0..rounds {
                let got = pool.take(m, black_box(&mut bufs));
                pool.give(m, black_box(&bufs[..got]));
            }
        });
        ns / f64::from(rounds) / BURST as f64
    }

    /// Nanoseconds to parse and hash a frame of 60 B and to find its queue.
    pub(super) fn classify(&self, m: &mut NativeView<'r>) -> f64 {
        let mut sum = 0u64;
        let ns = timed(m, |_| {
            for _ in 0..REPEATS {
                for frame in black_box(&self.frames) {
                    let class = nic::classify(&self.rss, frame.bytes(), u32::from(frame.len));
                    sum += class.map_or(0, |c| u64::from(c.rss ^ c.kind) + u64::from(c.queue));
                }
            }
        });
        black_box(sum);
        ns / (REPEATS as usize * FRAMES) as f64
    }
}
