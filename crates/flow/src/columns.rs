//! What the writer knows of units and rules, beside what readers see.

use crate::lines::prefetch;
use crate::rule::RuleId;

/// No unit, no rule.
pub(crate) const NONE: u32 = 0;

/// Units in order, linked through [`Units::next`].
#[derive(Debug, Default)]
pub(crate) struct List {
    first: u32,
    last: u32,
    len: u32,
}

/// What the writer knows of a unit, side by side: a change touches one line of it, not four.
type Known = [u32; 4];

/// The next one in the list that a unit is in.
const NEXT: usize = 0;
/// The unit that has the rule's entry after it.
const NEWER: usize = 1;
/// The unit that had the rule's entry before it, while that has counts of its own.
const OLDER: usize = 2;
/// The table that its entry is in.
const TABLE: usize = 3;

/// What is known of all units. Its memory is zero at first and becomes resident with use.
#[derive(Debug)]
pub(crate) struct Units {
    known: Vec<Known>,
    free: List,
    /// Units from here on were never used.
    unused: u32,
    /// How many entries have that some version from the next one on has.
    live: u32,
}

/// Bytes that the writer knows of a unit and of a rule.
pub(crate) const UNIT: usize = size_of::<Known>();
pub(crate) const RULE: usize = size_of::<[u32; 2]>();

impl List {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn push(&mut self, units: &mut Units, unit: u32) {
        units.known[unit as usize][NEXT] = NONE;
        self.append(units, List { first: unit, last: unit, len: 1 });
    }

    pub(crate) fn append(&mut self, units: &mut Units, more: List) {
        match (self.len, more.len) {
            (_, 0) => {}
            (0, _) => *self = more,
            _ => {
                units.known[self.last as usize][NEXT] = more.first;
                (self.last, self.len) = (more.last, self.len + more.len);
            }
        }
    }

    pub(crate) fn pop(&mut self, units: &Units) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        let unit = self.first;
        self.first = units.known[unit as usize][NEXT];
        Some(unit)
    }
}

impl Units {
    /// Units from 1 to `limit`, all free.
    pub(crate) fn new(limit: u32) -> Units {
        let known = vec![Known::default(); limit as usize + 1];
        Units { known, free: List::default(), unused: 1, live: 0 }
    }

    pub(crate) fn newer(&self, unit: u32) -> u32 {
        self.known[unit as usize][NEWER]
    }

    pub(crate) fn older(&self, unit: u32) -> u32 {
        self.known[unit as usize][OLDER]
    }

    pub(crate) fn table(&self, unit: u32) -> u16 {
        self.known[unit as usize][TABLE] as u16
    }

    /// A unit with an entry in `table`, of a rule that had none before.
    pub(crate) fn enter(&mut self, unit: u32, table: u16) {
        let [next, ..] = self.known[unit as usize];
        self.known[unit as usize] = [next, NONE, NONE, table.into()];
    }

    /// `newer` has the entry that `older` had before it.
    pub(crate) fn succeed(&mut self, older: u32, newer: u32) {
        self.known[newer as usize][OLDER] = older;
        self.known[older as usize][NEWER] = newer;
    }

    /// A unit stands for itself; the one that had its entry before it.
    pub(crate) fn part(&mut self, unit: u32) -> u32 {
        let known = &mut self.known[unit as usize];
        known[NEWER] = NONE;
        core::mem::replace(&mut known[OLDER], NONE)
    }

    /// The counts of the unit before this one are in it.
    pub(crate) fn carried(&mut self, unit: u32) {
        self.known[unit as usize][OLDER] = NONE;
    }

    /// The unit that is taken next. What is known of it is fetched.
    pub(crate) fn upcoming(&self) -> u32 {
        let unit = if self.free.len > 0 { self.free.first } else { self.unused };
        prefetch(&self.known, unit as usize);
        unit
    }

    /// How many there are.
    pub(crate) fn limit(&self) -> u32 {
        self.known.len() as u32 - 1
    }

    /// How many are free.
    pub(crate) fn left(&self) -> u32 {
        self.free.len + (self.known.len() as u32 - self.unused)
    }

    /// How many an entry gave up that are not free yet.
    pub(crate) fn retiring(&self) -> u32 {
        self.limit() - self.left() - self.live
    }

    /// An entry with `n` units begins.
    pub(crate) fn begin(&mut self, n: usize) {
        self.live += n as u32;
    }

    /// An entry with `n` units ends with the next version.
    pub(crate) fn end(&mut self, n: usize) {
        self.live -= n as u32;
    }

    pub(crate) fn take(&mut self) -> Option<u32> {
        let mut free = core::mem::take(&mut self.free);
        let unit = free.pop(self);
        self.free = free;
        unit.or_else(|| {
            let unit = self.unused;
            ((unit as usize) < self.known.len()).then(|| self.unused += 1)?;
            Some(unit)
        })
    }

    pub(crate) fn give(&mut self, units: List) {
        let mut free = core::mem::take(&mut self.free);
        free.append(self, units);
        self.free = free;
    }

    /// Bytes of it.
    pub(crate) fn bytes(&self) -> usize {
        self.known.len() * UNIT
    }
}

/// What is known of all rules.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The unit of its entry, of a free one the next free one, plus one; and the generation: odd while it is there.
    known: Vec<[u32; 2]>,
    free: u32,
    unused: u32,
    live: u32,
}

impl Rules {
    pub(crate) fn new(limit: u32) -> Rules {
        Rules { known: vec![[0; 2]; limit as usize], free: 0, unused: 0, live: 0 }
    }

    /// Rules that are there.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    pub(crate) fn left(&self) -> u32 {
        self.known.len() as u32 - self.live
    }

    /// A name for the rule whose entry is `unit`.
    pub(crate) fn add(&mut self, unit: u32) -> Option<RuleId> {
        let index = match self.free.checked_sub(1) {
            Some(index) => {
                [self.free, _] = self.known[index as usize];
                // The next one that is added.
                prefetch(&self.known, self.free.wrapping_sub(1) as usize);
                index
            }
            None if (self.unused as usize) < self.known.len() => {
                self.unused += 1;
                self.unused - 1
            }
            None => return None,
        };
        let [entry, generation] = &mut self.known[index as usize];
        (*entry, *generation) = (unit, generation.wrapping_add(1));
        self.live += 1;
        Some(RuleId { index, generation: *generation })
    }

    /// The unit of its entry, if the rule is there.
    pub(crate) fn unit(&self, id: RuleId) -> Option<u32> {
        let [entry, generation] = *self.known.get(id.index as usize)?;
        (generation == id.generation && generation % 2 == 1).then_some(entry)
    }

    /// Another unit has the entry of a rule that is there.
    pub(crate) fn set(&mut self, index: u32, unit: u32) {
        self.known[index as usize][0] = unit;
    }

    /// Removes a rule that is there.
    pub(crate) fn remove(&mut self, index: u32) {
        let [entry, generation] = &mut self.known[index as usize];
        (*entry, *generation) = (self.free, generation.wrapping_add(1));
        self.free = index + 1;
        self.live -= 1;
    }

    /// The rules with an index from `from` on.
    pub(crate) fn all(&self, from: u32) -> impl Iterator<Item = (RuleId, u32)> + '_ {
        (from..self.unused).filter_map(|index| {
            let id = RuleId { index, generation: self.known[index as usize][1] };
            self.unit(id).map(|unit| (id, unit))
        })
    }

    /// Bytes of it.
    pub(crate) fn bytes(&self) -> usize {
        self.known.len() * RULE
    }
}
