//! What a NIC half tells of its state, such as the frames that it keeps: written to EAL memory now and then.

use core::sync::atomic::Ordering::Relaxed;

use arrayvec::ArrayVec;
use rings::{AnyNic, Nic};

use crate::View;
use crate::counters::{Counters, LEVELS};

/// Turns between two looks: one may add up all flows of a port.
const TURNS: u32 = 64;

/// Which counters of a NIC half are levels.
pub(crate) struct Levels {
    which: ArrayVec<usize, LEVELS>,
    turns: u32,
}

impl Levels {
    /// Those with these names.
    pub(crate) fn of(nic: &AnyNic<View>, names: &[&str]) -> Levels {
        let all = nic.counters();
        let find = |name: &&str| all.iter().position(|(theirs, _)| theirs == name);
        Levels { which: names.iter().filter_map(find).take(LEVELS).collect(), turns: 0 }
    }

    /// A turn has passed.
    #[inline(always)]
    pub(super) fn look(&mut self, nic: &AnyNic<View>, counters: &Counters) {
        if self.which.is_empty() {
            return;
        }
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(TURNS) {
            self.tell(nic, counters);
        }
    }

    /// Writes them as they are.
    #[cold]
    pub(super) fn tell(&self, nic: &AnyNic<View>, counters: &Counters) {
        for (told, i) in counters.levels.iter().zip(&self.which) {
            told.store(nic.counter(*i).map_or(0, |(_, value)| value), Relaxed); // a statistic: orders nothing
        }
    }
}

/// The NIC half is gone.
pub(super) fn forget(counters: &Counters) {
    counters.levels.iter().for_each(|told| told.store(0, Relaxed)); // a statistic: orders nothing
}
