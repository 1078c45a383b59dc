//! `linefs`: the host's side of a file write as LineFS does it (CEIO, section 6.1). Clients have written chunks of a file
//! into host memory by RDMA. Of each chunk the host makes a copy in its log and an entry that tells of it; the card
//! then sends the copy on to a replica.
//!
//! The log goes round: what is oldest is overwritten, its entry with it. An entry's place is one in a log without end,
//! so that it shows when its bytes are gone.

use memory::{LINE, Memory, Touch};

/// Cycles of a chunk beside memory accesses: a request is taken, an entry filled in, an order given (A161).
pub const CYCLES: u32 = 300;
/// Bytes that a cycle copies: a load and a store of 32 B (A161).
const BYTES_A_CYCLE: u64 = 32;

/// What a client has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Which file.
    pub file: u32,
    /// Where in the file it belongs.
    pub offset: u64,
    /// Where it lies in the memory that the client writes to.
    pub at: u64,
    /// Its bytes.
    pub len: u32,
}

/// What the log says of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 0.
    pub number: u64,
    /// The chunk's.
    pub file: u32,
    /// The chunk's.
    pub offset: u64,
    /// The chunk's.
    pub len: u32,
    /// The copy's place in a log without end.
    pub place: u64,
}

/// A chunk that no log of this size takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// How much a log keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    bytes: u64,
    entries: u64,
}

impl Shape {
    /// Names of its parts.
    pub const NAMES: [&'static str; 2] = ["linefs.log", "linefs.entries"];

    /// Copies of `bytes` together, a whole number of lines and at least one, and as many `entries` (at least one).
    pub fn new(bytes: u64, entries: u64) -> Shape {
        Shape { bytes: (bytes / LINE as u64).max(1) * LINE as u64, entries: entries.max(1) }
    }

    /// Bytes of its parts: copies, then entries.
    pub fn parts(&self) -> [u64; 2] {
        [self.bytes, self.entries * LINE as u64]
    }
}

/// The log of one core.
pub struct Log<M: Memory> {
    shape: Shape,
    parts: [M::Table; 2],
    /// Copies; nothing where accesses are only charged.
    bytes: Vec<u8>,
    entries: Vec<Option<Entry>>,
    /// Where the next copy goes, and its number.
    tail: u64,
    number: u64,
}

impl<M: Memory> Log<M> {
    /// An empty log.
    pub fn new(shape: Shape, parts: [M::Table; 2]) -> Log<M> {
        let bytes = vec![0; shape.bytes as usize];
        Log { bytes, entries: vec![None; shape.entries as usize], ..Log::declared(shape, parts) }
    }

    /// The same without storage: its accesses are only charged.
    pub fn declared(shape: Shape, parts: [M::Table; 2]) -> Log<M> {
        Log { shape, parts, bytes: Vec::new(), entries: Vec::new(), tail: 0, number: 0 }
    }

    /// Copies a chunk from the memory that its client writes to, and tells of it. `region` is that memory, of which `bytes`
    /// holds the chunk; no bytes where accesses are only charged.
    ///
    /// # Errors
    /// The log is shorter than the chunk; nothing changed.
    pub fn append(
        &mut self,
        m: &mut M,
        chunk: &Chunk,
        region: M::Table,
        bytes: &[u8],
    ) -> Result<Entry, TooLong> {
        let len = u64::from(chunk.len);
        let room = len.next_multiple_of(LINE as u64);
        if room > self.shape.bytes {
            return Err(TooLong);
        }
        // A copy lies in one piece.
        let left = self.shape.bytes - self.tail % self.shape.bytes;
        let place = if room > left { self.tail + left } else { self.tail };
        let at = place % self.shape.bytes;
        m.work(CYCLES + (len / BYTES_A_CYCLE) as u32);
        // Line by line, as a copy goes: reads of both kinds in a row overlap.
        m.touch_run(region, chunk.at, len, Touch::Read);
        m.touch_run(self.parts[0], at, len, Touch::Write);
        if let Some(to) = self.bytes.get_mut(at as usize..(at + len) as usize) {
            let given = to.len().min(bytes.len());
            to[..given].copy_from_slice(&bytes[..given]);
            to[given..].fill(0);
        }
        let Chunk { file, offset, len, .. } = *chunk;
        let entry = Entry { number: self.number, file, offset, len, place };
        let slot = self.number % self.shape.entries;
        m.touch(self.parts[1], slot * LINE as u64, Touch::Write);
        if let Some(slot) = self.entries.get_mut(slot as usize) {
            *slot = Some(entry);
        }
        (self.tail, self.number) = (place + room, self.number + 1);
        Ok(entry)
    }

    /// Where an entry's copy lies in the log, for those who send it on.
    pub fn at(&self, entry: &Entry) -> u64 {
        entry.place % self.shape.bytes
    }

    /// The entry of this number, if the log has it still.
    pub fn entry(&self, number: u64) -> Option<Entry> {
        let slot = *self.entries.get((number % self.shape.entries) as usize)?;
        slot.filter(|e| e.number == number && e.place + self.shape.bytes >= self.tail)
    }

    /// The bytes that an entry tells of, if the log has them still.
    pub fn bytes(&self, entry: &Entry) -> Option<&[u8]> {
        let entry = self.entry(entry.number).filter(|e| e == entry)?;
        let at = self.at(&entry) as usize;
        self.bytes.get(at..at + entry.len as usize)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;
    use memory::native::Table;
    use memory::{Backing, NativeView, Region};
    use proptest::prelude::*;

    fn fill(n: u64, len: u32) -> Vec<u8> {
        (0..len).map(|i| (n * 31 + u64::from(i)) as u8).collect()
    }

    proptest! {
        /// Whatever chunks come: what the log still has is what was written, and what it has not it does not claim.
        #[test]
        fn a_log_has_the_last_chunks_byte_by_byte(lens in prop::collection::vec(0u32..700, 1..60), entries in 1u64..20) {
            let region = Region::new(64, Backing::Heap).unwrap();
            let mut m = region.view();
            let mut log = Log::<NativeView<'_>>::new(Shape::new(1000, entries), [Table; 2]);
            let mut told = Vec::new();
            for (n, len) in (0..).zip(&lens) {
                let chunk = Chunk { file: 7, offset: n * 4096, at: 0, len: *len };
                told.push(log.append(&mut m, &chunk, Table, &fill(n, *len)).unwrap());
                let last = told.last().unwrap();
                prop_assert_eq!(log.bytes(last).unwrap(), &fill(n, *len)[..]);
            }
            let mut gone = true;
            for entry in &told {
                let kept = log.bytes(entry);
                prop_assert!(kept.is_some() || gone, "the oldest go first");
                gone &= kept.is_none();
                if let Some(bytes) = kept {
                    prop_assert_eq!(bytes, &fill(entry.number, entry.len)[..]);
                }
            }
            let long = Chunk { file: 7, offset: 0, at: 0, len: 961 };
            prop_assert_eq!(log.append(&mut m, &long, Table, &[]), Err(TooLong));
        }
    }
}
