//! The host halves of `ccnic`, over the host's pool.

use std::collections::VecDeque;

use memory::{Buf, Memory};

use super::Sizes;
use super::descriptor::{Coded, Descriptor};
use super::lane::{Reader, Writer};
use super::shape::{inside, of_layout};
use crate::contract::{Buffers, CHUNK, Completion, Host, Segment, Spec, TxHost};

// ## Host half

/// A core's end of its queue.
pub struct HostHalf<M: Memory>(pub(super) AnyQueue<M>);

type AnyQueue<M> = of_layout!(Queue, M);

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        inside!(&mut self.0, q => q.receive(m, bufs, out))
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        inside!(&mut self.0, q => q.post(m, bufs))
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        inside!(&mut self.0, q => q.drain(m, bufs));
    }

    fn waiting(&self, m: &mut M) -> u64 {
        inside!(&self.0, q => q.full.waiting(m))
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        inside!(&self.0, q => Sizes::ABOUT.counter(i, &[q.debts, q.faults]))
    }
}

/// Lanes that a core receives by.
pub(super) struct Queue<M: Memory, const W: usize, const N: usize, const D: usize> {
    blank: Writer<M, W, N, D>,
    full: Reader<M, W, N, D>,
    buffers: M::Buffers,
    /// Buffers that the NIC has to store frames in, in their order; at most `ring`.
    posted: VecDeque<Buf>,
    ring: usize,
    /// The mark of the next frame.
    mark: u32,
    /// Scratch between the pool and the lane.
    spare: [Buf; CHUNK],
    /// Calls that the pool could not satisfy.
    debts: u64,
    /// Frames that named no buffer.
    faults: u64,
}

impl<M: Memory, const W: usize, const N: usize, const D: usize> Queue<M, W, N, D>
where
    [u64; D]: Coded,
{
    pub(super) fn new(
        blank: Writer<M, W, N, D>,
        full: Reader<M, W, N, D>,
        ring: u32,
        buffers: M::Buffers,
    ) -> Self {
        let ring = ring as usize;
        let posted = VecDeque::with_capacity(ring);
        Queue { blank, full, buffers, posted, ring, mark: 0, spare: [Buf(0); CHUNK], debts: 0, faults: 0 }
    }

    #[inline(always)]
    fn receive<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let mut taken = 0;
        while taken < out.len() {
            let Some(got) = self.next(m) else { break };
            match got {
                Ok(frame) => {
                    out[taken] = frame;
                    taken += 1;
                }
                Err(()) => self.faults += 1,
            }
        }
        self.full.free_to(m, self.full.read());
        self.post(m, bufs); // what this burst used and what earlier ones could not get
        taken
    }

    /// The next frame, or that there was one that named no buffer.
    #[inline(always)]
    fn next(&mut self, m: &mut M) -> Option<Result<Completion, ()>> {
        let mut d = self.full.next(m)?;
        while d.ahead {
            self.mark = d.tag as u32;
            d = self.full.next(m)?;
        }
        self.posted.pop_front();
        let size = u64::from(d.len) | u64::from(core::mem::take(&mut self.mark)) << 32;
        // A NIC that passes pointers names another buffer than was posted.
        let buf = m.check(self.buffers, d.raw, u32::from(d.len));
        Some(buf.map(|buf| Completion::of(buf, d.tag, size)).map_err(|_| ()))
    }

    /// Posts buffers until the NIC has `ring`, or the lane is full; how many are missing.
    #[inline(always)]
    fn post<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        loop {
            let owed = self.ring.saturating_sub(self.posted.len());
            let want = self.blank.room(m, owed.min(CHUNK));
            if want == 0 {
                self.blank.flush(m);
                return owed;
            }
            let got = bufs.take(m, &mut self.spare[..want]).min(want);
            for buf in &self.spare[..got] {
                self.blank.put(m, &Descriptor { raw: buf.0, len: 0, tag: 0, last: true, ahead: false });
                self.posted.push_back(*buf);
            }
            if got < want {
                self.debts += 1;
                self.blank.flush(m);
                return owed - got;
            }
        }
    }

    /// Takes back what is posted and what was received.
    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        while let Some(got) = self.next(m) {
            match got {
                Ok(frame) => bufs.give(m, &[frame.buf]),
                Err(()) => self.faults += 1,
            }
        }
        self.full.free_to(m, self.full.read());
        for buf in self.posted.drain(..) {
            bufs.give(m, &[buf]);
        }
    }
}

