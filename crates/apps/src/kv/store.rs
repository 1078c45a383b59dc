//! A partition: a lossy index over a circular log, after MICA's cache mode (Lim et al., NSDI 2014, §4.3).
//!
//! Items are appended to the log, which goes round: what is oldest is overwritten. An item that grows no
//! further than the lines it once got is changed in place. A slot of the index holds a tag and a place in
//! a log without end, so that it shows when its item is overwritten. A full bucket gives up its oldest
//! item. So a partition may forget, and never says what was not put.

use memory::native::prefetch;
use memory::{LINE, Memory, Touch};

use super::shape::{HEAD, SLOTS, Shape, lines};
use super::{Refused, Store, Value};

/// Places have 48 bits, the tag the rest.
const PLACES: u64 = 1 << 48;

/// What an item's head says.
#[derive(Clone, Copy)]
struct Head {
    hash: u64,
    key_len: u16,
    value_len: u16,
    /// Lines that the item got when it was appended.
    lines: u16,
}

impl Head {
    fn read(bytes: &[u8]) -> Head {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let hash = bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        Head { hash, key_len: word(8), value_len: word(10), lines: word(12) }
    }

    fn write(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(&self.hash.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.key_len.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.value_len.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.lines.to_le_bytes());
    }
}

/// Items of one core. Index and log come from the allocator as zero pages: memory is used as items arrive.
pub struct Partition<M: Memory> {
    shape: Shape,
    table: M::Table,
    /// A tag, never 0, over a place; 0 where empty.
    index: Vec<[u64; SLOTS]>,
    log: Vec<u8>,
    /// The place of the next item. Those before it are there, back to as many as the log has lines.
    tail: u64,
}

impl<M: Memory> Partition<M> {
    /// An empty partition.
    pub fn new(shape: Shape, table: M::Table) -> Partition<M> {
        let index = vec![[0; SLOTS]; shape.buckets() as usize];
        Partition { shape, table, index, log: vec![0; shape.lines as usize * LINE], tail: 0 }
    }

    fn word(hash: u64, place: u64) -> u64 {
        (hash >> 32 & 0xffff).max(1) << 48 | place
    }

    /// Whether the item of a slot has not been overwritten.
    fn holds(&self, word: u64) -> bool {
        word != 0 && word % PLACES + self.shape.lines >= self.tail
    }

    /// Where in the log a place is, in lines.
    fn line(&self, place: u64) -> u64 {
        place % self.shape.lines
    }

    fn item(&self, place: u64) -> &[u8] {
        &self.log[self.line(place) as usize * LINE..]
    }

    fn item_mut(&mut self, place: u64) -> &mut [u8] {
        let at = self.line(place) as usize * LINE;
        &mut self.log[at..]
    }

    /// The slots of a bucket that may be a hash's, by their tag.
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (usize, u64)> {
        let tag = Self::word(hash, 0);
        let slots = self.index[self.shape.bucket(hash) as usize].iter().enumerate();
        slots
            .filter(move |(_, word)| **word & !(PLACES - 1) == tag && self.holds(**word))
            .map(|(slot, word)| (slot, word % PLACES))
    }

    /// Slot and place of a key.
    #[inline]
    fn locate(&self, m: &mut M, hash: u64, key: &[u8]) -> Option<(usize, u64)> {
        self.shape.touch_bucket(m, self.table, self.shape.bucket(hash), Touch::Read);
        for (slot, place) in self.candidates(hash) {
            let end = HEAD + key.len();
            self.shape.touch_item(m, self.table, self.line(place), 0..end, Touch::Read);
            let item = self.item(place);
            let head = Head::read(item);
            if head.hash == hash && usize::from(head.key_len) == key.len() && item[HEAD..end] == *key {
                return Some((slot, place));
            }
        }
        None
    }

    /// Room for `lines` at the tail.
    fn append(&mut self, lines: u64) -> u64 {
        let line = self.line(self.tail);
        if line + lines > self.shape.lines {
            self.tail += self.shape.lines - line; // an item lies in one piece
        }
        if self.tail + lines > PLACES {
            // Places would come again: forgetting all is simpler than a search for old ones, and rare.
            self.index.fill([0; SLOTS]);
            self.tail = 0;
        }
        let place = self.tail;
        self.tail += lines;
        place
    }

