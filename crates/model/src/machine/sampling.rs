//! Which cache sets are simulated, and what the others are assumed to do.
//!
//! A set is chosen by the low ten bits of the line number, in pairs of lines: these bits are the L2's
//! whole index and part of the LLC's, so a chosen L2 set and a chosen LLC set see every access that
//! concerns them. Where a cache's number of sets is no multiple of 1024, its sets are not chosen but made: as large a
//! part of them, over which the chosen lines take turns. A core's access to any other line costs the mean of its kind's recent accesses.

use super::level::Level;
use crate::mix::mix;

/// What a core's access is about; hit rates differ between kinds, not within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// First line of a frame.
    Header,
    /// Its other lines, as far as headers go, and the first line of what is read behind them.
    Payload,
    /// Lines behind the first one of a run, in a frame or in a table.
    Run,
    /// The mbuf.
    Meta,
    /// An application's table.
    Table,
    /// A line of a table that was looked up a moment ago.
    Again,
    /// A line of words that somebody else touched since.
    Word,
}

impl Kind {
    const ALL: [Kind; 7] =
        [Kind::Header, Kind::Payload, Kind::Run, Kind::Meta, Kind::Table, Kind::Again, Kind::Word];
}

/// Loads and stores of each kind apart: a header is stored where it has just been loaded.
const KINDS: usize = 2 * Kind::ALL.len();
fn slot(kind: Kind, write: bool) -> usize {
    2 * kind as usize + usize::from(write)
}

/// Low line-address bits that choose the sample.
const BITS: u32 = 10;
/// Lines that differ in these bits.
const LINES: u32 = 1 << BITS;
/// Accesses that a kind's mean remembers.
const MEMORY: f64 = 256.0;

/// The lines that are simulated.
#[derive(Clone)]
pub(crate) struct Sample {
    one_in: u32,
    /// A bit for every value of the low line bits.
    map: [u64; (LINES / 64) as usize],
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
        let mut map = [0u64; (LINES / 64) as usize];
        for p in order.into_iter().take((pairs / one_in) as usize) {
            let line = p * 2;
            map[(line / 64) as usize] |= 3 << (line % 64);
        }
        let mut ranks = [0; LINES as usize];
        let mut before = 0;
        for (low, rank) in ranks.iter_mut().enumerate() {
            *rank = before;
            before += (map[low / 64] >> (low % 64) & 1) as u16;
        }
        Sample { one_in, map, ranks, shift: BITS - one_in.trailing_zeros() }
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
        let low = line % LINES;
        self.map[(low / 64) as usize] >> (low % 64) & 1 == 1
    }

    /// The number of simulated lines below `line`: what is kept by line lies densely by it.
    #[inline(always)]
    pub(crate) fn rank(&self, line: u32) -> u32 {
        (line >> BITS << self.shift) + u32::from(self.ranks[(line % LINES) as usize])
    }

    /// Whether any line from `first` to `last` may be simulated: of a frame's, less than one is.
    #[inline(always)]
    pub(crate) fn may_have(&self, first: u32, last: u32) -> bool {
        last - first >= 64 || self.among(first, last) != 0
    }

    /// Which of the lines from `from` to `last`, 64 at the most, are simulated: a bit each, `from` lowest.
    #[inline(always)]
    pub(crate) fn among(&self, from: u32, last: u32) -> u64 {
        let low = from % LINES;
        let (word, bit) = ((low / 64) as usize, low % 64);
        let next = self.map[(word + 1) % self.map.len()];
        // Two shifts: one by 64 is not allowed.
        let lines = self.map[word] >> bit | next << 1 << (63 - bit);
        lines & u64::MAX >> (63 - (last - from).min(63))
    }
}

/// What an access costs, ps: until the line is there, and how long the core waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub miss: u64,
    pub wait: u64,
}

/// The share of a miss that a core waits where it fetches several lines at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// Loads that do not depend on each other, the first of lines in a row, those behind it.
    pub load: f64,
    pub run: f64,
    pub behind: f64,
    /// Stores, and those into lines in a row.
    pub store: f64,
    pub store_behind: f64,
}

impl Shares {
    fn of(&self, kind: Kind, write: bool) -> f64 {
        match kind {
            Kind::Payload | Kind::Run if write => self.store_behind,
            _ if write => self.store,
            // Where to look next depends on what was found.
            Kind::Table | Kind::Again => 1.0,
            Kind::Payload => self.run,
            Kind::Run => self.behind,
            Kind::Header | Kind::Meta | Kind::Word => self.load,
        }
    }
}

/// How many [`Level`]s there are.
const LEVELS: usize = 6;
/// What each costs, ps.
pub(crate) type Levels = [u64; LEVELS];

