//! A partition whose items lie in packet buffers, so that a value is sent from where it lies: after CliqueMap, as
//! CC-NIC has it (§5.7).
//!
//! The index is DPDK's `rte_hash` in small: each key has two buckets, and an item goes where there is more room.
//! Items lie in slots of [`Pages`], buffers of the frames' pool that nobody else takes. A put writes
//! where nobody sends from: in place if that is so there, otherwise elsewhere. So an answer under way keeps the value
//! that it was made of. Memory is bounded: a put that finds no slot is refused, and what there was of the key stays.
//!
//! An item is `[hash: 8][bytes of the key: 2][of the value: 2][sum of the value: 2][0: 2]`, then key and value. The sum
//! is what the value adds to a checksum: an answer needs no look at it.

use memory::native::prefetch;
use memory::{Buf, LINE, Memory, Touch};
use packet::checksum;
use packet::kv::{MAX_KEY, Objects};

use super::pages::{Cut, Pages, Place};
use super::shape::{HEAD, SLOTS};
use super::{Refused, Store, Value};

/// Pages' counts in a line.
const COUNTS: u64 = LINE as u64 / 4;
/// Slots of the index and of pages for each item that is expected: sizes of items differ from run to run, and puts
/// need a slot before they give one up.
const SLACK: f64 = 1.25;

/// The size of such a partition, and where its buffers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlabShape {
    pub(super) objects: Objects,
    /// Buckets, a power of two.
    pub(super) buckets: u64,
    /// Buffers.
    pub(super) pages: u32,
    /// The number of the first one.
    pub(super) first: u64,
    pub(super) cut: Cut,
}

impl SlabShape {
    /// Room for `items` of `objects` in buffers of `room` bytes.
    pub fn new(objects: Objects, items: u64, room: u32) -> SlabShape {
        let (cut, items) = (Cut::new(room), items.clamp(1, 1 << 24));
        let bytes = |drawn: u32| HEAD + usize::from(objects.key_len()) + usize::from(objects.value_at(drawn));
        // Midpoints of a thousand equal parts, and the longest.
        let drawn = (0..1000).map(|k| k * 1000 + 500).chain([999_999]);
        let mut parts = vec![0u32; 256];
        drawn.filter_map(|drawn| cut.slots(bytes(drawn))).for_each(|slots| parts[slots as usize] += 1);
        let pages = |(slots, parts): (usize, &u32)| {
            let expected = items as f64 * f64::from(*parts) / 1000.0 * SLACK / slots as f64;
            expected as u32 + 1
        };
        let pages = parts.iter().enumerate().filter(|(_, parts)| **parts > 0).map(pages).sum();
        let buckets = (items as f64 * SLACK / 5.0).ceil() as u64;
        SlabShape { objects, buckets: buckets.next_power_of_two(), pages, first: 0, cut }
    }

    /// The same, of which buffer `first` is the first one.
    #[must_use]
    pub const fn from(self, first: u64) -> SlabShape {
        SlabShape { first, ..self }
    }

    /// That of the `core`-th of equal partitions, whose buffers follow each other.
    #[must_use]
    pub fn of(self, core: u32) -> SlabShape {
        self.from(self.first + u64::from(core) * u64::from(self.pages))
    }

    /// How many buffers it takes.
    pub const fn pages(&self) -> u32 {
        self.pages
    }

    /// Bytes of the index and of the buffers' counts.
    pub fn bytes(&self) -> u64 {
        (self.buckets + u64::from(self.pages).div_ceil(COUNTS)) * LINE as u64
    }

    /// Both buckets of a hash. They differ where there are two.
    #[inline]
    pub(super) fn buckets(&self, hash: u64) -> [u64; 2] {
        let mask = self.buckets - 1;
        [hash & mask, (hash ^ (hash >> 32 & 0xffff | 1).wrapping_mul(0x5bd1_e995)) & mask]
    }

