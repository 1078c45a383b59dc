//! Actions that several rules share, by their names, and what is told of them.

use std::collections::{BTreeMap, BTreeSet};

use flow::{Action, Count};

use super::fault::{Fault, FlowPart};

/// An action that rules share.
pub(super) struct Shared {
    pub(super) kind: Kind,
    /// Rules that name it.
    pub(super) rules: BTreeSet<u64>,
}

/// What it is.
pub(super) enum Kind {
    Count {
        /// What rules had counted that are gone.
        gone: Count,
        /// What all had counted when the count was reset.
        base: Count,
    },
    Age {
        /// Ticks without a frame of any rule after which it is old; 0 for never.
        timeout: u32,
        /// What its age is told by; 0 for its name.
        context: u64,
        /// The tick of the last frame that a rule had which is gone, or of a touch.
        last: u32,
    },
    /// The RSS context of this number, which nobody else has.
    Rss(u16),
}

/// The actions that rules share. A name is never 0 and never used again.
#[derive(Default)]
pub(super) struct SharedActions {
    last: u64,
    all: BTreeMap<u64, Shared>,
}

impl SharedActions {
    pub(super) fn add(&mut self, kind: Kind) -> u64 {
        self.last += 1;
        self.all.insert(self.last, Shared { kind, rules: BTreeSet::new() });
        self.last
    }

    pub(super) fn remove(&mut self, name: u64) -> Option<Shared> {
        self.all.remove(&name)
    }

    /// # Errors
    /// It is not there.
    pub(super) fn get(&self, name: u64) -> Result<&Shared, Fault> {
        self.all.get(&name).ok_or_else(none)
    }

    /// # Errors
    /// It is not there.
    pub(super) fn get_mut(&mut self, name: u64) -> Result<&mut Shared, Fault> {
        self.all.get_mut(&name).ok_or_else(none)
    }

    /// What a rule does that names it. Its own age a rule has none of then: it only notes its last frame.
    ///
    /// # Errors
    /// It is not there.
    pub(super) fn action(&self, name: u64) -> Result<Action, Fault> {
        Ok(match self.get(name)?.kind {
            Kind::Count { .. } => Action::Count,
            Kind::Age { .. } => Action::Age(u32::MAX),
            Kind::Rss(number) => Action::Rss(number),
        })
    }
}

fn none() -> Fault {
    Fault::new(FlowPart::Handle, 0, libc::ENOENT, "there is no such indirect action")
}
