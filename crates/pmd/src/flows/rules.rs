//! The rules as control threads change them: flow tables, RSS contexts and what is told of a rule by its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use flow::{Action, Count, Limits, Match, Reader, Rule, RuleId, Writer};
use nic::{CONTEXTS, Contexts};

use super::clock::{TICKS, now};
use super::fault::{Fault, FlowPart};
use super::wanted::{Context, Wanted};
use crate::limits::PATIENCE_S;

/// Ticks for which a change is tried again while readers hold what it needs.
const PATIENCE: u32 = PATIENCE_S as u32 * TICKS;

/// The rules.
pub(crate) struct Rules {
    writer: Writer,
    contexts: Arc<Contexts>,
    /// The number of each context, and how many rules name it.
    known: BTreeMap<Context, (u16, u32)>,
    /// Contexts of rules that were removed, until that is committed.
    released: Vec<u16>,
    /// Of rules that have one.
    notes: BTreeMap<u64, Note>,
}

/// What the tables do not know of a rule.
#[derive(Default)]
struct Note {
    context: Option<u16>,
    /// What its age is told by.
    age: u64,
    /// What it had counted when its count was reset.
    base: Count,
}

/// What a query of a rule's age tells.
pub(crate) struct Age {
    /// Whether it is old.
    pub(crate) old: bool,
    /// Seconds since its last frame.
    pub(crate) idle_s: u32,
}

impl Rules {
    /// # Errors
    /// The limits are not possible.
    pub(super) fn new(limits: Limits, contexts: Arc<Contexts>) -> Result<Rules, Fault> {
        let writer = Writer::new(limits)?;
        Ok(Rules { writer, contexts, known: BTreeMap::new(), released: Vec::new(), notes: BTreeMap::new() })
    }

    pub(super) fn reader(&self) -> Reader {
        self.writer.reader()
    }

    pub(super) fn len(&self) -> u32 {
        self.writer.len()
    }

    pub(super) fn tick(&mut self) {
        self.writer.set_tick(now());
    }

    /// Adds a rule to the batch; its name, which is never 0.
    ///
    /// # Errors
    /// The rule is not allowed, is there, or does not fit.
    pub(crate) fn insert(&mut self, wanted: &Wanted<'_>) -> Result<u64, Fault> {
        let matching = wanted.matching()?;
        let context = wanted.rss().map(|(at, context)| self.take_context(at, context)).transpose()?;
        let done = wanted.actions(context).and_then(|actions| self.enter(wanted, matching, actions));
        match (done, context) {
            (Ok(name), None) if wanted.age_context == 0 => Ok(name),
            (Ok(name), _) => {
                self.notes.insert(name, Note { context, age: wanted.age_context, ..Note::default() });
                Ok(name)
            }
            (Err(fault), _) => {
                self.give_context(context);
                Err(fault)
            }
        }
    }

    fn enter(&mut self, wanted: &Wanted<'_>, matching: Match, actions: Vec<Action>) -> Result<u64, Fault> {
        let group = u16::try_from(wanted.group);
        let group = group.map_err(|_| {
            let text = format!("group {}; 0 to 65535 are allowed", wanted.group);
            Fault::new(FlowPart::Group, 0, libc::EINVAL, text)
        })?;
        let end = actions.len();
        let rule = Rule { group, priority: wanted.priority, matching, actions: actions.into() };
        let id = self.change(|writer| writer.insert(&rule)).map_err(|fault| match fault.part {
            // What is missing is none of the list.
            FlowPart::Action if fault.index as usize == end => Fault { part: FlowPart::Actions, ..fault },
            _ => fault,
        })?;
        Ok(id.bits())
    }

