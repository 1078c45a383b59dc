//! What was replaced or removed, until readers have moved on.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::columns::{List, Units};
use crate::records::Records;
use crate::shared::OldView;

/// Grace periods, one at a time. Each has a number: two of them may be of the same version.
#[derive(Debug, Default)]
struct Grace {
    /// The last one that has ended.
    ended: Arc<AtomicU64>,
    /// The last one that was asked for.
    asked: u64,
    /// The version in force when it was asked for.
    version: u64,
}

impl Grace {
    /// Whether the last one has ended.
    fn has_ended(&self) -> bool {
        // Pairs with the store in `ask`: what readers did before is over.
        self.ended.load(Ordering::Acquire) == self.asked
    }

    /// Begins one, with `version` in force.
    fn ask(&mut self, version: u64) {
        (self.asked, self.version) = (self.asked + 1, version);
        let (ended, number) = (Arc::clone(&self.ended), self.asked);
        let guard = crossbeam_epoch::pin();
        // Release pairs with the load of `has_ended`. A burst that began before now has ended by then; one that began
        // later has this version at least.
        guard.defer(move || ended.store(number, Ordering::Release));
        guard.flush();
    }
}

/// Things whose grace period is the same.
#[derive(Debug, Default)]
struct Pile {
    /// Units that no version from now on has, still in their slots.
    dead: List,
    /// Units that nobody finds any more.
    cleared: List,
    views: Vec<OldView>,
    records: Vec<u32>,
}

impl Pile {
    fn append(&mut self, units: &mut Units, mut more: Pile) {
        self.dead.append(units, more.dead);
        self.cleared.append(units, more.cleared);
        self.views.append(&mut more.views);
        self.records.append(&mut more.records);
    }

    fn is_empty(&self) -> bool {
        self.dead.len() + self.cleared.len() == 0 && self.views.is_empty() && self.records.is_empty()
    }
}

/// All that waits for readers.
#[derive(Debug, Default)]
pub(crate) struct Retired {
    grace: Grace,
    /// A version that all readers have reached.
    reached: u64,
    /// Of the batch that is not committed.
    pending: Pile,
    /// No new burst has these.
    fresh: Pile,
    /// The grace period that was asked for is theirs.
    waiting: Pile,
    /// Units that no reader needs, still in their slots.
    unneeded: List,
    /// Numbers of records that are free.
    pub(crate) records: Vec<u32>,
}

impl Retired {
    /// A version that all readers have reached.
    pub(crate) fn reached(&self) -> u64 {
        self.reached
    }

    /// A unit that no version from the next one on has.
    pub(crate) fn dead(&mut self, units: &mut Units, unit: u32) {
        self.pending.dead.push(units, unit);
    }

    /// A unit that was in no slot any more, or never in one.
    pub(crate) fn cleared(&mut self, units: &mut Units, unit: u32) {
        self.fresh.cleared.push(units, unit);
    }

    /// A view that was replaced.
    pub(crate) fn view(&mut self, view: OldView) {
        self.fresh.views.push(view);
    }

    /// A record that no version from the next one on has.
    pub(crate) fn record(&mut self, number: u32) {
        self.pending.records.push(number);
    }

    /// The pending batch is in force.
    pub(crate) fn committed(&mut self, units: &mut Units) {
        let pending = core::mem::take(&mut self.pending);
        self.fresh.append(units, pending);
    }

    /// A unit to be taken out of its slot.
    pub(crate) fn unneeded(&mut self, units: &Units) -> Option<u32> {
        self.unneeded.pop(units)
    }

    /// Frees what readers have left behind, and asks for the next grace period. `version` is the one in force.
    pub(crate) fn turn(&mut self, version: u64, units: &mut Units, records: &Records) {
        if !self.grace.has_ended() {
            return;
        }
        self.reached = self.grace.version;
        if self.waiting.is_empty() && self.fresh.is_empty() && self.reached >= version {
            return;
        }
        let done = core::mem::take(&mut self.waiting);
        self.unneeded.append(units, done.dead);
        units.give(done.cleared);
        for view in done.views {
            // SAFETY: it was replaced before the grace period began, which has ended.
            unsafe { view.free() };
        }
        for number in done.records {
            // SAFETY: the grace period began in a version that has no state with it, and has ended.
            unsafe { records.take(number) };
            self.records.push(number);
        }
        // Without anything to free too: entries take steps in place once their last one is reached.
        if !self.fresh.is_empty() || self.reached < version {
            self.waiting = core::mem::take(&mut self.fresh);
            self.grace.ask(version);
        }
    }

    /// Helps the grace period on. It reads a line of each reader.
    pub(crate) fn nudge(&self) {
        if !self.grace.has_ended() {
            crossbeam_epoch::pin().flush();
        }
    }

    /// Records that wait for readers or for a commit.
    pub(crate) fn waiting_records(&self) -> u32 {
        [&self.pending, &self.fresh, &self.waiting].iter().map(|pile| pile.records.len() as u32).sum()
    }

    /// Views that may not be freed yet.
    pub(crate) fn views(&mut self) -> Vec<OldView> {
        let piles = [&mut self.pending, &mut self.fresh, &mut self.waiting];
        piles.into_iter().flat_map(|pile| core::mem::take(&mut pile.views)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns until a grace period can have ended, and the units that are free then.
    fn turned(retired: &mut Retired, units: &mut Units) -> u32 {
        let records = Records::new(0);
        for _ in 0..100 {
            retired.turn(0, units, &records);
            retired.nudge();
        }
        units.left()
    }

    #[test]
    fn each_pile_waits_for_a_grace_period_of_its_own() {
        let mut units = Units::new(8);
        let mut retired = Retired::default();
        let taken: Vec<u32> = (0..2).filter_map(|_| units.take()).collect();
        retired.cleared(&mut units, taken[0]);
        // Other tests of this process may be in bursts.
        while turned(&mut retired, &mut units) < 7 {}
        // The second one is of the same version as the first.
        let burst = crossbeam_epoch::pin();
        retired.cleared(&mut units, taken[1]);
        assert_eq!(turned(&mut retired, &mut units), 7, "the burst may have it");
        drop(burst);
        while turned(&mut retired, &mut units) < 8 {}
    }
}
