//! `ddring`: one ring whose descriptors come back in place (corec §2). The NIC writes a frame's length and a
//! *descriptor done* bit over the buffer's address; the host replaces the descriptor and moves TAIL. The
//! NIC half serves `corec` as well, which must look to it like this ring's single consumer (corec §3.3).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | core, then NIC, in turn | NIC, then core | 4 descriptors | to the NIC: body, published by `tail`; back: publish -> acquire of the signal: entry and payload are valid |
//! | `tail` | core | NIC | a register | ring -> acquire: descriptors below it are empty |
//! | `buffer` | core | core | 8 buffers | body; with several cores guarded by `cursor` |
//! | `cursor` | its cores | its cores | its own | `next << 1 \| locked`: swap -> release of the lock |
//! | `posted` | its cores, under the lock | its cores | its own | relaxed: the lock orders it |
//! | `left` | its cores | its cores | its own | add -> add: the cores that left before are done |
//!
//! A descriptor holds an address on its way to the NIC and none on its way back, so the host keeps the
//! buffers in a ring of its own, `buffer`. It clears the done bit when it posts a descriptor anew, and looks
//! at no descriptor that it has not posted: the bit of one that it has read is stale.
//!
//! **Write-back.** A card may write descriptors back a row at a time ([`WriteBack`]): one that is used shows when the
//! rest of its row is, or when its time has come. It is off unless the profile of a card says otherwise.
//!
//! **Baselines of corec.** One core with a ring of its own, which takes a buffer from the pool for each frame
//! or for a burst at a time (§4.1); with several rings and RSS this is the scale-out policy. Several cores
//! with one ring and a spin lock around the whole receive, as Metronome has it (§5).
//!
//! **Stop and start.** A ring runs while one of its cores does. The last core that drains takes back what is
//! posted and goes back to where the NIC stands.
//!
//! **Outcomes.** `RingFull`: no empty descriptor is posted. `BadFrame` also for a frame that the NIC would pass
//! by pointer: there is no room for the pointer in a descriptor that comes back.

use memory::{Buf, Class, Field, Memory, Ps, Side, Space};

use crate::contract::{AHEAD, Buffers, CHUNK, Completion, Frame, Host, Nic, Outcome};
use crate::parts::empties;
use crate::parts::lock::{self, Locked};
use crate::sizes::{self, SizeError};

// ## Words

/// Words of a descriptor: `[address, 0]` to the NIC, `[rss | kind << 32, length << 16 | done]` back.
pub(crate) const WORDS: usize = 2;
/// The descriptor is done: the NIC has stored a frame.
const DONE: u64 = 1;
const LENGTH: u32 = 16;

const DESCRIPTOR: Field = Field {
    name: "ddring.descriptor",
    len: 1,
    width: WORDS as u32,
    class: Class::Signal,
    writer: Side::Both,
    reader: Side::Both,
};
const TAIL: Field = empties::doorbell("ddring.tail");
const BUFFER: Field = Field {
    name: "ddring.buffer",
    len: 1,
    width: 1,
    class: Class::Body,
    writer: Side::Host,
    reader: Side::Host,
};
const CURSOR: Field = lock::field("ddring.cursor");
const POSTED: Field = Field { name: "ddring.posted", class: Class::Signal, ..BUFFER };
const LEFT: Field = lock::field("ddring.left");

// ## Sizes

/// How a core takes empty buffers from the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    /// One at a time, for each frame.
    Each,
    /// For a whole burst at a time.
    Bulk,
}

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a ring.
    pub ring: u32,
    /// Cores that share a ring under its lock; 1 is a ring for each core, without a lock.
    pub shared_by: u32,
    /// How buffers are taken.
    pub refill: Refill,
}

impl Default for Sizes {
    /// A ring for each core, refilled as today's scalar drivers do (§2.2).
    fn default() -> Sizes {
        Sizes { ring: 1024, shared_by: 1, refill: Refill::Each }
    }
}

impl Sizes {
    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sharing("ddring", self.ring, self.shared_by, queues)
    }

    /// Buffers that the rings of a port can hold posted.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(queues.div_ceil(self.shared_by.max(1)))
    }
}

