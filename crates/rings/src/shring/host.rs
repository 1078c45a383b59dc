//! The host half of `shring`: a completion ring of its own, and the end of the ring that several cores fill.

use memory::{Buf, Memory};

use super::{CORES, SLOTS, Sizes};
use crate::contract::{Buffers, CHUNK, Completion, Host, Spec};
use crate::parts::completions::Reader;
use crate::parts::empties;
use crate::parts::lock::Locked;

// ## Host half

/// The ring that several cores fill, as one of them sees it.
pub(super) struct Ring<M: Memory> {
    pub(super) descriptor: M::Words<1>,
    pub(super) doorbell: M::Words<1>,
    /// The next descriptor to post, of all sharers: fresh only under the lock.
    pub(super) tail: Locked<M>,
    pub(super) left: M::Words<1>,
    /// Cores that fill it.
    pub(super) sharers: u64,
    /// Descriptors.
    pub(super) size: u64,
}

/// A core's end of its queue.
pub struct HostHalf<M: Memory> {
    ring: Ring<M>,
    reader: Reader<M>,
    buffers: M::Buffers,
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
    pub(super) fn new(ring: Ring<M>, reader: Reader<M>, buffers: M::Buffers, owed: u64) -> HostHalf<M> {
        let spare = [Buf(0); CHUNK];
        HostHalf { ring, reader, buffers, owed, stopped: false, spare, debts: 0, faults: 0 }
    }

    /// The next completion: its frame, or `None` in it if it named no buffer.
    #[inline(always)]
    fn receive(&mut self, m: &mut M) -> Option<Option<Completion>> {
        self.reader.signal(m)?;
        let [raw, meta, size] = self.reader.body(m);
        self.reader.pass();
        self.owed += 1;
        let frame = m.check(self.buffers, raw, u32::from(size as u16)).ok();
        self.faults += u64::from(frame.is_none());
        Some(frame.map(|buf| Completion::of(buf, meta, size)))
    }

    /// Makes slots that stopped cores left a debt of ours: all of them, or our share if we start. Once all
    /// cores have stopped, that is the whole ring.
    #[cold]
    fn take_over(&mut self, m: &mut M) {
        let mut seen = m.relaxed(self.ring.left, 0);
        loop {
            let (cores, left) = (seen >> CORES, seen & SLOTS);
            let left = if cores == self.ring.sharers { self.ring.size } else { left };
            let mine = if self.stopped { left.div_ceil(cores.max(1)) } else { left };
            let cores = cores.saturating_sub(u64::from(self.stopped));
            // Pairs with the add in `drain`.
            match m.swap_if(self.ring.left, 0, seen, cores << CORES | (left - mine)) {
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
                let mut tail = self.ring.tail.lock(m);
                for buf in self.spare.iter().take(got) {
                    m.write(self.ring.descriptor, tail, [buf.0]);
                    tail = tail.wrapping_add(1);
                }
                m.ring(self.ring.doorbell, tail); // pairs with the acquire in `Consumer::refresh`
                self.ring.tail.unlock(m, tail);
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
        if taken == 0 && !self.stopped && m.relaxed(self.ring.left, 0) & SLOTS != 0 {
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
        let mine = (1 << CORES) + self.owed.min(self.ring.size);
        self.owed = 0;
        // Pairs with the swap in `take_over`: the NIC has used the slots that are left.
        let all = m.add(self.ring.left, 0, mine).wrapping_add(mine);
        if all >> CORES == self.ring.sharers {
            let tail = self.ring.tail.lock(m); // what the others posted is ordered by it
            let head = tail.wrapping_sub(self.ring.size.wrapping_sub(all & SLOTS));
            self.faults +=
                empties::give_back(m, bufs, self.ring.descriptor, head..tail, self.ring.size, self.buffers);
            m.ring(self.ring.doorbell, head); // pairs with the acquire in `Consumer::refresh`
            self.ring.tail.unlock(m, head);
        }
    }

    fn waiting(&self, m: &mut M) -> u64 {
        self.reader.waiting(m)
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let Locked { taken, waits, .. } = self.ring.tail;
        Sizes::ABOUT.counter(i, &[taken, waits, self.debts, self.faults])
    }
}
