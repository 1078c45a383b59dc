//! A ring of empty buffers with one core as producer and the NIC as consumer: the Rx ring of
//! `privring` and the Ax ring of `rxbisect`. `shring` shares the NIC half.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | its core | NIC | 8 descriptors | body, published by the doorbell |
//! | `doorbell` | its core | NIC | a register | ring -> acquire: all descriptors below it are valid |
//!
//! **Stop and start.** Both ends of a stopped ring meet at the NIC's head: the core takes back what is
//! posted from there on and rings the doorbell with it, the NIC forgets what it knew of the doorbell. No
//! descriptor is skipped, so the completion ring that runs along with this one skips no entry, and the
//! generation bit of none grows stale.

use core::ops::Range;

use memory::{Buf, Class, Field, Mapping, Memory, Side, Space};

use crate::contract::{AHEAD, Buffers, CHUNK, Frame, Outcome, TOGETHER};
use crate::sizes::SizeError;

pub(crate) const fn descriptor(name: &'static str, len: u32) -> Field {
    Field { name, len, width: 1, class: Class::Body, writer: Side::Host, reader: Side::Nic, home: Side::Host }
}

pub(crate) const fn doorbell(name: &'static str) -> Field {
    Field {
        name,
        len: 1,
        width: 1,
        class: Class::Register(Mapping::Uncached),
        writer: Side::Host,
        reader: Side::Nic,
        home: Side::Host,
    }
}

/// Both ends of one ring.
pub(crate) type Ends<M> = (Producer<M>, Consumer<M>);

/// Binds one ring.
pub(crate) fn bind<S: Space>(
    space: &mut S,
    fields: [&Field; 2],
    instance: u32,
) -> Result<Ends<S::Mem>, SizeError> {
    let [descriptor, doorbell] = fields;
    let size = descriptor.len;
    let descriptor = space.words(descriptor, instance)?;
    let doorbell = space.words(doorbell, instance)?;
    let producer =
        Producer { descriptor, doorbell, size: u64::from(size), tail: 0, spare: [Buf(0); CHUNK], debts: 0 };
    Ok((producer, Consumer::new(descriptor, doorbell, size)))
}

/// The core's end.
pub(crate) struct Producer<M: Memory> {
    descriptor: M::Words<1>,
    doorbell: M::Words<1>,
    size: u64,
    /// Next descriptor to post. Ours, always fresh; the doorbell said the same at the end of a call.
    tail: u64,
    /// Scratch between the pool and the ring, kept so that no burst has to clear it.
    spare: [Buf; CHUNK],
    /// Calls that the pool could not satisfy.
    pub(crate) debts: u64,
}

impl<M: Memory> Producer<M> {
    /// Next descriptor to post.
    #[inline(always)]
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// Posts up to `owed` buffers and rings the doorbell once; how many the pool could not give. The
    /// caller asks for no more than the NIC is known to have consumed.
    #[inline(always)]
    pub(crate) fn pay<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, mut owed: u64) -> u64 {
        if owed == 0 {
            return 0;
        }
        let (descriptor, mut tail) = (self.descriptor, self.tail);
        while owed > 0 {
            let want = owed.min(CHUNK as u64) as usize;
            let got = bufs.take(m, &mut self.spare[..want]).min(want);
            for buf in self.spare.iter().take(got) {
                m.write(descriptor, tail, [buf.0]);
                tail = tail.wrapping_add(1);
            }
            owed -= got as u64;
            if got < want {
                self.debts += 1;
                break;
            }
        }
        if tail != self.tail {
            self.tail = tail;
            m.ring(self.doorbell, tail); // pairs with the acquire in `Consumer::refresh`
        }
        owed
    }

    /// Posts these buffers; the ring has room for them.
    pub(crate) fn post(&mut self, m: &mut M, bufs: &[Buf]) {
        if bufs.is_empty() {
            return;
        }
        for buf in bufs {
            m.write(self.descriptor, self.tail, [buf.0]);
            self.tail = self.tail.wrapping_add(1);
        }
        m.ring(self.doorbell, self.tail); // pairs with the acquire in `Consumer::refresh`
    }

    /// Gives back what is posted from `head` on, where the NIC has stopped, and goes back to there; how
    /// many words named no buffer.
    pub(crate) fn take_back<B: Buffers<M>>(
        &mut self,
        m: &mut M,
        bufs: &mut B,
        head: u64,
        b: M::Buffers,
    ) -> u64 {
        let faults = give_back(m, bufs, self.descriptor, head..self.tail, self.size, b);
        if self.tail != head {
            self.tail = head;
            m.ring(self.doorbell, head); // pairs with the acquire in `Consumer::refresh`
        }
        faults
    }
}

/// Gives the buffers of descriptors `held` back; how many words named none. More than `size`, or a head
/// beyond the tail, is what a lying NIC's completions lead to: nothing is known then, nothing given.
pub(crate) fn give_back<M: Memory, B: Buffers<M>>(
    m: &mut M,
    bufs: &mut B,
    descriptor: M::Words<1>,
    held: Range<u64>,
    size: u64,
    b: M::Buffers,
) -> u64 {
    let count = held.end.wrapping_sub(held.start);
    if count > size {
        return 1;
    }
    let mut faults = 0;
    for i in 0..count {
        let [raw] = m.read(descriptor, held.start.wrapping_add(i));
        match m.check(b, raw, 0) {
            Ok(buf) => bufs.give(m, &[buf]),
            Err(_) => faults += 1,
        }
    }
    faults
}

