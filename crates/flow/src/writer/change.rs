//! Insertion, removal, updates.

use super::*;
use arrayvec::ArrayVec;

use crate::arena::{Arena, units_of};
use crate::hash;
use crate::sizes::MASK_WORDS;

impl Writer {
    /// Adds a rule.
    ///
    /// # Errors
    /// The rule is not allowed, is there already, or does not fit.
    pub fn insert(&mut self, rule: &Rule<'_>) -> Result<RuleId, Error> {
        self.work();
        self.group(rule.group)?;
        let plan = self.plan(&rule.actions, &rule.matching)?;
        let place = self.place(rule.group, &rule.matching)?;
        if self.twin(&place, rule.priority, &rule.matching).is_some() {
            return Err(Error::Exists);
        }
        let inline = State::of(&plan);
        self.room(Resource::Rules, 1)?;
        self.room(Resource::Records, u32::from(inline.is_none()))?;
        self.room(Resource::Units, units_of(place.words) as u32)?;
        self.room(Resource::Tuples, u32::from(place.table.is_none()))?;
        let state = inline.unwrap_or_else(|| self.record(&plan));
        let unit = self.enter(place, rule.priority, &rule.matching, state)?;
        let id = self.rules.add(unit).ok_or(Error::NoRule)?;
        Ok(id)
    }

    /// Removes a rule.
    ///
    /// # Errors
    /// The rule is not there. Or there is no unit to remove it with, which it takes where readers may still be before
    /// its last change.
    pub fn remove(&mut self, id: RuleId) -> Result<(), Error> {
        self.work();
        let unit = self.rules.unit(id).ok_or(Error::NoRule)?;
        self.room_for_step(unit, 0)?;
        let last = self.take_step(unit, State::ABSENT)?;
        self.bury(last);
        let mut chain = last;
        while chain != NONE {
            chain = self.units.part(chain);
        }
        self.rules.remove(id.index);
        Ok(())
    }

    /// Replaces what a rule does. It keeps its place, its count and its name.
    ///
    /// # Errors
    /// The rule is not there, its actions are not allowed, or they do not fit.
    pub fn update_actions(&mut self, id: RuleId, actions: &[Action]) -> Result<(), Error> {
        self.work();
        let unit = self.rules.unit(id).ok_or(Error::NoRule)?;
        let decap = actions.iter().any(|a| matches!(a, Action::VxlanDecap));
        // Only one check of actions looks at the match.
        let matching = if decap { self.rule(id).ok_or(Error::NoRule)?.matching } else { Match::any() };
        let plan = self.plan(actions, &matching)?;
        let inline = State::of(&plan);
        self.room(Resource::Records, u32::from(inline.is_none()))?;
        self.room_for_step(unit, 0)?;
        let state = inline.unwrap_or_else(|| self.record(&plan));
        let last = self.take_step(unit, state)?;
        self.rules.set(id.index, last);
        Ok(())
    }

    /// Replaces what a rule asks of a frame. It keeps group, priority, actions, count and name.
    ///
    /// # Errors
    /// The rule is not there; another one has this match; its actions go with the old match alone; or it does not fit.
    pub fn update_match(&mut self, id: RuleId, matching: &Match) -> Result<(), Error> {
        self.work();
        let unit = self.rules.unit(id).ok_or(Error::NoRule)?;
        // Fetched while the new place is found.
        self.shared.arena.units().prefetch(unit);
        let group = self.table(self.units.table(unit)).ok_or(Error::NoRule)?.group;
        let place = self.place(group, matching)?;
        if let Some(table) = place.table.and_then(|number| self.table(number)) {
            table.prefetch(place.hash);
        }
        let state = self.last(unit);
        // Only actions that need a record may need a match.
        if let Form::Record(number) = state.form()
            && let Some(record) = self.shared.records.mine(number)
        {
            Plan::new(&record.list, matching)?;
        }
        let priority = self.shared.arena.priority(unit);
        match self.twin(&place, priority, matching) {
            Some(same) if same == unit => return Ok(()),
            Some(_) => return Err(Error::Exists),
            None => {}
        }
        self.room(Resource::Tuples, u32::from(place.table.is_none()))?;
        self.room_for_step(unit, units_of(place.words) as u32)?;
        let tick = self.last_tick(unit);
        // The state moves, with its record: only the old entry ends here.
        let last = self.end(unit, State::ABSENT)?;
        let new = self.enter(place, priority, matching, state)?;
        self.shared.arena.touch(new, tick);
        self.bury(last);
        self.units.succeed(last, new);
        self.rules.set(id.index, new);
        Ok(())
    }

    fn group(&self, group: u16) -> Result<(), Error> {
        let last = (self.limits.groups - 1) as u16;
        if group <= last { Ok(()) } else { Err(Error::Group { group, last }) }
    }

