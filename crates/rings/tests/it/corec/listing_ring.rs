//! A receive ring for several threads as one gets it by taking corec's printed listing at its word. It differs from
//! [`rings::corec`] in four places, each marked below. Nobody should use it: tests show what becomes of it.
//!
//! It reads and writes the NIC's words of `ddring`, so that the NIC half is the real one.

use memory::{Buf, Class, Field, Memory, Side, Space};
use rings::ddring::{self, NicHalf};
use rings::{Buffers, Completion, Host};

use crate::common::{Plain, Pool};

const fn word(name: &'static str, class: Class) -> Field {
    Field { name, len: 1, width: 1, class, writer: Side::Host, reader: Side::Host, home: Side::Host }
}

/// What a slot gets for which there is no buffer.
const NONE: Buf = Buf(u64::MAX);
const DONE: u64 = 1 << 16;

/// Binds the NIC half of a single consumer, and threads that take its place.
pub(crate) fn build(
    s: &mut Plain,
    ring: u32,
    threads: u32,
    b: Pool,
) -> (Vec<HostHalf<Plain>>, NicHalf<Plain>) {
    let sizes = ddring::Sizes { ring, ..ddring::Sizes::default() };
    let (_, nic) = ddring::build(s, &sizes, 1, b).unwrap();
    let half = HostHalf {
        descriptor: s.bound("ddring.descriptor", 0),
        doorbell: s.bound("ddring.tail", 0),
        buffer: s.words::<1>(&word("listing.buffer", Class::Body).of(ring), 0).unwrap(),
        index: s.words::<1>(&word("listing.index", Class::Contended), 0).unwrap(),
        read_done: s.words::<1>(&word("listing.read_done", Class::Contended), 0).unwrap(),
        lock: s.words::<1>(&word("listing.lock", Class::Contended), 0).unwrap(),
        tail: s.words::<1>(&word("listing.tail", Class::Body), 0).unwrap(),
        ring: ring.into(),
        fills: false,
        claims: 0,
    };
    let mut halves = vec![half; threads as usize];
    halves[0].fills = true;
    (halves, nic)
}

/// A thread's end; the words are all shared.
pub(crate) struct HostHalf<M: Memory> {
    descriptor: M::Words<2>,
    doorbell: M::Words<1>,
    buffer: M::Words<1>,
    index: M::Words<1>,
    read_done: M::Words<1>,
    lock: M::Words<1>,
    tail: M::Words<1>,
    ring: u64,
    /// The first thread fills the ring for all.
    fills: bool,
    claims: u64,
}

impl<M: Memory> Clone for HostHalf<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory> Copy for HostHalf<M> {}

impl<M: Memory> HostHalf<M> {
    fn slot(&self, i: u64) -> u64 {
        i & (self.ring - 1)
    }

    fn post(&self, m: &mut M, slot: u64, buf: Buf) {
        m.write(self.buffer, slot, [buf.0]);
        m.publish(self.descriptor, slot, [buf.0, 0]);
    }

    /// Hands all slots from TAIL on that are read back to the NIC, unless another thread is about it.
    fn release(&self, m: &mut M) {
        if m.swap_if(self.lock, 0, 0, 1).is_err() {
            return;
        }
        let [tail] = m.read(self.tail, 0);
        let read = m.acquire(self.read_done, 0);
        let count = (0..self.ring).take_while(|k| read >> self.slot(tail + k) & 1 == 1).count() as u64;
        let bits = (0..count).fold(0, |bits, k| bits | 1 << self.slot(tail + k));
        m.clear(self.read_done, 0, bits);
        m.write(self.tail, 0, [tail + count]);
        // The register of this NIC counts on where others wrap; the slot is the same.
        m.ring(self.doorbell, tail + count + self.ring);
        m.release(self.lock, 0, 0);
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        // First: the place is told by its index in the ring, which comes again in the next round.
        let first = m.acquire(self.index, 0);
        // Second: nothing but the done bit says that a frame is there, not even whether the slot is posted.
        let done = |k: &u64| m.acquire(self.descriptor, self.slot(first + k)) & DONE != 0;
        let mut n = (0..out.len() as u64).take_while(done).count() as u64;
        // Third: a claim of nothing is a claim.
        if m.swap_if(self.index, 0, first, self.slot(first + n)).is_ok() {
            self.claims += 1;
            // Fourth: what is claimed is taken out of the ring, whether there are buffers to put in or not.
            let mut new = vec![NONE; n as usize];
            bufs.take(m, &mut new);
            for (k, (out, new)) in (first..).zip(out.iter_mut().zip(new)) {
                let slot = self.slot(k);
                let [meta, status] = m.read(self.descriptor, slot);
                let [buf] = m.read(self.buffer, slot);
                let (len, mark) = (status as u16, (status >> 32) as u32);
                let (rss, kind) = (meta as u32, (meta >> 32) as u32);
                *out = Completion { buf: Buf(buf), len, between: 0, rss, kind, mark };
                self.post(m, slot, new);
            }
            m.or(self.read_done, 0, (0..n).fold(0, |bits, k| bits | 1 << self.slot(first + k)));
        } else {
            n = 0;
        }
        self.release(m);
        n as usize
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        for slot in 0..if self.fills { self.ring } else { 0 } {
            let mut new = [NONE];
            bufs.take(m, &mut new);
            self.post(m, slot, new[0]);
        }
        m.ring(self.doorbell, self.ring);
        0
    }

    fn drain<B: Buffers<M>>(&mut self, _m: &mut M, _bufs: &mut B) {}

    fn waiting(&self, m: &mut M) -> u64 {
        (0..self.ring).filter(|slot| m.acquire(self.descriptor, *slot) & DONE != 0).count() as u64
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        (i == 0).then_some(("claims", self.claims))
    }
}
