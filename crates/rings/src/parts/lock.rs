//! A number that several cores change, and the lock that guards it, in one word: `value << 1 | locked`.
//!
//! Lock and number share a line, so that a hand-over moves one line, not two.

use memory::{Class, Field, Memory, Side};

use crate::contract::Choice;

pub(crate) const fn field(name: &'static str) -> Field {
    Field {
        name,
        len: 1,
        width: 1,
        class: Class::Contended,
        writer: Side::Host,
        reader: Side::Host,
        home: Side::Host,
    }
}

/// How a core frees its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlock {
    /// By a store: the core goes on at once.
    Store,
    /// By a swap, as DPDK's spinlock does on x86: the core waits until all that it stored before is seen.
    Swap,
}

impl Choice for Unlock {
    const ALL: &'static [(&'static str, Unlock)] = &[("store", Unlock::Store), ("swap", Unlock::Swap)];
}

/// One core's handle of a locked number.
pub(crate) struct Locked<M: Memory> {
    word: M::Words<1>,
    unlock: Unlock,
    /// The word as this core last saw it unlocked: a guess that is right while no other core comes by.
    guess: u64,
    /// Times the lock was taken.
    pub(crate) taken: u64,
    /// Times it was found taken.
    pub(crate) waits: u64,
}

impl<M: Memory> Locked<M> {
    pub(crate) fn new(word: M::Words<1>) -> Locked<M> {
        Locked::freed_by(word, Unlock::Store)
    }

    pub(crate) fn freed_by(word: M::Words<1>, unlock: Unlock) -> Locked<M> {
        Locked { word, unlock, guess: 0, taken: 0, waits: 0 }
    }

    /// Takes the lock; the number. What the last holder wrote is visible.
    pub(crate) fn lock(&mut self, m: &mut M) -> u64 {
        let mut seen = self.guess;
        // Each swap pairs with the release, or the swap, in `unlock`.
        while let Err(now) = m.swap_if(self.word, 0, seen & !1, seen | 1) {
            seen = now;
            // A swap takes the line from all who wait, so it is tried only where a look says that it can succeed.
            while seen & 1 == 1 {
                self.waits += 1;
                m.wait(self.word, 0, seen);
                seen = m.relaxed(self.word, 0);
            }
        }
        self.taken += 1;
        self.guess = seen & !1;
        seen >> 1
    }

    /// Takes the lock if nobody has it; the number.
    pub(crate) fn try_lock(&mut self, m: &mut M) -> Option<u64> {
        let mut seen = self.guess;
        // As in `lock`.
        while let Err(now) = m.swap_if(self.word, 0, seen & !1, seen | 1) {
            if now & 1 == 1 {
                return None;
            }
            seen = now;
        }
        self.taken += 1;
        self.guess = seen & !1;
        Some(seen >> 1)
    }

    /// Frees the lock with the number's new value.
    pub(crate) fn unlock(&mut self, m: &mut M, value: u64) {
        let held = self.guess | 1;
        self.guess = value << 1;
        match self.unlock {
            Unlock::Store => m.release(self.word, 0, self.guess), // pairs with the swap in `lock`
            Unlock::Swap => {
                let freed = m.swap_if(self.word, 0, held, self.guess); // pairs with the swap in `lock`
                debug_assert!(freed.is_ok(), "nobody else changes a lock that is held");
            }
        }
    }

    /// The number, perhaps out of date.
    pub(crate) fn peek(&self, m: &mut M) -> u64 {
        m.relaxed(self.word, 0) >> 1
    }
}
