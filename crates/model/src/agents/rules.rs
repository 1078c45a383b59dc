//! Who changes the rules of a card, and the card that meets them.

use std::cell::Cell;
use std::rc::Rc;

use memory::{Memory, Ps};

use super::book::Book;
use crate::classifier::{LookUp, Operations};
use crate::engine::view::View;
use crate::scenario::rules::Updates;

/// Rules that are installed.
pub(crate) type Installed = Rc<Cell<u64>>;

/// What paces a card's look-ups.
pub(crate) trait Paced {
    /// What a look-up takes from now on, where that has changed.
    fn pace(&mut self) -> Option<Ps>;
}

/// No tables.
impl Paced for () {
    #[inline(always)]
    fn pace(&mut self) -> Option<Ps> {
        None
    }
}

/// Tables of a card.
pub(crate) struct Tables {
    look_up: LookUp,
    /// What the pipeline takes for a frame in any case.
    least: Ps,
    installed: Installed,
    /// Rules when the pace was last worked out.
    seen: Option<u64>,
}

impl Tables {
    pub(crate) fn new(look_up: LookUp, least: Ps, installed: Installed) -> Tables {
        Tables { look_up, least, installed, seen: None }
    }
}

impl Paced for Tables {
    fn pace(&mut self) -> Option<Ps> {
        let rules = self.installed.get();
        if self.seen.replace(rules) == Some(rules) {
            return None;
        }
        Some(self.look_up.time(rules).max(self.least))
    }
}

/// What a core does between its polls.
pub(crate) trait Beside {
    /// Works on what is due.
    fn turn(&mut self, m: &mut View);
    /// Waits for frames, or for the next thing that falls due.
    fn idle(&mut self, m: &mut View);
    /// The core ends.
    fn end(&self, _: &Book) {}
}

/// Nothing.
impl Beside for () {
    #[inline(always)]
    fn turn(&mut self, _: &mut View) {}

    #[inline(always)]
    fn idle(&mut self, m: &mut View) {
        m.idle();
    }
}

/// A core that inserts rules.
pub(crate) struct Inserts {
    operations: Operations,
    installed: Installed,
    updates: Updates,
    /// Cycles of a microsecond.
    mhz: f64,
    /// When the next one falls due, where there is one more.
    due: Option<Ps>,
    done: u64,
}

impl Inserts {
    pub(crate) fn new(operations: Operations, installed: Installed, updates: Updates, ghz: f64) -> Inserts {
        Inserts { operations, installed, updates, mhz: ghz * 1e3, due: Some(updates.first), done: 0 }
    }

    /// Inserts until the run is over: a core of its own.
    pub(crate) fn work(mut self, m: &mut View, book: &Book) {
        while !m.stopped() {
            self.turn(m);
            match self.due {
                Some(due) => m.pause(due, false),
                None => m.idle(),
            }
        }
        self.end(book);
    }

    /// Inserts one: the core's time passes, and the rule is there.
    fn insert(&mut self, m: &mut View) {
        let rules = self.installed.get();
        let us = self.operations.insert(rules) * self.operations.beside();
        let mut cycles = (us * self.mhz) as u64;
        while cycles > 0 && !m.stopped() {
            let some = cycles.min(CHUNK);
            m.work(some as u32);
            cycles -= some;
            m.chain();
        }
        self.installed.set(rules + 1);
        self.done += 1;
    }
}

/// Cycles after which others have their turn.
const CHUNK: u64 = 1 << 20;

impl Beside for Inserts {
    /// The interval to the next one begins when one is done: so published rates fall (figure 4 of the paper). A core that
    /// was busy with frames for several intervals makes up for them.
    fn turn(&mut self, m: &mut View) {
        while let Some(due) = self.due.filter(|due| *due <= m.now())
            && !m.stopped()
        {
            let began = m.now();
            self.insert(m);
            let took = m.now().saturating_sub(began);
            let more = self.updates.number.is_none_or(|n| self.done < n);
            let room = self.operations.has_room(self.installed.get());
            self.due = (more && room).then_some(due + took + self.updates.gap);
        }
    }

    fn idle(&mut self, m: &mut View) {
        match self.due {
            Some(due) => m.idles(due.0),
            None => m.idle(),
        }
    }

    fn end(&self, book: &Book) {
        book.add(vec![("rules_inserted", self.done)]);
    }
}
