//! A lock whose losers wait on its word.

use crate::{Class, Field, LayoutError, Memory, Side, Space};

/// The lock's word: 0 free, 1 held.
pub const LOCK_FIELD: Field = Field {
    name: "probe lock",
    len: 1,
    width: 1,
    class: Class::Contended,
    writer: Side::Host,
    reader: Side::Host,
    home: Side::Host,
};

/// One agent's handle.
pub struct Lock<M: Memory> {
    word: M::Words<1>,
    /// Times this agent found the lock held and waited.
    pub waits: u64,
}

// Derives would ask the view itself to be `Copy`.
impl<M: Memory> Copy for Lock<M> {}
impl<M: Memory> Clone for Lock<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory> Lock<M> {
    /// # Errors
    /// The field does not fit the space.
    pub fn new<S: Space<Mem = M>>(space: &mut S) -> Result<Self, LayoutError> {
        Ok(Lock { word: space.words(&LOCK_FIELD, 0)?, waits: 0 })
    }

    /// Returns once the lock is held.
    pub fn lock(&mut self, m: &mut M) {
        // The acquire half of the swap pairs with the release in `unlock`.
        while let Err(seen) = m.swap_if(self.word, 0, 0, 1) {
            self.waits += 1;
            m.wait(self.word, 0, seen);
        }
    }

    /// Hands it over; the caller holds it.
    pub fn unlock(&mut self, m: &mut M) {
        m.release(self.word, 0, 0); // partner: the next holder's swap
    }
}
