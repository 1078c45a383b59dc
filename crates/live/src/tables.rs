//! Flow tables on this machine: how long a look-up takes, how many changes a second they take, and what changes do to a
//! core that forwards meanwhile.
//!
//! Rules ask for an IPv4 5-tuple of UDP and send to a queue, as peers' tables of the same tuples do.

#![allow(clippy::disallowed_methods, reason = "a measurement is about the wall clock")]

mod beside;
mod changes;
mod keys;
mod look_ups;

use arrayvec::ArrayVec;
use flow::{Action, Error, Limits, Match, Rule, RuleId, Writer};

pub use beside::{Beside, Forwarded, forward};
pub use changes::Change;
pub use look_ups::{LookUp, LookUps};

use keys::Matches;

/// What tables are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rules that there are.
    pub rules: u32,
    /// Rules that changes may add.
    pub more: u32,
    /// Whether each counts its frames.
    pub counted: bool,
    /// Groups over which the rules are spread. A frame that finds none goes on to the next group.
    pub groups: u16,
}

/// Tables of some shape, which one thread changes.
#[derive(Debug)]
pub struct Tables {
    writer: Writer,
    ids: Vec<RuleId>,
    matches: Matches,
    shape: Shape,
    /// The next tuple that no rule has.
    unused: u32,
}

impl Tables {
    /// # Errors
    /// There are too many rules, or too many groups.
    pub fn new(shape: Shape) -> Result<Tables, Error> {
        let jumps = u32::from(shape.groups.saturating_sub(1));
        let limits = Limits::for_rules(shape.rules.saturating_add(shape.more).saturating_add(jumps));
        let (writer, matches) = (Writer::new(limits)?, Matches::new()?);
        let mut tables = Tables { writer, ids: Vec::new(), matches, shape, unused: shape.rules };
        for group in 1..shape.groups {
            let actions = [Action::Jump(group)];
            let (group, matching) = (group - 1, Match::any());
            tables.writer.insert(&Rule { group, priority: 1, matching, actions: (&actions[..]).into() })?;
        }
        for n in 0..shape.rules {
            let id = tables.insert(n)?;
            tables.ids.push(id);
            if n % BATCH == BATCH - 1 {
                tables.writer.commit();
            }
        }
        tables.writer.commit();
        Ok(tables)
    }

    /// Rules that there are.
    pub fn rules(&self) -> u32 {
        self.ids.len() as u32
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.writer.bytes()
    }

    fn insert(&mut self, n: u32) -> Result<RuleId, Error> {
        let matching = *self.matches.of(n)?;
        let group = (n % u32::from(self.shape.groups.max(1))) as u16;
        let actions = self.actions(n);
        self.writer.insert(&Rule { group, priority: 0, matching, actions: (&actions[..]).into() })
    }

    /// What a rule does.
    fn actions(&self, n: u32) -> ArrayVec<Action, 2> {
        let counted = self.shape.counted.then_some(Action::Count);
        counted.into_iter().chain([Action::Queue(n as u16 & 7)]).collect()
    }
}

/// Changes of a batch where nothing else is said.
const BATCH: u32 = 64;