    fn plan<'a>(&self, actions: &'a [Action], matching: &Match) -> Result<Plan<'a>, Error> {
        let plan = Plan::new(actions, matching)?;
        match plan.fate {
            Fate::Jump(group) => self.group(group).map(|()| plan),
            _ => Ok(plan),
        }
    }

    fn place(&self, group: u16, matching: &Match) -> Result<Place, Error> {
        let known = self.groups[usize::from(group)].iter().find_map(|number| {
            let mask = &self.table(*number)?.mask;
            (mask.all() == matching.mask()).then_some((*number, mask))
        });
        let of =
            |table, mask: &Mask| Place { group, table, hash: mask.hash(matching.value()), words: mask.len() };
        match known {
            Some((number, mask)) => Ok(of(Some(number), mask)),
            None => Ok(of(None, &Mask::new(matching.mask())?)),
        }
    }

    /// The entry there with this match and priority.
    fn twin(&self, place: &Place, priority: u32, matching: &Match) -> Option<u32> {
        let table = self.table(place.table?)?;
        let arena = &self.shared.arena;
        table.find(place.hash, |unit| {
            arena.priority(unit) == priority
                && self.last(unit) != State::ABSENT
                && arena.holds(unit, &table.mask, matching.value())
        })
    }

    /// A state for a plan that needs a record, for which there is room.
    fn record(&mut self, plan: &Plan<'_>) -> State {
        let number = self.retired.records.pop().unwrap_or_else(|| {
            self.unused_record += 1;
            self.unused_record - 1
        });
        self.shared.records.put(number, Record::new(plan));
        self.changed = true;
        State::record(number)
    }

    /// A new entry, for which there is room.
    fn enter(&mut self, place: Place, priority: u32, matching: &Match, state: State) -> Result<u32, Error> {
        // Making room may have emptied the table that there was.
        let number = match place.table.filter(|number| self.table(*number).is_some()) {
            Some(number) => number,
            None => self.add_table(Table::new(place.group, Mask::new(matching.mask())?)),
        };
        let table = self.tables[usize::from(number)].as_mut().ok_or(Error::NoRule)?;
        let words: ArrayVec<u64, MASK_WORDS> = table.mask.words(&matching.value().words).collect();
        let units = take_units(&mut self.units, units_of(words.len()), &self.shared.arena)?;
        let unit = units[0];
        self.shared.arena.fill(&units, priority, self.tick, words.into_iter());
        self.shared.arena.stamp(unit).begin(self.version + 1, State::ABSENT.0, state.0);
        // There are fewer units than slots in the largest table.
        let change = table.insert(place.hash, unit, priority).unwrap_or(Change::Nothing);
        self.changed = true;
        self.units.enter(unit, number);
        self.changed(place.group, change);
        Ok(unit)
    }

    fn add_table(&mut self, table: Table) -> u16 {
        let group = table.group;
        let free = self.tables.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.tables.push(None);
            self.tables.len() - 1
        });
        self.tables[number] = Some(table);
        self.groups[usize::from(group)].push(number as u16);
        number as u16
    }

    /// Makes sure that the entry can take a step, with `more` units beside.
    fn room_for_step(&mut self, unit: u32, more: u32) -> Result<(), Error> {
        let (last, _) = self.shared.arena.stamp(unit).last();
        let soon = last != self.version + 1 && last > self.retired.reached();
        let words = self.table(self.units.table(unit)).map_or(0, |t| t.mask.len());
        let needed = if soon { units_of(words) as u32 } else { 0 };
        self.room(Resource::Units, more + needed).map_err(|error| match error {
            // Once readers have moved on, no other unit is needed.
            Error::Full { what, limit, retiring } => Error::Full { what, limit, retiring: retiring + needed },
            other => other,
        })
    }

    /// A step of an entry to another state, with the next commit; the unit that has it then.
    fn take_step(&mut self, unit: u32, after: State) -> Result<u32, Error> {
        if let Form::Record(number) = self.last(unit).form() {
            self.retired.record(number);
        }
        self.end(unit, after)
    }

    /// The same, where the state before goes on elsewhere.
    fn end(&mut self, unit: u32, after: State) -> Result<u32, Error> {
        let next = self.version + 1;
        let reached = self.retired.reached();
        self.changed = true;
        if self.shared.arena.stamp(unit).step(next, after.0, reached) {
            return Ok(unit);
        }
        self.succeed(unit, after)
    }

    /// A new unit in the place of one, which keeps the versions up to the one in force.
    fn succeed(&mut self, old: u32, after: State) -> Result<u32, Error> {
        let number = self.units.table(old);
        let table = self.tables[usize::from(number)].as_ref().ok_or(Error::NoRule)?;
        let arena = &self.shared.arena;
        let words: ArrayVec<u64, MASK_WORDS> = arena.key(old, table.mask.len()).collect();
        let hash = hash::of(words.iter().copied());
        let units = take_units(&mut self.units, units_of(words.len()), arena)?;
        let new = units[0];
        arena.fill(&units, arena.priority(old), arena.tick(old), words.into_iter());
        arena.stamp(new).begin(self.version + 1, State::link(old).0, after.0);
        table.replace(hash, old, new);
        self.units.enter(new, number);
        self.units.succeed(old, new);
        self.bury(old);
        Ok(new)
    }
}

/// Units of a new entry, for which there is room. That of the next one is fetched: a store that waits for its line holds
/// up all behind it.
fn take_units(units: &mut Units, n: usize, arena: &Arena) -> Result<ArrayVec<u32, 3>, Error> {
    let full = Error::Full { what: Resource::Units, limit: units.limit(), retiring: 0 };
    units.begin(n);
    let taken = (0..n).map(|_| units.take().ok_or(full)).collect();
    arena.units().prefetch(units.upcoming());
    taken
}