    /// The slot of a bucket to fill: one without an item, or the oldest item's.
    fn victim(&self, bucket: u64) -> usize {
        let age = |word: &u64| if self.holds(*word) { word % PLACES + 1 } else { 0 };
        let slots = self.index[bucket as usize].iter().enumerate();
        slots.min_by_key(|(_, word)| age(word)).map_or(0, |(slot, _)| slot)
    }
}

impl<M: Memory> Store<M> for Partition<M> {
    fn ahead_bucket(&self, m: &mut M, hash: u64) {
        let bucket = self.shape.bucket(hash);
        self.shape.ahead_bucket(m, self.table, bucket);
        prefetch(&self.index[bucket as usize]);
    }

    fn ahead_item(&self, m: &mut M, hash: u64) {
        for (_, place) in self.candidates(hash) {
            self.shape.ahead_item(m, self.table, self.line(place));
            self.item(place).chunks(LINE).take((HEAD + usize::from(self.shape.key)).div_ceil(LINE)).for_each(
                |line| {
                    prefetch(&line[0]);
                },
            );
        }
    }

    fn get(&mut self, m: &mut M, hash: u64, key: &[u8]) -> Option<Value<'_>> {
        let (_, place) = self.locate(m, hash, key)?;
        let start = HEAD + key.len();
        let len = Head::read(self.item(place)).value_len;
        let end = start + usize::from(len);
        self.shape.touch_item(
            m,
            self.table,
            self.line(place),
            start.next_multiple_of(LINE)..end,
            Touch::Read,
        );
        Some(Value::Bytes { bytes: &self.item(place)[start..end], len })
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
        let end = start + usize::from(len);
        let needed = lines(key.len(), len.into());
        if needed > self.shape.lines {
            return Err(Refused::TooLarge);
        }
        let found = self.locate(m, hash, key);
        let head = Head { hash, key_len: key.len() as u16, value_len: len, lines: needed as u16 };
        let place = match found.map(|(_, place)| (place, Head::read(self.item(place)).lines)) {
            Some((place, lines)) if u64::from(lines) >= needed => {
                Head { lines, ..head }.write(self.item_mut(place));
                self.shape.touch_item(m, self.table, self.line(place), 0..HEAD, Touch::Write);
                place
            }
            _ => {
                let bucket = self.shape.bucket(hash);
                let place = self.append(needed);
                // After the append: it may have overwritten items of this bucket.
                let slot = found.map_or_else(|| self.victim(bucket), |(slot, _)| slot);
                self.index[bucket as usize][slot] = Self::word(hash, place);
                self.shape.touch_bucket(m, self.table, bucket, Touch::Write);
                let item = self.item_mut(place);
                head.write(item);
                item[HEAD..start].copy_from_slice(key);
                self.shape.touch_item(m, self.table, self.line(place), 0..start, Touch::Write);
                place
            }
        };
        self.shape.touch_item(m, self.table, self.line(place), start..end, Touch::Write);
        fill(m, &mut self.item_mut(place)[start..end]);
        Ok(())
    }

    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool {
        let Some((slot, _)) = self.locate(m, hash, key) else { return false };
        let bucket = self.shape.bucket(hash);
        self.shape.touch_bucket(m, self.table, bucket, Touch::Write);
        self.index[bucket as usize][slot] = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

    use super::*;
    use memory::{Backing, NativeView, Region, native::Table};

    #[test]
    fn a_place_that_would_come_again_is_never_believed() {
        let region = Region::new(64, Backing::Heap).unwrap();
        let mut m = region.view();
        let mut p = Partition::<NativeView<'_>>::new(Shape::new(16), Table);
        p.tail = PLACES / p.shape.lines * p.shape.lines - 2 * p.shape.lines;
        for n in 0..100u64 {
            let key = n.to_le_bytes();
            p.put(&mut m, n, &key, 8, |_, place| place.copy_from_slice(&n.to_be_bytes())).unwrap();
            for old in 0..=n {
                if let Some(value) = p.get(&mut m, old, &old.to_le_bytes()) {
                    assert_eq!(value, Value::Bytes { bytes: &old.to_be_bytes(), len: 8 });
                }
            }
            assert!(p.get(&mut m, n, &key).is_some(), "what was put last is there");
            p.tail = p.tail.max(PLACES - 300 + 16 * n) % PLACES;
        }
    }
}
