//! Changes: one thread at a time makes them, in batches that become visible at one moment.

mod change;
mod reclaim;

use std::sync::Arc;

use crate::action::{Action, Fate, Plan};
use crate::arena::Count;
use crate::columns::{NONE, Rules, Units};
use crate::error::{Error, Resource};
use crate::limits::Limits;
use crate::mask::Mask;
use crate::matching::Match;
use crate::reader::Reader;
use crate::records::Record;
use crate::retired::Retired;
use crate::rule::{Rule, RuleId};
use crate::shared::Shared;
use crate::state::{Form, State};
use crate::table::{Change, Table};
use crate::view::View;
use reclaim::Leaving;

/// Makes changes. They belong to a batch until [`commit`](Writer::commit) shows it to readers. What the writer itself
/// looks at has the batch in it.
///
/// A change that fails changes nothing; those before it stay in the batch. A batch that is never committed is never seen.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    limits: Limits,
    units: Units,
    rules: Rules,
    retired: Retired,
    leaving: Leaving,
    tables: Vec<Option<Table>>,
    /// The tables of each group.
    groups: Vec<Vec<u16>>,
    /// Groups whose view is to be replaced with the commit.
    stale: Vec<u16>,
    /// The version in force.
    version: u64,
    /// Whether there is a batch.
    changed: bool,
    tick: u32,
    /// Changes, for work that is done now and then.
    turns: u32,
    /// Records from here on were never used.
    unused_record: u32,
    /// Where the next look for old rules begins.
    aged_from: u32,
}

/// Where a match belongs.
struct Place {
    group: u16,
    /// The table of its mask, if there is one.
    table: Option<u16>,
    hash: u32,
    /// Words of its entry.
    words: usize,
}

impl Writer {
    /// Empty tables. Their memory is reserved now: [`Limits::bytes`] tells how much.
    ///
    /// # Errors
    /// A limit is out of range.
    pub fn new(limits: Limits) -> Result<Writer, Error> {
        limits.check()?;
        Ok(Writer {
            shared: Arc::new(Shared::new(&limits)),
            limits,
            units: Units::new(limits.units),
            rules: Rules::new(limits.rules),
            retired: Retired::default(),
            leaving: Leaving::default(),
            tables: Vec::new(),
            groups: vec![Vec::new(); limits.groups as usize],
            stale: Vec::new(),
            version: 0,
            changed: false,
            tick: 0,
            turns: 0,
            unused_record: 0,
            aged_from: 0,
        })
    }

