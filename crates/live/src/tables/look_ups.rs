//! Look-ups in bursts. Only they are timed: keys are made beside.

use std::time::{Duration, Instant};

use flow::{BURST, Ending, Key, Reader};
use memory::native::clock::{ns, ticks};

use super::keys::{self, Order};
use super::{BATCH, Tables};

/// What look-ups took.
#[derive(Clone, Copy, Debug)]
pub struct LookUp {
    /// Nanoseconds of one.
    pub ns: f64,
    /// How many there were.
    pub look_ups: u64,
    /// How many found their rule: all of them.
    pub found: u64,
}

/// Looks tuples up, in no order.
#[derive(Debug)]
pub struct LookUps {
    reader: Reader,
    order: Order,
}

impl LookUps {
    /// Of all rules of the tables.
    pub fn new(tables: &Tables) -> LookUps {
        LookUps { reader: tables.writer.reader(), order: Order::below(tables.rules()) }
    }

    /// Looks up for so long.
    pub fn sample(&mut self, time: Duration) -> LookUp {
        let (begin, mut spent, mut look_ups, mut found) = (Instant::now(), 0, 0, 0);
        while begin.elapsed() < time {
            for _ in 0..BATCH {
                let mut keys: [Key; BURST] = std::array::from_fn(|_| keys::key(self.order.next()));
                let before = ticks();
                found += self.burst(&mut keys);
                spent += ticks() - before;
                look_ups += BURST as u64;
            }
        }
        LookUp { ns: spent as f64 * ns() / look_ups as f64, look_ups, found }
    }

    #[inline(never)]
    fn burst(&self, keys: &mut [Key; BURST]) -> u64 {
        let burst = self.reader.burst(0);
        let verdicts = burst.classify_burst(keys, &[keys::FRAME as u32; BURST]);
        verdicts.iter().map(|verdict| u64::from(matches!(verdict.ending, Ending::Queue(_)))).sum()
    }
}
