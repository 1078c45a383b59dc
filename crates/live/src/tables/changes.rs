//! Changes of one kind, as fast as one thread makes them.

use std::time::Instant;

use flow::Error;

use super::Tables;
use super::keys::Order;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// New rules. They are removed again, outside the time.
    Insert,
    /// Rules get other actions.
    UpdateActions,
    /// Rules get another match.
    UpdateMatch,
    /// Rules are removed, and others inserted in their place.
    RemoveInsert,
}

impl Change {
    /// All of them.
    pub const ALL: [Change; 4] =
        [Change::Insert, Change::UpdateActions, Change::UpdateMatch, Change::RemoveInsert];
}

impl Tables {
    /// Makes `n` changes in batches of `batch`; how many a second.
    ///
    /// # Errors
    /// There is no room.
    pub fn change(&mut self, kind: Change, n: u32, batch: u32) -> Result<f64, Error> {
        let mut order = Order::below(self.ids.len() as u32);
        let first = self.ids.len();
        let begin = Instant::now();
        for time in 1..=n {
            self.once(kind, &mut order, time)?;
            if time % batch.max(1) == 0 {
                self.writer.commit();
            }
        }
        self.writer.commit();
        let rate = f64::from(n) / begin.elapsed().as_secs_f64();
        self.remove_from(first)?;
        Ok(rate)
    }

    fn once(&mut self, kind: Change, order: &mut Order, time: u32) -> Result<(), Error> {
        let at = order.next() as usize;
        match kind {
            Change::Insert => {
                let id = self.insert_unused()?;
                self.ids.push(id);
            }
            Change::UpdateActions => {
                let actions = self.actions(time);
                self.writer.update_actions(self.ids[at], &actions)?;
            }
            Change::UpdateMatch => {
                let matching = *self.matches.of(self.unused)?;
                self.unused += 1;
                self.writer.update_match(self.ids[at], &matching)?;
            }
            Change::RemoveInsert => {
                self.writer.remove(self.ids[at])?;
                self.ids[at] = self.insert_unused()?;
            }
        }
        Ok(())
    }

    pub(super) fn insert_unused(&mut self) -> Result<flow::RuleId, Error> {
        self.unused += 1;
        self.insert(self.unused - 1)
    }
}
