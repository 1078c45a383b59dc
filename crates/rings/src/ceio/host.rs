//! The host half of `ceio`: the software ring over the two rings of a queue.

use memory::{Buf, Memory, Ps};

use super::Sizes;
use super::priority::Priority;
use crate::contract::{Buffers, Completion, Host, Spec};
use crate::parts::empties::Producer;
use crate::parts::entry::{self, FRAME};

// ## Host half

/// Calls that may pass while the fast ring is never empty, before kept frames are asked for.
const PATIENCE: u32 = 8;

/// A ring of entries, as its reader has it.
struct Entries<M: Memory> {
    words: M::Words<{ entry::WORDS }>,
    shift: u32,
    /// Next entry to read. Ours, always fresh.
    head: u64,
}

impl<M: Memory> Entries<M> {
    /// The signal of the next entry, if the NIC has written it.
    #[inline(always)]
    fn signal(&self, m: &mut M) -> Option<u64> {
        let signal = m.acquire(self.words, self.head); // pairs with the publish in `Queue::entry`
        entry::fresh(signal, self.head, self.shift).then_some(signal)
    }
}

/// A core's end of its queue.
pub struct HostHalf<M: Memory> {
    producer: Producer<M>,
    fast: Entries<M>,
    slow: Entries<M>,
    kept: M::Words<1>,
    asked: M::Words<1>,
    released: M::Words<1>,
    buffers: M::Buffers,
    ring: u64,
    release: u64,
    drain: u32,
    /// Entries of `slow` that are asked for, and what `asked` says.
    wanted: u64,
    asked_told: u64,
    /// What `released` says.
    released_told: u64,
    /// Kept frames that the card forgot when it stopped.
    forgotten: u64,
    /// Which ring a call looks at first changes from call to call, so that neither starves.
    slow_first: bool,
    /// Calls since kept frames were asked for.
    calls: u32,
    /// Frames of the slow path; polls that heard of congestion; entries that named no buffer.
    slow_frames: u64,
    congested: u64,
    faults: u64,
}

impl<M: Memory> HostHalf<M> {
    pub(super) fn new(
        producer: Producer<M>,
        [fast, slow]: [M::Words<{ entry::WORDS }>; 2],
        [kept, asked, released]: [M::Words<1>; 3],
        buffers: M::Buffers,
        sizes: &Sizes,
    ) -> HostHalf<M> {
        let shift = sizes.ring.trailing_zeros();
        HostHalf {
            producer,
            fast: Entries { words: fast, shift, head: 0 },
            slow: Entries { words: slow, shift, head: 0 },
            kept,
            asked,
            released,
            buffers,
            ring: u64::from(sizes.ring),
            release: if sizes.priority == Priority::Pias { 1 } else { u64::from(sizes.release) },
            drain: sizes.drain,
            wanted: 0,
            asked_told: 0,
            released_told: 0,
            forgotten: 0,
            slow_first: false,
            calls: 0,
            slow_frames: 0,
            congested: 0,
            faults: 0,
        }
    }

