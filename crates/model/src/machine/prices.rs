//! What an access costs. A line in the sample costs what its level costs; a core's access to any other line costs the
//! mean of its kind's recent accesses.

use super::level::{LEVELS, Level};

/// What a core's access is about; hit rates differ between kinds, not within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
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

impl Access {
    const ALL: [Access; 7] = [
        Access::Header,
        Access::Payload,
        Access::Run,
        Access::Meta,
        Access::Table,
        Access::Again,
        Access::Word,
    ];
}

/// Loads and stores of each kind apart: a header is stored where it has just been loaded.
const KINDS: usize = 2 * Access::ALL.len();
fn row(kind: Access, write: bool) -> usize {
    2 * kind as usize + usize::from(write)
}

/// Accesses that a kind's mean remembers.
const MEMORY: f64 = 256.0;

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
    fn of(&self, kind: Access, write: bool) -> f64 {
        match kind {
            Access::Payload | Access::Run if write => self.store_behind,
            _ if write => self.store,
            // Where to look next depends on what was found.
            Access::Table | Access::Again => 1.0,
            Access::Payload => self.run,
            Access::Run => self.behind,
            Access::Header | Access::Meta | Access::Word => self.load,
        }
    }
}

/// What each [`Level`] costs, ps.
pub(crate) type Levels = [u64; LEVELS];

/// Prices of levels for the cores of one node, and of a kind's accesses by what the simulated ones found.
#[derive(Clone)]
pub(crate) struct Prices {
    levels: Levels,
    /// The same as numbers that are multiplied.
    times: [f64; LEVELS],
    /// The share of a miss that a core waits for, by level.
    shares: [[f64; LEVELS]; KINDS],
    /// Whether it is the same at each level.
    even: bool,
    /// How often a kind's lines were found at each level.
    found: [[f64; LEVELS]; KINDS],
    means: [Cost; KINDS],
}

impl Prices {
    /// Prices of `levels`, in ps; `shares` gives the part of each that a core waits for.
    pub(crate) fn new(levels: Levels, shares: impl Fn(Level) -> Shares) -> Prices {
        let only = |level: Level| std::array::from_fn(|l| f64::from(u8::from(l == level as usize)));
        let mut found = [only(Level::Llc); KINDS];
        found[row(Access::Table, false)] = only(Level::Dram);
        let mut waits = [[0.0; LEVELS]; KINDS];
        for level in Level::ALL {
            let shares = shares(level);
            for kind in Access::ALL {
                for write in [false, true] {
                    waits[row(kind, write)][level as usize] = shares.of(kind, write);
                }
            }
        }
        let even = waits.iter().all(|levels| levels.iter().all(|share| *share == levels[0]));
        let times = [0.0; LEVELS];
        let mut prices =
            Prices { levels, times, shares: waits, even, found, means: [Cost::default(); KINDS] };
        prices.set(levels);
        prices
    }

    /// What levels cost from now on, ps.
    pub(crate) fn set(&mut self, levels: Levels) {
        self.levels = levels;
        self.times = levels.map(|ps| ps as i64 as f64);
        for row in 0..KINDS {
            self.mean(row);
        }
    }

    /// A simulated access of `kind` found its line at `level`: its cost.
    #[inline]
    pub(crate) fn learn(&mut self, kind: Access, write: bool, level: Level) -> u64 {
        let row = row(kind, write);
        let found = &mut self.found[row];
        for share in found.iter_mut() {
            *share *= 1.0 - 1.0 / MEMORY;
        }
        found[level as usize] += 1.0 / MEMORY;
        self.mean(row);
        self.levels[level as usize]
    }

    fn mean(&mut self, row: usize) {
        let times = || self.found[row].iter().zip(self.times).map(|(share, time)| share * time);
        let miss = times().sum::<f64>() as i64 as u64;
        self.means[row] = if self.even {
            share(miss, self.shares[row][0])
        } else {
            let wait: f64 = times().zip(self.shares[row]).map(|(time, share)| time * share).sum();
            Cost { miss, wait: wait as u64 }
        };
    }

    /// Mean cost of `kind`.
    #[inline(always)]
    pub(crate) fn mean_of(&self, kind: Access, write: bool) -> Cost {
        self.means[row(kind, write)]
    }

    /// The cost of an access of `kind` whose line comes after `miss`, from such a level.
    #[inline(always)]
    pub(crate) fn cost(&self, kind: Access, write: bool, miss: u64, level: Level) -> Cost {
        share(miss, self.shares[row(kind, write)][level as usize])
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
        let levels = [0, 20_000, 60_000, 60_000, 80_000, 0, 0, 0];
        let mut prices = Prices::new(levels, |level| of(if level == Level::SnoopL1 { 2.0 } else { 4.0 }));
        // As many lines from an L1 as from an L2, long enough to forget the rest.
        for _ in 0..4096 {
            prices.learn(Access::Payload, false, Level::Snoop);
            prices.learn(Access::Payload, false, Level::SnoopL1);
        }
        let Cost { miss, wait } = prices.mean_of(Access::Payload, false);
        assert!((59_900..=60_000).contains(&miss), "{miss}");
        assert!((22_400..22_600).contains(&wait), "half of them 15 ns, half 30: {wait}");
        assert_eq!(prices.cost(Access::Payload, false, 60_000, Level::SnoopL1).wait, 30_000);
    }
}