/// Checks a ring of `ring` descriptors that `shared_by` of `queues` cores share.
pub(crate) fn sharing(name: &str, ring: u32, shared_by: u32, queues: u32) -> Result<(), SizeError> {
    sizes::ring_size(&format!("{name}: ring"), ring)?;
    sizes::sharers(name, shared_by, queues)
}

/// One port: a host half for each queue, and the NIC half.
pub type Port<M> = (Vec<HostHalf<M>>, NicHalf<M>);

/// Binds one port.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn build<S: Space>(
    space: &mut S,
    sizes: &Sizes,
    queues: u32,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Port<S::Mem>, SizeError> {
    sizes.validate(queues)?;
    let mut hosts = Vec::new();
    let nic = rings(space, sizes.ring, sizes.shared_by, queues, buffers, |space, number, words, cores| {
        let (cursor, posted) = (space.words(&CURSOR, number)?, space.words(&POSTED, number)?);
        let left = space.words(&LEFT, number)?;
        for _ in 0..cores {
            let place = match cores {
                1 => Place::Own { next: 0, posted: 0 },
                _ => Place::Shared { cursor: Locked::new(cursor), posted, left, cores: u64::from(cores) },
            };
            let bulk = sizes.refill == Refill::Bulk;
            let spare = [Buf(0); CHUNK];
            hosts.push(HostHalf { words, buffers, place, left: false, bulk, spare, debts: 0, faults: 0 });
        }
        Ok(())
    })?;
    Ok((hosts, nic))
}

/// Binds the rings of a port, and its NIC half; `host` makes the host halves of each ring, for so many cores.
pub(crate) fn rings<S: Space>(
    space: &mut S,
    ring: u32,
    shared_by: u32,
    queues: u32,
    buffers: <S::Mem as Memory>::Buffers,
    mut host: impl FnMut(&mut S, u32, Words<S::Mem>, u32) -> Result<(), SizeError>,
) -> Result<NicHalf<S::Mem>, SizeError> {
    let mut rings = Vec::new();
    for number in 0..queues.div_ceil(shared_by) {
        let words = Words {
            descriptor: space.words(&DESCRIPTOR.of(ring), number)?,
            tail: space.words(&TAIL, number)?,
            buffer: space.words(&BUFFER.of(ring), number)?,
            size: u64::from(ring),
        };
        let cores = shared_by.min(queues - number * shared_by);
        rings.push(Ring::new(words, cores as usize));
        host(space, number, words, cores)?;
    }
    let write_back = WriteBack { together: 1, after: Ps::ZERO };
    Ok(NicHalf { rings, write_back, shared_by: shared_by as usize, buffers })
}

// ## Host half

/// The words of one ring that a receiving core reads and writes: alike for one core and for several.
pub(crate) struct Words<M: Memory> {
    pub(crate) descriptor: M::Words<WORDS>,
    pub(crate) tail: M::Words<1>,
    pub(crate) buffer: M::Words<1>,
    /// Descriptors.
    pub(crate) size: u64,
}

impl<M: Memory> Clone for Words<M> {
    fn clone(&self) -> Self {
        *self
    }
}

// A derived one would ask for a memory that can be copied.
impl<M: Memory> Copy for Words<M> {}

impl<M: Memory> Words<M> {
    /// Descriptors from `next` on that are done, at most `most`: all of them posted.
    #[inline(always)]
    pub(crate) fn done(&self, m: &mut M, next: u64, most: u64) -> u64 {
        let mut n = 0;
        // Pairs with the publish in `Ring::store`.
        while n < most && m.acquire(self.descriptor, next.wrapping_add(n)) & DONE != 0 {
            n += 1;
        }
        n
    }

    /// The frame in descriptor `i`, which is done and the caller's; the buffer alone, if the frame cannot
    /// be in it.
    #[inline(always)]
    pub(crate) fn frame(&self, m: &mut M, b: M::Buffers, i: u64) -> Result<Completion, Buf> {
        let [meta, status] = m.read(self.descriptor, i);
        let [raw] = m.read(self.buffer, i);
        let len = (status >> LENGTH) as u16;
        match m.check(b, raw, u32::from(len)) {
            Ok(buf) => Ok(Completion { buf, len, rss: meta as u32, kind: (meta >> 32) as u32 }),
            Err(_) => Err(Buf(raw)),
        }
    }

