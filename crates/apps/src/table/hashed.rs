//! A flow table that stores its flows: bounded, bucketised, two choices per flow.

use memory::{Memory, Ps, Touch};

use super::{Flow, FlowTable, Full, Key, SLOTS, Shape, Value};

/// Words of a state: value, time of last use, frames.
const USED: usize = 2;
const FRAMES: usize = 3;
/// The word of a key's line that names the other direction's entry, plus one.
const PEER: usize = 5;

/// Up to `capacity` flows. A flow lies in one of two buckets of eight; a bucket's word is a tag and the
/// entry's number, so a lookup reads one bucket line, one key line and writes one state line. Where both
/// buckets are full one flow is moved to its other bucket; where there is still no room, the flow unused
/// for longest gives way if it has been so for the timeout, else the new one is refused.
///
/// The three arrays come from the allocator as zero pages: memory is used as flows arrive.
pub struct HashTable<M: Memory> {
    shape: Shape,
    table: M::Table,
    timeout: Ps,
    buckets: Vec<[u64; SLOTS]>,
    keys: Vec<[u64; 8]>,
    states: Vec<[u64; 4]>,
    /// Entries given back.
    free: Vec<u32>,
    /// Entries from here on were never used.
    fresh: u32,
    expired: u64,
    refused: u64,
}

/// A bucket's word: the hash's high half, then the entry plus one, so that an empty slot is zero.
fn word(hash: u64, entry: u32) -> u64 {
    hash & !0xffff_ffff | u64::from(entry + 1)
}

/// The entry that a bucket's word names.
fn entry_of(word: u64) -> Option<u32> {
    (word as u32).checked_sub(1)
}

impl<M: Memory> HashTable<M> {
    /// An empty table; a flow unused for `timeout` may be replaced.
    pub fn new(shape: Shape, table: M::Table, timeout: Ps) -> HashTable<M> {
        let flows = shape.capacity as usize;
        HashTable {
            shape,
            table,
            timeout,
            buckets: vec![[0; SLOTS]; shape.buckets as usize],
            keys: vec![[0; 8]; flows],
            states: vec![[0; 4]; flows],
            free: Vec::new(),
            fresh: 0,
            expired: 0,
            refused: 0,
        }
    }