/// A core's end of its transmit queue.
pub struct HostTx<M: Memory>(pub(super) AnyTxQueue<M>);

type AnyTxQueue<M> = of_layout!(TxQueue, M);

impl<M: Memory> TxHost<M> for HostTx<M> {
    #[inline]
    fn tx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, segs: &[Segment]) -> usize {
        inside!(&mut self.0, q => q.send(m, bufs, segs))
    }

    #[inline]
    fn reclaim<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        inside!(&mut self.0, q => q.reclaim(m, bufs))
    }

    fn unread(&self, m: &mut M) -> u32 {
        inside!(&self.0, q => q.unread(m))
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        inside!(&mut self.0, q => q.drain(m, bufs));
    }

    #[inline]
    fn filled(&self) -> u32 {
        inside!(&self.0, q => q.posted.len() as u32)
    }
}

/// The lane that a core sends by.
pub(super) struct TxQueue<M: Memory, const W: usize, const N: usize, const D: usize> {
    lane: Writer<M, W, N, D>,
    /// Buffers that the NIC may still read, each with its entry; at most `ring`.
    posted: VecDeque<(u64, Buf)>,
    ring: usize,
    /// Scratch between the lane and the pool.
    spare: [Buf; CHUNK],
}

impl<M: Memory, const W: usize, const N: usize, const D: usize> TxQueue<M, W, N, D>
where
    [u64; D]: Coded,
{
    pub(super) fn new(lane: Writer<M, W, N, D>, ring: u32) -> Self {
        let ring = ring as usize;
        TxQueue { lane, posted: VecDeque::with_capacity(ring), ring, spare: [Buf(0); CHUNK] }
    }

    #[inline(always)]
    fn send<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, segs: &[Segment]) -> usize {
        self.reclaim(m, bufs);
        let mut taken = 0;
        while let Some(len) = segs[taken..].iter().position(|s| s.last).map(|at| at + 1) {
            if self.posted.len() + len > self.ring || !self.lane.fits(m, len) {
                break;
            }
            for s in &segs[taken..taken + len] {
                self.posted.push_back((self.lane.entry(), s.buf));
                self.lane.put(m, &segment(s));
            }
            taken += len;
        }
        self.lane.flush(m);
        taken
    }

    #[inline(always)]
    fn reclaim<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        if self.posted.is_empty() {
            return 0;
        }
        let end = self.lane.reclaim(m);
        self.free(m, bufs, |entry| is_below(entry, end))
    }

    /// Gives back the buffers of the oldest entries, as long as they are `done`; how many.
    #[inline(always)]
    fn free<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, done: impl Fn(u64) -> bool) -> usize {
        let mut freed = 0;
        loop {
            let mut n = 0;
            while n < CHUNK
                && let Some((entry, buf)) = self.posted.front()
                && done(*entry)
            {
                self.spare[n] = *buf;
                self.posted.pop_front();
                n += 1;
            }
            if n == 0 {
                return freed;
            }
            bufs.give(m, &self.spare[..n]);
            freed += n;
        }
    }

    fn unread(&self, m: &mut M) -> u32 {
        let end = self.lane.given_back(m);
        self.posted.iter().filter(|(entry, _)| !is_below(*entry, end)).count() as u32
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        self.free(m, bufs, |_| true);
    }
}

/// Whether an entry lies before another one of its pass or the next.
#[inline(always)]
fn is_below(entry: u64, end: u64) -> bool {
    end.wrapping_sub(entry).cast_signed() > 0
}

/// The descriptor of a segment.
#[inline(always)]
pub(super) fn segment(s: &Segment) -> Descriptor {
    Descriptor { raw: s.buf.0, len: s.len, tag: u64::from(s.off), last: s.last, ahead: false }
}
