//! What readers see of a group: its tuples in the order of search.

use core::ops::ControlFlow;
use std::sync::Arc;

use crate::arena::Arena;
use crate::buckets::Buckets;
use crate::key::Key;
use crate::mask::Mask;
use crate::state::State;

/// A hash table per mask. While it grows there are two: what is not in the new one yet is in the old one.
#[derive(Clone, Debug)]
pub(crate) struct Tuple {
    pub(crate) mask: Arc<Mask>,
    /// Its place among the tuples of its group: the best priority of its rules, then the place of its mask.
    pub(crate) order: u64,
    pub(crate) new: Arc<Buckets>,
    pub(crate) old: Option<Arc<Buckets>>,
}

/// The tuples of a group, those with the best priority first, at equal priority in the order of masks.
#[derive(Debug)]
pub(crate) struct View(Box<[Tuple]>);

/// The best rule that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) unit: u32,
    /// What it does; absent where none was found.
    pub(crate) state: State,
    /// Its priority, then the rank of its tuple: less is better.
    pub(crate) order: u64,
}

impl Found {
    /// No rule.
    pub(crate) const NONE: Found = Found { unit: 0, state: State::ABSENT, order: u64::MAX };
}

impl View {
    pub(crate) fn new(mut tuples: Vec<Tuple>) -> View {
        tuples.sort_by(|a, b| a.mask.cmp(&b.mask));
        for (rank, tuple) in (0..).zip(&mut tuples) {
            tuple.order = order((tuple.order >> 32) as u32, rank);
        }
        tuples.sort_by_key(|tuple| tuple.order);
        View(tuples.into())
    }

    pub(crate) fn tuples(&self) -> &[Tuple] {
        &self.0
    }

    /// The best rule for `key` at `version`.
    pub(crate) fn search(&self, arena: &Arena, key: &Key, version: u64) -> Found {
        let mut found = Found::NONE;
        for tuple in &self.0 {
            if tuple.is_behind(&found) {
                break;
            }
            found = tuple.improve(arena, key, tuple.mask.hash(key), version, found);
        }
        found
    }
}

impl Tuple {
    #[inline(always)]
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Buckets> {
        core::iter::once(&*self.new).chain(self.old.as_deref())
    }

    /// Whether none of its rules is better than `found`. All tuples behind this one are behind it too.
    #[inline(always)]
    pub(crate) fn is_behind(&self, found: &Found) -> bool {
        self.order > found.order
    }

    /// The best rule for `key`, if it is better than `found`, which is returned otherwise.
    #[inline(always)]
    pub(crate) fn improve(
        &self,
        arena: &Arena,
        key: &Key,
        hash: u32,
        version: u64,
        mut found: Found,
    ) -> Found {
        let mut look = |unit| {
            if !arena.holds(unit, &self.mask, key) {
                return ControlFlow::Continue(());
            }
            let (unit, state) = arena.at(unit, version);
            let order = order(arena.priority(unit), self.order as u32);
            if state == State::ABSENT || order >= found.order {
                return ControlFlow::Continue(());
            }
            found = Found { unit, state, order };
            if order == self.order { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = self.tables().try_for_each(|table| table.search(hash, &mut look));
        found
    }
}

/// The place of a rule, or of a tuple's best one: less is better.
pub(crate) fn order(priority: u32, rank: u32) -> u64 {
    u64::from(priority) << 32 | u64::from(rank)
}
