//! What an agent does with real shared memory: plain moves, a few locked instructions, the clock.

use core::hint;
use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::thread;
use std::time::Instant;

use super::payload::{Buffers, Payload, fetch_to_write, prefetch};
use crate::{Buf, Fault, Memory, Ps, Touch};

/// How often a thread looks at a word before it yields its core: for a few hundred nanoseconds, about the
/// time in which a line comes from another core twice.
const SPINS: u32 = 64;
/// Fruitless polls between two yields.
const POLLS: u32 = 16;
/// A pause shorter than this is spun, not yielded: a switch to another thread costs about as much.
const SHORT: Ps = Ps::from_us(5);

/// A bound field: where it starts and the mask of its entry index.
#[derive(Clone, Copy, Debug)]
pub struct Words<'r, const W: usize> {
    base: NonNull<AtomicU64>,
    mask: u64,
    region: PhantomData<&'r AtomicU64>,
}

// SAFETY: the handle reaches nothing but `AtomicU64`s that live for `'r`.
unsafe impl<const W: usize> Send for Words<'_, W> {}
// SAFETY: as for `Send`.
unsafe impl<const W: usize> Sync for Words<'_, W> {}

impl<'r, const W: usize> Words<'r, W> {
    /// # Safety
    /// `len` is a power of two, `W` at least 1, and `len * W` words behind `base` are valid for `'r`.
    pub(super) unsafe fn new(base: NonNull<AtomicU64>, len: u32) -> Words<'r, W> {
        Words { base, mask: u64::from(len) - 1, region: PhantomData }
    }

    /// The words of entry `i`.
    #[inline(always)]
    pub(super) fn entry(self, i: u64) -> &'r [AtomicU64; W] {
        // SAFETY: the masked index is below `len`, so the entry lies inside what `new` was promised.
        unsafe { self.base.add((i & self.mask) as usize * W).cast().as_ref() }
    }

    /// Where entry `i` lies; those behind it follow up to the field's end. It is for plain copies by whoever
    /// has the entries to itself: other words hand them over and order the copies. Nobody has that in a region that
    /// another process attaches to.
    pub fn as_ptr(self, i: u64) -> *mut [u64; W] {
        // SAFETY: as in `entry`.
        unsafe { self.base.add((i & self.mask) as usize * W).cast().as_ptr() }
    }

    #[inline(always)]
    fn signal(self, i: u64) -> &'r AtomicU64 {
        &self.entry(i)[W - 1]
    }
}

/// An application's table: nothing, its accesses are the application's own.
#[derive(Clone, Copy, Debug)]
pub struct Table;

/// An agent's view of a [`Region`](super::Region): what it needs beside the handles is a clock. `P` says
/// where packet buffers lie: in the region, or in memory of another allocator ([`Foreign`](super::Foreign)).
#[derive(Debug)]
pub struct NativeView<'r, P = Buffers<'r>> {
    start: Instant,
    /// Polls without work since the last yield.
    idle: u32,
    region: PhantomData<&'r AtomicU64>,
    payload: PhantomData<fn() -> P>,
}

impl<P> Clone for NativeView<'_, P> {
    fn clone(&self) -> Self {
        NativeView { start: self.start, idle: self.idle, region: PhantomData, payload: PhantomData }
    }
}

impl<P> NativeView<'_, P> {
    #[allow(clippy::disallowed_methods, reason = "this is the clock behind Memory::now")]
    pub(super) fn new() -> Self {
        NativeView::since(Instant::now())
    }

    /// A view whose time is zero at `start`.
    pub(super) fn since(start: Instant) -> Self {
        NativeView { start, idle: 0, region: PhantomData, payload: PhantomData }
    }
}

impl<'r, P: Payload> Memory for NativeView<'r, P> {
    type Words<const W: usize> = Words<'r, W>;
    type Buffers = P;
    type Table = Table;

    #[inline(always)]
    fn acquire<const W: usize>(&mut self, w: Words<'r, W>, i: u64) -> u64 {
        w.signal(i).load(Acquire) // partner: the other side's release, publish, ring or RMW
    }

    #[inline(always)]
    fn relaxed<const W: usize>(&mut self, w: Words<'r, W>, i: u64) -> u64 {
        w.signal(i).load(Relaxed)
    }

    #[inline(always)]
    fn release<const W: usize>(&mut self, w: Words<'r, W>, i: u64, signal: u64) {
        w.signal(i).store(signal, Release); // partner: the other side's acquire
    }

    #[inline(always)]
    fn publish<const W: usize>(&mut self, w: Words<'r, W>, i: u64, entry: [u64; W]) {
        let words = w.entry(i);
        for k in 0..W - 1 {
            words[k].store(entry[k], Relaxed); // ordered by the signal below
        }
        words[W - 1].store(entry[W - 1], Release); // partner: the other side's acquire
    }

