//! Rules as text: files of the flow commands that DPDK's testpmd takes.
//!
//! [`read`] obeys the commands of a file in order and tells the rules that there are at its end. What a file may say, and
//! where this differs from testpmd: docs/flow-tables.md.
//!
//! ```
//! let text = "flow create 0 ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 3 / end";
//! let file = flow::text::read(text)?;
//! let mut tables = flow::Writer::new(file.limits()).unwrap();
//! for (_, rule) in file.entries() {
//!     tables.insert(&rule).unwrap();
//! }
//! let error = flow::text::read("flow create 0 pattern ipv5 / end actions drop / end").unwrap_err();
//! assert_eq!((error.line, error.column), (1, 23));
//! # Ok::<(), flow::text::TextError>(())
//! ```

mod actions;
mod commands;
mod items;
mod pattern;
mod print;
mod range;
mod value;
mod words;

use std::collections::BTreeSet;

use crate::action::{Action, Plan};
use crate::arena::units_of;
use crate::limits::Limits;
use crate::mask::Mask;
use crate::matching::Match;
use crate::rule::Rule;
use crate::state::State;

pub use actions::Spread;
pub use commands::read;
pub use range::MOST;
pub use words::TextError;

/// What a file leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFile {
    /// The rules that its commands left, by number.
    pub rules: Vec<TextRule>,
    /// The contexts of its RSS actions; [`Action::Rss`] has an index into them.
    pub spreads: Vec<Spread>,
    /// Lines with commands that have nothing to do with rules.
    pub ignored: u32,
}

/// A rule of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRule {
    /// The number that testpmd would give it.
    pub number: u32,
    /// Its line, from 1.
    pub line: u32,
    /// The group that it belongs to.
    pub group: u16,
    /// Its priority; the lowest number wins.
    pub priority: u32,
    /// Its pattern as the file has it, without the `end`.
    pub pattern: String,
    /// Its actions as the file has them, without the `end`.
    pub does: String,
    /// What it asks of a frame: one of these. There are several where it has ranges.
    pub matches: Vec<Match>,
    /// What it does.
    pub actions: Vec<Action>,
    /// Whether a `flow query` asks for its count.
    pub queried: bool,
}

impl RuleFile {
    /// The entries that tables need for the rules, each with the index of its rule.
    pub fn entries(&self) -> impl Iterator<Item = (usize, Rule<'_>)> {
        self.rules
            .iter()
            .enumerate()
            .flat_map(|(index, rule)| rule.matches.iter().map(move |matching| (index, rule.entry(*matching))))
    }

    /// Room for exactly these rules, in groups up to the largest number that the file names.
    pub fn limits(&self) -> Limits {
        let (mut rules, mut units, mut records, mut last) = (0_u32, 0_u32, 0_u32, 0_u16);
        let mut masks = BTreeSet::new();
        for (_, rule) in self.entries() {
            rules += 1;
            units += Mask::new(rule.matching.mask()).map_or(1, |mask| units_of(mask.len()) as u32);
            let inline = Plan::new(&rule.actions, &rule.matching).ok().and_then(|plan| State::of(&plan));
            records += u32::from(inline.is_none());
            masks.insert((rule.group, *rule.matching.mask()));
            let jumps = rule.actions.iter().filter_map(|a| match a {
                Action::Jump(group) => Some(*group),
                _ => None,
            });
            last = jumps.chain([rule.group]).fold(last, u16::max);
        }
        let tuples = masks.len().max(1) as u32;
        Limits { rules: rules.max(1), units: units.max(3), records, tuples, groups: u32::from(last) + 1 }
    }
}

impl TextRule {
    fn entry(&self, matching: Match) -> Rule<'_> {
        Rule { group: self.group, priority: self.priority, matching, actions: (&self.actions[..]).into() }
    }
}
