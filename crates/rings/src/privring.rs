//! `privring`: today's interface (rxbisect §2). Every core has a ring of empty buffers and a
//! completion ring of the same size.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | core | NIC | 8 descriptors | body, published by `doorbell` |
//! | `doorbell` | core | NIC | a register | ring -> acquire: descriptors below it are valid, completions that far back are read |
//! | `completion` | NIC | core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//!
//! Completion entries are written by the NIC alone and descriptors by the host alone, so no line has
//! two writers (§2). Descriptor `i` ends as completion `i`, and a core posts descriptor `i + ring` only
//! after it has read completion `i`: neither ring can overflow, and no index of the core has to be
//! published but the doorbell.
//!
//! **Stop and start.** The NIC touches nothing of a stopped queue. Its core reads to the last completion,
//! which is where the NIC stands, and takes the ring back to there (see `parts/empties.rs`).

use memory::{Buf, Class, Field, Memory, Ps, Side, Space};

use crate::contract::{AHEAD, Buffers, Completion, Frame, Host, Nic, Outcome};
use crate::contract::{About, Halves, Param, Parameters, Spec, Today};
use crate::parts::empties::{self, Consumer, NO_GROUP, Producer};
use crate::parts::entry;
use crate::sizes::{self, SizeError};

// ## Words

const DESCRIPTOR: Field = empties::descriptor("privring.descriptor", 1);
const DOORBELL: Field = empties::doorbell("privring.doorbell");
const COMPLETION: Field = Field {
    name: "privring.completion",
    len: 1,
    width: entry::WORDS as u32,
    class: Class::Signal,
    writer: Side::Nic,
    reader: Side::Host,
    home: Side::Host,
};

// ## Sizes

/// Sizes of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a core's ring, and entries of its completion ring.
    pub ring: u32,
}

impl Default for Sizes {
    /// What today's drivers use at 100 Gbps (§1).
    fn default() -> Sizes {
        Sizes { ring: 1024 }
    }
}

impl Parameters for Sizes {
    fn params(&mut self) -> Vec<Param<'_>> {
        let Sizes { ring } = self;
        vec![Param::ring("ring", ring, "descriptors of a core")]
    }

    fn validate(&self, _queues: u32) -> Result<(), SizeError> {
        sizes::ring_size("privring: ring", self.ring)
    }

    fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(queues)
    }

    fn own_buffers(&self) -> Option<u32> {
        Some(self.ring)
    }
}

impl Spec for Sizes {
    const ABOUT: About = About {
        name: "privring",
        essence: "one ring of buffers per core, with a completion ring",
        today: Today::Yes,
        descriptors: "ring",
        counters: &["debts", "faults"],
        levels: &[],
        many_pollers: false,
        queue_order: true,
        pointers: true,
        coherent: false,
        not_emulated: None,
    };
    type Host<M: Memory> = HostHalf<M>;
    type Nic<M: Memory> = NicHalf<M>;

