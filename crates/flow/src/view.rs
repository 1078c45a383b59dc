//! What readers see of a group: its tuples in the order of search.

use core::ops::ControlFlow;
use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::arena::Arena;
use crate::buckets::Buckets;
use crate::key::Key;
use crate::mask::Mask;
use crate::sizes::BURST;
use crate::state::State;

/// A hash table per mask. While it grows there are two: what is not in the new one yet is in the old one.
#[derive(Clone, Debug)]
pub(crate) struct Tuple {
    pub(crate) mask: Arc<Mask>,
    /// No rule in it has a better priority.
    pub(crate) best: u32,
    /// Its place in the order of masks.
    pub(crate) rank: u32,
    pub(crate) new: Arc<Buckets>,
    pub(crate) old: Option<Arc<Buckets>>,
}

/// The tuples of a group, those with the best priority first, at equal priority in the order of masks.
#[derive(Debug)]
pub(crate) struct View(Box<[Tuple]>);

/// A rule that matches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) unit: u32,
    pub(crate) state: State,
    priority: u32,
    rank: u32,
}

impl View {
    pub(crate) fn new(mut tuples: Vec<Tuple>) -> View {
        tuples.sort_by(|a, b| a.mask.cmp(&b.mask));
        for (rank, tuple) in (0..).zip(&mut tuples) {
            tuple.rank = rank;
        }
        tuples.sort_by_key(|tuple| (tuple.best, tuple.rank));
        View(tuples.into())
    }

    /// The best rule for `key` at `version`.
    pub(crate) fn search(&self, arena: &Arena, key: &Key, version: u64) -> Option<Found> {
        let mut found = None;
        for tuple in &self.0 {
            if tuple.is_behind(found.as_ref()) {
                break;
            }
            tuple.improve(arena, key, tuple.mask.hash(key), version, &mut found);
        }
        found
    }

    /// The same for several keys, tuple by tuple: lines of all keys are fetched before the first one is read.
    pub(crate) fn search_all(
        &self,
        arena: &Arena,
        keys: &[&Key],
        version: u64,
    ) -> ArrayVec<Option<Found>, BURST> {
        let mut found: ArrayVec<Option<Found>, BURST> = keys.iter().take(BURST).map(|_| None).collect();
        for tuple in &self.0 {
            let mut open = ArrayVec::<(usize, u32), BURST>::new();
            for (at, (key, found)) in keys.iter().zip(&found).enumerate() {
                if !tuple.is_behind(found.as_ref()) {
                    let hash = tuple.mask.hash(key);
                    tuple.tables().for_each(|table| table.prefetch(hash));
                    open.push((at, hash));
                }
            }
            if open.is_empty() {
                break;
            }
            for (_, hash) in &open {
                tuple.tables().for_each(|table| table.near(*hash, |unit| arena.prefetch(unit)));
            }
            for (at, hash) in open {
                tuple.improve(arena, keys[at], hash, version, &mut found[at]);
            }
        }
        found
    }
}

impl Tuple {
    #[inline(always)]
    fn tables(&self) -> impl Iterator<Item = &Buckets> {
        core::iter::once(&*self.new).chain(self.old.as_deref())
    }

    /// Whether none of its rules is better than `found`. All tuples behind this one are behind it too.
    #[inline(always)]
    fn is_behind(&self, found: Option<&Found>) -> bool {
        found.is_some_and(|found| (self.best, self.rank) > (found.priority, found.rank))
    }

    /// Puts the best rule for `key` into `found`, if it is better than that.
    #[inline(always)]
    fn improve(&self, arena: &Arena, key: &Key, hash: u32, version: u64, found: &mut Option<Found>) {
        let mut look = |unit| {
            if !arena.holds(unit, &self.mask, key) {
                return ControlFlow::Continue(());
            }
            let (unit, state) = arena.at(unit, version);
            let (priority, rank) = (arena.priority(unit), self.rank);
            let better = found.is_none_or(|found| (priority, rank) < (found.priority, found.rank));
            if state == State::ABSENT || !better {
                return ControlFlow::Continue(());
            }
            *found = Some(Found { unit, state, priority, rank });
            if priority == self.best { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = self.tables().try_for_each(|table| table.search(hash, &mut look));
    }
}