    /// Makes descriptor `i` an empty one for `buf`. The NIC has it once TAIL has moved past it.
    #[inline(always)]
    pub(crate) fn replace(&self, m: &mut M, i: u64, buf: Buf) {
        m.write(self.buffer, i, [buf.0]);
        m.publish(self.descriptor, i, [buf.0, 0]); // with `tail`'s ring: pairs with the acquire in `Ring::refresh`
    }

    /// Gives the buffers of descriptors `from..to` back, done or not.
    pub(crate) fn give_back<B: Buffers<M>>(&self, m: &mut M, bufs: &mut B, from: u64, to: u64) {
        for i in 0..to.wrapping_sub(from).min(self.size) {
            let [raw] = m.read(self.buffer, from.wrapping_add(i));
            bufs.give(m, &[Buf(raw)]);
        }
    }
}

/// Where the ring's cores stand: the next descriptor to read, and how far descriptors are posted.
enum Place<M: Memory> {
    /// One core: nobody else needs to know.
    Own { next: u64, posted: u64 },
    /// Several: under a lock.
    Shared { cursor: Locked<M>, posted: M::Words<1>, left: M::Words<1>, cores: u64 },
}

impl<M: Memory> Place<M> {
    /// Takes the lock, if there is one.
    #[inline(always)]
    fn enter(&mut self, m: &mut M) -> (u64, u64) {
        match self {
            Place::Own { next, posted } => (*next, *posted),
            Place::Shared { cursor, posted, .. } => {
                let next = cursor.lock(m);
                (next, m.relaxed(*posted, 0))
            }
        }
    }

    /// Frees it, with the new place.
    #[inline(always)]
    fn leave(&mut self, m: &mut M, now: (u64, u64)) {
        match self {
            Place::Own { next, posted } => (*next, *posted) = now,
            Place::Shared { cursor, posted, .. } => {
                m.release(*posted, 0, now.1); // before the lock's own release, which pairs with `enter`
                cursor.unlock(m, now.0);
            }
        }
    }

    /// A core drains (or, with `-1`, fills again); whether all have drained now.
    fn drained(&self, m: &mut M, by: u64) -> bool {
        match self {
            Place::Own { .. } => by == 1,
            // Pairs with itself: the last one to leave sees what the others did.
            Place::Shared { left, cores, .. } => m.add(*left, 0, by).wrapping_add(by) == *cores,
        }
    }

    fn lock(&self) -> Option<&Locked<M>> {
        match self {
            Place::Own { .. } => None,
            Place::Shared { cursor, .. } => Some(cursor),
        }
    }
}

/// A core's end of its ring.
pub struct HostHalf<M: Memory> {
    words: Words<M>,
    buffers: M::Buffers,
    place: Place<M>,
    /// Has drained, and was not filled since.
    left: bool,
    bulk: bool,
    /// Scratch between the pool and the ring.
    spare: [Buf; CHUNK],
    debts: u64,
    faults: u64,
}

