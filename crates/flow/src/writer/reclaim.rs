//! Room: what readers have left behind is used again, a little with each change.

use super::*;
use arrayvec::ArrayVec;

use crate::arena::units_of;
use crate::hash;

/// Units that a change takes out of their slots beside its own work: more than it makes, so that they do not add up.
const CLEARED: usize = 4;
/// Changes between two times that the grace period is helped on.
const NUDGED: u32 = 32;
/// How often room is looked for before the tables count as full. A grace period takes three epochs; units take two.
const TRIES: usize = 16;

/// Units on their way out of their slots: each change takes them a step further, whose lines came since the last one.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// Their units are fetched.
    near: ArrayVec<u32, CLEARED>,
    /// Their buckets are fetched, by the hash beside them.
    ready: ArrayVec<(u32, u32), CLEARED>,
}

impl Writer {
    /// What every change does first.
    pub(super) fn work(&mut self) {
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(NUDGED) {
            self.retired.nudge();
        }
        self.turn();
        self.clear();
    }

    /// Makes sure that there is room for `n` more of a resource.
    pub(super) fn room(&mut self, what: Resource, n: u32) -> Result<(), Error> {
        if n == 0 || self.left(what) >= n {
            return Ok(());
        }
        for _ in 0..TRIES {
            self.retired.nudge();
            self.turn();
            self.clear_all();
            if self.left(what) >= n {
                return Ok(());
            }
        }
        let (limit, retiring) = match what {
            Resource::Rules => (self.limits.rules, 0),
            Resource::Units => (self.limits.units, self.units.retiring()),
            Resource::Records => (self.limits.records, self.retired.waiting_records()),
            Resource::Tuples => (self.limits.tuples, 0),
            Resource::Groups => (self.limits.groups, 0),
        };
        Err(Error::Full { what, limit, retiring })
    }

    fn left(&self, what: Resource) -> u32 {
        match what {
            Resource::Rules => self.rules.left(),
            Resource::Units => self.units.left(),
            Resource::Records => self.limits.records - self.unused_record + self.retired.records.len() as u32,
            Resource::Tuples => {
                let used = self.tables.iter().flatten().count();
                self.limits.tuples.saturating_sub(used as u32)
            }
            Resource::Groups => 0,
        }
    }

    fn turn(&mut self) {
        self.retired.turn(self.version, &mut self.units, &self.shared.records);
    }

    /// The entry in a unit ends with the next version.
    pub(super) fn bury(&mut self, unit: u32) {
        let words = self.table(self.units.table(unit)).map_or(0, |table| table.mask.len());
        self.units.end(units_of(words));
        self.retired.dead(&mut self.units, unit);
    }

    /// Takes units that no reader needs a step further out of their slots, those that come first out.
    fn clear(&mut self) {
        let Leaving { near, ready } = core::mem::take(&mut self.leaving);
        for (unit, hash) in ready {
            self.carry(unit);
            self.take_out(unit, hash);
        }
        for unit in near {
            let Some(table) = self.table(self.units.table(unit)) else { continue };
            let hash = hash::of(self.shared.arena.key(unit, table.mask.len()));
            table.prefetch(hash);
            self.leaving.ready.push((unit, hash));
        }
        while !self.leaving.near.is_full()
            && let Some(unit) = self.retired.unneeded(&self.units)
        {
            self.shared.arena.units().prefetch(unit);
            self.leaving.near.push(unit);
        }
    }

    /// Takes all of them out.
    fn clear_all(&mut self) {
        loop {
            self.clear();
            if self.leaving.near.is_empty() && self.leaving.ready.is_empty() {
                return;
            }
        }
    }

    /// Adds what a unit has counted to the one that has its rule's entry after it. Units end in the order in which they
    /// were replaced, so there is none before this one.
    fn carry(&mut self, unit: u32) {
        let newer = self.units.newer(unit);
        if newer == NONE {
            return;
        }
        self.units.carried(newer);
        let arena = &self.shared.arena;
        arena.add(newer, arena.count(unit));
        arena.touch(newer, later(arena.tick(newer), arena.tick(unit)));
    }

    fn take_out(&mut self, unit: u32, hash: u32) {
        let number = self.units.table(unit);
        let Some(table) = self.tables[usize::from(number)].as_mut() else { return };
        let arena = &self.shared.arena;
        let words = table.mask.len();
        let change = table.remove(hash, unit, arena.priority(unit));
        let (group, empty) = (table.group, table.is_empty());
        for other in arena.others(unit, words) {
            self.retired.cleared(&mut self.units, other);
        }
        self.retired.cleared(&mut self.units, unit);
        if empty {
            self.tables[usize::from(number)] = None;
            self.groups[usize::from(group)].retain(|table| *table != number);
            self.publish(group);
        } else {
            self.changed(group, change.unwrap_or(Change::Nothing));
        }
    }
}
