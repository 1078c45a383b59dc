//! Scripts of changes and look-ups.

use std::collections::BTreeMap;

use super::draft::{Acts, Ask, Draft, Shape};
use super::reference::{Expected, Reference};
use crate::action::Action;
use crate::arena::Count;
use crate::error::{Error, Resource};
use crate::key::Key;
use crate::limits::Limits;
use crate::reader::{Burst, Reader};
use crate::rule::RuleId;
use crate::verdict::Verdict;
use crate::writer::Writer;

/// One step. Rules are chosen by number among those that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Inserts a rule.
    Insert(Draft),
    /// Removes one.
    Remove(u8),
    /// Replaces the actions of one.
    Act(u8, Acts),
    /// Replaces the match of one.
    Ask(u8, Ask),
    /// Shows the batch.
    Commit,
    /// Looks a frame up, now and in every burst that is held.
    Look(Shape),
    /// Begins a burst and holds it.
    Hold,
    /// Ends the burst that is held the longest.
    Release,
}

/// Steps from any bytes.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    let mut ops = Vec::new();
    while let Some(op) = bytes.next() {
        let mut next = || bytes.next().unwrap_or(0);
        ops.push(match op % 16 {
            0..=3 => {
                let (group, priority) = (next(), next());
                let ask = Ask { kind: next(), value: next(), bits: next() };
                Op::Insert(Draft {
                    group,
                    priority,
                    ask,
                    acts: Acts { fate: next(), extra: next(), value: next() },
                })
            }
            4 => Op::Remove(next()),
            5 | 6 => Op::Act(next(), Acts { fate: next(), extra: next(), value: next() }),
            7 => Op::Ask(next(), Ask { kind: next(), value: next(), bits: next() }),
            8 | 9 => Op::Commit,
            10 => Op::Hold,
            11 => Op::Release,
            _ => Op::Look(Shape { kind: next(), value: next(), more: next() }),
        });
    }
    ops
}

/// The tables beside the reference.
struct Trial {
    writer: Writer,
    limits: Limits,
    /// With the batch in it, and as readers see it.
    now: Reference,
    seen: Reference,
    ids: BTreeMap<u32, RuleId>,
    counts: BTreeMap<u32, Count>,
    name: u32,
}

/// Bursts that are held, and what each of them sees.
type Held<'r> = Vec<(Burst<'r>, Reference)>;

/// Takes all steps and compares every verdict, count and error with the reference.
///
/// # Panics
/// They differ.
pub fn run(limits: Limits, ops: &[Op]) {
    let Ok(writer) = Writer::new(limits) else { return };
    let reader = writer.reader();
    let mut held = Held::new();
    let (now, seen) = (Reference::default(), Reference::default());
    let (ids, counts) = (BTreeMap::new(), BTreeMap::new());
    let mut trial = Trial { writer, limits, now, seen, ids, counts, name: 0 };
    for op in ops {
        trial.take(op, &reader, &mut held);
    }
    drop(held);
    trial.commit();
    trial.check_rules();
    trial.remove_all();
}