    /// Receives what lies in host memory, and asks for more of what the card keeps; how many frames. It does not wait
    /// for those: a later call has them (§4.2).
    #[inline]
    pub fn async_recv<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        // What earlier calls handed over is processed.
        self.release(m, self.release);
        let (mut taken, before) = (0, self.slow.head);
        if self.slow_first {
            taken = self.read_slow(m, out);
        }
        self.slow_first = !self.slow_first;
        loop {
            let fast = self.read_fast(m, &mut out[taken..]);
            let slow = self.read_slow(m, &mut out[taken + fast..]);
            taken += fast + slow;
            if fast + slow == 0 || taken == out.len() {
                break;
            }
        }
        if taken == 0 && !out.is_empty() {
            self.release(m, 1);
        }
        self.calls += 1;
        // Where kept frames come, the next ones are on their way while these are processed (§4.2).
        if self.slow.head != before || taken < out.len() || self.calls > PATIENCE {
            self.ask(m);
        }
        let owed = self.owed();
        self.producer.pay(m, bufs, owed);
        taken
    }

    /// The same, but waits for the kept frames that are on their way, until `until` at the latest.
    pub fn recv<B: Buffers<M>>(
        &mut self,
        m: &mut M,
        bufs: &mut B,
        out: &mut [Completion],
        until: Ps,
    ) -> usize {
        let mut taken = self.async_recv(m, bufs, out);
        while taken < out.len() && self.slow.head != self.wanted && m.now() < until {
            m.idle();
            taken += self.async_recv(m, bufs, &mut out[taken..]);
        }
        taken
    }

    /// Posts a buffer of the application's, to receive into it: nothing is copied (§5). An application that posts all
    /// of them itself calls the others with [`Buffers`] that have none to take.
    ///
    /// # Errors
    /// The ring is full; the buffer comes back.
    pub fn post_recv(&mut self, m: &mut M, buf: Buf) -> Result<(), Buf> {
        if self.owed() == 0 {
            return Err(buf);
        }
        self.producer.post(m, buf);
        Ok(())
    }

    /// Descriptors that the NIC has used, as far as this core knows, and that are not posted anew.
    #[inline(always)]
    fn owed(&self) -> u64 {
        let used = self.fast.head.wrapping_add(self.slow.head);
        used.wrapping_add(self.ring).wrapping_sub(self.producer.tail())
    }

    /// Releases the credits of all frames that were handed over, if there are `least` of them.
    #[inline(always)]
    fn release(&mut self, m: &mut M, least: u64) {
        if self.fast.head.wrapping_sub(self.released_told) >= least {
            self.released_told = self.fast.head;
            m.ring(self.released, self.fast.head); // pairs with the acquire in `Queue::hear`
        }
    }

    /// Asks for kept frames, and tells which were taken.
    #[inline(always)]
    fn ask(&mut self, m: &mut M) {
        let kept = m.relaxed(self.kept, 0); // a number: the frames themselves come with their entries
        self.congested += kept & 1;
        let there = (kept >> 1).wrapping_sub(self.forgotten).wrapping_sub(self.slow.head) as u32;
        // A card that lies may tell of fewer than there were.
        if there < 1 << 31 {
            let wanted = self.slow.head.wrapping_add(u64::from(there.min(self.drain)));
            self.wanted = if wanted.wrapping_sub(self.wanted) < 1 << 63 { wanted } else { self.wanted };
        }
        self.calls = 0;
        self.tell(m);
    }

    fn tell(&mut self, m: &mut M) {
        let asked = self.wanted << 32 | self.slow.head & 0xffff_ffff;
        if asked != self.asked_told {
            self.asked_told = asked;
            m.ring(self.asked, asked); // pairs with the acquire in `Queue::hear`
        }
    }

    #[inline(always)]
    fn read_fast(&mut self, m: &mut M, out: &mut [Completion]) -> usize {
        let mut taken = 0;
        while taken < out.len() && self.fast.signal(m).is_some() {
            let [raw, meta, size] = m.body(self.fast.words, self.fast.head);
            self.fast.head = self.fast.head.wrapping_add(1);
            taken += self.hand_over(m, [raw, meta, size], &mut out[taken]);
        }
        taken
    }

    #[inline(always)]
    fn read_slow(&mut self, m: &mut M, out: &mut [Completion]) -> usize {
        let mut taken = 0;
        while taken < out.len()
            && let Some(signal) = self.slow.signal(m)
        {
            // Entries of the fast ring that were there when the frame came are read first.
            let before = (signal >> 32) as u32;
            if (before.wrapping_sub(self.fast.head as u32) as i32) > 0 {
                break;
            }
            let [raw, meta, size] = m.body(self.slow.words, self.slow.head);
            self.slow.head = self.slow.head.wrapping_add(1);
            self.slow_frames += 1;
            taken += self.hand_over(m, [raw, meta, size], &mut out[taken]);
        }
        taken
    }

    #[inline(always)]
    fn hand_over(&mut self, m: &mut M, [raw, meta, size]: [u64; 3], out: &mut Completion) -> usize {
        match m.check(self.buffers, raw, u32::from(size as u16)) {
            Ok(buf) => {
                *out = Completion::of(buf, meta, size);
                1
            }
            Err(_) => {
                self.faults += 1;
                0
            }
        }
    }

    /// Gives the buffers of a ring's entries back.
    fn give_back<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, of: fn(&mut Self) -> &mut Entries<M>) {
        for _ in 0..self.ring {
            if of(self).signal(m).is_none() {
                break;
            }
            let (words, head) = (of(self).words, of(self).head);
            let [raw] = m.body(words, head);
            of(self).head = head.wrapping_add(1);
            match m.check(self.buffers, raw, 0) {
                Ok(buf) => bufs.give(m, &[buf]),
                Err(_) => self.faults += 1,
            }
        }
    }

    /// Kept frames that are not taken.
    fn kept(&self, m: &mut M) -> u64 {
        let there = (m.relaxed(self.kept, 0) >> 1).wrapping_sub(self.forgotten);
        let there = there.wrapping_sub(self.slow.head);
        if there < 1 << 32 { there } else { 0 }
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        self.async_recv(m, bufs, out)
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        let owed = self.owed();
        self.producer.pay(m, bufs, owed) as usize
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        self.give_back(m, bufs, |half| &mut half.fast);
        self.give_back(m, bufs, |half| &mut half.slow);
        let head = self.fast.head.wrapping_add(self.slow.head);
        self.faults += self.producer.take_back(m, bufs, head, self.buffers);
        // What the card kept beyond that it has forgotten.
        self.forgotten = self.forgotten.wrapping_add(self.kept(m));
        self.wanted = self.slow.head;
        self.tell(m);
        self.release(m, 1);
    }

    fn waiting(&self, m: &mut M) -> u64 {
        entry::waiting(m, self.fast.words, self.fast.head, self.fast.shift) + self.kept(m)
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let values = [self.slow_frames, self.congested, self.producer.debts, self.faults];
        Sizes::ABOUT.counter(i, &values)
    }
}

/// Entries hold frames alone.
const _: () = assert!(FRAME >> 32 == 0, "the upper half of a signal is the software ring's");