    fn build<S: Space>(
        &self,
        space: &mut S,
        queues: u32,
        buffers: <S::Mem as Memory>::Buffers,
    ) -> Result<Halves<Self, S::Mem>, SizeError> {
        build(space, self, queues, buffers)
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
    let shift = sizes.ring.trailing_zeros();
    let (mut hosts, mut rings) = (Vec::new(), Vec::new());
    for q in 0..queues {
        let (producer, consumer) = empties::bind(space, [&DESCRIPTOR.of(sizes.ring), &DOORBELL], q)?;
        let completion = space.words(&COMPLETION.of(sizes.ring), q)?;
        hosts.push(HostHalf { producer, completion, buffers, shift, head: 0, faults: 0 });
        rings.push(Queue { consumer, completion, shift, stopped: false });
    }
    Ok((hosts, NicHalf { rings, buffers }))
}

// ## Host half

/// A core's end of its queue.
pub struct HostHalf<M: Memory> {
    producer: Producer<M>,
    completion: M::Words<{ entry::WORDS }>,
    buffers: M::Buffers,
    shift: u32,
    /// Next completion to read. Ours, always fresh; the NIC learns of it through the doorbell.
    head: u64,
    /// Completions that named no buffer.
    faults: u64,
}

impl<M: Memory> HostHalf<M> {
    /// Descriptors that the NIC has used, as far as this core knows, and that are not posted anew.
    #[inline(always)]
    fn owed(&self) -> u64 {
        self.head.wrapping_add(1 << self.shift).wrapping_sub(self.producer.tail())
    }
}

/// The signal of completion `i`, if the NIC has written it.
#[inline(always)]
fn signal<M: Memory>(m: &mut M, entries: M::Words<{ entry::WORDS }>, i: u64, shift: u32) -> Option<u64> {
    let signal = m.acquire(entries, i); // pairs with the publish in `Queue::complete`
    entry::fresh(signal, i, shift).then_some(signal)
}

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let (completion, buffers, shift) = (self.completion, self.buffers, self.shift);
        let mut head = self.head;
        let mut taken = 0;
        while taken < out.len() {
            if signal(m, completion, head, shift).is_none() {
                break;
            }
            let [raw, meta, size] = m.body(completion, head);
            head = head.wrapping_add(1);
            match m.check(buffers, raw, u32::from(size as u16)) {
                Ok(buf) => {
                    out[taken] = Completion::of(buf, meta, size);
                    taken += 1;
                }
                Err(_) => self.faults += 1,
            }
        }
        self.head = head;
        let owed = self.owed(); // what this burst used and what earlier ones could not get
        self.producer.pay(m, bufs, owed);
        taken
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        let owed = self.owed();
        self.producer.pay(m, bufs, owed) as usize
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        while signal(m, self.completion, self.head, self.shift).is_some() {
            // A NIC that passes pointers names another buffer here than the descriptor does.
            let [raw] = m.body(self.completion, self.head);
            self.head = self.head.wrapping_add(1);
            match m.check(self.buffers, raw, 0) {
                Ok(buf) => bufs.give(m, &[buf]),
                Err(_) => self.faults += 1,
            }
        }
        self.faults += self.producer.take_back(m, bufs, self.head, self.buffers);
    }

    fn waiting(&self, m: &mut M) -> u64 {
        entry::waiting(m, self.completion, self.head, self.shift)
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        Sizes::ABOUT.counter(i, &[self.producer.debts, self.faults])
    }
}

// ## NIC half

/// The NIC's end of all queues of a port.
pub struct NicHalf<M: Memory> {
    rings: Vec<Queue<M>>,
    buffers: M::Buffers,
}

struct Queue<M: Memory> {
    consumer: Consumer<M>,
    completion: M::Words<{ entry::WORDS }>,
    shift: u32,
    stopped: bool,
}

impl<M: Memory> Queue<M> {
    #[inline(always)]
    fn complete(&mut self, m: &mut M, i: u64, buf: Buf, frame: &Frame<'_>) {
        m.entry_ahead(self.completion, i.wrapping_add(AHEAD));
        m.publish(self.completion, i, entry::frame(buf, frame, 0, i, self.shift));
    }
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let Some(q) = self.rings.get_mut(usize::from(queue)) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        if q.stopped {
            return out.fill(Outcome::QueueStopped);
        }
        if q.consumer.ready() < frames.len() as u64 {
            q.consumer.refresh(m);
        }
        let (mut at, end) = (0, frames.len().min(out.len()));
        let mut group = NO_GROUP;
        while at < end {
            let stored = q.consumer.store(m, self.buffers, &frames[at..end], Outcome::RingFull, &mut group);
            for (i, buf) in stored.each(&group) {
                q.complete(m, i, buf, &frames[at]);
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
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.stopped = true;
        }
    }

    fn start_queue(&mut self, _m: &mut M, queue: u16) {
        if let Some(q) = self.rings.get_mut(usize::from(queue)) {
            q.consumer.restart();
            q.stopped = false;
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.rings.iter().map(|q| q.consumer.faults).sum();
        (i == 0).then(|| ("bad_descriptors", bad()))
    }
}
