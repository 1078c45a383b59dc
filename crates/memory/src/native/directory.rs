//! What lies where in a shared region: its first line and its last ones, as plain words.
//!
//! | word of the first line | what |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 1 | [`VERSION`] |
//! | 2 | bytes of the region |
//! | 3 | time zero: nanoseconds of the system's monotonic clock |
//! | 4 | entries of the directory; released after the entry |
//! | 5 to 7 | zero |
//!
//! Entry `k` is line `k` from the end. Fields and buffers grow from the second line on towards it.
//!
//! | word of an entry | what |
//! |---|---|
//! | 0 to 3 | the name, zeros behind it |
//! | 4 | instance, kind from bit 32 on |
//! | 5 | entries, words of each from bit 32 on; of buffers: count, stride |
//! | 6 | zero; of buffers: offset, room from bit 32 on |
//! | 7 | bytes from the start of the region |
//!
//! Nothing here reaches memory: what was read from a region is copied first and judged then.

use std::collections::BTreeMap;
use std::io;

use crate::{Class, Field, Geometry, LINE, LayoutError, Mapping, WORD};

/// Words of a line: of the header, and of an entry.
pub(super) const WORDS: usize = LINE / WORD;
/// "rxlabmem", as bytes in memory.
pub(super) const MAGIC: u64 = u64::from_ne_bytes(*b"rxlabmem");
/// Of this layout.
pub(super) const VERSION: u64 = 1;
/// Where the number of entries stands.
pub(super) const COUNT: usize = 4;
/// The most entries: a port of 4096 queues needs some ten of each.
pub(super) const MOST: u64 = 1 << 16;
/// Bytes of a name.
const NAME: usize = 4 * WORD;
/// The kind of an entry that is no field.
const BUFFERS: u64 = 4;
/// The highest kind: a combining register, which came after buffers.
const COMBINING: u64 = 5;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Entries of a field.
    Words { class: Class, width: u32, len: u32 },
    /// Packet buffers.
    Buffers(Geometry),
}

impl Shape {
    pub(super) fn of(field: &Field) -> Shape {
        Shape::Words { class: field.class, width: field.width, len: field.len }
    }

    /// Where buffers lie. Their home, and how this side stores to them, is for whoever binds them.
    pub(super) const fn of_buffers(g: &Geometry) -> Shape {
        Shape::Buffers(Geometry::new(g.count, g.stride, g.offset, g.room))
    }

    /// Bytes, without those that fill the last line.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Shape::Words { width, len, .. } => u64::from(len) * u64::from(width) * WORD as u64,
            Shape::Buffers(g) => u64::from(g.count) * u64::from(g.stride),
        }
    }

    /// Whether code may use it.
    fn check(self) -> Result<(), String> {
        match self {
            Shape::Words { width, len, .. } if !matches!(width, 1 | 2 | 4 | 8) || !len.is_power_of_two() => {
                Err(format!("{len} entries of {width} words"))
            }
            Shape::Words { .. } => Ok(()),
            Shape::Buffers(g) => aligned(&g).map_err(|e| e.what),
        }
    }

    /// This shape as words 4 to 6 of an entry.
    fn words(self, instance: u32) -> [u64; 3] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        match self {
            Shape::Words { class, width, len } => {
                let kind = match class {
                    Class::Signal => 0,
                    Class::Contended => 1,
                    Class::Body => 2,
                    Class::Register(Mapping::Uncached) => 3,
                    Class::Register(Mapping::Combining) => COMBINING,
                };
                [u64::from(instance) | kind << 32, pair(len, width), 0]
            }
            Shape::Buffers(g) => {
                let place = pair(g.offset, g.room);
                [u64::from(instance) | BUFFERS << 32, pair(g.count, g.stride), place]
            }
        }
    }
}

/// Checks a geometry, and that each of its buffers starts a word.
pub(super) fn aligned(geometry: &Geometry) -> Result<(), LayoutError> {
    geometry.check()?;
    if (geometry.stride as usize).is_multiple_of(WORD) {
        return Ok(());
    }
    let what = format!("have a stride of {} B; allowed: a multiple of {WORD}", geometry.stride);
    Err(LayoutError { field: "buffers", what })
}

/// Something that lies in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) instance: u32,
    pub(super) shape: Shape,
    /// Bytes from the start of the region.
    pub(super) offset: u64,
}