    /// Flows in the table.
    pub fn len(&self) -> usize {
        self.fresh as usize - self.free.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Flows that gave way to others after their timeout.
    pub fn expired(&self) -> u64 {
        self.expired
    }

    /// Flows that found no room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Bucket, slot and entry of a key.
    #[inline]
    fn locate(&self, m: &mut M, key: &Key, hash: u64) -> Option<(u64, usize, u32)> {
        let tag = hash >> 32;
        for bucket in self.shape.pair(hash) {
            m.touch(self.table, self.shape.bucket(bucket), Touch::Read);
            for (slot, word) in self.buckets[bucket as usize].iter().enumerate() {
                let Some(entry) = entry_of(*word).filter(|_| word >> 32 == tag) else { continue };
                m.touch(self.table, self.shape.key(entry), Touch::Read);
                if self.keys[entry as usize][..5] == key.0 {
                    return Some((bucket, slot, entry));
                }
            }
        }
        None
    }

    /// An empty slot for a flow of `hash`, after moving or expiring another one if need be.
    fn slot(&mut self, hash: u64, now: Ps) -> Option<(u64, usize)> {
        let pair = self.shape.pair(hash);
        self.empty(pair).or_else(|| self.displace(pair)).or_else(|| {
            self.expire(pair, now);
            self.empty(pair)
        })
    }

    fn empty(&self, pair: [u64; 2]) -> Option<(u64, usize)> {
        pair.into_iter().find_map(|b| Some((b, self.buckets[b as usize].iter().position(|w| *w == 0)?)))
    }

    /// Moves one flow of the two buckets to its other bucket, where that has room.
    fn displace(&mut self, pair: [u64; 2]) -> Option<(u64, usize)> {
        for bucket in pair {
            for slot in 0..SLOTS {
                let moved = self.buckets[bucket as usize][slot];
                let Some(entry) = entry_of(moved) else { continue };
                let homes = self.shape.pair(self.key(entry).hash());
                let other = if homes[0] == bucket { homes[1] } else { homes[0] };
                if let Some(to) = self.buckets[other as usize].iter_mut().find(|w| **w == 0) {
                    *to = moved;
                    self.buckets[bucket as usize][slot] = 0;
                    return Some((bucket, slot));
                }
            }
        }
        None
    }

    /// Removes the flow of the two buckets that was unused for longest, with its other direction, if
    /// both have been so for the timeout.
    fn expire(&mut self, pair: [u64; 2], now: Ps) {
        let held = pair.into_iter().flat_map(|b| self.buckets[b as usize]).filter_map(entry_of);
        let Some((used, oldest)) = held.map(|e| (self.used(e), e)).min() else { return };
        if now.saturating_sub(used) < self.timeout {
            return;
        }
        if let Some(peer) = self.peer(oldest) {
            self.unlink(peer);
            self.expired += 1;
        }
        self.unlink(oldest);
        self.expired += 1;
    }

    fn key(&self, entry: u32) -> Key {
        let [a, b, c, d, e, ..] = self.keys[entry as usize];
        Key([a, b, c, d, e])
    }

    fn peer(&self, entry: u32) -> Option<u32> {
        entry_of(self.keys[entry as usize][PEER])
    }

    /// When the connection was last used, in either direction.
    fn used(&self, entry: u32) -> Ps {
        let own = self.states[entry as usize][USED];
        Ps(self.peer(entry).map_or(own, |peer| own.max(self.states[peer as usize][USED])))
    }

    /// Frees an entry and its slot.
    fn unlink(&mut self, entry: u32) {
        let hash = self.key(entry).hash();
        for bucket in self.shape.pair(hash) {
            if let Some(slot) = self.buckets[bucket as usize].iter_mut().find(|w| **w == word(hash, entry)) {
                *slot = 0;
                self.free.push(entry);
                break;
            }
        }
        if let Some(peer) = self.peer(entry) {
            self.keys[peer as usize][PEER] = 0;
        }
        self.keys[entry as usize] = [0; 8];
    }

    fn room(&mut self) -> Option<u32> {
        self.free.pop().or_else(|| {
            (self.fresh < self.shape.capacity).then(|| {
                self.fresh += 1;
                self.fresh - 1
            })
        })
    }
}

impl<M: Memory> FlowTable<M> for HashTable<M> {
    #[inline]
    fn find(&mut self, m: &mut M, key: &Key, hash: u64, now: Ps, _: bool) -> Option<Flow> {
        let (_, _, entry) = self.locate(m, key, hash)?;
        m.touch(self.table, self.shape.state(entry), Touch::Write);
        let state = &mut self.states[entry as usize];
        state[USED] = now.0;
        state[FRAMES] += 1;
        Some(Flow { entry, value: [state[0], state[1]] })
    }

    fn taken(&mut self, m: &mut M, key: &Key, hash: u64) -> bool {
        self.locate(m, key, hash).is_some()
    }

    fn insert(&mut self, m: &mut M, key: &Key, hash: u64, value: Value, now: Ps) -> Result<Flow, Full> {
        if self.len() == self.shape.capacity as usize {
            self.expire(self.shape.pair(hash), now);
        }
        let Some(((bucket, slot), entry)) = self.slot(hash, now).and_then(|at| Some((at, self.room()?)))
        else {
            self.refused += 1;
            return Err(Full);
        };
        m.touch(self.table, self.shape.bucket(bucket), Touch::Write);
        m.touch(self.table, self.shape.key(entry), Touch::Write);
        m.touch(self.table, self.shape.state(entry), Touch::Write);
        let [a, b, c, d, e] = key.0;
        self.keys[entry as usize] = [a, b, c, d, e, 0, 0, 0];
        self.states[entry as usize] = [value[0], value[1], now.0, 1];
        self.buckets[bucket as usize][slot] = word(hash, entry);
        Ok(Flow { entry, value })
    }

    fn link(&mut self, a: Flow, b: Flow) {
        if a.entry != b.entry {
            self.keys[a.entry as usize][PEER] = u64::from(b.entry) + 1;
            self.keys[b.entry as usize][PEER] = u64::from(a.entry) + 1;
        }
    }

    fn remove(&mut self, m: &mut M, key: &Key, hash: u64) {
        if let Some((_, _, entry)) = self.locate(m, key, hash) {
            self.unlink(entry);
        }
    }
}
