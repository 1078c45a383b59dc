//! A host half of an Rx queue.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memory::{Buf, Memory, Ps};
use rings::{AnyHost, Buffers, Completion, Host};

use crate::View;
use crate::counters::HOST_COUNTERS;

/// Polls between two updates of the counters in EAL memory.
const TELL: u32 = 1024;

/// A host half of an Rx queue, on lines of its own: its neighbour may be another lcore's.
#[repr(align(128))]
pub struct RxQueue {
    m: View,
    host: AnyHost<View>,
    /// Buffers that a ring gave back outside of a drain. They are used where spares run out.
    strays: Vec<Buf>,
    polls: u32,
    size: u32,
    /// The queue's counters, which all its halves add to.
    told: &'static [AtomicU64; HOST_COUNTERS],
    /// This half's counters as they were when it last added them.
    own: [u64; HOST_COUNTERS],
}

/// What a burst did with the spares that it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Refill {
    /// So many are posted, from the end.
    pub used: u16,
    /// Whether the ring wanted more. It replaces buffers of frames received now or before; `corec` wants the
    /// replacements before it receives.
    pub lacks: bool,
}

/// Empty buffers that the driver has taken from its pool before the call: used from the end.
struct Spares<'a> {
    left: &'a [u64],
    strays: &'a mut Vec<Buf>,
    /// There were fewer than the ring wanted.
    lacks: bool,
}

impl Buffers<View> for Spares<'_> {
    #[inline(always)]
    fn take(&mut self, _m: &mut View, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.left.len());
        let (rest, taken) = self.left.split_at(self.left.len() - n);
        for (slot, raw) in out.iter_mut().zip(taken) {
            *slot = Buf(*raw);
        }
        self.left = rest;
        if n == out.len() {
            return n;
        }
        let n = n + self.take_strays(&mut out[n..]);
        self.lacks |= n < out.len();
        n
    }

    fn give(&mut self, _m: &mut View, bufs: &[Buf]) {
        self.strays.extend_from_slice(bufs);
    }
}

impl Spares<'_> {
    /// What was done with `given`, the spares at first.
    #[inline(always)]
    fn refill(&self, given: &[u64]) -> Refill {
        Refill { used: (given.len() - self.left.len()) as u16, lacks: self.lacks }
    }

    #[inline(always)]
    fn take_strays(&mut self, out: &mut [Buf]) -> usize {
        if self.strays.is_empty() {
            return 0;
        }
        let n = out.len().min(self.strays.len());
        for (slot, buf) in out.iter_mut().zip(self.strays.drain(self.strays.len() - n..)) {
            *slot = buf;
        }
        n
    }
}

/// Where the driver takes buffers back.
pub type Give = unsafe extern "C" fn(ctx: *mut c_void, bufs: *const u64, n: u32);

struct Returns {
    give: Give,
    ctx: *mut c_void,
}

impl Buffers<View> for Returns {
    fn take(&mut self, _m: &mut View, _out: &mut [Buf]) -> usize {
        0
    }

    fn give(&mut self, _m: &mut View, bufs: &[Buf]) {
        // SAFETY: the driver's call for its own `ctx`; `Buf` is laid out as the word in it.
        unsafe { (self.give)(self.ctx, bufs.as_ptr().cast(), bufs.len() as u32) };
    }
}

impl RxQueue {
    pub(crate) fn new(
        m: View,
        host: AnyHost<View>,
        size: u32,
        told: &'static [AtomicU64; HOST_COUNTERS],
    ) -> RxQueue {
        RxQueue { m, host, strays: Vec::new(), polls: 0, size, told, own: [0; HOST_COUNTERS] }
    }

    /// Receives, and posts `spares` from the end; frames received.
    #[inline(always)]
    pub(crate) fn burst(&mut self, out: &mut [Completion], spares: &[u64]) -> (usize, Refill) {
        let mut bufs = Spares { left: spares, strays: &mut self.strays, lacks: false };
        let n = self.host.rx_burst(&mut self.m, &mut bufs, out);
        let refill = bufs.refill(spares);
        self.polled();
        (n, refill)
    }

    /// [`burst`](Self::burst) that waits for frames which the card keeps, for `wait` at most; `None` where the interface has no
    /// such cards.
    pub(crate) fn recv(
        &mut self,
        out: &mut [Completion],
        spares: &[u64],
        wait: Ps,
    ) -> Option<(usize, Refill)> {
        let AnyHost::Ceio(host) = &mut self.host else { return None };
        let until = self.m.now() + wait;
        let mut bufs = Spares { left: spares, strays: &mut self.strays, lacks: false };
        let n = host.recv(&mut self.m, &mut bufs, out, until);
        let refill = bufs.refill(spares);
        self.polled();
        Some((n, refill))
    }

    /// Posts buffers of the application's, from the first; how many, or `None` where the interface has no way to.
    pub(crate) fn post(&mut self, bufs: &[Buf]) -> Option<usize> {
        let AnyHost::Ceio(host) = &mut self.host else { return None };
        Some(host.post_recv(&mut self.m, bufs))
    }

    #[inline(always)]
    fn polled(&mut self) {
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(TELL) {
            self.tell();
        }
    }

    /// Posts `spares` from the end; buffers still missing and spares used. Counters tell of bursts alone: what a fill in
    /// several steps lacks in between is no debt.
    pub(crate) fn fill(&mut self, spares: &[u64]) -> (usize, usize) {
        self.tell();
        let mut bufs = Spares { left: spares, strays: &mut self.strays, lacks: false };
        let missing = self.host.fill(&mut self.m, &mut bufs);
        let used = spares.len() - bufs.left.len();
        for (i, own) in self.own.iter_mut().enumerate() {
            *own = self.host.counter(i).map_or(0, |(_, value)| value);
        }
        (missing, used)
    }

    /// Gives every buffer of the queue back, once the NIC core has stopped it.
    pub(crate) fn drain(&mut self, give: Give, ctx: *mut c_void) {
        let mut returns = Returns { give, ctx };
        self.host.drain(&mut self.m, &mut returns);
        returns.give(&mut self.m, &core::mem::take(&mut self.strays));
        self.tell();
    }

    /// Frames that wait to be received.
    pub(crate) fn waiting(&mut self) -> u32 {
        u32::try_from(self.host.waiting(&mut self.m)).unwrap_or(u32::MAX)
    }

    /// Descriptors.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    #[cold]
    fn tell(&mut self) {
        for (i, (told, own)) in self.told.iter().zip(&mut self.own).enumerate() {
            let Some((_, value)) = self.host.counter(i) else { return };
            told.fetch_add(value.wrapping_sub(*own), Relaxed); // a statistic: orders nothing
            *own = value;
        }
    }
}
