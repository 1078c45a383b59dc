//! What was replaced or removed, until readers have moved on.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::columns::{List, Units};
use crate::records::Records;
use crate::shared::OldView;

/// The grace period: a version that all readers have reached.
#[derive(Debug, Default)]
struct Grace {
    reached: Arc<AtomicU64>,
    /// The version that was asked for, until it is reached.
    asked: Option<u64>,
}

impl Grace {
    fn reached(&self) -> u64 {
        // Pairs with the addition in `ask`: what readers did before is over.
        self.reached.load(Ordering::Acquire)
    }

    /// Asks to be told when all readers have reached `version`, which is in force.
    fn ask(&mut self, version: u64) {
        let reached = Arc::clone(&self.reached);
        let guard = crossbeam_epoch::pin();
        // Release pairs with the load of `reached`. A burst that began before now has ended by then; one that began
        // later has this version at least.
        guard.defer(move || reached.fetch_max(version, Ordering::Release));
        guard.flush();
        self.asked = Some(version);
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
        self.grace.reached()
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
        if let Some(asked) = self.grace.asked {
            if self.grace.reached() < asked {
                return;
            }
            self.grace.asked = None;
            let done = core::mem::take(&mut self.waiting);
            self.unneeded.append(units, done.dead);
            units.give(done.cleared);
            for view in done.views {
                // SAFETY: it was replaced before the grace period was asked for.
                unsafe { view.free() };
            }
            for number in done.records {
                // SAFETY: the grace period was asked for in a version that has no state with it.
                unsafe { records.take(number) };
                self.records.push(number);
            }
        }
        // No version past the last one that was reached: the next step of a fresh entry needs that too.
        if !self.fresh.is_empty() || self.grace.reached() < version {
            self.waiting = core::mem::take(&mut self.fresh);
            self.grace.ask(version);
        }
    }

    /// Helps the grace period on. It reads a line of each reader.
    pub(crate) fn nudge(&self) {
        if self.grace.asked.is_some() {
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
