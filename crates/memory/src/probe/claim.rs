//! One ring, one producer, several consumers that claim what is ready by compare-and-swap.
//!
//! Entries carry an ever-growing transaction id: entry `id` lies in slot `id mod len`, its DD word
//! holds `id + 1`, so no index is ever mistaken for that of another round.

use crate::{Class, Field, LayoutError, Memory, Side, Space};

/// The words: the entries (value, DD), the next id to claim, and per slot the id handed back.
pub const CLAIM_FIELDS: [Field; 3] = [
    Field {
        name: "entry",
        len: 1,
        width: 2,
        class: Class::Signal,
        writer: Side::Nic,
        reader: Side::Host,
        home: Side::Host,
    },
    Field {
        name: "next",
        len: 1,
        width: 1,
        class: Class::Contended,
        writer: Side::Host,
        reader: Side::Host,
        home: Side::Host,
    },
    Field {
        name: "done",
        len: 1,
        width: 1,
        class: Class::Contended,
        writer: Side::Host,
        reader: Side::Nic,
        home: Side::Host,
    },
];

/// The bound words of one ring.
pub struct Claims<M: Memory> {
    entry: M::Words<2>,
    next: M::Words<1>,
    done: M::Words<1>,
    len: u64,
}

// Derives would ask the view itself to be `Copy`.
impl<M: Memory> Copy for Claims<M> {}
impl<M: Memory> Clone for Claims<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory> Claims<M> {
    /// A ring of `len` entries.
    ///
    /// # Errors
    /// `len` is not a power of two, or the fields do not fit the space.
    pub fn new<S: Space<Mem = M>>(space: &mut S, len: u32) -> Result<Self, LayoutError> {
        let [entry, next, done] = CLAIM_FIELDS;
        Ok(Claims {
            entry: space.words(&entry.of(len), 0)?,
            next: space.words(&next, 0)?,
            done: space.words(&done.of(len), 0)?,
            len: u64::from(len),
        })
    }

    /// The side that fills entries; there is one.
    pub fn producer(self) -> Producer<M> {
        Producer { ring: self, id: 0 }
    }

    /// A consumer; there may be many.
    pub fn claimer(self) -> Claimer<M> {
        Claimer { ring: self, claims: 0, failed: 0 }
    }
}

/// The NIC of the probe.
pub struct Producer<M: Memory> {
    ring: Claims<M>,
    id: u64,
}

impl<M: Memory> Producer<M> {
    /// Publishes `value`, or nothing where the slot has not been handed back.
    pub fn offer(&mut self, m: &mut M, value: u64) -> bool {
        let Claims { entry, done, len, .. } = self.ring;
        // Partner: `receive`'s release, so the slot has been read. A slot of the first round was
        // never used: its word holds 0 and `id + 1 - len` is no id yet.
        if self.id >= len && m.acquire(done, self.id) != self.id + 1 - len {
            return false;
        }
        m.publish(entry, self.id, [value, self.id + 1]); // partner: the acquire in `claim`
        self.id += 1;
        true
    }

    /// Whether every entry has been read: the last `len` slots were handed back.
    pub fn all_back(&self, m: &mut M) -> bool {
        let Claims { done, len, .. } = self.ring;
        // Partner: `receive`'s release.
        (self.id.saturating_sub(len)..self.id).all(|id| m.acquire(done, id) == id + 1)
    }
}

/// A core of the probe.
pub struct Claimer<M: Memory> {
    ring: Claims<M>,
    /// Claims won.
    pub claims: u64,
    /// Claims lost to another core.
    pub failed: u64,
}

impl<M: Memory> Claimer<M> {
    /// Claims up to `out.len()` ready entries, reads them and hands their slots back; how many. Gives
    /// up, with 0, after `tries` lost claims.
    pub fn receive(&mut self, m: &mut M, out: &mut [u64], tries: u32) -> usize {
        let Some((first, n)) = self.claim(m, out.len() as u64, tries) else { return 0 };
        for (id, value) in (first..first + n).zip(out) {
            *value = m.read(self.ring.entry, id)[0];
            m.release(self.ring.done, id, id + 1); // partner: the acquire in `offer`
        }
        n as usize
    }

    /// The bounded claim: scan the DD words from the next id, then swap the next id forward.
    fn claim(&mut self, m: &mut M, most: u64, tries: u32) -> Option<(u64, u64)> {
        let Claims { entry, next, len, .. } = self.ring;
        let mut first = m.relaxed(next, 0); // a guess: the swap decides
        for _ in 0..tries {
            let ready = |id: &u64| m.acquire(entry, *id) == id + 1; // partner: `offer`'s publish
            let n = (first..first + most.min(len)).take_while(ready).count() as u64;
            if n == 0 {
                return None;
            }
            match m.swap_if(next, 0, first, first + n) {
                Ok(()) => {
                    self.claims += 1;
                    return Some((first, n));
                }
                Err(seen) => {
                    self.failed += 1;
                    first = seen;
                }
            }
        }
        None
    }
}
