//! A partition without storage: the model's.

use memory::{Memory, Touch};
use packet::kv::{KEY, VALUE};

use super::shape::{HEAD, Shape, lines};
use super::{Store, TooLarge, Value};

/// Touches the lines that a full [`super::Partition`] of the same shape would touch: every key is there,
/// with a value of [`VALUE`] bytes, zeros, at a place that follows from its hash.
pub struct Declared<M: Memory> {
    shape: Shape,
    table: M::Table,
}

impl<M: Memory> Declared<M> {
    /// A partition at the addresses of `table`.
    pub fn new(shape: Shape, table: M::Table) -> Declared<M> {
        Declared { shape, table }
    }

    /// The line in the log of a hash's item.
    fn item(&self, hash: u64) -> u64 {
        let item = lines(KEY.into(), VALUE.into());
        // Mixed once more: a log is filled in order of time, so places must not follow from bucket and
        // partition.
        let mixed = hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
        ((mixed * (self.shape.lines / item)) >> 32) * item
    }

    /// Finds the item of a hash: its line in the log, after a look at its key.
    fn locate(&self, m: &mut M, hash: u64, key: &[u8]) -> u64 {
        self.shape.touch_bucket(m, self.table, self.shape.bucket(hash), Touch::Read);
        let at = self.item(hash);
        self.shape.touch_item(m, self.table, at, 0..HEAD + key.len(), Touch::Read);
        at
    }
}

impl<M: Memory> Store<M> for Declared<M> {
    fn ahead_bucket(&self, m: &mut M, hash: u64) {
        self.shape.ahead_bucket(m, self.table, self.shape.bucket(hash));
    }

    fn ahead_item(&self, m: &mut M, hash: u64) {
        self.shape.ahead_item(m, self.table, self.item(hash));
    }

    fn get(&mut self, m: &mut M, hash: u64, key: &[u8]) -> Option<Value<'_>> {
        let at = self.locate(m, hash, key);
        let start = HEAD + key.len();
        let rest = start.next_multiple_of(memory::LINE)..start + usize::from(VALUE);
        self.shape.touch_item(m, self.table, at, rest, Touch::Read);
        Some(Value { bytes: &[], len: VALUE })
    }

    fn put(&mut self, m: &mut M, hash: u64, key: &[u8], len: u16) -> Result<&mut [u8], TooLarge> {
        let at = self.locate(m, hash, key);
        let start = HEAD + key.len();
        self.shape.touch_item(m, self.table, at, 0..HEAD, Touch::Write);
        self.shape.touch_item(m, self.table, at, start..start + usize::from(len.min(VALUE)), Touch::Write);
        Ok(&mut [])
    }

    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool {
        self.locate(m, hash, key);
        self.shape.touch_bucket(m, self.table, self.shape.bucket(hash), Touch::Write);
        true
    }
}
