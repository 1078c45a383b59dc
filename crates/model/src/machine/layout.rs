//! Where modelled words, buffers and tables lie.

use core::ops::Range;

use memory::{Buf, Class, Field, Geometry, LayoutError, Side, Stores};

use super::coherence::home::Homes;
use super::frames::Frames;
use super::registers::{Register, Registers};
use crate::profile::NicKind;

/// Words lie below this line, buffers from it on.
pub(crate) const BUFFERS: u32 = 1 << 18;
/// Buffers lie below this line, tables from it on.
pub(crate) const TABLES: u32 = 1 << 26;
/// Tables lie below this line: tags have 30 bits.
const END: u32 = 1 << 29;
/// Lines of a 2 MB page.
pub(crate) const PAGE: u32 = 1 << 15;

/// How a signal is loaded and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One side writes it.
    Signal,
    /// Both sides write it, in turn.
    Shared,
    /// Several agents write it.
    Contended,
    /// A card has it.
    Register,
}

/// How a core comes to words, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// Through its caches, from memory that a card reads and writes as well.
    Dma,
    /// Through its caches, from those of a core that plays the NIC.
    Cores,
    /// Past them, to a card.
    Mmio,
}

/// A bound field.
#[derive(Clone, Copy, Debug)]
pub struct Words<const W: usize> {
    base: u32,
    signal: u32,
    mask: u32,
    pub(crate) kind: Kind,
    pub(crate) writer: Side,
    pub(crate) path: Path,
}

/// Where an entry's signal lies.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub word: u32,
    pub signal: u32,
    pub line: u32,
}

impl<const W: usize> Words<W> {
    /// Where the signal of entry `i` lies, the last of its words.
    #[inline(always)]
    pub(crate) fn place(self, i: u64) -> Place {
        let i = i as u32 & self.mask;
        let word = self.base + i * W as u32 + W as u32 - 1;
        Place { word, signal: self.signal + i, line: word / 8 }
    }
}

/// A bound application table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub(crate) first: u32,
    pub(crate) bytes: u64,
}

impl Table {
    /// The line of byte `off`; a table is round.
    #[inline(always)]
    pub(crate) fn line(self, off: u64) -> u32 {
        // A division takes long, and few look-ups are past the end.
        let inside = if off < self.bytes { off } else { off % self.bytes.max(1) };
        self.first + (inside / 64) as u32
    }
}

/// Bound packet buffers.
#[derive(Clone, Copy, Debug)]
pub struct PoolId {
    pub(crate) index: u16,
    /// Whether cores store past their caches.
    pub(crate) streamed: bool,
    /// The port of the card in whose memory they lie, if it is a card's.
    pub(crate) card: Option<u8>,
    pub(crate) count: u32,
    pub(crate) room: u32,
    /// The first buffer's first line, and bytes: from there to a frame's first byte, from one buffer to the next.
    first: u32,
    offset: u32,
    stride: u32,
}

impl PoolId {
    /// First line of a frame and the number of lines that `len` bytes at `off` touch.
    #[inline(always)]
    pub(crate) fn lines(self, buf: Buf, off: u32, len: u32) -> (u32, u32) {
        let start = buf.0 as u32 * self.stride + self.offset + off;
        let first = start / 64;
        let last = (start + len.max(1) - 1) / 64;
        (self.first + first, last - first + 1)
    }

    /// The lines that `len` bytes at `off` of a frame fill.
    pub(crate) fn whole_lines(self, buf: Buf, off: u32, len: u32) -> Range<u32> {
        let start = buf.0 as u32 * self.stride + self.offset + off;
        self.first + start.div_ceil(64)..self.first + (start + len) / 64
    }

    /// Line `line` of a buffer.
    #[inline(always)]
    pub(crate) fn line(self, buf: Buf, line: u32) -> u32 {
        self.first + buf.0 as u32 * (self.stride / 64) + line
    }
}

/// What has been allocated.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub(crate) words: u32,
    pub(crate) signals: u32,
    pub(crate) frames: Vec<Frames>,
    /// Lines of words, and of buffers, that are at home with the NIC.
    nic_words: Vec<(u32, u32)>,
    nic_buffers: Vec<(u32, u32)>,
    /// Whether cores store past their caches into some buffers.
    pub(crate) streams: bool,
    pub(crate) registers: Registers,
    buffer_end: u32,
    table_end: u32,
    /// Bytes of buffers in each card's memory.
    on_cards: Vec<u64>,
}

/// Who serves the fields and buffers that are being allocated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Served {
    pub nic: NicKind,
    pub port: u32,
    /// Bytes of frames that a card's own memory holds; 0 where it has none.
    pub memory: u64,
}

/// Ends of the address ranges, in lines.
pub(crate) struct Extent {
    pub all: u32,
    pub shared: u32,
}

/// The kind of a signal that no two agents of a side write.
fn one_or_both(field: &Field) -> Kind {
    if field.writer == Side::Both { Kind::Shared } else { Kind::Signal }
}

/// Checks that a NIC of such a kind has memory that cores reach through their caches.
fn home(field: &'static str, home: Side, nic: NicKind) -> Result<(), LayoutError> {
    if home == Side::Nic && nic == NicKind::Card {
        let what = "is at home with a card, whose memory no cache has; allowed: the host".to_owned();
        return Err(LayoutError { field, what });
    }
    Ok(())
}

