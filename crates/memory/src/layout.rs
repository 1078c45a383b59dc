//! The table of words as data: what a ring allocates, who writes it, who reads it.
//!
//! One [`Field`] allocates, validates and documents; the model and the checker take the allowed
//! writers from it.

use core::fmt;

/// Bytes of a cache line.
pub const LINE: usize = 64;
/// Bytes of a word.
pub const WORD: usize = 8;

/// How the words of a field are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// One writer; the last word of an entry is published by release and read by acquire, the words
    /// before it are body.
    Signal,
    /// Several writers: compare-and-swap, lock, counter, bitmask.
    Contended,
    /// Plain words, published by a signal or a doorbell elsewhere.
    Body,
    /// Words of the device, mapped to the host; the NIC reads and writes them at no cost. The last word of an entry
    /// is its signal.
    ///
    /// A host's store is posted MMIO. What it [`write`](crate::Memory::write)s is body, until its next
    /// [`release`](crate::Memory::release), [`publish`](crate::Memory::publish) or [`ring`](crate::Memory::ring) of
    /// any field. A host's load, of a register that has the host as a reader, is a round trip: it waits for the stores
    /// before it. A doorbell is an uncached register of one word.
    Register(Mapping),
}

/// How the host maps a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Each store leaves at once, in order.
    Uncached,
    /// What is written may stay in a combining buffer of its line until the line is full, another line needs the
    /// buffer, or the barrier comes: the host's next release, publish or ring.
    Combining,
}

/// One side of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Cores.
    Host,
    /// The network card.
    Nic,
    /// Both.
    Both,
}

/// A named array of entries of `width` words each. Every field starts on a cache line of its own.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name, unique in a ring.
    pub name: &'static str,
    /// Entries: a power of two, at least 1.
    pub len: u32,
    /// Words in an entry: 1, 2, 4 or 8, so that an entry never straddles a line.
    pub width: u32,
    /// How it is shared.
    pub class: Class,
    /// Who writes it.
    pub writer: Side,
    /// Who reads it.
    pub reader: Side,
    /// Whose memory it lies in, where host and NIC have memory of their own: one of the two. It tells nothing of
    /// registers, which are the device's.
    pub home: Side,
}

impl Field {
    /// The same field with another number of entries.
    pub const fn of(self, len: u32) -> Field {
        Field { len, ..self }
    }

    /// The same field in the memory of a side.
    pub const fn homed(self, home: Side) -> Field {
        Field { home, ..self }
    }

    /// Whether an agent of `side` may load its words. The host loads registers alone that have it as a reader.
    pub const fn may_load(&self, side: Side) -> bool {
        let register = matches!(self.class, Class::Register(_));
        !register || !matches!(side, Side::Host) || !matches!(self.reader, Side::Nic)
    }

    /// Bytes, rounded up to whole lines.
    pub const fn bytes(&self) -> usize {
        (self.len as usize * self.width as usize * WORD).next_multiple_of(LINE)
    }

    /// Checks the field against the width that the code expects.
    ///
    /// # Errors
    /// Names the field and what is allowed.
    pub fn check<const W: usize>(&self) -> Result<(), LayoutError> {
        let bad = |what: String| Err(LayoutError { field: self.name, what });
        if !self.len.is_power_of_two() {
            return bad(format!("has {} entries; allowed: a power of two from 1", self.len));
        }
        if !matches!(self.width, 1 | 2 | 4 | 8) || self.width as usize != W {
            return bad(format!(
                "is {} words wide where the code expects {W}; allowed: 1, 2, 4 or 8",
                self.width
            ));
        }
        if self.home == Side::Both {
            return bad("has two homes; allowed: the host or the NIC".into());
        }
        Ok(())
    }
}

/// How the host's stores into packet buffers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Through its caches.
    Cached,
    /// Past all caches to memory (non-temporal). What is published after them is seen after them.
    Streaming,
}

/// Packet buffers that lie in one stretch of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of buffers.
    pub count: u32,
    /// Bytes from one buffer to the next.
    pub stride: u32,
    /// Bytes before the first byte of a frame (metadata, headroom).
    pub offset: u32,
    /// Bytes of frame that fit.
    pub room: u32,
    /// Whose memory they lie in, where host and NIC have memory of their own: one of the two.
    pub home: Side,
    /// How [`put`](crate::Memory::put) stores; DMA of a card goes its own way.
    pub stores: Stores,
}

impl Geometry {
    /// Such buffers in the host's memory, written through caches; sizes in bytes.
    pub const fn new(count: u32, stride: u32, offset: u32, room: u32) -> Geometry {
        Geometry { count, stride, offset, room, home: Side::Host, stores: Stores::Cached }
    }

    /// Buffers of `bytes` each, all of it for frames.
    pub const fn plain(count: u32, bytes: u32) -> Geometry {
        Geometry::new(count, bytes, 0, bytes)
    }

    /// The same buffers in the memory of a side.
    pub const fn homed(self, home: Side) -> Geometry {
        Geometry { home, ..self }
    }

    /// The same buffers, written in such a way.
    pub const fn stored(self, stores: Stores) -> Geometry {
        Geometry { stores, ..self }
    }

    /// DPDK's default: 64 B mempool header, 128 B mbuf, 128 B headroom, 2048 B of data room, so a
    /// frame starts at line 5 of 37.
    pub const fn dpdk(count: u32) -> Geometry {
        Geometry::new(count, 37 * 64, 5 * 64, 2048)
    }

    /// # Errors
    /// Names what does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        let bad = |what: String| Err(LayoutError { field: "buffers", what });
        if self.count == 0 {
            return bad("holds 0 buffers; allowed: at least 1".into());
        }
        if self.room == 0 || u64::from(self.offset) + u64::from(self.room) > u64::from(self.stride) {
            return bad(format!(
                "{} B of offset and {} B of room do not fit a stride of {} B",
                self.offset, self.room, self.stride
            ));
        }
        if self.home == Side::Both {
            return bad("have two homes; allowed: the host or the NIC".into());
        }
        Ok(())
    }
}

/// A layout that cannot be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError {
    /// The field.
    pub field: &'static str,
    /// What is wrong and what is allowed.
    pub what: String,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl std::error::Error for LayoutError {}
