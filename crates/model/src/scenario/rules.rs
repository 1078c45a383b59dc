//! Rules in the tables of a card, before a run and during it.

use memory::Ps;

use crate::classifier::Place;

/// Rules of each card, and how one core changes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Where they are.
    pub place: Place,
    /// How many are there from the start.
    pub installed: u64,
    /// Keys that the frames have: flows.
    pub flows: u64,
    /// What becomes of them.
    pub updates: Option<Updates>,
}

/// Rules that are inserted while frames come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Updates {
    /// When the first one falls due.
    pub first: Ps,
    /// From the end of one to the next; 0 of a batch.
    pub gap: Ps,
    /// How many; `None`: as long as there is room.
    pub number: Option<u64>,
    /// Who inserts them.
    pub core: RuleCore,
}

/// Which core works on rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleCore {
    /// The first of those that receive.
    Same,
    /// One that does nothing else.
    Other,
}