impl<M: Memory> HostHalf<M> {
    /// Posts a buffer for each descriptor that was read; the new end.
    #[inline(always)]
    fn pay<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, next: u64, posted: u64) -> u64 {
        let mut end = posted;
        let most = if self.bulk { CHUNK } else { 1 };
        loop {
            let owed = next.wrapping_add(self.words.size).wrapping_sub(end);
            let want = owed.min(most as u64) as usize;
            if want == 0 {
                break;
            }
            let got = bufs.take(m, &mut self.spare[..want]).min(want);
            for buf in self.spare.iter().take(got) {
                self.words.replace(m, end, *buf);
                end = end.wrapping_add(1);
            }
            if got < want {
                self.debts += 1;
                break;
            }
        }
        if end != posted {
            m.ring(self.words.tail, end); // pairs with the acquire in `Ring::refresh`
        }
        end
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let (mut next, mut posted) = self.place.enter(m);
        let mut taken = 0;
        while taken < out.len() && next != posted && self.words.done(m, next, 1) == 1 {
            match self.words.frame(m, self.buffers, next) {
                Ok(frame) => {
                    out[taken] = frame;
                    taken += 1;
                }
                Err(buf) => {
                    self.faults += 1;
                    bufs.give(m, &[buf]);
                }
            }
            next = next.wrapping_add(1);
        }
        posted = self.pay(m, bufs, next, posted);
        self.place.leave(m, (next, posted));
        taken
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        if self.left {
            self.left = false;
            self.place.drained(m, 1u64.wrapping_neg());
        }
        let (next, posted) = self.place.enter(m);
        let posted = self.pay(m, bufs, next, posted);
        self.place.leave(m, (next, posted));
        next.wrapping_add(self.words.size).wrapping_sub(posted) as usize
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        if self.left {
            return;
        }
        self.left = true;
        if !self.place.drained(m, 1) {
            return;
        }
        let (next, posted) = self.place.enter(m);
        let head = next.wrapping_add(self.words.done(m, next, posted.wrapping_sub(next)));
        self.words.give_back(m, bufs, next, posted);
        m.ring(self.words.tail, head); // pairs with the acquire in `Ring::refresh`
        self.place.leave(m, (head, head));
    }

    fn waiting(&self, m: &mut M) -> u64 {
        let (next, posted) = match &self.place {
            Place::Own { next, posted } => (*next, *posted),
            Place::Shared { cursor, posted, .. } => (cursor.peek(m), m.relaxed(*posted, 0)),
        };
        let open = posted.wrapping_sub(next); // others may move on between the two reads
        if open > self.words.size { 0 } else { self.words.done(m, next, open) }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let lock = |count: fn(&Locked<M>) -> u64| self.place.lock().map_or(0, count);
        let counters = [
            ("lock_taken", lock(|lock| lock.taken)),
            ("lock_waits", lock(|lock| lock.waits)),
            ("debts", self.debts),
            ("faults", self.faults),
        ];
        counters.get(i).copied()
    }
}

// ## NIC half

/// The most descriptors that a card writes back together.
const LINE: usize = 8;

/// When a card writes used descriptors back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBack {
    /// So many that lie in a row, together: a power of two up to 8; 1 is each by itself.
    pub together: u32,
    /// What waits for the rest of its row is written back so long after the last time that this happened.
    pub after: Ps,
}

/// The NIC's end of all rings of a port. It knows of one consumer for each.
pub struct NicHalf<M: Memory> {
    rings: Vec<Ring<M>>,
    write_back: WriteBack,
    /// Queues whose frames go into one ring.
    shared_by: usize,
    buffers: M::Buffers,
}

struct Ring<M: Memory> {
    words: Words<M>,
    /// Next descriptor to use. Ours, always fresh.
    head: u64,
    /// Descriptors before it are written back; up to `head`, what is to be written into them waits.
    shown: u64,
    held: [[u64; WORDS]; LINE],
    /// When descriptors were last written back without the rest of their row.
    flushed: Option<Ps>,
    /// TAIL as last read: at most as far as the host has posted.
    tail: u64,
    /// The queues that are stopped.
    stopped: Vec<bool>,
    faults: u64,
}

impl<M: Memory> Ring<M> {
    fn new(words: Words<M>, queues: usize) -> Ring<M> {
        let (held, stopped) = ([[0; WORDS]; LINE], vec![false; queues]);
        Ring { words, head: 0, shown: 0, held, flushed: None, tail: 0, stopped, faults: 0 }
    }

    /// Nobody receives from it.
    fn stands(&self) -> bool {
        self.stopped.iter().all(|stopped| *stopped)
    }

    /// Reads TAIL. A value that no consumer can mean is ignored.
    #[inline(always)]
    fn refresh(&mut self, m: &mut M) {
        let tail = m.acquire(self.words.tail, 0); // pairs with the host's `ring`
        let size = self.words.size;
        if tail.wrapping_sub(self.head) <= size && tail.wrapping_sub(self.tail) <= size {
            self.tail = tail;
        }
    }