    /// Whether a rule could be added: it is, and goes again before anybody sees it.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub(crate) fn check(&mut self, wanted: &Wanted<'_>) -> Result<(), Fault> {
        let name = self.insert(wanted)?;
        self.remove(name)?;
        self.commit();
        Ok(())
    }

    /// Removes a rule with the batch.
    ///
    /// # Errors
    /// It is not there, or readers hold what its removal needs.
    pub(crate) fn remove(&mut self, name: u64) -> Result<(), Fault> {
        let id = RuleId::from_bits(name);
        self.change(|writer| writer.remove(id))?;
        if let Some(note) = self.notes.remove(&name) {
            self.give_context(note.context);
        }
        Ok(())
    }

    /// Removes all rules.
    ///
    /// # Errors
    /// As [`remove`](Self::remove): some may be left then.
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        let all: Vec<RuleId> = self.writer.rules().collect();
        let done = all.into_iter().try_for_each(|id| self.remove(id.bits()));
        self.commit();
        done
    }

    /// Shows the batch to the engine.
    pub(crate) fn commit(&mut self) {
        self.writer.commit();
        for number in self.released.drain(..) {
            self.contexts.remove(number);
        }
    }

    /// What a rule has counted since it was inserted, or since the last reset.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn count(&mut self, name: u64, reset: bool) -> Result<Count, Fault> {
        let now = self.writer.count(RuleId::from_bits(name))?;
        let base = self.notes.get(&name).map_or(Count::default(), |note| note.base);
        if reset {
            self.notes.entry(name).or_default().base = now;
        }
        Ok(Count { frames: now.frames - base.frames, bytes: now.bytes - base.bytes })
    }

    /// Whether a rule counts, and whether it grows old.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn tells(&self, name: u64) -> Result<(bool, Option<u32>), Fault> {
        let rule = self.writer.rule(RuleId::from_bits(name)).ok_or(flow::Error::NoRule)?;
        let age = rule.actions.iter().find_map(|a| if let Action::Age(age) = a { Some(*age) } else { None });
        Ok((rule.actions.contains(&Action::Count), age))
    }

    /// The age of a rule that grows old.
    ///
    /// # Errors
    /// It is not there, or has no age.
    pub(crate) fn age(&self, name: u64) -> Result<Age, Fault> {
        let idle = self.writer.idle(RuleId::from_bits(name))?;
        let (_, age) = self.tells(name)?;
        let none = || Fault::new(FlowPart::Whole, 0, libc::EINVAL, "the rule has no action AGE");
        Ok(Age { old: idle >= age.ok_or_else(none)?, idle_s: idle / TICKS })
    }

    /// What old rules are told by, of as many as there are.
    pub(crate) fn aged(&mut self) -> Vec<u64> {
        let all = self.writer.len() as usize;
        let names = self.writer.aged(all).into_iter().map(|id| id.bits());
        let told = |name| self.notes.get(&name).map_or(0, |note| note.age);
        names.map(|name| if told(name) == 0 { name } else { told(name) }).collect()
    }

    /// A change that may need what readers hold until their bursts end.
    fn change<R>(&mut self, change: impl Fn(&mut Writer) -> Result<R, flow::Error>) -> Result<R, Fault> {
        let held =
            |done: &Result<R, flow::Error>| matches!(done, Err(flow::Error::Full { retiring: 1.., .. }));
        Ok(self.patiently(|rules| change(&mut rules.writer), held)?)
    }

    /// Tries again while readers hold what is wanted. None of them waits for anything, but a thread may lose its CPU.
    fn patiently<R>(&mut self, mut attempt: impl FnMut(&mut Rules) -> R, held: impl Fn(&R) -> bool) -> R {
        let start = now();
        loop {
            let done = attempt(self);
            if !held(&done) || now().wrapping_sub(start) > PATIENCE {
                return done;
            }
            // Only what is committed can be left behind.
            self.commit();
            std::thread::yield_now();
        }
    }

    /// The number of a context, which one more rule names with action `at`.
    fn take_context(&mut self, at: usize, context: Context) -> Result<u16, Fault> {
        if let Some((number, rules)) = self.known.get_mut(&context) {
            *rules += 1;
            return Ok(*number);
        }
        let wrong = |code, text: String| Fault::new(FlowPart::Action, at, code, text);
        let full = || format!("RSS contexts are full: {CONTEXTS} of other queues, keys or types are allowed");
        let made = context.made().map_err(|text| wrong(libc::EINVAL, text))?;
        // Those of rules that are gone become free when bursts of now have ended.
        let free = |rules: &mut Rules| rules.contexts.add(&made);
        let number = self.patiently(free, Option::is_none).ok_or_else(|| wrong(libc::ENOSPC, full()))?;
        self.known.insert(context, (number, 1));
        Ok(number)
    }

    /// One rule less names a context. Its number is given back with the commit.
    fn give_context(&mut self, number: Option<u16>) {
        let Some(number) = number else { return };
        let left = self.known.values_mut().find(|(known, _)| *known == number).map(|(_, rules)| {
            *rules -= 1;
            *rules
        });
        if left == Some(0) {
            self.known.retain(|_, (known, _)| *known != number);
            self.released.push(number);
        }
    }
}
