//! The rules as control threads change them: flow tables, RSS contexts and what is told of a rule by its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use flow::{Action, Count, Limits, Match, Reader, Rule, RuleId, Writer};
use nic::{CONTEXTS, Contexts};

use super::ages::Ages;
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
    ages: Ages,
}

/// What the tables do not know of a rule.
#[derive(Default)]
struct Note {
    context: Option<u16>,
    /// Ticks after which it is old; 0 for never.
    timeout: u32,
    /// What its age is told by; 0 for its name.
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
        let (known, notes) = (BTreeMap::new(), BTreeMap::new());
        Ok(Rules { writer, contexts, known, released: Vec::new(), notes, ages: Ages::default() })
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
        match done {
            Ok(name) => {
                let timeout = wanted.timeout();
                self.note(name, Note { context, timeout, age: wanted.age_context, ..Note::default() });
                Ok(name)
            }
            Err(fault) => {
                self.give_context(context);
                Err(fault)
            }
        }
    }

    fn note(&mut self, name: u64, note: Note) {
        if note.timeout != 0 {
            self.ages.add(name, now().saturating_add(note.timeout));
        }
        if note.timeout != 0 || note.context.is_some() {
            self.notes.insert(name, note);
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
            self.ages.remove(name);
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

    /// Whether a rule counts.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn counts(&self, name: u64) -> Result<bool, Fault> {
        let rule = self.writer.rule(RuleId::from_bits(name)).ok_or(flow::Error::NoRule)?;
        Ok(rule.actions.contains(&Action::Count))
    }

    /// The age of a rule that grows old.
    ///
    /// # Errors
    /// It is not there, or has no age.
    pub(crate) fn age(&self, name: u64) -> Result<Age, Fault> {
        let idle = self.writer.idle(RuleId::from_bits(name))?;
        let timeout = self.timeout(name);
        if timeout == 0 {
            return Err(Fault::new(FlowPart::Whole, 0, libc::EINVAL, "the rule has no action AGE"));
        }
        Ok(Age { old: idle >= timeout, idle_s: idle / TICKS })
    }

    /// Ticks after which a rule is old; 0 for never.
    fn timeout(&self, name: u64) -> u32 {
        self.notes.get(&name).map_or(0, |note| note.timeout)
    }

    /// Looks at up to `most` rules that may have grown old; whether there are more to look at.
    pub(super) fn look(&mut self, most: usize) -> bool {
        let now = now();
        for _ in 0..most {
            let Some(name) = self.ages.first(now) else { return false };
            match self.writer.idle(RuleId::from_bits(name)) {
                Ok(idle) => self.ages.looked(name, now.wrapping_sub(idle), self.timeout(name), now),
                Err(_) => self.ages.remove(name),
            }
        }
        true
    }

    /// Whether the application is to hear that rules have grown old.
    pub(super) fn tell_of_age(&mut self) -> bool {
        self.ages.tell()
    }

    /// Whether any rule grows old.
    pub(super) fn ages(&self) -> bool {
        self.ages.any()
    }

    /// What old rules are told by. What grows old from now on is news.
    pub(crate) fn aged(&mut self) -> Vec<u64> {
        self.look(usize::MAX);
        self.ages.asked();
        let old = |name: &u64| self.age(*name).is_ok_and(|age| age.old);
        let told = |name| self.notes.get(&name).map_or(0, |note| note.age);
        let names = self.ages.names().filter(old);
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
