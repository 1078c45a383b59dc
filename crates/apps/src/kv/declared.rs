//! Partitions without storage: the model's.

use memory::{Buf, Memory, Touch};

use super::pages::Place;
use super::shape::{HEAD, Shape, lines};
use super::slabs::SlabShape;
use super::{Refused, Store, Value};

/// Touches the lines that a full [`super::Partition`] of the same shape would touch: every key is there,
/// with a value as long as the shape says, zeros, at a place that follows from its hash.
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
        let item = lines(self.shape.key.into(), self.shape.value.into());
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
        let rest = start.next_multiple_of(memory::LINE)..start + usize::from(self.shape.value);
        self.shape.touch_item(m, self.table, at, rest, Touch::Read);
        Some(Value::Bytes { bytes: &[], len: self.shape.value })
    }

    fn put(
        &mut self,
        m: &mut M,
        hash: u64,
        key: &[u8],
        len: u16,
        fill: impl FnOnce(&mut M, &mut [u8]),
    ) -> Result<(), Refused> {
        let at = self.locate(m, hash, key);
        let start = HEAD + key.len();
        self.shape.touch_item(m, self.table, at, 0..HEAD, Touch::Write);
        self.shape.touch_item(
            m,
            self.table,
            at,
            start..start + usize::from(len.min(self.shape.value)),
            Touch::Write,
        );
        fill(m, &mut []);
        Ok(())
    }

    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool {
        self.locate(m, hash, key);
        self.shape.touch_bucket(m, self.table, self.shape.bucket(hash), Touch::Write);
        true
    }
}

/// Touches what full [`super::Slabs`] of the same shape would touch: every key is there, with a value as long as its
/// hash says, in a slot that follows from its hash. A put writes in place.
pub struct DeclaredSlabs<M: Memory> {
    shape: SlabShape,
    table: M::Table,
    buffers: M::Buffers,
    sending: u64,
}

impl<M: Memory> DeclaredSlabs<M> {
    /// A partition whose index is at the addresses of `table`, and whose items are in `buffers`.
    pub fn new(shape: SlabShape, table: M::Table, buffers: M::Buffers) -> DeclaredSlabs<M> {
        DeclaredSlabs { shape, table, buffers, sending: 0 }
    }

    /// Bytes of a hash's item.
    fn bytes(&self, hash: u64) -> usize {
        let objects = self.shape.objects;
        HEAD + usize::from(objects.key_len()) + usize::from(objects.value_len(hash))
    }

    /// Buffer and offset of a hash's item.
    fn item(&self, hash: u64) -> (Buf, u32) {
        let slots = self.shape.cut.slots(self.bytes(hash)).unwrap_or(1);
        // Mixed once more, as in `Declared`: a length, too, follows from the hash.
        let mixed = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let part = |bits: u64, of: u32| (((bits & 0xffff_ffff) * u64::from(of)) >> 32) as u32;
        let place = Place { page: part(mixed >> 32, self.shape.pages), slot: part(mixed, slots) };
        (Buf(self.shape.first + u64::from(place.page)), self.shape.cut.offset(slots, place.slot))
    }

    /// Finds the item of a hash, after a look at its key. Half of the items are in their second bucket.
    fn locate(&self, m: &mut M, hash: u64, key: &[u8]) -> (Buf, u32) {
        let buckets = self.shape.buckets(hash);
        let looked = if hash >> 31 & 1 == 0 { 1 } else { 2 };
        for bucket in &buckets[..looked] {
            self.shape.touch_bucket(m, self.table, *bucket, Touch::Read);
        }
        let (buf, off) = self.item(hash);
        m.get(self.buffers, buf, off, &mut [], (HEAD + key.len()) as u32);
        (buf, off)
    }
}

impl<M: Memory> Store<M> for DeclaredSlabs<M> {
    fn ahead_bucket(&self, m: &mut M, hash: u64) {
        for bucket in self.shape.buckets(hash) {
            self.shape.ahead_bucket(m, self.table, bucket);
        }
    }

    fn ahead_item(&self, m: &mut M, hash: u64) {
        let (buf, off) = self.item(hash);
        m.prefetch(self.buffers, buf, off);
    }

    fn get(&mut self, m: &mut M, hash: u64, key: &[u8]) -> Option<Value<'_>> {
        let (buf, off) = self.locate(m, hash, key);
        let start = HEAD + key.len();
        let len = self.bytes(hash).saturating_sub(start) as u16;
        Some(Value::Lying { buf, off: off as u16 + start as u16, len, sum: 0 })
    }

    fn put(
        &mut self,
        m: &mut M,
        hash: u64,
        key: &[u8],
        len: u16,
        fill: impl FnOnce(&mut M, &mut [u8]),
    ) -> Result<(), Refused> {
        let (buf, off) = self.locate(m, hash, key);
        fill(m, &mut []);
        let bytes = (HEAD + key.len() + usize::from(len)).min(self.bytes(hash));
        m.put(self.buffers, buf, off, &[], bytes as u32);
        Ok(())
    }

    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool {
        self.locate(m, hash, key);
        self.shape.touch_bucket(m, self.table, self.shape.buckets(hash)[0], Touch::Write);
        true
    }

    fn own_buffers(&self) -> u64 {
        self.shape.first
    }

    fn keep(&mut self, m: &mut M, buf: Buf) {
        self.shape.touch_count(m, self.table, (buf.0 - self.shape.first) as u32);
        self.sending += 1;
    }

    fn returned(&mut self, m: &mut M, buf: Buf) {
        self.shape.touch_count(m, self.table, buf.0.wrapping_sub(self.shape.first) as u32);
        self.sending = self.sending.saturating_sub(1);
    }

    fn sending(&self) -> u64 {
        self.sending
    }
}