/// Buffers of frames whose completions are written together. It is the caller's, not a part of [`Stored`]: a
/// processor that copies a record whole, after it wrote it word by word, first waits for all its earlier stores.
pub(crate) type Group = [Buf; TOGETHER];
/// What it is before it is used.
pub(crate) const NO_GROUP: Group = [Buf(0); TOGETHER];

/// Frames that lie in their buffers.
pub(crate) struct Stored {
    /// Descriptor of the first; the others' follow.
    first: u64,
    /// How many they are.
    pub(crate) count: usize,
    /// What became of the frame behind them, if it found no buffer.
    pub(crate) refused: Option<Outcome>,
}

impl Stored {
    /// Descriptor and buffer of each.
    #[inline(always)]
    pub(crate) fn each(&self, group: &Group) -> impl Iterator<Item = (u64, Buf)> {
        let first = self.first;
        group.iter().take(self.count).zip(0..).map(move |(buf, k)| (first.wrapping_add(k), *buf))
    }
}

/// The NIC's end.
pub(crate) struct Consumer<M: Memory> {
    descriptor: M::Words<1>,
    doorbell: M::Words<1>,
    size: u64,
    /// Next descriptor to use. Ours, always fresh; nobody else knows it.
    head: u64,
    /// The doorbell as last read: at most as far as the core has posted.
    tail: u64,
    /// Descriptors that name no buffer; the ring stands still at such a one.
    pub(crate) faults: u64,
}

impl<M: Memory> Consumer<M> {
    pub(crate) fn new(descriptor: M::Words<1>, doorbell: M::Words<1>, size: u32) -> Consumer<M> {
        Consumer { descriptor, doorbell, size: u64::from(size), head: 0, tail: 0, faults: 0 }
    }

    /// Next descriptor to use.
    #[inline(always)]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Descriptors known to be posted.
    #[inline(always)]
    pub(crate) fn ready(&self) -> u64 {
        self.tail.wrapping_sub(self.head)
    }

    /// Reads the doorbell. A value beyond the ring is ignored: a core can only stop its own ring by it.
    /// So is one that goes back: the doorbells of cores that share a ring may overtake each other.
    #[inline(always)]
    pub(crate) fn refresh(&mut self, m: &mut M) {
        let tail = m.acquire(self.doorbell, 0); // pairs with the producer's `ring`
        if tail.wrapping_sub(self.head) <= self.size && tail.wrapping_sub(self.tail) <= self.size {
            self.tail = tail;
        }
    }

    /// Starts anew at the head, where the core's end has gone back to: the doorbell as last read is void.
    pub(crate) fn restart(&mut self) {
        self.tail = self.head;
    }

    /// The buffer at the head for a frame; it stays there until [`advance`](Self::advance).
    ///
    /// # Errors
    /// `empty` where nothing is posted or the word names no buffer, `BadFrame` where the frame is
    /// longer than the buffer.
    #[inline(always)]
    pub(crate) fn peek(
        &mut self,
        m: &mut M,
        b: M::Buffers,
        frame: &Frame<'_>,
        empty: Outcome,
    ) -> Result<Buf, Outcome> {
        if self.head == self.tail {
            return Err(empty);
        }
        if self.ready() > AHEAD && frame.is_copied() {
            m.put_ahead(b, self.descriptor, self.head.wrapping_add(AHEAD));
            // Not where the core is about to post the next ones.
            if self.ready() > 4 * AHEAD {
                m.read_ahead(self.descriptor, self.head.wrapping_add(3 * AHEAD));
            }
        }
        let [raw] = m.read(self.descriptor, self.head);
        m.check(b, raw, u32::from(frame.len())).map_err(|_| {
            let named = m.check(b, raw, 0).is_ok();
            self.faults += u64::from(!named);
            if named { Outcome::BadFrame } else { empty }
        })
    }

    /// Stores frames from the front, as many as `group` has room for at the most: their completions are the
    /// caller's to write. `empty` as for [`peek`](Self::peek).
    #[inline(always)]
    pub(crate) fn store(
        &mut self,
        m: &mut M,
        b: M::Buffers,
        frames: &[Frame<'_>],
        empty: Outcome,
        group: &mut Group,
    ) -> Stored {
        let mut stored = Stored { first: self.head, count: 0, refused: None };
        for (frame, slot) in frames.iter().zip(group) {
            match self.peek(m, b, frame, empty) {
                Ok(buf) => *slot = frame.store(m, b, buf),
                Err(outcome) => {
                    stored.refused = Some(outcome);
                    break;
                }
            }
            self.advance();
            stored.count += 1;
            if !frame.is_copied() {
                break; // nothing came between its completion and the next one's
            }
        }
        stored
    }

    /// The buffer at the head is used.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.head = self.head.wrapping_add(1);
    }
}
