//! The hash table of a mask: from the hash of a key to the units that may have it.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::lines::{Line, Lines, prefetch};
use crate::same;
use crate::version::Slot;

/// Slots of a bucket.
const SLOTS: usize = 7;
/// The word that counts entries which lie behind a bucket because it was full.
const PASSED: usize = 7;
/// The logarithm of the most buckets.
pub(crate) const MOST: u32 = 24;

/// Buckets of one line, a power of two of them.
#[derive(Debug)]
pub(crate) struct Buckets {
    lines: Lines,
    log: u32,
}

/// What a bucket has of a hash: the number of a unit. There may be others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct First(pub(crate) u32);

impl First {
    /// No unit, in no bucket.
    pub(crate) const NONE: First = First(u32::MAX);
    /// If there are units, they lie in other slots or in buckets behind this one.
    pub(crate) const ELSEWHERE: First = First(0);

    /// The unit.
    #[inline(always)]
    pub(crate) fn unit(self) -> Option<u32> {
        // Both that are none at once.
        (self.0.wrapping_sub(1) < u32::MAX - 1).then_some(self.0)
    }
}

/// Entries per bucket at which a table grows.
pub(crate) const DENSE: usize = 5;

/// The most bytes of the tables of `tuples` masks with `units` entries, while all of them grow.
pub(crate) const fn bytes(units: u64, tuples: u64) -> u64 {
    // A table of twice the size beside one that is dense; of each at least two buckets.
    units * 3 * 64 / DENSE as u64 + tuples * 2 * Lines::bytes(2)
}

fn slot(hash: u32, unit: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(unit)
}

/// The bucket that an entry belongs into: the upper bits of its hash.
#[inline(always)]
fn home(hash: u32, log: u32) -> usize {
    ((u64::from(hash) << log) >> 32) as usize
}

/// The buckets of a table, by hash. It is a copy: a prefetch makes a compiler read again what lies in memory.
#[derive(Clone, Copy)]
pub(crate) struct Homes<'a> {
    lines: &'a [Line],
    log: u32,
}

impl<'a> Homes<'a> {
    #[inline(always)]
    pub(crate) fn prefetch(self, hash: u32) {
        prefetch(self.lines, home(hash, self.log));
    }

    /// The bucket where a hash belongs.
    #[inline(always)]
    pub(crate) fn line(self, hash: u32) -> &'a Line {
        &self.lines[home(hash, self.log)]
    }

    /// What the bucket where it belongs has of a hash.
    #[inline(always)]
    pub(crate) fn first(self, hash: u32) -> First {
        first(self.line(hash), hash)
    }
}

/// What a bucket has of a hash.
#[inline(always)]
pub(crate) fn first(line: &Line, hash: u32) -> First {
    let same = same::slots(line, hash);
    if same != 0 {
        // The lower half of a slot; 0 where it was cleared between the two looks.
        return First(Slot(&line[same.trailing_zeros() as usize / 2 % SLOTS]).get() as u32);
    }
    // Relaxed: as in `search`.
    if line[PASSED].load(Ordering::Relaxed) == 0 { First::NONE } else { First::ELSEWHERE }
}

impl Buckets {
    /// Two to the power of `log` empty buckets.
    pub(crate) fn new(log: u32) -> Buckets {
        Buckets { lines: Lines::new(1 << log), log }
    }

    pub(crate) fn log(&self) -> u32 {
        self.log
    }

    pub(crate) fn len(&self) -> usize {
        1 << self.log
    }

    #[inline(always)]
    fn home(&self, hash: u32) -> usize {
        home(hash, self.log)
    }

    #[inline(always)]
    fn line(&self, at: usize) -> &Line {
        &self.lines.all()[at & (self.len() - 1)]
    }