    /// The line of the count of a page.
    #[inline]
    pub(super) fn touch_count<M: Memory>(&self, m: &mut M, table: M::Table, page: u32) {
        m.touch(table, (self.buckets + u64::from(page) / COUNTS) * LINE as u64, Touch::Write);
    }

    #[inline]
    pub(super) fn touch_bucket<M: Memory>(&self, m: &mut M, table: M::Table, bucket: u64, how: Touch) {
        m.touch(table, bucket * LINE as u64, how);
    }

    #[inline]
    pub(super) fn ahead_bucket<M: Memory>(&self, m: &mut M, table: M::Table, bucket: u64) {
        m.touch_ahead(table, bucket * LINE as u64);
    }
}

/// Items of one core, in packet buffers.
pub struct Slabs<M: Memory> {
    shape: SlabShape,
    table: M::Table,
    buffers: M::Buffers,
    /// A tag, never 0, over page and slot; 0 where empty.
    index: Vec<[u64; SLOTS]>,
    pages: Pages,
    /// An item before it is written.
    item: Vec<u8>,
}

/// Where in a word the tag begins, and the page.
const TAG: u32 = 48;
const PAGE: u32 = 8;

impl<M: Memory> Slabs<M> {
    /// An empty partition whose items lie in `buffers`.
    pub fn new(shape: SlabShape, table: M::Table, buffers: M::Buffers) -> Slabs<M> {
        let index = vec![[0; SLOTS]; shape.buckets as usize];
        Slabs { shape, table, buffers, index, pages: Pages::new(shape.cut, shape.pages), item: Vec::new() }
    }

    fn tag(hash: u64) -> u64 {
        (hash >> 32 & 0xffff).max(1) << TAG
    }

    fn word(hash: u64, place: Place) -> u64 {
        Self::tag(hash) | u64::from(place.page) << PAGE | u64::from(place.slot)
    }

    fn place(word: u64) -> Place {
        Place { page: (word >> PAGE) as u32, slot: (word as u8).into() }
    }

    fn buf(&self, place: Place) -> Buf {
        Buf(self.shape.first + u64::from(place.page))
    }

    /// Places that may be a hash's, by their tag.
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, usize, Place)> {
        let [one, other] = self.shape.buckets(hash);
        let buckets = [Some(one), (other != one).then_some(other)].into_iter().flatten();
        buckets.flat_map(move |bucket| {
            let words = (0..).zip(&self.index[bucket as usize]);
            words
                .filter(move |(_, word)| **word >> TAG << TAG == Self::tag(hash))
                .map(move |(slot, word)| (bucket, slot, Self::place(*word)))
        })
    }

    /// Bucket, slot of it, place, length of the value and its sum.
    fn locate(&self, m: &mut M, hash: u64, key: &[u8]) -> Option<Found> {
        let buckets = self.shape.buckets(hash);
        self.shape.touch_bucket(m, self.table, buckets[0], Touch::Read);
        let mut looked = buckets[0];
        for (bucket, slot, place) in self.candidates(hash) {
            if bucket != looked {
                self.shape.touch_bucket(m, self.table, bucket, Touch::Read);
                looked = bucket;
            }
            let mut seen = [0; HEAD + MAX_KEY];
            let seen = seen.get_mut(..HEAD + key.len())?;
            let (off, len) = (self.pages.offset(place), seen.len() as u32);
            m.get(self.buffers, self.buf(place), off, seen, len);
            let half = |at: usize| u16::from_le_bytes([seen[at], seen[at + 1]]);
            if seen[..8] == hash.to_le_bytes() && usize::from(half(8)) == key.len() && seen[HEAD..] == *key {
                return Some(Found { bucket, slot, place, len: half(10), sum: half(12) });
            }
        }
        if looked == buckets[0] && buckets[1] != buckets[0] {
            self.shape.touch_bucket(m, self.table, buckets[1], Touch::Read);
        }
        None
    }

    /// A free slot of the index for a hash: in the bucket that has more of them.
    fn room(&self, hash: u64) -> Option<(u64, usize)> {
        let free = |bucket: u64| self.index[bucket as usize].iter().filter(|word| **word == 0).count();
        let [one, other] = self.shape.buckets(hash);
        let bucket = if free(one) >= free(other) { one } else { other };
        let slot = self.index[bucket as usize].iter().position(|word| *word == 0)?;
        Some((bucket, slot))
    }

    /// Answers that are being sent.
    pub fn sending(&self) -> u64 {
        self.pages.sending()
    }
}

