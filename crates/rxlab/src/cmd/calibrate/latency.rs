//! Load latencies: a random walk over working sets of growing size; and streams over the LLC's.

use std::hint::black_box;

use memory::native::Words;
use memory::{Class, Memory, NativeView, Region, Space};

use super::bed::{self, LINE, field, timed};
use super::pass::{AtHand, LEAST_NS, Order, Orders, Pass, Pool};
use crate::fail::Fail;

/// Steps of a walk, and lines of the LLC's set at the most: the first walk brings all of it.
const STEPS: u32 = 1 << 17;
/// The LLC's place among the sets.
const LLC: usize = 2;

/// Working sets, bytes: in L1, in L2, in the LLC, beyond.
pub(super) struct Sets {
    pub bytes: [u32; 4],
    region: Region,
    /// Whether all lie in 2 MB pages.
    pub large_pages: bool,
}

impl Sets {
    /// For caches of `l2` and `llc` bytes.
    ///
    /// # Errors
    /// No memory.
    pub(super) fn new(l2: u32, llc: u32) -> Result<Sets, Fail> {
        // Powers of two: half of the L2; four of them, at most a quarter of the LLC and a walk; four times the LLC.
        let floor = |n: u32| 1u32 << n.max(64).ilog2();
        let beyond = floor(llc.clamp(8 << 20, 64 << 20)) * 4;
        let bytes =
            [16 << 10, floor(l2 / 2), floor(l2.saturating_mul(4).min(llc / 4).min(STEPS * 64)), beyond];
        let all = bytes.iter().sum::<u32>() + bytes[LLC];
        let (region, large_pages) = bed::region(all as usize + (1 << 20))?;
        Ok(Sets { bytes, region, large_pages })
    }

    /// Lays out the walks.
    ///
    /// # Errors
    /// They do not fit.
    pub(super) fn walks(&self) -> Result<Vec<Walk<'_>>, Fail> {
        self.bytes.iter().map(|b| Walk::new(&self.region, b / 64)).collect()
    }

    /// Lays out a stream over as much as the LLC's walk has.
    ///
    /// # Errors
    /// It does not fit.
    pub(super) fn stream(&self, pool: Pool) -> Result<Stream<'_>, Fail> {
        let (mut space, lines) = (&self.region, self.bytes[LLC] / 64);
        let lines_of = space.words(&field::<LINE>("stream", Class::Body, lines), 0).map_err(Fail::new)?;
        Ok(Stream { lines: lines_of, orders: Orders::new(lines, pool), at_hand: AtHand::new(&self.region)? })
    }
}

/// Lines in the LLC, of which none names the next one.
pub(super) struct Stream<'r> {
    lines: Words<'r, LINE>,
    orders: Orders,
    at_hand: AtHand<'r>,
}

impl<'r> Stream<'r> {
    /// Nanoseconds that a line is waited for; the first pass brings the set into the LLC.
    pub(super) fn line(&self, m: &mut NativeView<'r>, what: Pass, order: Order) -> f64 {
        self.orders.line(m, self.lines, (what, order));
        let came = self.orders.line(m, self.lines, (what, order));
        (came - self.at_hand.line(m, self.orders.frames(), (what, order))).max(LEAST_NS)
    }
}

/// Lines of which each names the next one, all in one cycle.
pub(super) struct Walk<'r> {
    next: Words<'r, LINE>,
    at: u64,
}

impl<'r> Walk<'r> {
    fn new(mut region: &'r Region, lines: u32) -> Result<Walk<'r>, Fail> {
        let next = region.words(&field::<LINE>("walk", Class::Body, lines), 0).map_err(Fail::new)?;
        let mut m = region.view();
        for (line, to) in (0u64..).zip(bed::cycle(lines)) {
            m.release(next, line, u64::from(to));
        }
        Ok(Walk { next, at: 0 })
    }

    /// Nanoseconds of one load; the first steps bring the set into its cache.
    pub(super) fn latency(&mut self, m: &mut NativeView<'r>) -> f64 {
        self.steps(m);
        timed(m, |m| self.steps(m)) / f64::from(STEPS)
    }

    fn steps(&mut self, m: &mut NativeView<'r>) {
        let mut at = self.at;
        for _ in 0..STEPS {
            at = m.relaxed(self.next, at);
        }
        self.at = black_box(at);
    }
}
