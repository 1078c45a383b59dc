//! The rules as control threads change them: flow tables, RSS contexts and what is told of a rule by its name.

mod handles;
mod old;
mod spread;

use std::collections::BTreeMap;
use std::sync::Arc;

use flow::{Action, Count, Limits, Match, Reader, Rule, RuleId, Writer};
use nic::Contexts;

use super::ages::{Ages, Name};
use super::clock::{TICKS, now};
use super::fault::{Fault, FlowPart};
use super::shared::SharedActions;
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
    /// Actions that rules share.
    shared: SharedActions,
    ages: Ages,
    /// The tick of the call.
    now: u32,
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
    /// Actions that it shares with others.
    shared: Vec<u64>,
}

impl Rules {
    /// # Errors
    /// The limits are not possible.
    pub(super) fn new(limits: Limits, contexts: Arc<Contexts>) -> Result<Rules, Fault> {
        let writer = Writer::new(limits)?;
        Ok(Rules {
            writer,
            contexts,
            known: BTreeMap::new(),
            released: Vec::new(),
            notes: BTreeMap::new(),
            shared: SharedActions::default(),
            ages: Ages::default(),
            now: now(),
        })
    }

    pub(super) fn reader(&self) -> Reader {
        self.writer.reader()
    }

    pub(super) fn len(&self) -> u32 {
        self.writer.len()
    }

    /// A call begins.
    pub(super) fn tick(&mut self) {
        self.now = now();
        self.writer.set_tick(self.now);
    }

    /// Adds a rule to the batch; its name, which is never 0.
    ///
    /// # Errors
    /// The rule is not allowed, is there, or does not fit.
    pub(crate) fn insert(&mut self, wanted: &Wanted<'_>) -> Result<u64, Fault> {
        let matching = wanted.matching()?;
        let context = wanted.rss().map(|(at, context)| self.take_context(at, context)).transpose()?;
        let actions = wanted.actions(context, &self.shared);
        match actions.and_then(|actions| self.enter(wanted, matching, actions)) {
            Ok(name) => {
                let (timeout, shared) = (wanted.timeout(), wanted.shared());
                let note = Note { context, timeout, age: wanted.age_context, shared, ..Note::default() };
                self.note(name, note);
                Ok(name)
            }
            Err(fault) => {
                self.give_context(context);
                Err(fault)
            }
        }
    }

    /// Keeps what the tables do not know of a rule, if there is anything.
    fn note(&mut self, name: u64, note: Note) {
        if note.timeout != 0 {
            self.ages.add(Name::Rule(name), self.now.saturating_add(note.timeout));
        }
        self.join(name, &note.shared);
        if note.timeout != 0 || note.context.is_some() || !note.shared.is_empty() {
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
        let last = self.last_words(id)?;
        self.change(|writer| writer.remove(id))?;
        if let Some(note) = self.notes.remove(&name) {
            self.ages.remove(Name::Rule(name));
            self.leave(name, &note.shared, last);
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
}
