//! When to look at what may have grown old, and whether that is news.
//!
//! Whatever has an age stands in a list by the tick at which it is old unless a frame comes. It is looked at then: who had
//! a frame meanwhile stands later in the list. So each takes one look in the time that its age names, however many there
//! are.

use std::collections::{BTreeMap, BTreeSet};

/// What may grow old, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// A rule.
    Rule(u64),
    /// An action that rules share.
    Shared(u64),
}

/// The ages of rules and of actions that they share.
pub(super) struct Ages {
    /// By the tick of the next look.
    due: BTreeSet<(u32, Name)>,
    all: BTreeMap<Name, Watch>,
    /// Whether something is old that was not when it was last looked at.
    news: bool,
    /// Whether the application is to hear of news: not again before it has asked what is old.
    listens: bool,
}

/// What is known of an age.
#[derive(Clone, Copy)]
struct Watch {
    /// Of the next look.
    due: u32,
    /// The tick of the last frame, since which it was found old already.
    old_since: Option<u32>,
}

impl Default for Ages {
    fn default() -> Ages {
        Ages { due: BTreeSet::new(), all: BTreeMap::new(), news: false, listens: true }
    }
}

impl Ages {
    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.all.is_empty()
    }

    /// All that have an age.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.all.keys().copied()
    }

    /// One more, to be looked at from a tick on.
    pub(super) fn add(&mut self, name: Name, due: u32) {
        self.put(name, Watch { due, old_since: None });
    }

    fn put(&mut self, name: Name, watch: Watch) {
        self.remove(name);
        self.due.insert((watch.due, name));
        self.all.insert(name, watch);
    }

    /// One less.
    pub(super) fn remove(&mut self, name: Name) {
        if let Some(watch) = self.all.remove(&name) {
            self.due.remove(&(watch.due, name));
        }
    }

    /// The first of those to be looked at by now.
    pub(super) fn first(&self, now: u32) -> Option<Name> {
        self.due.first().filter(|(due, _)| *due <= now).map(|(_, name)| *name)
    }

    /// One had its `last` frame and is old after so many ticks without one.
    pub(super) fn looked(&mut self, name: Name, last: u32, timeout: u32, now: u32) {
        let Some(watch) = self.all.get(&name).copied() else { return };
        let old = now.wrapping_sub(last) >= timeout;
        if old && watch.old_since != Some(last) {
            self.news = true;
        }
        // What is old may get young again, and old once more.
        let due = if old { now } else { last }.saturating_add(timeout.max(1));
        self.put(name, Watch { due, old_since: old.then_some(last) });
    }

    /// Whether the application is to hear that something has grown old: once, until it asks.
    pub(super) fn tell(&mut self) -> bool {
        let told = self.news && self.listens;
        if told {
            (self.news, self.listens) = (false, false);
        }
        told
    }

    /// The application asks what is old, all of which has been looked at: news comes after this.
    pub(super) fn asked(&mut self) {
        (self.news, self.listens) = (false, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at all that is due at a tick, as their last frames say; whether the application is to hear of it.
    fn look(ages: &mut Ages, now: u32, last: impl Fn(Name) -> u32) -> bool {
        while let Some(name) = ages.first(now) {
            ages.looked(name, last(name), 10, now);
        }
        ages.tell()
    }

    #[test]
    fn news_is_told_once_until_somebody_asks() {
        let mut ages = Ages::default();
        ages.add(Name::Rule(1), 10);
        ages.add(Name::Shared(1), 12);
        assert!(!look(&mut ages, 9, |_| 0));
        assert!(look(&mut ages, 10, |_| 0), "the rule is old");
        assert!(!look(&mut ages, 20, |_| 0), "the other one is old as well, but nobody has asked");
        ages.asked();
        assert!(!look(&mut ages, 40, |_| 0), "both were old before");
        assert!(!look(&mut ages, 60, |_| 55), "frames came");
        assert!(look(&mut ages, 70, |_| 55), "old again");
        ages.remove(Name::Rule(1));
        ages.remove(Name::Shared(1));
        assert!(!ages.any() && ages.first(1000).is_none() && ages.due.is_empty());
    }

    #[test]
    fn who_has_frames_is_looked_at_once_in_its_time() {
        let mut ages = Ages::default();
        (0..100).for_each(|name| ages.add(Name::Rule(name), 10));
        let looks = core::cell::Cell::new(0);
        for now in 1..=100 {
            assert!(!look(&mut ages, now, |_| {
                looks.set(looks.get() + 1);
                now - 1
            }));
        }
        assert!((1000..=1100).contains(&looks.get()), "{}", looks.get());
    }
}