    /// The buckets, for a loop over keys.
    #[inline(always)]
    pub(crate) fn homes(&self) -> Homes<'_> {
        Homes { lines: self.lines.all(), log: self.log }
    }

    /// Calls `look` with each unit that has this hash until it breaks.
    #[inline(always)]
    pub(crate) fn search(&self, hash: u32, mut look: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        let home = self.home(hash);
        for at in home..home + self.len() {
            let line = self.line(at);
            units(line, hash, &mut look)?;
            // Relaxed: what a reader's snapshot has was counted before its version, which the clock orders.
            if line[PASSED].load(Ordering::Relaxed) == 0 {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds a unit that is not here. False: all buckets are full.
    #[must_use]
    pub(crate) fn insert(&self, hash: u32, unit: u32) -> bool {
        let home = self.home(hash);
        let Some((steps, free)) = self.find(home, 0) else { return false };
        self.pass(home, steps, 1);
        Slot(free).set(slot(hash, unit));
        true
    }

    /// Removes a unit. False: it is not here.
    pub(crate) fn remove(&self, hash: u32, unit: u32) -> bool {
        let home = self.home(hash);
        let Some((steps, word)) = self.find(home, slot(hash, unit)) else { return false };
        // Relaxed: a reader that finds it still finds an entry that is absent.
        word.store(0, Ordering::Relaxed);
        self.pass(home, steps, u64::MAX);
        true
    }

    /// Puts another unit with the same hash in the place of one.
    pub(crate) fn replace(&self, hash: u32, old: u32, new: u32) {
        if let Some((_, word)) = self.find(self.home(hash), slot(hash, old)) {
            Slot(word).set(slot(hash, new));
        }
    }

    /// What bucket `at` has: hashes and units.
    pub(crate) fn bucket(&self, at: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let words = self.line(at)[..SLOTS].iter().map(|word| word.load(Ordering::Relaxed));
        words.filter(|word| *word != 0).map(|word| ((word >> 32) as u32, word as u32))
    }

    /// The first slot from bucket `home` on that has `word`, and how many buckets lie before it. An empty slot may be
    /// in any bucket; an entry only where the buckets before it were passed.
    fn find(&self, home: usize, word: u64) -> Option<(usize, &AtomicU64)> {
        for steps in 0..self.len() {
            let line = self.line(home + steps);
            if let Some(found) = line[..SLOTS].iter().find(|w| w.load(Ordering::Relaxed) == word) {
                return Some((steps, found));
            }
            if word != 0 && line[PASSED].load(Ordering::Relaxed) == 0 {
                return None;
            }
        }
        None
    }

    /// Adds to the counts of the `steps` buckets from `home` on. Only the writer stores them.
    fn pass(&self, home: usize, steps: usize, by: u64) {
        for at in home..home + steps {
            let count = &self.line(at)[PASSED];
            let old = count.load(Ordering::Relaxed);
            // Relaxed: the clock orders it, see `all`.
            count.store(old.wrapping_add(by), Ordering::Relaxed);
        }
    }
}

/// Calls `look` with each unit in a bucket that has this hash until it breaks.
#[inline(always)]
fn units(line: &Line, hash: u32, mut look: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut same = same::slots(line, hash);
    while same != 0 {
        let word = Slot(&line[same.trailing_zeros() as usize / 2 % SLOTS]).get();
        same &= same - 1;
        same &= same - 1;
        // It may have changed since.
        if (word >> 32) as u32 == hash && word as u32 != 0 {
            look(word as u32)?;
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(table: &Buckets, hash: u32) -> Vec<u32> {
        let mut all = Vec::new();
        let _ = table.search(hash, |unit| {
            all.push(unit);
            ControlFlow::Continue(())
        });
        all
    }

    #[test]
    fn units_are_found_behind_full_buckets_until_they_are_removed() {
        for hash in [1, 0x7fff_ffff, u32::MAX] {
            let table = Buckets::new(3);
            assert!((1..=56).all(|unit| table.insert(hash, unit)), "eight buckets of seven");
            assert!(!table.insert(hash, 57) && !table.insert(1 << 30, 57));
            assert_eq!(all(&table, hash).len(), 56);
            assert!(table.remove(hash, 1) && !table.remove(hash, 1));
            assert!(all(&table, hash).contains(&56), "it still lies behind a bucket with room");
            table.replace(hash, 56, 99);
            assert!((2..=55).chain([99]).all(|unit| table.remove(hash, unit)));
            assert_eq!(all(&table, hash), []);
            assert!((0..8).all(|at| table.line(at).iter().all(|w| w.load(Ordering::Relaxed) == 0)));
        }
    }
}
