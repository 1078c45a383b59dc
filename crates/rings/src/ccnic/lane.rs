//! One direction: entries of descriptors from a writer to a reader. Both sides of both directions run this code.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `entry` | writer; the reader clears its signal where lanes are cleared | reader, then writer | one entry, or 4 that are packed | publish -> acquire of the signal: descriptors and payloads are valid; cleared: release -> acquire: the entry may be written |
//! | `tail` | writer | reader | its own | of registers alone: release -> acquire: entries below it are written |
//! | `head` | reader | writer | its own | not where lanes are cleared: release -> acquire: entries below it may be written |
//!
//! An entry has room for `N` descriptors of `D` words. What is not used is zero, and ends the entry: the reader goes on
//! with the next one (§3.2). The signal is the entry's last word. It shares that word with the last descriptor, which
//! therefore leaves its topmost bit alone.
//!
//! **Between processes.** The reader copies an entry once, and never reads more entries than there are before it gives
//! some back. So whatever a writer stores, it ends, and judges what nobody changes. A `head` or `tail` that goes back or
//! too far is ignored: a peer can only stop its own lane by it.

use memory::{Class, Field, Memory, Side, Space};

use super::descriptor::{Coded, Descriptor, LAST, PRESENT, nth};
use super::{Back, Signal};
use crate::sizes::SizeError;

/// The entry is written, in a lane that is cleared or has registers. Otherwise the generation: it flips with each pass.
const READY: u64 = 1 << 63;
/// Entries so many before it are fetched to be written.
const FETCHED: u64 = 2;

/// How the two sides tell each other.
enum Way<M: Memory> {
    /// By the entry alone: written, then cleared.
    Cleared,
    /// By the entry's generation, and back by `head`.
    Told { head: M::Words<1> },
    /// By `tail`, and back by `head`.
    Registers { tail: M::Words<1>, head: M::Words<1> },
}

impl<M: Memory> Clone for Way<M> {
    fn clone(&self) -> Self {
        *self
    }
}

// A derived one would ask for a memory that can be copied.
impl<M: Memory> Copy for Way<M> {}

/// Fields of a lane: names, and who is who.
pub(super) struct Names {
    pub(super) entry: &'static str,
    pub(super) tail: &'static str,
    pub(super) head: &'static str,
    pub(super) writer: Side,
    pub(super) reader: Side,
}

/// What decides on the words of a lane.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// Descriptors.
    pub(super) ring: u32,
    pub(super) signal: Signal,
    pub(super) back: Back,
    pub(super) home: Side,
}

/// Both ends of a lane whose entries of `W` words have `N` descriptors of `D` words.
pub(super) type Ends<M, const W: usize, const N: usize, const D: usize> =
    (Writer<M, W, N, D>, Reader<M, W, N, D>);

/// Binds one lane.
pub(super) fn bind<S: Space, const W: usize, const N: usize, const D: usize>(
    space: &mut S,
    names: &Names,
    plan: &Plan,
    instance: u32,
) -> Result<Ends<S::Mem, W, N, D>, SizeError>
where
    [u64; D]: Coded,
{
    let len = (plan.ring / N as u32).max(2);
    let Names { writer, reader, .. } = *names;
    let cleared = plan.signal == Signal::Inline && plan.back == Back::Clear;
    let class = if plan.signal == Signal::Inline { Class::Signal } else { Class::Body };
    let both = if cleared { (Side::Both, Side::Both) } else { (writer, reader) };
    let (home, width) = (plan.home, W as u32);
    let entry = Field { name: names.entry, len, width, class, writer: both.0, reader: both.1, home };
    let word =
        |name, writer, reader| Field { name, len: 1, width: 1, class: Class::Signal, writer, reader, home };
    let entries = space.words(&entry, instance)?;
    let mut head = || space.words(&word(names.head, reader, writer), instance);
    let way = match plan.signal {
        Signal::Inline if cleared => Way::Cleared,
        Signal::Inline => Way::Told { head: head()? },
        Signal::Register => {
            let head = head()?;
            Way::Registers { tail: space.words(&word(names.tail, writer, reader), instance)?, head }
        }
    };
    let shift = len.trailing_zeros();
    Ok((Writer::new(entries, way, shift), Reader::new(entries, way, shift)))
}

