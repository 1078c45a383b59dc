//! A completion ring whose reader publishes how far it has read, since nothing else bounds what the
//! NIC may write: the completion ring of `shring` and the Bx ring of `rxbisect`.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | entry | NIC | its core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//! | `index` | its core | NIC | its own | release -> acquire: entries below it are read and may be overwritten |
//!
//! `index` lies in host memory. The NIC reads it only when the value it knows leaves no room.

use memory::{Buf, Class, Field, Memory, Side, Space};

use super::entry;
use crate::contract::{AHEAD, Frame};
use crate::sizes::SizeError;

pub(crate) const fn entries(name: &'static str, len: u32) -> Field {
    Field {
        name,
        len,
        width: entry::WORDS as u32,
        class: Class::Signal,
        writer: Side::Nic,
        reader: Side::Host,
        home: Side::Host,
    }
}

pub(crate) const fn index(name: &'static str) -> Field {
    Field {
        name,
        len: 1,
        width: 1,
        class: Class::Signal,
        writer: Side::Host,
        reader: Side::Nic,
        home: Side::Host,
    }
}

/// Both ends of one ring.
pub(crate) type Ends<M> = (Reader<M>, Writer<M>);

/// Binds one ring.
pub(crate) fn bind<S: Space>(
    space: &mut S,
    fields: [&Field; 2],
    instance: u32,
) -> Result<Ends<S::Mem>, SizeError> {
    let [ring, index] = fields;
    let shift = ring.len.trailing_zeros();
    let entries = space.words(ring, instance)?;
    let index = space.words(index, instance)?;
    let reader = Reader { entries, index, shift, head: 0, told: 0 };
    Ok((reader, Writer { entries, index, shift, head: 0, seen: 0 }))
}

/// The core's end.
pub(crate) struct Reader<M: Memory> {
    entries: M::Words<{ entry::WORDS }>,
    index: M::Words<1>,
    shift: u32,
    /// Next entry to read. Ours, always fresh.
    head: u64,
    /// What `index` says: `head` as of the end of the last poll.
    told: u64,
}

impl<M: Memory> Clone for Reader<M> {
    fn clone(&self) -> Self {
        *self
    }
}

// A derived one would ask for a memory that can be copied.
impl<M: Memory> Copy for Reader<M> {}

impl<M: Memory> Reader<M> {
    /// The signal of the next entry, if the NIC has written it.
    #[inline(always)]
    pub(crate) fn signal(&self, m: &mut M) -> Option<u64> {
        let signal = self.look(m);
        self.is_fresh(signal).then_some(signal)
    }

    /// The signal of the next entry, or of what was there one pass before.
    #[inline(always)]
    pub(crate) fn look(&self, m: &mut M) -> u64 {
        m.acquire(self.entries, self.head) // pairs with the publish in `Writer`
    }

    /// Whether [`look`](Self::look) found the next entry.
    #[inline(always)]
    pub(crate) fn is_fresh(&self, signal: u64) -> bool {
        entry::fresh(signal, self.head, self.shift)
    }

    /// Frames that are written and not read. Nothing is taken, so nothing has to be ordered.
    pub(crate) fn waiting(&self, m: &mut M) -> u64 {
        entry::waiting(m, self.entries, self.head, self.shift)
    }

    /// The body of that entry.
    #[inline(always)]
    pub(crate) fn body(&self, m: &mut M) -> [u64; 3] {
        m.body(self.entries, self.head)
    }

    /// The entry is read; the next one follows.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        self.head = self.head.wrapping_add(1);
    }

    /// Moves up to where `copy`, a copy of this end, has read; how many entries those are.
    #[inline(always)]
    pub(crate) fn follow(&mut self, copy: &Reader<M>) -> u64 {
        let passed = copy.head.wrapping_sub(self.head);
        self.head = copy.head;
        passed
    }

    /// Tells the NIC how far this core has read. An unchanged index needs no second store.
    #[inline(always)]
    pub(crate) fn tell(&mut self, m: &mut M) {
        if self.told != self.head {
            self.told = self.head;
            m.release(self.index, 0, self.head); // pairs with the acquire in `Writer::room`
        }
    }
}

/// The NIC's end.
pub(crate) struct Writer<M: Memory> {
    entries: M::Words<{ entry::WORDS }>,
    index: M::Words<1>,
    shift: u32,
    /// Next entry to write. Ours, always fresh.
    head: u64,
    /// `index` as last read: at most as far as the core has read.
    seen: u64,
}

impl<M: Memory> Writer<M> {
    /// Entries that are free, as far as the NIC knows.
    #[inline(always)]
    pub(crate) fn room(&self) -> u64 {
        (1 << self.shift) - self.head.wrapping_sub(self.seen)
    }

    /// Reads the core's index. A value that goes back or beyond what was written is ignored: a core
    /// can only stop its own ring by it.
    #[inline(always)]
    pub(crate) fn refresh(&mut self, m: &mut M) {
        let seen = m.acquire(self.index, 0); // pairs with the release in `Reader::tell`
        if seen.wrapping_sub(self.seen) <= self.head.wrapping_sub(self.seen) {
            self.seen = seen;
        }
    }

    /// Writes a frame's entry; there is room.
    #[inline(always)]
    pub(crate) fn frame(&mut self, m: &mut M, buf: Buf, frame: &Frame<'_>, notice: u64) {
        m.entry_ahead(self.entries, self.head.wrapping_add(AHEAD));
        m.publish(self.entries, self.head, entry::frame(buf, frame, notice, self.head, self.shift));
        self.head = self.head.wrapping_add(1);
    }

    /// Writes an entry that tells of a consumption alone; there is room.
    #[inline(always)]
    pub(crate) fn notice(&mut self, m: &mut M, notice: u64) {
        m.publish(self.entries, self.head, entry::notice_alone(notice, self.head, self.shift));
        self.head = self.head.wrapping_add(1);
    }
}
