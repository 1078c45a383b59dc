//! Which cache sets are simulated.
//!
//! A set is chosen by the low ten bits of the line number, in pairs of lines: these bits are the L2's
//! whole index and part of the LLC's, so a chosen L2 set and a chosen LLC set see every access that
//! concerns them. Where a cache's number of sets is no multiple of 1024, its sets are not chosen but made: as large a
//! part of them, over which the chosen lines take turns.

use crate::mix::mix;

/// Low line-address bits that choose the sample.
const BITS: u32 = 10;
/// Lines that differ in these bits.
const LINES: u32 = 1 << BITS;
/// So many lines further, or more.
const FAR: u8 = u8::MAX;

/// The lines that are simulated.
#[derive(Clone)]
pub(crate) struct Sample {
    one_in: u32,
    /// For every value of the low line bits, how many lines further the next simulated one is, 255 where it is as far or
    /// further: one look tells of a run of lines whether any is simulated, and which.
    next: [u8; LINES as usize],
    /// How many smaller values of the low line bits are simulated, and the bits of such a count.
    ranks: [u16; LINES as usize],
    shift: u32,
}

impl Sample {
    /// One set in `one_in` (a power of two up to 64); 1 simulates all.
    pub(crate) fn new(one_in: u32, seed: u64) -> Sample {
        let one_in = one_in.max(1);
        let pairs = LINES / 2;
        // The same number of pairs for every seed: those with the smallest hashes.
        let mut order: Vec<u32> = (0..pairs).collect();
        order.sort_by_key(|p| (mix(seed ^ 0x5a3e ^ u64::from(*p) << 32), *p));
        let mut chosen = [false; LINES as usize];
        for p in order.into_iter().take((pairs / one_in) as usize) {
            chosen[2 * p as usize..2 * p as usize + 2].fill(true);
        }
        let mut ranks = [0; LINES as usize];
        let mut before = 0;
        for (rank, chosen) in ranks.iter_mut().zip(chosen) {
            *rank = before;
            before += u16::from(chosen);
        }
        let mut next = [FAR; LINES as usize];
        // Twice around: the next one behind the last values is among the first.
        let mut further = FAR;
        for low in (0..LINES as usize).rev().cycle().take(2 * LINES as usize) {
            further = if chosen[low] { 0 } else { further.saturating_add(1) };
            next[low] = further;
        }
        Sample { one_in, next, ranks, shift: BITS - one_in.trailing_zeros() }
    }

    /// Lines that one of these stands for.
    pub(crate) fn one_in(&self) -> u32 {
        self.one_in
    }

    /// Of `sets`, how many are stored: as large a part as of the lines is simulated, to the nearest.
    pub(crate) fn sets(&self, sets: u32) -> u32 {
        ((sets + self.one_in / 2) / self.one_in).max(1)
    }

    /// Which of `sets` a stored one is; a number of its own where it is none of them.
    pub(crate) fn set(&self, stored: u32, sets: u32) -> u32 {
        if !sets.is_multiple_of(LINES) {
            return stored;
        }
        let (block, nth) = (stored >> self.shift, stored % (1 << self.shift));
        let low = self.ranks.iter().rposition(|rank| u32::from(*rank) == nth).unwrap_or(0);
        block * LINES + low as u32
    }

    /// Whether a line is simulated.
    #[inline(always)]
    pub(crate) fn has(&self, line: u32) -> bool {
        self.further(line) == 0
    }

    #[inline(always)]
    fn further(&self, line: u32) -> u32 {
        self.next[(line % LINES) as usize].into()
    }

    /// The number of simulated lines below `line`: what is kept by line lies densely by it.
    #[inline(always)]
    pub(crate) fn rank(&self, line: u32) -> u32 {
        (line >> BITS << self.shift) + u32::from(self.ranks[(line % LINES) as usize])
    }

    /// Whether any line from `first` to `last` may be simulated: of a frame's, less than one is.
    #[inline(always)]
    pub(crate) fn may_have(&self, first: u32, last: u32) -> bool {
        self.further(first) <= last - first
    }

    /// The first simulated line from `from` to `last`.
    #[inline(always)]
    pub(crate) fn first(&self, mut from: u32, last: u32) -> Option<u32> {
        while from <= last {
            match self.further(from) {
                0 => return Some(from),
                further => from += further,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_number_the_simulated_lines_without_gaps() {
        for one_in in [1, 2, 32, 64] {
            let sample = Sample::new(one_in, 7);
            let lines = (0..4 * LINES).filter(|l| sample.has(*l));
            assert!(lines.map(|l| sample.rank(l)).eq(0..4 * LINES / one_in));
            for (from, more) in [(0, 63), (5, 23), (64, 0), (1000, 63), (2047, 1), (3, 3000)] {
                let simulated: Vec<u32> = (from..=from + more).filter(|line| sample.has(*line)).collect();
                let last = from + more;
                let found: Vec<u32> =
                    std::iter::successors(sample.first(from, last), |line| sample.first(line + 1, last))
                        .collect();
                assert_eq!(found, simulated, "{from} and {more} more");
                assert!(found.is_empty() || sample.may_have(from, from + more), "{from} and {more} more");
            }
        }
    }

    #[test]
    fn stored_sets_are_those_of_the_simulated_lines() {
        for (one_in, sets) in [(1, 64), (1, 1280), (32, 1024), (32, 2048), (64, 12_288)] {
            let sample = Sample::new(one_in, 7);
            for line in (0..3 * sets).filter(|l| sample.has(*l)) {
                let stored = sample.rank(line) % sample.sets(sets);
                assert_eq!(sample.set(stored, sets), line % sets, "one in {one_in} of {sets}, line {line}");
            }
        }
    }

    #[test]
    fn other_numbers_of_sets_get_as_large_a_part() {
        for (one_in, sets, stored) in
            [(32, 64, 2), (32, 1792, 56), (32, 1280, 40), (64, 1500, 23), (64, 20, 1)]
        {
            let sample = Sample::new(one_in, 7);
            assert_eq!(sample.sets(sets), stored);
            let mut lines = vec![0; stored as usize];
            let all = (0..stored * LINES).filter(|l| sample.has(*l));
            all.for_each(|l| lines[(sample.rank(l) % stored) as usize] += 1);
            assert!(lines.iter().all(|n| *n == lines[0]), "{lines:?}");
        }
    }
}
