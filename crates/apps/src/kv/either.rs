//! One of two ways to store, chosen when a partition is made.

use memory::{Buf, Memory};

use super::{Refused, Store, Value};

/// A partition whose replies have copies of values, or one whose values are sent from where they lie.
pub enum Either<C, L> {
    /// Copied.
    Copied(C),
    /// Lying in buffers.
    Lying(L),
}

/// Calls the same method on whichever store it is.
macro_rules! each {
    ($self:expr, $store:ident => $call:expr) => {
        match $self {
            Either::Copied($store) => $call,
            Either::Lying($store) => $call,
        }
    };
}

impl<M: Memory, C: Store<M>, L: Store<M>> Store<M> for Either<C, L> {
    fn ahead_bucket(&self, m: &mut M, hash: u64) {
        each!(self, store => store.ahead_bucket(m, hash));
    }

    fn ahead_item(&self, m: &mut M, hash: u64) {
        each!(self, store => store.ahead_item(m, hash));
    }

    fn get(&mut self, m: &mut M, hash: u64, key: &[u8]) -> Option<Value<'_>> {
        each!(self, store => store.get(m, hash, key))
    }

    fn put(
        &mut self,
        m: &mut M,
        hash: u64,
        key: &[u8],
        len: u16,
        fill: impl FnOnce(&mut M, &mut [u8]),
    ) -> Result<(), Refused> {
        each!(self, store => store.put(m, hash, key, len, fill))
    }

    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool {
        each!(self, store => store.delete(m, hash, key))
    }

    fn own_buffers(&self) -> u64 {
        each!(self, store => store.own_buffers())
    }

    fn keep(&mut self, m: &mut M, buf: Buf) {
        each!(self, store => store.keep(m, buf));
    }

    fn returned(&mut self, m: &mut M, buf: Buf) {
        each!(self, store => store.returned(m, buf));
    }

    fn sending(&self) -> u64 {
        each!(self, store => store.sending())
    }
}