    /// A reader of these tables.
    pub fn reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.shared))
    }

    /// Rules that are installed.
    pub fn len(&self) -> u32 {
        self.rules.live()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the time, in ticks of any length that readers use too. A new rule has had its last frame then.
    pub fn set_tick(&mut self, tick: u32) {
        self.tick = tick;
    }

    /// Shows the batch to readers: bursts that begin from now on see all of it, others nothing. The version of the tables.
    pub fn commit(&mut self) -> u64 {
        for group in core::mem::take(&mut self.stale) {
            self.publish(group);
        }
        if core::mem::take(&mut self.changed) {
            self.version += 1;
            self.shared.clock.commit(self.version);
            self.retired.committed(&mut self.units);
        }
        self.retired.turn(self.version, &mut self.units, &self.shared.records);
        self.version
    }

    /// A rule; none where it is not there.
    pub fn rule(&self, id: RuleId) -> Option<Rule<'static>> {
        let unit = self.rules.unit(id)?;
        let table = self.table(self.units.table(unit))?;
        let value = self.shared.arena.values(unit, &table.mask);
        let actions = match self.last(unit).form() {
            Form::Inline(inline) => inline.actions(),
            Form::Record(number) => self.shared.records.mine(number)?.list.to_vec(),
            Form::Absent | Form::Link(_) => return None,
        };
        Some(Rule {
            group: table.group,
            priority: self.shared.arena.priority(unit),
            matching: Match::from_words(value, *table.mask.all()),
            actions: actions.into(),
        })
    }

    /// All rules, in no order that means anything.
    pub fn rules(&self) -> impl Iterator<Item = RuleId> + '_ {
        self.rules.all(0).map(|(id, _)| id)
    }

    /// What a rule has counted since it was inserted.
    ///
    /// # Errors
    /// The rule is not there.
    pub fn count(&self, id: RuleId) -> Result<Count, Error> {
        let mut unit = self.rules.unit(id).ok_or(Error::NoRule)?;
        let mut sum = Count::default();
        while unit != NONE {
            let count = self.shared.arena.count(unit);
            sum = Count { frames: sum.frames + count.frames, bytes: sum.bytes + count.bytes };
            unit = self.units.older(unit);
        }
        Ok(sum)
    }

    /// Ticks that have passed since a rule had its last frame, or since it was inserted. Only rules with the action `Age`
    /// know their last frame.
    ///
    /// # Errors
    /// The rule is not there.
    pub fn idle(&self, id: RuleId) -> Result<u32, Error> {
        let unit = self.rules.unit(id).ok_or(Error::NoRule)?;
        Ok(self.tick.wrapping_sub(self.last_tick(unit)))
    }

    /// Rules that had no frame for the time that their action `Age` names. Looks at `most` rules, from where the last
    /// call ended; all have been looked at when `len` of them were.
    pub fn aged(&mut self, most: usize) -> Vec<RuleId> {
        let mut old = Vec::new();
        let mut end = 0;
        for (id, unit) in self.rules.all(self.aged_from).take(most) {
            end = id.index + 1;
            let Form::Record(number) = self.last(unit).form() else { continue };
            let record = self.shared.records.mine(number);
            let idle = self.tick.wrapping_sub(self.last_tick(unit));
            if record.and_then(|r| r.age).is_some_and(|age| idle >= age) {
                old.push(id);
            }
        }
        self.aged_from = if self.rules.all(end).next().is_none() { 0 } else { end };
        old
    }

    /// Bytes that the tables take now, of which [`Limits::bytes`] is the most. Arena and columns count whole. Beside it
    /// there are records, views and priorities.
    pub fn bytes(&self) -> usize {
        let arena = (self.limits.units as usize + 1) * 64;
        let tables: usize = self.tables.iter().flatten().map(Table::bytes).sum();
        arena + self.units.bytes() + self.rules.bytes() + tables
    }

    /// The latest of the ticks that an entry and those before it had.
    fn last_tick(&self, mut unit: u32) -> u32 {
        let mut last = self.shared.arena.tick(unit);
        while self.units.older(unit) != NONE {
            unit = self.units.older(unit);
            last = later(last, self.shared.arena.tick(unit));
        }
        last
    }

    /// The state of an entry with the batch in it.
    fn last(&self, unit: u32) -> State {
        State(self.shared.arena.stamp(unit).last().1)
    }

    fn table(&self, number: u16) -> Option<&Table> {
        self.tables.get(usize::from(number))?.as_ref()
    }

    /// Replaces the view of a group.
    fn publish(&mut self, group: u16) {
        let tables = self.groups[usize::from(group)].iter();
        let tuples: Vec<_> = tables.filter_map(|t| self.table(*t)).map(Table::tuple).collect();
        let view = (!tuples.is_empty()).then(|| View::new(tuples));
        if let Some(old) = self.shared.publish(group, view) {
            self.retired.view(old);
        }
    }

    /// Lets readers see a change of a group's tuples when they have to.
    fn changed(&mut self, group: u16, change: Change) {
        match change {
            Change::Nothing => {}
            Change::WithCommit if self.stale.contains(&group) => {}
            Change::WithCommit => self.stale.push(group),
            Change::AtOnce => self.publish(group),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.leave(self.retired.views());
    }
}

/// The later of two ticks, which wrap.
fn later(a: u32, b: u32) -> u32 {
    if (b.wrapping_sub(a) as i32) > 0 { b } else { a }
}
