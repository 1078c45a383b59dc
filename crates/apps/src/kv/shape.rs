//! Where the lines of a partition lie: the index, a line for each bucket, then the log.

use core::ops::Range;

use memory::{LINE, Memory, Touch};
use packet::kv::{KEY, VALUE};

/// Slots of a bucket: 8 words, one line.
pub(super) const SLOTS: usize = 8;
/// Bytes of an item before its key.
pub(super) const HEAD: usize = 16;

/// The size of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Buckets, a power of two.
    buckets: u64,
    /// Lines of the log.
    pub(super) lines: u64,
    /// Bytes of a key and a value.
    pub(super) key: u16,
    pub(super) value: u16,
}

/// Lines of an item: each begins a line, so that its head and the front of its key are one access.
pub(super) fn lines(key: usize, value: usize) -> u64 {
    (HEAD + key + value).div_ceil(LINE) as u64
}

impl Shape {
    /// The name of a partition's table.
    pub const NAME: &'static str = "kv";

    /// A partition for `items` of the usual sizes ([`KEY`], [`VALUE`]; at most 2^24 of them), five of a bucket's eight
    /// slots used.
    pub fn new(items: u64) -> Shape {
        Shape::of(items, KEY, VALUE)
    }

    /// The same for keys and values of so many bytes.
    pub fn of(items: u64, key: u16, value: u16) -> Shape {
        let items = items.clamp(1, 1 << 24);
        let buckets = items.div_ceil(5).next_power_of_two();
        Shape { buckets, lines: items * lines(key.into(), value.into()), key, value }
    }

    /// Bytes in all: 1.2 GiB for a million items.
    pub fn bytes(&self) -> u64 {
        (self.buckets + self.lines) * LINE as u64
    }

    pub(super) fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The bucket of a hash: its low bits. Tag and partition have others.
    #[inline]
    pub(super) fn bucket(&self, hash: u64) -> u64 {
        hash & (self.buckets - 1)
    }

    /// An access to a bucket.
    #[inline]
    pub(super) fn touch_bucket<M: Memory>(&self, m: &mut M, table: M::Table, bucket: u64, how: Touch) {
        m.touch(table, bucket * LINE as u64, how);
    }

    /// A bucket is on its way.
    #[inline]
    pub(super) fn ahead_bucket<M: Memory>(&self, m: &mut M, table: M::Table, bucket: u64) {
        m.touch_ahead(table, bucket * LINE as u64);
    }

    /// Head and key of the item at line `at` of the log are on their way.
    #[inline]
    pub(super) fn ahead_item<M: Memory>(&self, m: &mut M, table: M::Table, at: u64) {
        for line in 0..(HEAD + usize::from(self.key)).div_ceil(LINE) as u64 {
            m.touch_ahead(table, (self.buckets + at + line) * LINE as u64);
        }
    }

    /// An access to every line of some `bytes` of the item at line `at` of the log.
    #[inline]
    pub(super) fn touch_item<M: Memory>(
        &self,
        m: &mut M,
        table: M::Table,
        at: u64,
        bytes: Range<usize>,
        how: Touch,
    ) {
        let first = (self.buckets + at) * LINE as u64;
        m.touch_run(table, first + bytes.start as u64, bytes.len() as u64, how);
    }
}