/// The flag of entry `i` once it is written.
#[inline(always)]
fn flag<M: Memory>(way: &Way<M>, i: u64, shift: u32) -> u64 {
    match way {
        Way::Told { .. } => (!(i >> shift) & 1) << 63,
        Way::Cleared | Way::Registers { .. } => READY,
    }
}

/// The writer's end.
pub(super) struct Writer<M: Memory, const W: usize, const N: usize, const D: usize> {
    entries: M::Words<W>,
    way: Way<M>,
    shift: u32,
    /// Next entry to write. Ours, always fresh.
    next: u64,
    /// Entries below it may be written; at most a ring ahead of what the reader gave back.
    free: u64,
    /// Entries below it are given back; at most `next`. Only [`reclaim`](Self::reclaim) moves it.
    back: u64,
    /// What `tail` says.
    told: u64,
    /// The open entry, with so many descriptors.
    line: [u64; W],
    filled: usize,
}

impl<M: Memory, const W: usize, const N: usize, const D: usize> Writer<M, W, N, D>
where
    [u64; D]: Coded,
{
    fn new(entries: M::Words<W>, way: Way<M>, shift: u32) -> Self {
        Writer { entries, way, shift, next: 0, free: 0, back: 0, told: 0, line: [0; W], filled: 0 }
    }

    /// Entries of the ring.
    #[inline(always)]
    fn size(&self) -> u64 {
        1 << self.shift
    }

    /// Whether `count` more descriptors fit, behind those that are in the open entry.
    #[inline(always)]
    pub(super) fn fits(&mut self, m: &mut M, count: usize) -> bool {
        let Some(more) = (self.filled + count).checked_sub(1) else { return true };
        let last = (more / N) as u64;
        last < self.size() && self.is_free(m, self.next.wrapping_add(last))
    }

    /// As many more descriptors as fit, `most` at most.
    #[inline(always)]
    pub(super) fn room(&mut self, m: &mut M, most: usize) -> usize {
        let mut room = 0;
        while room < most {
            let more = N - (self.filled + room) % N; // to the end of an entry
            let next = most.min(room + more);
            if !self.fits(m, next) {
                break;
            }
            room = next;
        }
        room
    }

    /// The entry that the next descriptor goes to.
    #[inline(always)]
    pub(super) fn entry(&self) -> u64 {
        self.next
    }

    /// Entries below it are given back, as the reader says by now; at most those that are written.
    #[inline(always)]
    pub(super) fn given_back(&self, m: &mut M) -> u64 {
        let mut back = self.back;
        match self.way {
            Way::Cleared => {
                // Pairs with the release in `Reader::free_to`.
                while back != self.next && m.acquire(self.entries, back) & READY == 0 {
                    back = back.wrapping_add(1);
                }
            }
            Way::Told { head } | Way::Registers { head, .. } => {
                let told = m.acquire(head, 0); // pairs with the release in `Reader::free_to`
                if told.wrapping_sub(back) <= self.next.wrapping_sub(back) {
                    back = told;
                }
            }
        }
        back
    }

    /// The same, so that the next look begins there.
    #[inline(always)]
    pub(super) fn reclaim(&mut self, m: &mut M) -> u64 {
        self.back = self.given_back(m);
        self.back
    }

    /// Whether entry `i` may be written, and all from `next` to there.
    #[inline(always)]
    fn is_free(&mut self, m: &mut M, i: u64) -> bool {
        if i.wrapping_sub(self.next) < self.free.wrapping_sub(self.next) {
            return true;
        }
        match self.way {
            // Entries are cleared in order, so those before it are free as well.
            Way::Cleared => {
                let cleared = m.acquire(self.entries, i) & READY == 0; // pairs with the release in `Reader::free_to`
                if cleared {
                    self.free = i.wrapping_add(1);
                }
                cleared
            }
            Way::Told { head } | Way::Registers { head, .. } => {
                let end = m.acquire(head, 0).wrapping_add(self.size()); // pairs with the release in `Reader::free_to`
                // Otherwise not a value that our reader writes.
                let ahead = end.wrapping_sub(self.next);
                if ahead <= self.size() && ahead >= self.free.wrapping_sub(self.next) {
                    self.free = end;
                }
                i.wrapping_sub(self.next) < self.free.wrapping_sub(self.next)
            }
        }
    }

    /// Adds a descriptor, for which there is room; an entry that is full is written.
    #[inline(always)]
    pub(super) fn put(&mut self, m: &mut M, d: &Descriptor) {
        let words = <[u64; D]>::code(d);
        self.line[self.filled * D..][..D].copy_from_slice(&words);
        self.filled += 1;
        if self.filled == N {
            self.write(m);
        }
    }

    /// Whether descriptors begin a new entry, with room for so many of them: one at least.
    #[inline(always)]
    pub(super) fn begins(&mut self, m: &mut M, entries: usize) -> bool {
        let last = (entries as u64).wrapping_sub(1);
        self.filled == 0 && last < self.size() && self.is_free(m, self.next.wrapping_add(last))
    }

    /// Writes whole entries, where they [begin](Self::begins), the last one first. A reader that waits for the first
    /// one finds all of them then, and takes no line away from us that is still to be written.
    #[inline(always)]
    pub(super) fn put_entries<T>(
        &mut self,
        m: &mut M,
        all: &[[T; N]],
        descriptor: impl Fn(&T) -> Descriptor,
    ) {
        let ahead = FETCHED.max(all.len() as u64);
        for (k, of) in all.iter().enumerate().rev() {
            let mut line = [0; W];
            for (words, d) in line.as_chunks_mut().0.iter_mut().zip(of) {
                *words = <[u64; D]>::code(&descriptor(d));
            }
            self.write_to(m, self.next.wrapping_add(k as u64), ahead, line);
        }
        self.next = self.next.wrapping_add(all.len() as u64);
    }

    /// Writes an entry of fewer descriptors than it has room for, where they [begin](Self::begins) one.
    #[inline(always)]
    pub(super) fn put_some<T>(&mut self, m: &mut M, some: &[T], descriptor: impl Fn(&T) -> Descriptor) {
        let mut line = [0; W];
        for (words, d) in line.as_chunks_mut().0.iter_mut().zip(some) {
            *words = <[u64; D]>::code(&descriptor(d));
        }
        self.write_to(m, self.next, FETCHED, line);
        self.next = self.next.wrapping_add(1);
    }

    /// Writes the open entry, and tells of all that is written.
    #[inline(always)]
    pub(super) fn flush(&mut self, m: &mut M) {
        if self.filled > 0 {
            self.write(m);
        }
        if let Way::Registers { tail, .. } = self.way
            && self.told != self.next
        {
            self.told = self.next;
            m.release(tail, 0, self.next); // pairs with the acquire in `Reader::is_fresh`
        }
    }

    #[inline(always)]
    fn write(&mut self, m: &mut M) {
        let i = self.next;
        self.write_to(m, i, FETCHED, self.line);
        self.line = [0; W];
        self.filled = 0;
        self.next = i.wrapping_add(1);
    }

    /// Writes entry `i`, and fetches the one that lies `ahead` of it.
    #[inline(always)]
    fn write_to(&self, m: &mut M, i: u64, ahead: u64, mut line: [u64; W]) {
        m.entry_ahead(self.entries, i.wrapping_add(ahead));
        if let Way::Registers { .. } = self.way {
            m.write(self.entries, i, line);
        } else {
            line[W - 1] |= flag(&self.way, i, self.shift);
            m.publish(self.entries, i, line); // pairs with the acquire in `Reader::is_fresh`
        }
    }
}