impl Entry {
    /// # Errors
    /// What of it an entry cannot hold.
    pub(super) fn encode(&self) -> Result<[u64; WORDS], String> {
        let bytes = self.name.as_bytes();
        if bytes.is_empty() || bytes.len() > NAME || !bytes.iter().all(u8::is_ascii_graphic) {
            return Err(format!("the name {:?}; allowed: 1 to {NAME} visible ASCII letters", self.name));
        }
        let mut name = [0; NAME];
        name[..bytes.len()].copy_from_slice(bytes);
        let mut words = [0; WORDS];
        for (word, piece) in words.iter_mut().zip(name.as_chunks::<WORD>().0) {
            *word = u64::from_ne_bytes(*piece);
        }
        words[4..7].copy_from_slice(&self.shape.words(self.instance));
        words[7] = self.offset;
        Ok(words)
    }

    /// # Errors
    /// What is wrong with it. Bits without a meaning are zero in an entry, so that each one that is accepted is
    /// what [`encode`](Self::encode) makes of it.
    pub(super) fn decode(words: &[u64; WORDS]) -> Result<Entry, String> {
        let name: Vec<u8> = words[..4].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let end = name.iter().position(|b| *b == 0).unwrap_or(NAME);
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        let (low, high) = (words[5] as u32, (words[5] >> 32) as u32);
        let class = |class| Shape::Words { class, width: high, len: low };
        let shape = match words[4] >> 32 {
            0 => class(Class::Signal),
            1 => class(Class::Contended),
            2 => class(Class::Body),
            3 => class(Class::Register(Mapping::Uncached)),
            BUFFERS => {
                let (offset, room) = (words[6] as u32, (words[6] >> 32) as u32);
                Shape::Buffers(Geometry::new(low, high, offset, room))
            }
            COMBINING => class(Class::Register(Mapping::Combining)),
            kind => return Err(format!("kind {kind}; allowed: 0 to {COMBINING}")),
        };
        let entry = Entry { name, instance: words[4] as u32, shape, offset: words[7] };
        shape.check()?;
        if entry.encode()? != *words {
            return Err("bits that mean nothing".into());
        }
        Ok(entry)
    }
}

/// A header or a directory that is refused.
pub(super) fn bad(what: impl core::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("shared region: {what}"))
}

/// The first line of a region of so many bytes without entries.
pub(super) fn header(bytes: u64, zero: u64) -> [u64; WORDS] {
    [MAGIC, VERSION, bytes, zero, 0, 0, 0, 0]
}

/// Time zero and the number of entries in a first line, which is that of a file of `bytes`.
///
/// # Errors
/// It is no such line.
pub(super) fn read_header(words: &[u64; WORDS], bytes: u64) -> io::Result<(u64, u64)> {
    let [magic, version, told, zero, count, rest @ ..] = *words;
    if magic != MAGIC {
        return Err(bad("it does not start as one"));
    }
    if version != VERSION {
        return Err(bad(format!("version {version}; allowed: {VERSION}")));
    }
    if told != bytes {
        return Err(bad(format!("it tells of {told} B, the file has {bytes}")));
    }
    let room = (bytes / LINE as u64).saturating_sub(1);
    if count > MOST.min(room) {
        return Err(bad(format!("{count} entries; allowed: up to {}", MOST.min(room))));
    }
    if rest != [0; 3] {
        return Err(bad("bits of the header that mean nothing"));
    }
    Ok((zero, count))
}

/// Entries by name and instance.
pub(super) type Listing = BTreeMap<(String, u32), (Shape, u64)>;

/// All entries of a region of `bytes`, judged together.
///
/// # Errors
/// One is malformed, stands twice, or lies where it may not.
pub(super) fn listing(lines: &[[u64; WORDS]], bytes: u64) -> io::Result<Listing> {
    let end = bytes.saturating_sub(LINE as u64 * lines.len() as u64);
    let (mut listing, mut places) = (Listing::new(), Vec::new());
    for (k, line) in lines.iter().enumerate() {
        let Entry { name, instance, shape, offset } =
            Entry::decode(line).map_err(|what| bad(format!("entry {k}: {what}")))?;
        let after = offset.checked_add(shape.bytes()).filter(|after| *after <= end);
        let Some(after) = after.filter(|_| offset >= LINE as u64 && offset.is_multiple_of(LINE as u64))
        else {
            let what = format!("{} B at {offset}", shape.bytes());
            return Err(bad(format!("{name} {instance}: {what}; allowed: whole lines from {LINE} to {end}")));
        };
        places.push((offset, after));
        if listing.insert((name.clone(), instance), (shape, offset)).is_some() {
            return Err(bad(format!("{name} {instance} stands in it twice")));
        }
    }
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        Some(pair) => Err(bad(format!("what lies at {} overlaps what lies at {}", pair[0].0, pair[1].0))),
        None => Ok(listing),
    }
}

#[cfg(test)]
mod tests;
