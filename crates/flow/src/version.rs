//! Versions: how a step of many entries becomes visible at one moment. The proof is in docs/flow-tables.md.
//!
//! Generic over the atomic word, so that a model checker runs the same lines.

use core::sync::atomic::{AtomicU64, Ordering};

/// A word that threads share.
pub trait Atomic {
    /// Its value.
    fn load(&self, order: Ordering) -> u64;
    /// Sets its value.
    fn store(&self, value: u64, order: Ordering);
}

impl Atomic for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
}

/// The version in force.
#[derive(Debug, Default)]
pub struct Clock<A>(pub A);

impl<A: Atomic> Clock<A> {
    /// The version as of which a burst sees all.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        // Pairs with the store of `commit`: every step up to this version is visible.
        self.0.load(Ordering::Acquire)
    }

    /// Puts `version` in force, with all that was stored before.
    pub fn commit(&self, version: u64) {
        // Pairs with the load of `now`.
        self.0.store(version, Ordering::Release);
    }
}

/// Where readers find an entry.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a, A>(pub &'a A);

impl<A: Atomic> Slot<'_, A> {
    /// What is there.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        // Pairs with the store of `set`: the entry that it names was written before.
        self.0.load(Ordering::Acquire)
    }

    /// Puts an entry there, which was written before.
    pub fn set(&self, value: u64) {
        // Pairs with the load of `get`.
        self.0.store(value, Ordering::Release);
    }
}

/// What an entry is at each version: one state before that of its last step, another from then on.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a, A> {
    /// Version of the last step, shifted by one; bit 0 says which half holds since then.
    pub when: &'a A,
    /// The state before the last step and the one since then.
    pub halves: [&'a A; 2],
}

impl<A: Atomic> Stamp<'_, A> {
    /// Its state at `version`, the reader's snapshot.
    #[inline(always)]
    pub fn at(&self, version: u64) -> u64 {
        // Relaxed: the clock orders steps up to this version, and no later step stores the half that this one reads.
        let when = self.when.load(Ordering::Relaxed);
        let half = (when & 1) ^ u64::from(version < when >> 1);
        // Both are loaded: the choice is not guessed.
        let [first, second] = self.halves.map(|half| half.load(Ordering::Relaxed));
        if half == 0 { first } else { second }
    }

    /// Version and state of the last step. For the writer, which alone stores them.
    pub fn last(&self) -> (u64, u64) {
        let when = self.when.load(Ordering::Relaxed);
        (when >> 1, self.halves[(when & 1) as usize].load(Ordering::Relaxed))
    }

    /// A new entry, which no reader can reach: `before` until `version`, then `after`.
    pub fn begin(&self, version: u64, before: u64, after: u64) {
        self.halves[0].store(before, Ordering::Relaxed);
        self.halves[1].store(after, Ordering::Relaxed);
        // The slot orders these three.
        self.when.store(version << 1 | 1, Ordering::Relaxed);
    }

    /// A step at `version`, the next one to be committed. `reached` is a version that all readers have reached.
    /// False: some reader may need the state before the last step, and nothing is changed.
    #[must_use]
    pub fn step(&self, version: u64, after: u64, reached: u64) -> bool {
        let when = self.when.load(Ordering::Relaxed);
        let (last, half) = (when >> 1, when & 1);
        if last == version {
            // Nobody has that version yet, so nobody reads this half.
            self.halves[half as usize].store(after, Ordering::Relaxed);
            return true;
        }
        if last > reached {
            return false;
        }
        let half = half ^ 1;
        self.halves[half as usize].store(after, Ordering::Relaxed);
        self.when.store(version << 1 | half, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_state() {
        let words = [const { AtomicU64::new(0) }; 3];
        let stamp = Stamp { when: &words[0], halves: [&words[1], &words[2]] };
        stamp.begin(5, 0, 10);
        assert_eq!([4, 5, 6].map(|v| stamp.at(v)), [0, 10, 10]);
        assert!(!stamp.step(6, 11, 4), "a reader may be at 4");
        assert_eq!([4, 5, 6].map(|v| stamp.at(v)), [0, 10, 10]);
        assert!(stamp.step(6, 11, 5));
        assert!(stamp.step(6, 12, 5), "not committed yet");
        assert_eq!([5, 6, 7].map(|v| stamp.at(v)), [10, 12, 12]);
        assert_eq!(stamp.last(), (6, 12));
        assert!(stamp.step(9, 0, 6));
        assert_eq!([6, 8, 9].map(|v| stamp.at(v)), [12, 12, 0]);
    }
}
