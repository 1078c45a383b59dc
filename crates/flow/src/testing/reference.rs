//! The naive classifier: a list of rules, gone through for every frame.

use core::cmp::Reverse;

use crate::action::Action;
use crate::key::Key;
use crate::rule::Rule;
use crate::sizes::CHAIN;
use crate::verdict::Ending;

/// Rules with names of the caller's.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// The rules.
    pub rules: Vec<(u32, Rule<'static>)>,
}

/// What the tables should say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// What becomes of the frame.
    pub ending: Ending,
    /// Its mark.
    pub mark: Option<u32>,
    /// In how many groups it was looked up.
    pub groups: u32,
    /// What is to be done to its bytes.
    pub edits: Vec<Action>,
    /// Names of the rules that matched.
    pub hits: Vec<u32>,
}

impl Reference {
    /// The rule of that name.
    pub fn get(&mut self, name: u32) -> Option<&mut Rule<'static>> {
        self.rules.iter_mut().find(|(n, _)| *n == name).map(|(_, rule)| rule)
    }

    /// Whether another rule than `name` has its group, priority and match.
    pub fn has_twin(&self, name: u32, rule: &Rule<'_>) -> bool {
        let same = |other: &Rule<'_>| {
            (other.group, other.priority, &other.matching) == (rule.group, rule.priority, &rule.matching)
        };
        self.rules.iter().any(|(n, other)| *n != name && same(other))
    }

    /// The best rule of a group.
    fn best(&self, group: u16, key: &Key) -> Option<&(u32, Rule<'static>)> {
        let matching = self.rules.iter().filter(|(_, r)| r.group == group && r.matching.matches(key));
        matching.min_by_key(|(_, rule)| {
            let mask = rule.matching.mask();
            let bits: u32 = mask.iter().map(|word| word.count_ones()).sum();
            (rule.priority, Reverse(bits), Reverse(*mask))
        })
    }

    /// What becomes of a frame, whose key gets what rules set.
    pub fn classify(&self, key: &mut Key) -> Expected {
        let mut told =
            Expected { ending: Ending::TooLong, mark: None, groups: 0, edits: Vec::new(), hits: Vec::new() };
        let mut group = 0;
        for _ in 0..CHAIN {
            told.groups += 1;
            let Some((name, rule)) = self.best(group, key) else {
                told.ending = Ending::Missed(group);
                return told;
            };
            told.hits.push(*name);
            let mut next = None;
            for action in rule.actions.iter() {
                action.change(key);
                match *action {
                    Action::Queue(queue) => told.ending = Ending::Queue(queue),
                    Action::Rss(context) => told.ending = Ending::Rss(context),
                    Action::Drop => told.ending = Ending::Drop,
                    Action::Jump(group) => next = Some(group),
                    Action::Mark(mark) => told.mark = Some(mark),
                    Action::Set { .. } | Action::DecTtl | Action::VxlanDecap | Action::VxlanEncap(_) => {
                        told.edits.push(*action);
                    }
                    Action::Count | Action::Age(_) | Action::Meta { .. } | Action::Tag { .. } => {}
                }
            }
            match next {
                Some(next) => group = next,
                None => return told,
            }
        }
        told
    }
}