/// An item that was looked for.
struct Found {
    bucket: u64,
    slot: usize,
    place: Place,
    len: u16,
    sum: u16,
}

impl<M: Memory> Store<M> for Slabs<M> {
    fn ahead_bucket(&self, m: &mut M, hash: u64) {
        for bucket in self.shape.buckets(hash) {
            self.shape.ahead_bucket(m, self.table, bucket);
            prefetch(&self.index[bucket as usize]);
        }
    }

    fn ahead_item(&self, m: &mut M, hash: u64) {
        for (_, _, place) in self.candidates(hash) {
            m.prefetch(self.buffers, self.buf(place), self.pages.offset(place));
        }
    }

    fn get(&mut self, m: &mut M, hash: u64, key: &[u8]) -> Option<Value<'_>> {
        let Found { place, len, sum, .. } = self.locate(m, hash, key)?;
        let off = self.pages.offset(place) as usize + HEAD + key.len();
        Some(Value::Lying { buf: self.buf(place), off: off as u16, len, sum })
    }

    fn put(
        &mut self,
        m: &mut M,
        hash: u64,
        key: &[u8],
        len: u16,
        fill: impl FnOnce(&mut M, &mut [u8]),
    ) -> Result<(), Refused> {
        let start = HEAD + key.len();
        let bytes = start + usize::from(len);
        self.shape.cut.slots(bytes).ok_or(Refused::TooLarge)?;
        let found = self.locate(m, hash, key);
        let in_place = found.as_ref().filter(|found| self.pages.may_write(found.place, bytes));
        let place = match in_place {
            Some(found) => found.place,
            None => {
                let known = found.as_ref().map(|found| (found.bucket, found.slot));
                let (bucket, slot) = known.or_else(|| self.room(hash)).ok_or(Refused::Full)?;
                let place = self.pages.take(bytes).ok_or(Refused::Full)?;
                self.index[bucket as usize][slot] = Self::word(hash, place);
                self.shape.touch_bucket(m, self.table, bucket, Touch::Write);
                if let Some(found) = &found {
                    self.pages.give(found.place);
                }
                place
            }
        };
        let mut item = core::mem::take(&mut self.item);
        item.clear();
        item.extend(hash.to_le_bytes());
        item.extend((key.len() as u16).to_le_bytes());
        item.extend(len.to_le_bytes());
        item.extend([0; HEAD - 12]);
        item.extend(key);
        item.resize(bytes, 0);
        fill(m, &mut item[start..]);
        let sum = !checksum::finish(checksum::add(0, &item[start..]));
        item[12..14].copy_from_slice(&sum.to_le_bytes());
        m.put(self.buffers, self.buf(place), self.pages.offset(place), &item, bytes as u32);
        self.item = item;
        Ok(())
    }

    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool {
        let Some(found) = self.locate(m, hash, key) else { return false };
        self.shape.touch_bucket(m, self.table, found.bucket, Touch::Write);
        self.index[found.bucket as usize][found.slot] = 0;
        self.pages.give(found.place);
        true
    }

    fn own_buffers(&self) -> u64 {
        self.shape.first
    }

    fn keep(&mut self, m: &mut M, buf: Buf) {
        let page = (buf.0 - self.shape.first) as u32;
        self.shape.touch_count(m, self.table, page);
        self.pages.keep(page);
    }

    fn returned(&mut self, m: &mut M, buf: Buf) {
        let page = buf.0.wrapping_sub(self.shape.first) as u32;
        self.shape.touch_count(m, self.table, page);
        self.pages.returned(page);
    }

    fn sending(&self) -> u64 {
        Slabs::sending(self)
    }
}