    #[inline(always)]
    fn store(&mut self, m: &mut M, b: M::Buffers, frame: &Frame<'_>, together: u64) -> Outcome {
        if !frame.is_copied() {
            return Outcome::BadFrame;
        }
        if self.head == self.tail {
            return Outcome::RingFull;
        }
        if self.tail.wrapping_sub(self.head) > 2 * AHEAD {
            m.entry_ahead(self.words.descriptor, self.head.wrapping_add(2 * AHEAD));
            m.put_ahead(b, self.words.descriptor, self.head.wrapping_add(AHEAD));
        }
        let [raw, _] = m.read(self.words.descriptor, self.head);
        let buf = match m.check(b, raw, u32::from(frame.len)) {
            Ok(buf) => buf,
            Err(_) if m.check(b, raw, 0).is_ok() => return Outcome::BadFrame,
            Err(_) => {
                self.faults += 1;
                return Outcome::RingFull;
            }
        };
        frame.store(m, b, buf);
        self.held[self.head as usize % LINE] = [frame.meta, u64::from(frame.len) << LENGTH | DONE];
        self.head = self.head.wrapping_add(1);
        if self.head & (together - 1) == 0 {
            self.show(m);
        }
        Outcome::Delivered
    }

    /// Writes back what waits.
    #[inline(always)]
    fn show(&mut self, m: &mut M) {
        while self.shown != self.head {
            // Pairs with the acquire in `Words::done`.
            m.publish(self.words.descriptor, self.shown, self.held[self.shown as usize % LINE]);
            self.shown = self.shown.wrapping_add(1);
        }
    }

    /// Writes back what has waited `after`; when the rest is due.
    fn due(&mut self, m: &mut M, after: Ps) -> Option<Ps> {
        if self.shown == self.head {
            return None;
        }
        let now = m.now();
        let due = self.flushed.map_or(now, |last| last + after);
        if due > now {
            return Some(due);
        }
        self.flushed = Some(now);
        self.show(m);
        None
    }
}

impl<M: Memory> NicHalf<M> {
    /// Descriptors are written back so from now on. A row is no longer than the smallest ring or 8, and at least 1.
    pub fn set_write_back(&mut self, how: WriteBack) {
        let ring = self.rings.iter().map(|ring| ring.words.size).min().unwrap_or(1);
        let most = ring.min(LINE as u64) as u32;
        let together = how.together.clamp(1, most);
        // Rings are powers of two.
        self.write_back = WriteBack { together: 1 << together.ilog2(), ..how };
    }

    /// The ring of `queue`, and its number among that ring's queues.
    fn ring(&mut self, queue: u16) -> Option<(&mut Ring<M>, usize)> {
        let (ring, queue) = (usize::from(queue) / self.shared_by, usize::from(queue) % self.shared_by);
        self.rings.get_mut(ring).filter(|ring| queue < ring.stopped.len()).map(|ring| (ring, queue))
    }
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let (b, together) = (self.buffers, u64::from(self.write_back.together));
        let Some((ring, _)) = self.ring(queue) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        if ring.stands() {
            return out.fill(Outcome::QueueStopped);
        }
        if ring.tail.wrapping_sub(ring.head) < frames.len() as u64 {
            ring.refresh(m);
        }
        for (frame, outcome) in frames.iter().zip(out) {
            *outcome = ring.store(m, b, frame, together);
            m.chain();
        }
    }

    fn poll(&mut self, m: &mut M) -> Option<Ps> {
        let WriteBack { together, after } = self.write_back;
        if together == 1 {
            return None;
        }
        self.rings.iter_mut().filter_map(|ring| ring.due(m, after)).min()
    }

    fn stop(&mut self, m: &mut M) {
        self.rings.iter_mut().for_each(|ring| ring.show(m));
    }

    /// While another queue of its ring runs, that one's core receives the frames of this queue.
    fn stop_queue(&mut self, m: &mut M, queue: u16) {
        if let Some((ring, queue)) = self.ring(queue) {
            ring.stopped[queue] = true;
            ring.show(m);
        }
    }

    fn start_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some((ring, queue)) = self.ring(queue) {
            if ring.stands() {
                ring.tail = ring.head; // the host has gone back to there
            }
            ring.stopped[queue] = false;
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.rings.iter().map(|ring| ring.faults).sum();
        (i == 0).then(|| ("bad_descriptors", bad()))
    }
}
