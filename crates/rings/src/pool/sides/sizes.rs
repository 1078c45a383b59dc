//! Sizes of a pool with an end on each side.

use super::exchange::Exchange;
use crate::contract::Choice;
use crate::sizes::SizeError;

/// The most buffers of a pair.
const MOST: u32 = 1 << 24;

/// In which order a side takes buffers that nobody has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// No side has two neighbours in address: what a prefetcher fetches behind a buffer, its side does not write next
    /// (§3.3).
    Apart,
    /// One behind the other: the host has the first half, the NIC the second.
    Sequential,
}

impl Choice for Fill {
    const ALL: &'static [(&'static str, Fill)] = &[("apart", Fill::Apart), ("sequential", Fill::Sequential)];
}

impl Fill {
    /// The buffers of `count` that side `own` begins with; it takes the last one first.
    pub(super) fn of(self, count: usize, own: usize) -> Box<dyn Iterator<Item = usize>> {
        let half = count.div_ceil(2);
        match self {
            Fill::Apart => Box::new((own..count).step_by(2)),
            Fill::Sequential if own == 0 => Box::new((0..half).rev()),
            Fill::Sequential => Box::new((half..count).rev()),
        }
    }
}

/// Sizes of one pair of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Buffers of the pair.
    pub count: u32,
    /// Free buffers that an end keeps; above 1.5 times as many it gives the rest away.
    pub cache: u32,
    /// How they get to the other end.
    pub exchange: Exchange,
    /// Their order at first.
    pub fill: Fill,
}

impl Sizes {
    /// As the paper says (§3.3).
    pub const fn new(count: u32, cache: u32) -> Sizes {
        Sizes { count, cache, exchange: Exchange::Lanes, fill: Fill::Apart }
    }

    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self) -> Result<(), SizeError> {
        let Sizes { count, cache, .. } = *self;
        if !(2..=MOST).contains(&count) {
            return Err(SizeError::new(format!("pool: {count} buffers of two sides; allowed: 2 to {MOST}")));
        }
        // Twice 1.5 times the cache: else both ends together could keep all there is.
        if cache > count / 3 {
            let what = format!("allowed: up to {}, a third of them", count / 3);
            return Err(SizeError::new(format!(
                "pool: an end's cache of {cache} for {count} buffers; {what}"
            )));
        }
        Ok(())
    }
}
