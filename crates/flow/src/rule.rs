//! A rule as a user gives it.

use std::borrow::Cow;

use crate::action::Action;
use crate::matching::Match;

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule<'a> {
    /// The group that it belongs to.
    pub group: u16,
    /// Its priority; the lowest number wins.
    pub priority: u32,
    /// What it asks of a frame.
    pub matching: Match,
    /// What it does.
    pub actions: Cow<'a, [Action]>,
}

/// The name of an installed rule. No other rule of the same tables ever gets it, until 2^31 rules have had its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuleId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl RuleId {
    /// As a number, for who keeps it as one.
    pub const fn bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The name that has these bits. One that no rule has names none.
    pub const fn from_bits(bits: u64) -> RuleId {
        RuleId { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}
