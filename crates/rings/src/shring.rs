//! `shring`: one ring of empty buffers for several cores, a completion ring for each (rxbisect §3.2).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | its cores, under the lock | NIC | 8 descriptors | body, published by `doorbell` |
//! | `tail` | its cores | its cores | its own | `tail << 1 \| locked`: swap -> release, or swap, of the lock |
//! | `doorbell` | its cores, under the lock | NIC | a register | ring -> acquire: descriptors below it are valid |
//! | `completion` | NIC | core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//! | `index` | core | NIC | its own | release -> acquire: completions below it are read |
//! | `left` | its cores | its cores | its own | add, swap -> swap: the NIC has used the slots that are left |
//!
//! **No slot is overwritten before it is read.** A core posts as many buffers at the shared tail as it
//! has received, so posted + received and not yet reposted = ring, and descriptor `t` is written only
//! when the NIC is known to have used at least `t - ring + 1`. The completion carries the buffer, since
//! the slot that it came from may be in another core's hands by then.
//!
//! **No refill waits for a batch.** A core reposts at the end of the burst that received, however few
//! those were. If it waited for more, an idle core could sit on the slots that the others need.
//!
//! **Stop and start.** The posted buffers belong to the ring, the slots of what a core has received and
//! not reposted to that core. A core that drains gives the buffers of its unread frames back and leaves
//! its slots to the others, in `left`: `stopped cores << 48 | slots`. A running core that polls in vain
//! takes all of them over as its own debt and pays from its own supply; so the others never starve for
//! the slots of a stopped one, and a busy core pays nothing for it, not even a look. A core that starts
//! takes its share of what is still left. Posted + owed by running cores + left = ring, so the last core
//! to drain knows how many are posted. It takes them back, and the ring back to where the NIC stands
//! (see `parts/empties.rs`).
//!
//! **Outcomes.** `RingFull`: the queue's own completion ring has no room (only if it is smaller than the
//! shared ring). `NoBuffer`: it has, but no descriptor is posted in the shared ring.

use memory::{Buf, Class, Field, Memory, Ps, Side, Space};

use crate::contract::{Buffers, CHUNK, Completion, Frame, Host, Nic, Outcome};
use crate::parts::completions::{self, Reader, Writer};
use crate::parts::empties::{self, Consumer, NO_GROUP};
use crate::parts::entry;
use crate::parts::lock::{self, Locked};
use crate::sizes::{self, SizeError};

pub use crate::parts::lock::Unlock;

// ## Words

const DESCRIPTOR: Field = empties::descriptor("shring.descriptor", 1);
const DOORBELL: Field = empties::doorbell("shring.doorbell");
const TAIL: Field = lock::field("shring.tail");
const COMPLETION: Field = completions::entries("shring.completion", 1);
const INDEX: Field = completions::index("shring.index");
const LEFT: Field = Field {
    name: "shring.left",
    len: 1,
    width: 1,
    class: Class::Contended,
    writer: Side::Host,
    reader: Side::Host,
};
/// `left` holds, from this bit on, the cores that have drained and not started again; below it the slots
/// that they owe: of a truthful NIC's frames, no more than the ring has.
const CORES: u32 = 48;
const SLOTS: u64 = (1 << CORES) - 1;

// ## Sizes

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of one shared ring.
    pub ring: u32,
    /// Cores that share one ring; the last ring may have fewer.
    pub shared_by: u32,
    /// Entries of a core's completion ring.
    pub completions: u32,
    /// How a core frees the ring's lock.
    pub unlock: Unlock,
}

impl Default for Sizes {
    /// As rxbisect §6 runs it: one ring of the default size for the 8 cores of a NIC.
    fn default() -> Sizes {
        Sizes { ring: 1024, shared_by: 8, completions: 1024, unlock: Unlock::Store }
    }
}

