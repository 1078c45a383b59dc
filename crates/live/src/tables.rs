//! Flow tables on this machine: how long a look-up takes, how many changes a second they take, and what changes do to a
//! core that forwards meanwhile.
//!
//! Rules ask for an IPv4 5-tuple of UDP and send to a queue, as peers' tables of the same tuples do.

mod beside;
mod changes;
mod clock;
mod keys;
mod look_ups;

use flow::{Action, Error, Limits, Rule, RuleId, Writer};

pub use beside::{Beside, Forwarded, forward};
pub use changes::Change;
pub use look_ups::{LookUp, LookUps};

use keys::Matches;

/// Tables with so many rules, which one thread changes.
#[derive(Debug)]
pub struct Tables {
    writer: Writer,
    ids: Vec<RuleId>,
    matches: Matches,
    counted: bool,
    /// The next tuple that no rule has.
    unused: u32,
}

impl Tables {
    /// Tables of `rules` rules with room for `more`; each counts its frames if `counted`.
    ///
    /// # Errors
    /// There are too many rules.
    pub fn new(rules: u32, more: u32, counted: bool) -> Result<Tables, Error> {
        let writer = Writer::new(Limits::for_rules(rules.saturating_add(more)))?;
        let mut tables = Tables { writer, ids: Vec::new(), matches: Matches::new()?, counted, unused: rules };
        for n in 0..rules {
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
        self.writer.len()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.writer.bytes()
    }

    fn insert(&mut self, n: u32) -> Result<RuleId, Error> {
        let actions = [Action::Count, Action::Queue(n as u16 & 7)];
        let actions = if self.counted { &actions[..] } else { &actions[1..] };
        let matching = *self.matches.of(n)?;
        self.writer.insert(&Rule { group: 0, priority: 0, matching, actions: actions.into() })
    }
}

/// Changes of a batch where nothing else is said.
const BATCH: u32 = 64;
