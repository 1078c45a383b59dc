//! What the writer knows of units and rules, beside what readers see.

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

/// Columns of all units. Their memory is zero at first and becomes resident with use.
#[derive(Debug)]
pub(crate) struct Units {
    /// The next one in the list that a unit is in.
    next: Vec<u32>,
    /// The unit that has the rule's entry after it.
    pub(crate) newer: Vec<u32>,
    /// The unit that had the rule's entry before it, while that has counts of its own.
    pub(crate) older: Vec<u32>,
    /// The table that its entry is in.
    pub(crate) table: Vec<u16>,
    free: List,
    /// Units from here on were never used.
    unused: u32,
    /// How many entries have that some version from the next one on has.
    live: u32,
}

impl List {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn push(&mut self, units: &mut Units, unit: u32) {
        units.next[unit as usize] = NONE;
        self.append(units, List { first: unit, last: unit, len: 1 });
    }

    pub(crate) fn append(&mut self, units: &mut Units, more: List) {
        match (self.len, more.len) {
            (_, 0) => {}
            (0, _) => *self = more,
            _ => {
                units.next[self.last as usize] = more.first;
                (self.last, self.len) = (more.last, self.len + more.len);
            }
        }
    }

    pub(crate) fn pop(&mut self, units: &Units) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        let unit = self.first;
        self.first = units.next[unit as usize];
        Some(unit)
    }
}

impl Units {
    /// Units from 1 to `limit`, all free.
    pub(crate) fn new(limit: u32) -> Units {
        let n = limit as usize + 1;
        let column = || vec![0; n];
        let free = List::default();
        Units {
            next: column(),
            newer: column(),
            older: column(),
            table: vec![0; n],
            free,
            unused: 1,
            live: 0,
        }
    }

    /// How many there are.
    pub(crate) fn limit(&self) -> u32 {
        self.next.len() as u32 - 1
    }

    /// How many are free.
    pub(crate) fn left(&self) -> u32 {
        self.free.len + (self.next.len() as u32 - self.unused)
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
            ((unit as usize) < self.next.len()).then(|| self.unused += 1)?;
            Some(unit)
        })
    }

    pub(crate) fn give(&mut self, units: List) {
        let mut free = core::mem::take(&mut self.free);
        free.append(self, units);
        self.free = free;
    }

    /// Bytes of the columns.
    pub(crate) fn bytes(&self) -> usize {
        self.next.len() * (3 * 4 + 2)
    }
}

/// Columns of all rules.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The unit of its entry; of a free one the next free one, plus one.
    pub(crate) entry: Vec<u32>,
    /// Odd while it is there.
    generation: Vec<u32>,
    free: u32,
    unused: u32,
    live: u32,
}

impl Rules {
    pub(crate) fn new(limit: u32) -> Rules {
        let n = limit as usize;
        Rules { entry: vec![0; n], generation: vec![0; n], free: 0, unused: 0, live: 0 }
    }

    /// Rules that are there.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    pub(crate) fn left(&self) -> u32 {
        self.entry.len() as u32 - self.live
    }

    /// A name for the rule whose entry is `unit`.
    pub(crate) fn add(&mut self, unit: u32) -> Option<RuleId> {
        let index = match self.free.checked_sub(1) {
            Some(index) => {
                self.free = self.entry[index as usize];
                index
            }
            None if (self.unused as usize) < self.entry.len() => {
                self.unused += 1;
                self.unused - 1
            }
            None => return None,
        };
        let generation = &mut self.generation[index as usize];
        *generation = generation.wrapping_add(1);
        let id = RuleId { index, generation: *generation };
        self.entry[index as usize] = unit;
        self.live += 1;
        Some(id)
    }

    /// The unit of its entry, if the rule is there.
    pub(crate) fn unit(&self, id: RuleId) -> Option<u32> {
        let same = self.generation.get(id.index as usize) == Some(&id.generation);
        (same && id.generation % 2 == 1).then(|| self.entry[id.index as usize])
    }

    /// Removes a rule that is there.
    pub(crate) fn remove(&mut self, index: u32) {
        let generation = &mut self.generation[index as usize];
        *generation = generation.wrapping_add(1);
        self.entry[index as usize] = self.free;
        self.free = index + 1;
        self.live -= 1;
    }

    /// The rules with an index from `from` on.
    pub(crate) fn all(&self, from: u32) -> impl Iterator<Item = (RuleId, u32)> + '_ {
        (from..self.unused).filter_map(|index| {
            let id = RuleId { index, generation: self.generation[index as usize] };
            self.unit(id).map(|unit| (id, unit))
        })
    }

    /// Bytes of the columns.
    pub(crate) fn bytes(&self) -> usize {
        self.entry.len() * 8
    }
}