/// The reader's end.
pub(super) struct Reader<M: Memory, const W: usize, const N: usize, const D: usize> {
    entries: M::Words<W>,
    way: Way<M>,
    shift: u32,
    /// Next entry to read, or the open one. Ours, always fresh.
    next: u64,
    /// Entries below it are given back; at most a ring behind `next`.
    freed: u64,
    /// `tail` as last read: at most as far as the writer has written.
    tail: u64,
    /// What `head` says.
    told: u64,
    /// A copy of the open entry, and its next descriptor; `N` where none is open.
    line: [u64; W],
    at: usize,
}

impl<M: Memory, const W: usize, const N: usize, const D: usize> Reader<M, W, N, D>
where
    [u64; D]: Coded,
{
    fn new(entries: M::Words<W>, way: Way<M>, shift: u32) -> Self {
        Reader { entries, way, shift, next: 0, freed: 0, tail: 0, told: 0, line: [0; W], at: N }
    }

    /// The signal of the next entry, if it is written and not given back.
    #[inline(always)]
    fn is_fresh(&mut self, m: &mut M) -> Option<u64> {
        let i = self.next;
        if i.wrapping_sub(self.freed) >= 1 << self.shift {
            return None; // all that there are
        }
        match self.way {
            Way::Registers { tail, .. } => {
                if self.tail == i {
                    let told = m.acquire(tail, 0); // pairs with the release in `Writer::flush`
                    // Otherwise not a value that our writer writes: behind what is read, it would announce all words there are.
                    if told.wrapping_sub(i) <= self.freed.wrapping_add(1 << self.shift).wrapping_sub(i) {
                        self.tail = told;
                    }
                }
                (self.tail != i).then_some(0)
            }
            Way::Cleared | Way::Told { .. } => {
                let signal = m.acquire(self.entries, i); // pairs with the publish in `Writer::write`
                ((signal ^ flag(&self.way, i, self.shift)) & READY == 0).then_some(signal)
            }
        }
    }

    /// The next descriptor, if it is written.
    #[inline(always)]
    pub(super) fn next(&mut self, m: &mut M) -> Option<Descriptor> {
        loop {
            if self.at < N {
                if let Some(d) = nth::<W, D>(&self.line, self.at) {
                    self.at += 1;
                    if self.at == N {
                        self.next = self.next.wrapping_add(1);
                    }
                    return Some(d);
                }
                self.close();
            }
            self.line = self.load(m)?;
            self.at = 0;
        }
    }

    /// Takes the descriptors of the whole next entry, if it is written, none is open, and there are `room` of them at most;
    /// whether it did. An entry with more is open from then on.
    #[inline(always)]
    pub(super) fn take_entry(
        &mut self,
        m: &mut M,
        room: usize,
        mut each: impl FnMut(&mut M, Descriptor),
    ) -> bool {
        let Some(line) = self.load(m) else { return false };
        if room < N && nth::<W, D>(&line, room).is_some() {
            (self.line, self.at) = (line, 0);
            return false;
        }
        self.next = self.next.wrapping_add(1);
        for k in 0..N {
            let Some(d) = nth::<W, D>(&line, k) else { break };
            each(m, d);
        }
        true
    }

    /// Whether an entry is open: not all of it is read.
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.at < N
    }

    /// The next entry, if it is written, and the one behind it on its way.
    #[inline(always)]
    fn load(&mut self, m: &mut M) -> Option<[u64; W]> {
        let signal = self.is_fresh(m)?;
        let mut line = m.read(self.entries, self.next);
        if !matches!(self.way, Way::Registers { .. }) {
            line[W - 1] = signal; // one look
        }
        m.read_ahead(self.entries, self.next.wrapping_add(1));
        Some(line)
    }

    /// What is left of the open entry is not read.
    fn close(&mut self) {
        self.at = N;
        self.next = self.next.wrapping_add(1);
    }

    /// Entries below it are read to their end: what [`free_to`](Self::free_to) may be given.
    #[inline(always)]
    pub(super) fn read(&self) -> u64 {
        self.next
    }

    /// The entry that the last descriptor was in.
    #[inline(always)]
    pub(super) fn entry(&self) -> u64 {
        if self.at < N { self.next } else { self.next.wrapping_sub(1) }
    }

    /// Whether all entries that there are have been read, and none is given back.
    #[inline(always)]
    pub(super) fn is_spent(&self) -> bool {
        self.at == N && self.next.wrapping_sub(self.freed) >= 1 << self.shift
    }

    /// Whether a look finds nothing more.
    #[inline(always)]
    pub(super) fn is_empty(&mut self, m: &mut M) -> bool {
        let open = self.at < N && self.line[(self.at + 1) * D - 1] & PRESENT != 0;
        !open && {
            if self.at < N {
                self.close();
            }
            self.is_fresh(m).is_none()
        }
    }

    /// Gives back entries below `end`, all read to their end.
    #[inline(always)]
    pub(super) fn free_to(&mut self, m: &mut M, end: u64) {
        match self.way {
            Way::Cleared => {
                while self.freed != end {
                    m.release(self.entries, self.freed, 0); // pairs with the acquire in `Writer::is_free`
                    self.freed = self.freed.wrapping_add(1);
                }
            }
            Way::Told { head } => {
                self.freed = end;
                // An eighth of the ring at a time: the line of `head` goes to and fro that seldom.
                if end.wrapping_sub(self.told) >= ((1 << self.shift) / 8).max(1) {
                    self.told = end;
                    m.release(head, 0, end); // pairs with the acquire in `Writer::is_free`
                }
            }
            Way::Registers { head, .. } => {
                self.freed = end;
                if self.told != end {
                    self.told = end;
                    m.release(head, 0, end); // pairs with the acquire in `Writer::is_free`
                }
            }
        }
    }

    /// Passes over all that is written, and gives it back.
    pub(super) fn skip(&mut self, m: &mut M) {
        if self.at < N {
            self.close();
        }
        while self.is_fresh(m).is_some() {
            self.next = self.next.wrapping_add(1);
        }
        self.free_to(m, self.next);
        self.tell(m);
    }

    /// Tells of all that is given back.
    pub(super) fn tell(&mut self, m: &mut M) {
        if let Way::Told { head } = self.way
            && self.told != self.freed
        {
            self.told = self.freed;
            m.release(head, 0, self.freed); // pairs with the acquire in `Writer::is_free`
        }
    }

    /// Frames that are written and not read. Nothing is taken, so nothing has to be ordered.
    pub(super) fn waiting(&self, m: &mut M) -> u64 {
        let ends = |line: &[u64; W], from: usize| {
            let words = line.chunks(D).take(N).skip(from);
            let here = words.take_while(|words| words[D - 1] & PRESENT != 0);
            here.filter(|words| words[D - 1] & LAST != 0).count() as u64
        };
        let mut frames = if self.at < N { ends(&self.line, self.at) } else { 0 };
        let mut i = if self.at < N { self.next.wrapping_add(1) } else { self.next };
        let tail = match self.way {
            Way::Registers { tail, .. } => m.relaxed(tail, 0),
            _ => 0,
        };
        while i.wrapping_sub(self.freed) < 1 << self.shift {
            let fresh = match self.way {
                Way::Registers { .. } => tail.wrapping_sub(i).wrapping_sub(1) < 1 << self.shift,
                _ => (m.relaxed(self.entries, i) ^ flag(&self.way, i, self.shift)) & READY == 0,
            };
            if !fresh {
                break;
            }
            frames += ends(&m.read(self.entries, i), 0);
            i = i.wrapping_add(1);
        }
        frames
    }
}