impl Trial {
    fn take<'r>(&mut self, op: &Op, reader: &'r Reader, held: &mut Held<'r>) {
        match *op {
            Op::Insert(draft) => self.insert(&draft),
            Op::Remove(which) => self.remove(which),
            Op::Act(which, acts) => self.act(which, acts),
            Op::Ask(which, ask) => self.ask(which, ask),
            Op::Commit => self.commit(),
            Op::Look(shape) => self.look(&shape, reader, held),
            Op::Hold if held.len() < 3 => held.push((reader.burst(0), self.seen.clone())),
            Op::Release if !held.is_empty() => drop(held.remove(0)),
            Op::Hold | Op::Release => {}
        }
    }

    fn insert(&mut self, draft: &Draft) {
        let Ok(rule) = draft.rule() else { return };
        let name = self.name;
        match self.writer.insert(&rule) {
            Ok(id) => {
                assert!(!self.now.has_twin(name, &rule), "{rule:?} is there already");
                self.now.rules.push((name, rule));
                self.ids.insert(name, id);
                self.counts.insert(name, Count::default());
                self.name += 1;
            }
            Err(Error::Exists) => assert!(self.now.has_twin(name, &rule), "{rule:?} is not there"),
            Err(error) => self.refused(error),
        }
    }

    fn remove(&mut self, which: u8) {
        let Some((name, id)) = self.choose(which) else { return };
        match self.writer.remove(id) {
            Ok(()) => self.forget(name),
            Err(error) => self.refused(error),
        }
        assert_eq!(self.writer.len() as usize, self.now.rules.len());
    }

    fn forget(&mut self, name: u32) {
        self.now.rules.retain(|(n, _)| *n != name);
        if let Some(id) = self.ids.remove(&name) {
            assert_eq!(self.writer.remove(id), Err(Error::NoRule));
        }
    }

    fn act(&mut self, which: u8, acts: Acts) {
        let Some((name, id)) = self.choose(which) else { return };
        let actions = acts.actions();
        match (self.writer.update_actions(id, &actions), self.now.get(name)) {
            (Ok(()), Some(rule)) => rule.actions = actions.into(),
            (result, _) => result.err().into_iter().for_each(|error| self.refused(error)),
        }
    }

    fn ask(&mut self, which: u8, ask: Ask) {
        let Some((name, id)) = self.choose(which) else { return };
        let Ok(matching) = ask.matching() else { return };
        let result = self.writer.update_match(id, &matching);
        let Some(rule) = self.now.get(name) else { return };
        let mut changed = rule.clone();
        changed.matching = matching;
        let twin = self.now.has_twin(name, &changed);
        match (result, self.now.get(name)) {
            (Ok(()), Some(rule)) => {
                assert!(!twin, "{changed:?} is there already");
                *rule = changed;
            }
            (Err(Error::Exists), _) => assert!(twin, "{changed:?} is not there"),
            (result, _) => result.err().into_iter().for_each(|error| self.refused(error)),
        }
    }

    fn choose(&self, which: u8) -> Option<(u32, RuleId)> {
        let n = self.ids.len().max(1);
        self.ids.iter().nth(usize::from(which) % n).map(|(name, id)| (*name, *id))
    }

    /// An error is not "full" where there is room.
    fn refused(&self, error: Error) {
        let rules = self.now.rules.len() as u32;
        match error {
            Error::Full { what: Resource::Rules, .. } => assert_eq!(rules, self.limits.rules),
            Error::Full { what: Resource::Units, retiring, limit } => {
                assert!(rules * 3 + retiring + 6 >= limit, "{error}: {rules} rules");
            }
            Error::NoRule => panic!("a rule that is there is not found"),
            _ => {}
        }
    }

    fn commit(&mut self) {
        self.writer.commit();
        self.seen = self.now.clone();
    }

    fn look(&mut self, shape: &Shape, reader: &Reader, held: &Held<'_>) {
        let burst = reader.burst(0);
        let seen = self.seen.clone();
        for (burst, rules) in held.iter().map(|(b, r)| (b, r)).chain([(&burst, &seen)]) {
            let mut key = shape.key();
            let expected = rules.classify(&mut key);
            let mut keys = [shape.key(), Key::default(), shape.key()];
            let mut verdicts = Vec::new();
            burst.classify_all(&mut keys, &[60; 3], &mut verdicts);
            let nothing = rules.classify(&mut Key::default());
            let mut single = shape.key();
            let verdict = burst.classify(&mut single, 60);
            assert_eq!(told(&verdict, &expected.hits), expected);
            assert_eq!(told(&verdicts[0], &expected.hits), expected);
            assert_eq!(told(&verdicts[1], &nothing.hits), nothing);
            assert_eq!(told(&verdicts[2], &expected.hits), expected);
            assert_eq!([single, keys[0], keys[2]], [key; 3], "what the rules set");
            for (times, expected) in [(3, &expected), (1, &nothing)] {
                self.count(rules, expected, times);
            }
        }
        self.check_counts();
    }

    fn count(&mut self, rules: &Reference, expected: &Expected, times: u64) {
        for name in &expected.hits {
            let rule = rules.rules.iter().find(|(n, _)| n == name);
            if let Some(count) = self.counts.get_mut(name)
                && rule.is_some_and(|(_, r)| r.actions.contains(&Action::Count))
            {
                count.frames += times;
                count.bytes += 60 * times;
            }
        }
    }

    fn check_counts(&self) {
        for (name, id) in &self.ids {
            assert_eq!(self.writer.count(*id).ok().as_ref(), self.counts.get(name), "counts of rule {name}");
        }
    }

    fn check_rules(&self) {
        self.check_counts();
        for (name, rule) in &self.now.rules {
            let mut found = self.ids.get(name).and_then(|id| self.writer.rule(*id));
            // The order of a short list is not kept.
            let sort = |rule: &mut crate::rule::Rule<'static>| {
                rule.actions.to_mut().sort_by_key(|action| format!("{action:?}"));
            };
            let mut rule = rule.clone();
            sort(&mut rule);
            found.iter_mut().for_each(sort);
            assert_eq!(found, Some(rule));
        }
        assert_eq!(self.writer.rules().count(), self.ids.len());
    }

    /// With no burst left every rule can be removed, and all memory comes back.
    fn remove_all(&mut self) {
        for id in core::mem::take(&mut self.ids).into_values() {
            match self.writer.remove(id) {
                Ok(()) => {}
                // Another thread of the process may be in a burst of other tables.
                Err(Error::Full { retiring, .. }) => assert!(retiring > 0),
                Err(error) => panic!("{error}"),
            }
        }
        self.commit();
    }
}

/// A verdict as the reference tells it, with the names that it cannot know.
fn told(verdict: &Verdict<'_>, hits: &[u32]) -> Expected {
    Expected {
        ending: verdict.ending,
        mark: verdict.mark,
        groups: verdict.groups,
        edits: verdict.edits().copied().collect(),
        hits: hits.to_vec(),
    }
}