impl Sizes {
    /// Rings of a port.
    pub fn rings(&self, queues: u32) -> u32 {
        queues.div_ceil(self.shared_by.max(1))
    }

    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::ring_size("shring: ring", self.ring)?;
        sizes::ring_size("shring: completions", self.completions)?;
        sizes::sharers("shring", self.shared_by, queues)?;
        if self.shared_by > self.ring {
            let (k, n) = (self.shared_by, self.ring);
            let what = "allowed: at least one descriptor for each core";
            return Err(SizeError::new(format!("shring: a ring of {n} shared by {k}; {what}")));
        }
        Ok(())
    }

    /// Buffers that the rings of a port can hold posted.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(self.rings(queues))
    }
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
    let (mut hosts, mut rings, mut nic_queues) = (Vec::new(), Vec::new(), Vec::new());
    for ring in 0..sizes.rings(queues) {
        let descriptor = space.words(&DESCRIPTOR.of(sizes.ring), ring)?;
        let doorbell = space.words(&DOORBELL, ring)?;
        let tail = space.words(&TAIL, ring)?;
        let left = space.words(&LEFT, ring)?;
        rings.push(Consumer::new(descriptor, doorbell, sizes.ring));
        let first = ring * sizes.shared_by;
        let sharers = sizes.shared_by.min(queues - first);
        for core in 0..sharers {
            let fields = [&COMPLETION.of(sizes.completions), &INDEX];
            let (reader, writer) = completions::bind(space, fields, first + core)?;
            nic_queues.push(Queue { ring: ring as usize, writer, stopped: false });
            hosts.push(HostHalf {
                descriptor,
                doorbell,
                tail: Locked::freed_by(tail, sizes.unlock),
                left,
                reader,
                buffers,
                sharers: u64::from(sharers),
                size: u64::from(sizes.ring),
                // At the start of day each core owes its share of the ring.
                owed: u64::from(sizes.ring / sharers + u32::from(core < sizes.ring % sharers)),
                stopped: false,
                spare: [Buf(0); CHUNK],
                debts: 0,
                faults: 0,
            });
        }
    }
    Ok((hosts, NicHalf { rings, queues: nic_queues, buffers }))
}

// ## Host half

/// A core's end of its queue.
pub struct HostHalf<M: Memory> {
    descriptor: M::Words<1>,
    doorbell: M::Words<1>,
    /// The next descriptor to post, of all sharers: fresh only under the lock.
    tail: Locked<M>,
    left: M::Words<1>,
    reader: Reader<M>,
    buffers: M::Buffers,
    sharers: u64,
    /// Descriptors of the shared ring.
    size: u64,
    /// Buffers received and not reposted: a debt that every poll pays as far as the pool allows.
    owed: u64,
    /// Has drained, and was not filled since: counted in `left`.
    stopped: bool,
    /// Scratch between the pool and the ring.
    spare: [Buf; CHUNK],
    debts: u64,
    faults: u64,
}

impl<M: Memory> HostHalf<M> {
    /// The next completion: its frame, or `None` in it if it named no buffer.
    #[inline(always)]
    fn receive(&mut self, m: &mut M) -> Option<Option<Completion>> {
        let signal = self.reader.signal(m)?;
        let [raw, meta] = self.reader.body(m);
        self.reader.pass();
        self.owed += 1;
        let frame = m.check(self.buffers, raw, u32::from(entry::length(signal))).ok();
        self.faults += u64::from(frame.is_none());
        Some(frame.map(|buf| entry::completion(buf, meta, signal)))
    }

