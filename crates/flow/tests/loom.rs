//! Versions under the model checker: a reader's bursts beside a writer's batches, in all interleavings.
//!
//! The epoch is played by a flag of the reader and fences, as crossbeam-epoch has them: the writer takes a version as
//! reached when it finds no burst after the commit.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::panic::catch_unwind;
use std::sync::atomic::Ordering;

use flow::version::{Atomic, Clock, Slot, Stamp};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, fence};
use loom::thread;

/// Which orderings are weakened, to see that the checker misses them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Weak {
    loads: bool,
    stores: bool,
}

/// A word of the checker's.
struct Word(AtomicU64, Weak);

impl Atomic for Word {
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(if self.1.loads { Ordering::Relaxed } else { order })
    }

    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, if self.1.stores { Ordering::Relaxed } else { order });
    }
}

/// A unit of another life: a state that nobody may see, whatever the version.
const GARBAGE: u64 = 99;
/// States of which the first is absent, and from here on links to units.
const LINK: u64 = 1000;
const UNITS: usize = 4;

/// Two slots, and units for what is in them.
struct World {
    clock: Clock<Word>,
    slots: [Word; 2],
    units: [[Word; 3]; UNITS],
    burst: AtomicU64,
}

impl World {
    /// Two entries with state 1 since version 1, in units 0 and 1.
    fn new(clock: Weak, slots: Weak) -> World {
        let word = |value, weak| Word(AtomicU64::new(value), weak);
        let unit = |_| [GARBAGE; 3].map(|value| word(value, Weak::default()));
        let units = [0, 1, 2, 3].map(unit);
        let world = World {
            clock: Clock(word(1, clock)),
            slots: [0, 1].map(|n| word(n, slots)),
            units,
            burst: AtomicU64::new(0),
        };
        world.stamp(0).begin(1, 0, 1);
        world.stamp(1).begin(1, 0, 1);
        world
    }

    fn stamp(&self, unit: u64) -> Stamp<'_, Word> {
        let [when, first, second] = &self.units[unit as usize];
        Stamp { when, halves: [first, second] }
    }

    /// A burst: both entries as of one version.
    fn look(&self) {
        self.burst.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let version = self.clock.now();
        for slot in &self.slots {
            let mut state = LINK + Slot(slot).get();
            while state >= LINK {
                state = self.stamp(state - LINK).at(version);
            }
            assert_eq!(state, version, "the state of each version has its number");
        }
        self.burst.store(0, Ordering::Release);
    }

    /// Whether all readers have reached the version in force.
    fn is_reached(&self) -> bool {
        fence(Ordering::SeqCst);
        self.burst.load(Ordering::Acquire) == 0
    }

    /// Both entries to the state of the next version. Where readers may be behind, in new units.
    fn change(&self, version: u64, reached: u64, units: &mut [u64; 2]) {
        for (at, (slot, unit)) in self.slots.iter().zip(units).enumerate() {
            if self.stamp(*unit).step(version, version, reached) {
                continue;
            }
            let new = 2 + at as u64;
            self.stamp(new).begin(version, LINK + *unit, version);
            Slot(slot).set(new);
            *unit = new;
        }
        self.clock.commit(version);
    }
}

/// `waits`: whether the writer looks for bursts before it takes a version as reached.
fn check(clock: Weak, slots: Weak, waits: bool) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let world = Arc::new(World::new(clock, slots));
        let reader = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                world.look();
                world.look();
            })
        };
        let mut units = [0, 1];
        let mut reached = 1;
        for version in 2..5 {
            world.change(version, reached, &mut units);
            if world.is_reached() || !waits {
                reached = version;
            } else if version == 3 {
                break; // There are units for one more change that cannot be made in place.
            }
        }
        reader.join().unwrap();
    });
}

#[test]
fn a_burst_sees_one_version_of_all_entries() {
    check(Weak::default(), Weak::default(), true);
}

#[test]
fn a_grace_period_that_is_not_waited_for_is_missed() {
    let result = catch_unwind(|| check(Weak::default(), Weak::default(), false));
    assert!(result.is_err());
}

#[test]
fn each_ordering_is_missed() {
    let loads = Weak { loads: true, stores: false };
    let stores = Weak { loads: false, stores: true };
    let none = Weak::default();
    for (clock, slots) in [(loads, none), (stores, none), (none, loads), (none, stores)] {
        let result = catch_unwind(|| check(clock, slots, true));
        assert!(result.is_err(), "nothing fails with the clock's {clock:?} and the slots' {slots:?}");
    }
}
