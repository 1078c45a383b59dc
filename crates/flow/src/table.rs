//! The writer's half of a tuple: the hash table of a mask, and how it grows.

use core::ops::ControlFlow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::buckets::{Buckets, DENSE, MOST};
use crate::mask::Mask;
use crate::view::{self, Tuple};

/// Buckets that an insertion moves.
const MOVED: usize = 2;

/// The entries of rules with the same mask in the same group.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) group: u16,
    pub(crate) mask: Arc<Mask>,
    new: Arc<Buckets>,
    old: Option<Old>,
    /// Entries in slots.
    used: usize,
    /// How many entries have which priority, those that readers may still need included.
    priorities: BTreeMap<u32, u32>,
    /// The best of them, as the first key says.
    best: u32,
}

/// The table that one of twice the size replaces.
#[derive(Debug)]
struct Old {
    buckets: Arc<Buckets>,
    /// Buckets before this one are in the new table too.
    next: usize,
}

/// How soon readers have to see a change of the tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// There is none.
    Nothing,
    /// When the batch is committed.
    WithCommit,
    /// At once: a table that they may search gets no more changes.
    AtOnce,
}

impl Table {
    pub(crate) fn new(group: u16, mask: Mask) -> Table {
        let new = Arc::new(Buckets::new(0));
        Table {
            group,
            mask: Arc::new(mask),
            new,
            old: None,
            used: 0,
            priorities: BTreeMap::new(),
            best: u32::MAX,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// What readers are to see.
    pub(crate) fn tuple(&self) -> Tuple {
        Tuple {
            mask: Arc::clone(&self.mask),
            order: view::order(self.best, 0),
            new: Arc::clone(&self.new),
            old: self.old.as_ref().map(|old| Arc::clone(&old.buckets)),
        }
    }

    /// Fetches what a look for a hash begins with.
    pub(crate) fn prefetch(&self, hash: u32) {
        self.new.homes().prefetch(hash);
        if let Some(old) = &self.old {
            old.buckets.homes().prefetch(hash);
        }
    }

    /// The first unit with this hash that is `wanted`.
    pub(crate) fn find(&self, hash: u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let mut found = None;
        let tables = [Some(&self.new), self.old.as_ref().map(|old| &old.buckets)];
        let _ = tables.into_iter().flatten().try_for_each(|table| {
            table.search(hash, |unit| {
                found = wanted(unit).then_some(unit);
                if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        found
    }

    /// Adds a unit. None: all buckets are full.
    pub(crate) fn insert(&mut self, hash: u32, unit: u32, priority: u32) -> Option<Change> {
        let mut change = self.grow();
        if !self.new.insert(hash, unit) {
            return None;
        }
        // Readers do not know an empty one.
        if self.used == 0 {
            change = change.max(Change::WithCommit);
        }
        self.used += 1;
        *self.priorities.entry(priority).or_default() += 1;
        if priority < self.best {
            self.best = priority;
            change = change.max(Change::WithCommit);
        }
        Some(change)
    }

    /// Removes a unit; none where it is not here.
    pub(crate) fn remove(&mut self, hash: u32, unit: u32, priority: u32) -> Option<Change> {
        let was_old = self.old.as_ref().is_some_and(|old| old.buckets.remove(hash, unit));
        let was_new = self.new.remove(hash, unit);
        (was_old || was_new).then(|| self.used -= 1)?;
        if let Some(n) = self.priorities.get_mut(&priority) {
            *n -= 1;
            if *n == 0 {
                self.priorities.remove(&priority);
                let best = self.priorities.keys().next().copied().unwrap_or(u32::MAX);
                let before = core::mem::replace(&mut self.best, best);
                return Some(if before == best { Change::Nothing } else { Change::WithCommit });
            }
        }
        Some(Change::Nothing)
    }

    /// Puts a unit in the place of one with the same key and priority.
    pub(crate) fn replace(&self, hash: u32, old: u32, new: u32) {
        self.new.replace(hash, old, new);
        if let Some(table) = &self.old {
            table.buckets.replace(hash, old, new);
        }
    }

    /// Begins to grow where the table is dense, and goes on with it.
    fn grow(&mut self) -> Change {
        let mut change = Change::Nothing;
        if self.old.is_none() && self.used >= DENSE * self.new.len() && self.new.log() < MOST {
            let new = Arc::new(Buckets::new(self.new.log() + 1));
            self.old = Some(Old { buckets: core::mem::replace(&mut self.new, new), next: 0 });
            change = Change::WithCommit;
        }
        let Some(old) = &mut self.old else { return change };
        for at in old.next..old.buckets.len().min(old.next + MOVED) {
            for (hash, unit) in old.buckets.bucket(at) {
                // The new table has twice the room.
                let _fits = self.new.insert(hash, unit);
                debug_assert!(_fits);
            }
            old.next = at + 1;
        }
        if old.next == old.buckets.len() {
            self.old = None;
            change = Change::AtOnce;
        }
        change
    }

    /// Bytes of its hash tables.
    pub(crate) fn bytes(&self) -> usize {
        let buckets = self.new.len() + self.old.as_ref().map_or(0, |old| old.buckets.len());
        buckets * 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::WORDS;

    impl Table {
        /// Slots in use, of both tables.
        fn slots(&self) -> usize {
            let tables = [Some(&self.new), self.old.as_ref().map(|old| &old.buckets)];
            let tables = tables.into_iter().flatten();
            tables.map(|table| (0..table.len()).map(|at| table.bucket(at).count()).sum::<usize>()).sum()
        }
    }

    /// The hash of a unit: many have the same.
    fn hash(unit: u32) -> u32 {
        (unit % 50).wrapping_mul(0x9e37_79b1)
    }

    #[test]
    fn a_table_has_what_was_put_in_while_it_grows() {
        let mut table = Table::new(0, Mask::new(&[0; WORDS]).unwrap());
        let mut there = std::collections::BTreeSet::new();
        let (steps, often) = if cfg!(miri) { (200, 5) } else { (4000, 10) };
        let (mut next, mut chance, mut growing) = (1, 7_u64, 0);
        for _ in 0..steps {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let old: Option<u32> = there.iter().nth((chance >> 40) as usize % there.len().max(1)).copied();
            match (chance >> 33 & 7, old) {
                (0 | 1, Some(unit)) => {
                    assert!(table.remove(hash(unit), unit, 5).is_some());
                    assert!(table.remove(hash(unit), unit, 5).is_none());
                    there.remove(&unit);
                }
                (2, Some(unit)) => {
                    table.replace(hash(unit), unit, next * 50 + unit % 50);
                    there.remove(&unit);
                    there.insert(next * 50 + unit % 50);
                    next += 1;
                }
                _ => {
                    let unit = next * 50 + (chance >> 50) as u32 % 50;
                    assert!(table.insert(hash(unit), unit, 5).is_some());
                    there.insert(unit);
                    next += 1;
                }
            }
            growing += u32::from(table.old.is_some());
            for unit in &there {
                assert_eq!(table.find(hash(*unit), |u| u == *unit), Some(*unit));
            }
        }
        assert!(growing > often, "it grew in {growing} steps");
        for unit in there {
            assert!(table.remove(hash(unit), unit, 5).is_some());
        }
        assert_eq!((table.slots(), table.is_empty(), table.best), (0, true, u32::MAX));
    }
}