    /// Makes slots that stopped cores left a debt of ours: all of them, or our share if we start. Once all
    /// cores have stopped, that is the whole ring.
    #[cold]
    fn take_over(&mut self, m: &mut M) {
        let mut seen = m.relaxed(self.left, 0);
        loop {
            let (cores, left) = (seen >> CORES, seen & SLOTS);
            let left = if cores == self.sharers { self.size } else { left };
            let mine = if self.stopped { left.div_ceil(cores.max(1)) } else { left };
            let cores = cores.saturating_sub(u64::from(self.stopped));
            // Pairs with the add in `drain`.
            match m.swap_if(self.left, 0, seen, cores << CORES | (left - mine)) {
                Ok(()) => {
                    self.owed += mine;
                    self.stopped = false;
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Posts what is owed. Buffers are taken before the lock, which covers the descriptors and the
    /// doorbell alone: its values must grow.
    #[inline]
    fn repost<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        while self.owed > 0 {
            let want = self.owed.min(CHUNK as u64) as usize;
            let got = bufs.take(m, &mut self.spare[..want]).min(want);
            if got > 0 {
                let mut tail = self.tail.lock(m);
                for buf in self.spare.iter().take(got) {
                    m.write(self.descriptor, tail, [buf.0]);
                    tail = tail.wrapping_add(1);
                }
                m.ring(self.doorbell, tail); // pairs with the acquire in `Consumer::refresh`
                self.tail.unlock(m, tail);
                self.owed -= got as u64;
            }
            if got < want {
                self.debts += 1;
                return;
            }
        }
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let mut taken = 0;
        while taken < out.len() {
            match self.receive(m) {
                Some(Some(frame)) => {
                    out[taken] = frame;
                    taken += 1;
                }
                Some(None) => {}
                None => break,
            }
        }
        self.reader.tell(m);
        if taken == 0 && !self.stopped && m.relaxed(self.left, 0) & SLOTS != 0 {
            self.take_over(m);
        }
        self.repost(m, bufs);
        taken
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        if self.stopped {
            self.take_over(m);
        }
        self.repost(m, bufs);
        self.owed as usize
    }

    /// What is still posted is known once every sharer has drained: the last one takes it back.
    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        while let Some(frame) = self.receive(m) {
            if let Some(frame) = frame {
                bufs.give(m, &[frame.buf]);
            }
        }
        self.reader.tell(m);
        if self.stopped {
            return;
        }
        self.stopped = true;
        let mine = (1 << CORES) + self.owed.min(self.size);
        self.owed = 0;
        // Pairs with the swap in `take_over`: the NIC has used the slots that are left.
        let all = m.add(self.left, 0, mine).wrapping_add(mine);
        if all >> CORES == self.sharers {
            let tail = self.tail.lock(m); // what the others posted is ordered by it
            let head = tail.wrapping_sub(self.size.wrapping_sub(all & SLOTS));
            self.faults += empties::give_back(m, bufs, self.descriptor, head..tail, self.size, self.buffers);
            m.ring(self.doorbell, head); // pairs with the acquire in `Consumer::refresh`
            self.tail.unlock(m, head);
        }
    }

    fn waiting(&self, m: &mut M) -> u64 {
        self.reader.waiting(m)
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let counters = [
            ("lock_taken", self.tail.taken),
            ("lock_waits", self.tail.waits),
            ("debts", self.debts),
            ("faults", self.faults),
        ];
        counters.get(i).copied()
    }
}

// ## NIC half

/// The NIC's end of all queues of a port.
pub struct NicHalf<M: Memory> {
    rings: Vec<Consumer<M>>,
    queues: Vec<Queue<M>>,
    buffers: M::Buffers,
}

struct Queue<M: Memory> {
    ring: usize,
    writer: Writer<M>,
    stopped: bool,
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let Some(q) = self.queues.get_mut(usize::from(queue)) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        if q.stopped {
            return out.fill(Outcome::QueueStopped);
        }
        let ring = &mut self.rings[q.ring];
        if ring.ready() < frames.len() as u64 {
            ring.refresh(m);
        }
        if q.writer.room() < frames.len() as u64 {
            q.writer.refresh(m);
        }
        let (mut at, end) = (0, frames.len().min(out.len()));
        let mut group = NO_GROUP;
        while at < end {
            let room = q.writer.room().min((end - at) as u64) as usize;
            if room == 0 {
                return out[at..end].fill(Outcome::RingFull);
            }
            let stored = ring.store(m, self.buffers, &frames[at..at + room], Outcome::NoBuffer, &mut group);
            for (_, buf) in stored.each(&group) {
                q.writer.frame(m, buf, &frames[at], 0);
                out[at] = Outcome::Delivered;
                at += 1;
                m.chain();
            }
            if let Some(outcome) = stored.refused {
                out[at] = outcome;
                at += 1;
                m.chain();
            }
        }
    }

    fn poll(&mut self, _m: &mut M) -> Option<Ps> {
        None
    }

    fn stop_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            q.stopped = true;
        }
    }

    fn start_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            // Where others run on this ring, its doorbell is merely read again.
            self.rings[q.ring].restart();
            q.stopped = false;
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.rings.iter().map(|r| r.faults).sum();
        (i == 0).then(|| ("bad_descriptors", bad()))
    }
}
