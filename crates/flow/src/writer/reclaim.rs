//! Room: what readers have left behind is used again, a little with each change.

use super::*;
use crate::arena::units_of;
use crate::hash;

/// Units that a change takes out of their slots beside its own work: more than it makes, so that they do not add up.
const CLEARED: usize = 4;
/// Changes between two times that the grace period is helped on.
const NUDGED: u32 = 32;
/// How often room is looked for before the tables count as full. A grace period takes three epochs; units take two.
const TRIES: usize = 16;

impl Writer {
    /// What every change does first.
    pub(super) fn work(&mut self) {
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(NUDGED) {
            self.retired.nudge();
        }
        self.turn();
        self.clear(CLEARED);
    }

    /// Makes sure that there is room for `n` more of a resource.
    pub(super) fn room(&mut self, what: Resource, n: u32) -> Result<(), Error> {
        if n == 0 || self.left(what) >= n {
            return Ok(());
        }
        for _ in 0..TRIES {
            self.retired.nudge();
            self.turn();
            self.clear(usize::MAX);
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
        let words = self.table(self.units.table[unit as usize]).map_or(0, |table| table.mask.len());
        self.units.end(units_of(words));
        self.retired.dead(&mut self.units, unit);
    }

    /// Takes up to `most` units that no reader needs out of their slots.
    fn clear(&mut self, most: usize) {
        for _ in 0..most {
            let Some(unit) = self.retired.unneeded(&self.units) else { return };
            self.carry(unit);
            self.take_out(unit);
        }
    }

    /// Adds what a unit has counted to the one that has its rule's entry after it. Units end in the order in which they
    /// were replaced, so there is none before this one.
    fn carry(&mut self, unit: u32) {
        let newer = self.units.newer[unit as usize];
        if newer == NONE {
            return;
        }
        self.units.older[newer as usize] = NONE;
        let arena = &self.shared.arena;
        arena.add(newer, arena.count(unit));
        arena.touch(newer, later(arena.tick(newer), arena.tick(unit)));
    }

    fn take_out(&mut self, unit: u32) {
        let number = self.units.table[unit as usize];
        let Some(table) = self.tables[usize::from(number)].as_mut() else { return };
        let arena = &self.shared.arena;
        let words = table.mask.len();
        let hash = hash::of(arena.key(unit, words));
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