/// Prices of levels for the cores of one node, and of a kind's accesses by what the simulated ones found.
#[derive(Clone)]
pub(crate) struct Prices {
    levels: Levels,
    /// The share of a miss that a core waits for, by level.
    shares: [[f64; LEVELS]; KINDS],
    /// Whether it is the same at each level.
    even: bool,
    /// How often a kind's lines were found at each level.
    found: [[f64; LEVELS]; KINDS],
    means: [Cost; KINDS],
}

impl Prices {
    /// Levels at so many ps, of which a core waits for such shares.
    pub(crate) fn new(levels: Levels, shares: impl Fn(Level) -> Shares) -> Prices {
        let only = |level: Level| std::array::from_fn(|l| f64::from(u8::from(l == level as usize)));
        let mut found = [only(Level::Llc); KINDS];
        found[slot(Kind::Table, false)] = only(Level::Dram);
        let mut waits = [[0.0; LEVELS]; KINDS];
        for level in Level::ALL {
            let shares = shares(level);
            for kind in Kind::ALL {
                for write in [false, true] {
                    waits[slot(kind, write)][level as usize] = shares.of(kind, write);
                }
            }
        }
        let even = waits.iter().all(|levels| levels.iter().all(|share| *share == levels[0]));
        let mut prices = Prices { levels, shares: waits, even, found, means: [Cost::default(); KINDS] };
        prices.set([(Level::Dram, levels[Level::Dram as usize])]);
        prices
    }

    /// Levels cost so many ps from now on.
    pub(crate) fn set<const N: usize>(&mut self, levels: [(Level, u64); N]) {
        for (level, ps) in levels {
            self.levels[level as usize] = ps;
        }
        for slot in 0..KINDS {
            self.mean(slot);
        }
    }

    /// A simulated access of `kind` found its line at `level`: its cost.
    #[inline]
    pub(crate) fn learn(&mut self, kind: Kind, write: bool, level: Level) -> u64 {
        let slot = slot(kind, write);
        let found = &mut self.found[slot];
        for share in found.iter_mut() {
            *share *= 1.0 - 1.0 / MEMORY;
        }
        found[level as usize] += 1.0 / MEMORY;
        self.mean(slot);
        self.levels[level as usize]
    }

    fn mean(&mut self, slot: usize) {
        let times = || self.found[slot].iter().zip(self.levels).map(|(s, c)| s * c as i64 as f64);
        let miss = times().sum::<f64>() as i64 as u64;
        self.means[slot] = if self.even {
            share(miss, self.shares[slot][0])
        } else {
            let wait: f64 = times().zip(self.shares[slot]).map(|(time, share)| time * share).sum();
            Cost { miss, wait: wait as u64 }
        };
    }

    /// Mean cost of `kind`.
    #[inline(always)]
    pub(crate) fn mean_of(&self, kind: Kind, write: bool) -> Cost {
        self.means[slot(kind, write)]
    }

    /// The cost of an access of `kind` whose line comes after `miss`, from such a level.
    #[inline(always)]
    pub(crate) fn cost(&self, kind: Kind, write: bool, miss: u64, level: Level) -> Cost {
        share(miss, self.shares[slot(kind, write)][level as usize])
    }
}

#[inline(always)]
fn share(miss: u64, share: f64) -> Cost {
    // Signed conversions: the processor has an instruction for them.
    Cost { miss, wait: (miss as i64 as f64 * share) as i64 as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_core_waits_for_may_depend_on_where_the_line_was() {
        let of = |lines: f64| {
            let one = 1.0 / lines;
            Shares { load: one, run: one, behind: one, store: one, store_behind: one }
        };
        let levels = [0, 20_000, 60_000, 60_000, 80_000, 0];
        let mut prices = Prices::new(levels, |level| of(if level == Level::SnoopL1 { 2.0 } else { 4.0 }));
        // As many lines from an L1 as from an L2, long enough to forget the rest.
        for _ in 0..4096 {
            prices.learn(Kind::Payload, false, Level::Snoop);
            prices.learn(Kind::Payload, false, Level::SnoopL1);
        }
        let Cost { miss, wait } = prices.mean_of(Kind::Payload, false);
        assert!((59_900..=60_000).contains(&miss), "{miss}");
        assert!((22_400..22_600).contains(&wait), "half of them 15 ns, half 30: {wait}");
        assert_eq!(prices.cost(Kind::Payload, false, 60_000, Level::SnoopL1).wait, 30_000);
    }

    #[test]
    fn ranks_number_the_simulated_lines_without_gaps() {
        for one_in in [1, 2, 32, 64] {
            let sample = Sample::new(one_in, 7);
            let lines = (0..4 * LINES).filter(|l| sample.has(*l));
            assert!(lines.map(|l| sample.rank(l)).eq(0..4 * LINES / one_in));
            for (from, more) in [(0, 63), (5, 23), (64, 0), (1000, 63), (2047, 1)] {
                let bits = (0..=more).filter(|i| sample.has(from + i)).fold(0, |bits, i| bits | 1 << i);
                assert_eq!(sample.among(from, from + more), bits, "{from} and {more} more");
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
