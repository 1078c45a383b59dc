//! Waiting without spinning: a checker that explores every fruitless poll never ends, so an agent that
//! found nothing blocks until a word that it read is written. A wake-up that never comes is then
//! reported as a deadlock.
//!
//! A wake-up orders more than a poll would: the woken agent sees all that its waker did. So an execution with
//! a wake-up may hide that an ordering is missing. The interleavings in which the agent comes later, and need
//! not wait, are explored as well: they show it.

use std::cell::RefCell;

use loom::thread::{self, Thread};

/// A word: field and entry.
pub(super) type Place = (usize, usize);

/// What an agent read since it last waited, and the value.
#[derive(Default)]
pub(super) struct Reads(Vec<(Place, u64)>);

impl Reads {
    pub(super) fn add(&mut self, place: Place, value: u64) {
        self.forget(place);
        self.0.push((place, value));
    }

    /// The agent wrote it itself: not what it waits for.
    pub(super) fn forget(&mut self, place: Place) {
        self.0.retain(|(p, _)| *p != place);
    }
}

/// The agents that wait, and for which words.
#[derive(Default)]
pub(super) struct Parked {
    waiting: RefCell<Vec<(Thread, Vec<Place>)>>,
}

impl Parked {
    /// Blocks until one of `reads` is written; returns at once where one has been.
    pub(super) fn wait(&self, reads: Reads, latest: impl Fn(Place) -> u64) {
        let Reads(reads) = reads;
        if reads.is_empty() || reads.iter().any(|(place, value)| latest(*place) != *value) {
            // After a yield loom no longer returns the old value.
            return thread::yield_now();
        }
        let places = reads.into_iter().map(|(place, _)| place).collect();
        self.waiting.borrow_mut().push((thread::current(), places));
        thread::park();
    }

    /// `place` was written: whoever waits for it goes on.
    pub(super) fn wake(&self, place: Place) {
        self.waiting.borrow_mut().retain(|(thread, places)| {
            let woken = places.contains(&place);
            if woken {
                thread.unpark();
            }
            !woken
        });
    }
}
