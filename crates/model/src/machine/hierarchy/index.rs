//! Which set a line belongs to.

use super::divisor::Divisor;
use crate::machine::layout::PAGE;
use crate::machine::sample::Sample;
use crate::mix::mix;
use crate::profile::{L1_SETS, Placement, Server, SliceHash};

/// Sets of all caches by line.
pub(super) struct Index {
    /// The lines that are simulated. Sets and holders of others are not stored: what is stored then stays in the
    /// host's own caches.
    pub sample: Sample,
    l1_sets: Divisor,
    l2_sets: Divisor,
    /// Physical page of each 2 MB page.
    pages: Vec<u32>,
    slices: Divisor,
    hash: SliceHash,
    /// The sets of a slice that are stored, and for each of them the slice that its first line lies in if slices
    /// are balanced.
    slice_sets: Divisor,
    starts: Vec<u32>,
    /// Stored sets of all slices.
    sets: usize,
}

impl Index {
    /// Of the caches of `server`, over so many lines of memory.
    pub(super) fn new(server: &Server, lines: u32, sample: Sample, seed: u64) -> Index {
        let c = &server.caches;
        let starts = starts(c.sets_per_slice, &sample);
        Index {
            l1_sets: Divisor::new(sample.sets(L1_SETS)),
            l2_sets: Divisor::new(sample.sets(server.l2_sets())),
            pages: pages(c.placement, lines.div_ceil(PAGE), seed),
            slices: Divisor::new(c.slices),
            hash: c.slice_hash,
            slice_sets: Divisor::new(starts.len() as u32),
            sets: c.slices as usize * starts.len(),
            starts,
            sample,
        }
    }

    /// Sets of the LLC that are stored.
    pub(super) fn llc_sets(&self) -> usize {
        self.sets
    }

    /// The L1 set of a line.
    pub(super) fn l1_set(&self, line: u32) -> usize {
        self.l1_sets.of(self.sample.rank(line)).1 as usize
    }

    /// The L2 set of a line.
    #[inline]
    pub(super) fn l2_set(&self, line: u32) -> usize {
        self.l2_sets.of(self.sample.rank(line)).1 as usize
    }

    /// The LLC set of a line. Within a slice the low address bits choose the set; where the number of sets is no power
    /// of two, the remainder of the address does. Slices that are balanced take turns: one has `sets_per_slice` lines,
    /// then the next. Where the turns begin differs from set to set, so that any contiguous stretch is spread evenly, as
    /// the processors' hash does.
    #[inline]
    pub(super) fn llc_set(&self, line: u32) -> usize {
        let page = self.pages.get((line / PAGE) as usize).copied().unwrap_or(line / PAGE);
        let physical = (page << PAGE.trailing_zeros()) | (line % PAGE);
        let (turn, set) = self.slice_sets.of(self.sample.rank(physical));
        let pick = match self.hash {
            SliceHash::Balanced => turn.wrapping_add(self.starts[set as usize]),
            SliceHash::Random => (mix(physical.into()) >> 32) as u32,
        };
        self.slices.of(pick).1 as usize * self.starts.len() + set as usize
    }
}

/// Where each stored set's turns over the slices begin: a permutation of the sets' numbers.
fn starts(sets: u32, sample: &Sample) -> Vec<u32> {
    let stored = 0..sample.sets(sets);
    stored.map(|set| sample.set(set, sets)).map(|set| set ^ (set >> 4) ^ (set >> 8)).collect()
}

/// The physical page of each page.
fn pages(placement: Placement, pages: u32, seed: u64) -> Vec<u32> {
    match placement {
        Placement::Contiguous => (0..pages).collect(),
        // 128 GiB of 2 MB frames; two pages in one frame would only share sets, which they may anyway.
        Placement::Random => (0..pages).map(|p| (mix(seed ^ u64::from(p) << 20) >> 48) as u32).collect(),
    }
}