    #[inline(always)]
    fn read<const W: usize>(&mut self, w: Words<'r, W>, i: u64) -> [u64; W] {
        w.entry(i).each_ref().map(|word| word.load(Relaxed)) // ordered by the acquire before
    }

    #[inline(always)]
    fn body<const W: usize, const N: usize>(&mut self, w: Words<'r, W>, i: u64) -> [u64; N] {
        const { assert!(N <= W, "an entry has no such word") };
        let words = w.entry(i);
        core::array::from_fn(|k| words[k].load(Relaxed)) // ordered by the acquire before
    }

    #[inline(always)]
    fn write<const W: usize>(&mut self, w: Words<'r, W>, i: u64, entry: [u64; W]) {
        // Ordered by the signal or doorbell after; its partner is the other side's acquire of that. It is as much of a
        // barrier to a combining register: here that is ordinary memory, and no store waits in a combining buffer.
        for (word, value) in w.entry(i).iter().zip(entry) {
            word.store(value, Relaxed);
        }
    }

    #[inline(always)]
    fn swap_if<const W: usize>(&mut self, w: Words<'r, W>, i: u64, old: u64, new: u64) -> Result<(), u64> {
        // Partner: the release half of whichever read-modify-write or release came before, on success
        // and on failure alike.
        w.signal(i).compare_exchange(old, new, AcqRel, Acquire).map(|_| ())
    }

    #[inline(always)]
    fn or<const W: usize>(&mut self, w: Words<'r, W>, i: u64, bits: u64) -> u64 {
        w.signal(i).fetch_or(bits, AcqRel) // partner: as swap_if
    }

    #[inline(always)]
    fn clear<const W: usize>(&mut self, w: Words<'r, W>, i: u64, bits: u64) -> u64 {
        w.signal(i).fetch_and(!bits, AcqRel) // partner: as swap_if
    }

    #[inline(always)]
    fn add<const W: usize>(&mut self, w: Words<'r, W>, i: u64, n: u64) -> u64 {
        w.signal(i).fetch_add(n, AcqRel) // partner: as swap_if
    }

    #[inline]
    fn wait<const W: usize>(&mut self, w: Words<'r, W>, i: u64, seen: u64) {
        for _ in 0..SPINS {
            if w.signal(i).load(Relaxed) != seen {
                return; // the caller looks again with acquire
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }

    #[inline]
    fn idle(&mut self) {
        self.idle += 1;
        if self.idle < POLLS {
            hint::spin_loop();
        } else {
            self.idle = 0;
            thread::yield_now();
        }
    }

    #[inline]
    fn pause(&mut self, until: Ps, early: bool) {
        if early {
            // Which lines the agent read is not known here: it polls again.
            return self.idle();
        }
        loop {
            let left = until.saturating_sub(self.now());
            if left == Ps::ZERO {
                return;
            }
            if left < SHORT {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }

    #[inline(always)]
    fn ring(&mut self, bell: Words<'r, 1>, value: u64) {
        bell.signal(0).store(value, Release); // partner: the NIC's acquire of the doorbell
    }

    #[inline(always)]
    fn check(&self, b: P, raw: u64, len: u32) -> Result<Buf, Fault> {
        b.check(raw, len)
    }

    #[inline]
    fn put(&mut self, b: P, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        b.put(buf, off, bytes, len);
    }

    #[inline]
    fn get(&mut self, b: P, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        b.get(buf, off, out, len);
    }

    #[inline(always)]
    fn meta(&mut self, b: P, buf: Buf, line: u32, how: Touch) {
        b.meta(buf, line, how);
    }

    #[inline(always)]
    fn prefetch(&mut self, b: P, buf: Buf, off: u32) {
        b.prefetch(buf, off);
    }

    #[inline(always)]
    fn read_ahead<const W: usize>(&mut self, w: Words<'r, W>, i: u64) {
        prefetch(w.entry(i).as_ptr().cast());
    }

    #[inline(always)]
    fn entry_ahead<const W: usize>(&mut self, w: Words<'r, W>, i: u64) {
        fetch_to_write(w.entry(i).as_ptr().cast());
    }

    #[inline(always)]
    fn put_ahead<const W: usize>(&mut self, b: P, w: Words<'r, W>, i: u64) {
        if let Ok(buf) = b.check(w.entry(i)[0].load(Relaxed), 0) {
            b.put_ahead(buf); // ordered by the acquire before
        }
    }

    #[inline(always)]
    fn touch(&mut self, _t: Table, _off: u64, _how: Touch) {}

    #[inline]
    fn now(&mut self) -> Ps {
        let ps = self.start.elapsed().as_nanos() * 1_000;
        Ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    #[inline(always)]
    fn work(&mut self, _cycles: u32) {}

    #[inline(always)]
    fn chain(&mut self) {}
}
