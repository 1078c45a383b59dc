//! `shring`: one ring of empty buffers for several cores, a completion ring for each (rxbisect §3.2).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | its cores, under the lock | NIC | 8 descriptors | body, published by `doorbell` |
//! | `tail` | its cores | its cores | its own | `tail << 1 \| locked`: swap -> release of the lock |
//! | `doorbell` | its cores, under the lock | NIC | a register | ring -> acquire: descriptors below it are valid |
//! | `completion` | NIC | core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//! | `index` | core | NIC | its own | release -> acquire: completions below it are read |
//! | `drained` | its cores | its cores | its own | a sum of what each core has read, made when they stop |
//!
//! **No slot is overwritten before it is read.** A core posts as many buffers at the shared tail as it
//! has received, so posted + received and not yet reposted = ring, and descriptor `t` is written only
//! when the NIC is known to have used at least `t - ring + 1`. The completion carries the buffer, since
//! the slot that it came from may be in another core's hands by then.
//!
//! **No refill waits for a batch.** A core reposts at the end of the burst that received, however few
//! those were. If it waited for more, an idle core could sit on the slots that the others need.
//!
//! **Outcomes.** `RingFull`: the queue's own completion ring has no room (only if it is smaller than the
//! shared ring). `NoBuffer`: it has, but no descriptor is posted in the shared ring.

use memory::{Buf, Class, Field, Memory, Ps, Side, Space};

use crate::completions::{self, Reader, Writer};
use crate::empties::{self, CHUNK, Consumer};
use crate::lock::{self, Locked};
use crate::{Buffers, Completion, Frame, Host, Nic, Outcome, SizeError, entry, interface};

// ## Words

const DESCRIPTOR: Field = empties::descriptor("shring.descriptor", 1);
const DOORBELL: Field = empties::doorbell("shring.doorbell");
const TAIL: Field = lock::field("shring.tail");
const COMPLETION: Field = completions::entries("shring.completion", 1);
const INDEX: Field = completions::index("shring.index");
const DRAINED: Field = Field {
    name: "shring.drained",
    len: 1,
    width: 1,
    class: Class::Contended,
    writer: Side::Host,
    reader: Side::Host,
};
/// `drained` holds, from this bit on, the cores that have drained; below it the completions that they
/// have read, modulo [`COUNTED`]: more than a ring can hold posted, and 4096 of them do not overflow.
const CORES: u32 = 48;
const COUNTED: u64 = 1 << 36;

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
}

impl Default for Sizes {
    /// As rxbisect §6 runs it: one ring of the default size for the 8 cores of a NIC.
    fn default() -> Sizes {
        Sizes { ring: 1024, shared_by: 8, completions: 1024 }
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
        interface::ring_size("shring: ring", self.ring)?;
        interface::ring_size("shring: completions", self.completions)?;
        if self.shared_by == 0 || self.shared_by > queues {
            let (k, most) = (self.shared_by, queues);
            return Err(SizeError::new(format!(
                "shring: shared_by is {k}; allowed: 1 to {most}, the queues"
            )));
        }
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
        let drained = space.words(&DRAINED, ring)?;
        rings.push(Consumer::new(descriptor, doorbell, sizes.ring));
        let first = ring * sizes.shared_by;
        let sharers = sizes.shared_by.min(queues - first);
        for core in 0..sharers {
            let fields = [&COMPLETION.of(sizes.completions), &INDEX];
            let (reader, writer) = completions::bind(space, fields, first + core)?;
            nic_queues.push(Queue { ring: ring as usize, writer });
            hosts.push(HostHalf {
                descriptor,
                doorbell,
                tail: Locked::new(tail),
                drained,
                reader,
                buffers,
                sharers,
                size: u64::from(sizes.ring),
                // At the start of day each core owes its share of the ring.
                owed: u64::from(sizes.ring / sharers + u32::from(core < sizes.ring % sharers)),
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
    drained: M::Words<1>,
    reader: Reader<M>,
    buffers: M::Buffers,
    sharers: u32,
    /// Descriptors of the shared ring.
    size: u64,
    /// Buffers received and not reposted: a debt that every poll pays as far as the pool allows.
    owed: u64,
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
        let [raw, meta, _] = self.reader.body(m);
        self.owed += 1;
        let frame = m.check(self.buffers, raw, u32::from(entry::length(signal))).ok();
        self.faults += u64::from(frame.is_none());
        Some(frame.map(|buf| entry::completion(buf, meta, signal)))
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
        self.repost(m, bufs);
        taken
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
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
        // Only the sum matters; what the other cores wrote is ordered by the lock below.
        let mine = (1 << CORES) + self.reader.head() % COUNTED;
        let all = m.add(self.drained, 0, mine).wrapping_add(mine);
        if all >> CORES == u64::from(self.sharers) {
            let tail = self.tail.lock(m);
            let posted = tail.wrapping_sub(all) % COUNTED;
            let head = tail.wrapping_sub(posted);
            self.faults += empties::give_back(m, bufs, self.descriptor, head..tail, self.size, self.buffers);
            self.tail.unlock(m, tail);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("lock_taken", self.tail.taken),
            ("lock_waits", self.tail.waits),
            ("debts", self.debts),
            ("faults", self.faults),
        ]
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
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let Some(q) = self.queues.get_mut(usize::from(queue)) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        let ring = &mut self.rings[q.ring];
        if ring.ready() < frames.len() as u64 {
            ring.refresh(m);
        }
        if q.writer.room() < frames.len() as u64 {
            q.writer.refresh(m);
        }
        for (frame, outcome) in frames.iter().zip(out) {
            *outcome = store(m, self.buffers, ring, &mut q.writer, frame);
            m.chain();
        }
    }

    fn poll(&mut self, _m: &mut M) -> Option<Ps> {
        None
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("bad_descriptors", self.rings.iter().map(|r| r.faults).sum())]
    }
}

#[inline(always)]
fn store<M: Memory>(
    m: &mut M,
    b: M::Buffers,
    ring: &mut Consumer<M>,
    writer: &mut Writer<M>,
    frame: &Frame<'_>,
) -> Outcome {
    if writer.room() == 0 {
        return Outcome::RingFull;
    }
    let buf = match ring.peek(m, b, frame.len, Outcome::NoBuffer) {
        Ok(buf) => buf,
        Err(outcome) => return outcome,
    };
    ring.advance();
    frame.put(m, b, buf);
    writer.frame(m, buf, frame, None);
    Outcome::Delivered
}