impl Layout {
    pub(crate) fn extent(&self) -> Extent {
        Extent { all: self.table_end.max(TABLES), shared: self.buffer_end.max(BUFFERS) }
    }

    /// The homes of lines, where the NIC is on the far node.
    pub(crate) fn homes(&self) -> Homes {
        let mut homes = Homes::default();
        self.nic_words.iter().chain(&self.nic_buffers).for_each(|&(first, end)| homes.put_far(first, end));
        homes
    }

    /// From now on it is kept where each frame comes from.
    pub(crate) fn keep_origins(&mut self) {
        self.frames.iter_mut().for_each(Frames::keep_origins);
    }

    /// Words for a field of such a NIC.
    pub(crate) fn words<const W: usize>(
        &mut self,
        field: &Field,
        served: Served,
    ) -> Result<Words<W>, LayoutError> {
        let Served { nic, port, .. } = served;
        field.check::<W>()?;
        let (base, signal) = (self.words, self.signals);
        let words = (field.bytes() / 8) as u32;
        if u64::from(base) + u64::from(words) > u64::from(BUFFERS) * 8 {
            let what = "the model holds 16 MiB of ring words; use fewer queues or smaller rings".to_owned();
            return Err(LayoutError { field: field.name, what });
        }
        home(field.name, field.home, nic)?;
        if field.home == Side::Nic {
            self.nic_words.push((base / 8, (base + words) / 8));
        }
        self.words += words;
        self.signals += field.len;
        let (kind, path) = match (field.class, nic) {
            (Class::Contended, NicKind::Card) => (Kind::Contended, Path::Dma),
            (Class::Contended, NicKind::Core) => (Kind::Contended, Path::Cores),
            (Class::Register(mapping), NicKind::Card) => {
                let words = base..base + words;
                self.registers.add(Register { words, signal, width: field.width, mapping, port });
                (Kind::Register, Path::Mmio)
            }
            (_, NicKind::Card) => (one_or_both(field), Path::Dma),
            // Nothing of it lies behind a slot.
            (_, NicKind::Core) => (one_or_both(field), Path::Cores),
        };
        Ok(Words { base, signal, mask: field.len - 1, kind, writer: field.writer, path })
    }

    /// Packet buffers, for such a NIC.
    pub(crate) fn buffers(&mut self, g: &Geometry, served: Served) -> Result<PoolId, LayoutError> {
        g.check()?;
        if g.home == Side::Nic && served.nic == NicKind::Card {
            return self.on_card(g, served);
        }
        let first = self.buffer_end.max(BUFFERS).next_multiple_of(PAGE);
        let lines = u64::from(g.count) * u64::from(g.stride) / 64 + 1;
        if u64::from(first) + lines > u64::from(TABLES) || u64::from(g.count) * u64::from(g.stride) > 1 << 31
        {
            let what = format!("{} buffers of {} B exceed the model's 2 GiB", g.count, g.stride);
            return Err(LayoutError { field: "buffers", what });
        }
        self.buffer_end = first + lines as u32;
        if g.home == Side::Nic {
            self.nic_buffers.push((first, self.buffer_end));
        }
        let streamed = g.stores == Stores::Streaming;
        self.streams |= streamed;
        Ok(PoolId { streamed, first, ..self.pool(g) })
    }

    /// Buffers in the memory of a card. They take none of the host's addresses.
    fn on_card(&mut self, g: &Geometry, served: Served) -> Result<PoolId, LayoutError> {
        let refused = |what| Err(LayoutError { field: "buffers", what });
        if served.memory == 0 {
            let what = "are at home with a card that has no memory for frames";
            return refused(format!("{what}; allowed: the host, or a profile with [constants.nic_memory]"));
        }
        let port = served.port as usize;
        self.on_cards.resize(self.on_cards.len().max(port + 1), 0);
        let bytes = u64::from(g.count) * u64::from(g.stride);
        let free = served.memory - self.on_cards[port];
        if bytes > free {
            return refused(format!(
                "{} buffers of {} B exceed the card's memory; allowed: up to {}",
                g.count,
                g.stride,
                free / u64::from(g.stride)
            ));
        }
        self.on_cards[port] += bytes;
        Ok(PoolId { card: Some(port as u8), ..self.pool(g) })
    }

    /// What is kept of the frames of a pool, which lies nowhere yet.
    fn pool(&mut self, g: &Geometry) -> PoolId {
        let index = self.frames.len() as u16; // each has pages of its own: there are few
        self.frames.push(Frames::new(g.count as usize));
        PoolId {
            index,
            count: g.count,
            room: g.room,
            streamed: false,
            card: None,
            first: 0,
            offset: g.offset,
            stride: g.stride,
        }
    }

    /// A table of an application.
    pub(crate) fn table(&mut self, name: &'static str, bytes: u64) -> Result<Table, LayoutError> {
        let first = self.table_end.max(TABLES).next_multiple_of(PAGE);
        let lines = bytes.div_ceil(64);
        if u64::from(first) + lines > u64::from(END) {
            return Err(LayoutError { field: name, what: "exceeds the model's 28 GiB of tables".to_owned() });
        }
        self.table_end = first + lines as u32;
        Ok(Table { first, bytes })
    }
}
