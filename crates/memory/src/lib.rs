//! One agent's view of shared memory: the contract between a ring and where it lives.
//!
//! A ring never owns memory and never knows where it is. It is written once, generic over
//! [`Memory`], and runs on real shared memory (`native`), in the modelled server (crate `model`)
//! and under a model checker (`checked`). Set-up goes through [`Space`] and may fail; the calls of
//! [`Memory`] are infallible: indexes are masked.

#[cfg(feature = "checked")]
pub mod checked;
#[cfg(target_os = "linux")]
pub mod fuzz;
mod layout;
pub mod native;
pub mod probe;
mod time;

pub use layout::{Class, Field, Geometry, LINE, LayoutError, Mapping, Side, Stores, WORD};
pub use native::{Backing, NativeView, Region};
pub use time::Ps;

/// A packet buffer. Opaque: an index into the [`Space::buffers`] it came from, or the address of a buffer
/// that another allocator owns ([`native::Foreign`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Buf(pub u64);

/// A word from the other side that does not name a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The word as it was read.
    pub raw: u64,
}

/// Whether a [`Memory::touch`] reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// A load.
    Read,
    /// A store (and the load that a read-modify-write needs).
    Write,
}

/// Where fields, buffers and tables come from: set-up, fallible, once.
pub trait Space {
    /// The views that agents of this space use.
    type Mem: Memory;

    /// The words of `field`; `instance` tells equal fields apart (a queue's number). Zero at first.
    ///
    /// # Errors
    /// The field is malformed, does not match `W`, or does not fit.
    fn words<const W: usize>(
        &mut self,
        field: &Field,
        instance: u32,
    ) -> Result<<Self::Mem as Memory>::Words<W>, LayoutError>;

    /// A stretch of packet buffers, indexes `0..count`.
    ///
    /// # Errors
    /// The geometry is impossible or does not fit.
    fn buffers(&mut self, geometry: &Geometry) -> Result<<Self::Mem as Memory>::Buffers, LayoutError>;

    /// Address space for an application's table of `bytes`: the model charges its accesses.
    ///
    /// # Errors
    /// It does not fit.
    fn table(&mut self, name: &'static str, bytes: u64) -> Result<<Self::Mem as Memory>::Table, LayoutError>;
}

/// One agent's view: words, payload, time. The agent (core 3, NIC port 0) is in the view, not in the
/// ring. Entry indexes may grow without end: they are masked by the field's length.
///
/// The *signal* of an entry is its last word.
pub trait Memory {
    /// A bound field of `W`-word entries.
    type Words<const W: usize>: Copy;
    /// Bound packet buffers.
    type Buffers: Copy;
    /// A bound application table.
    type Table: Copy;

    /// The signal of entry `i`. What its writer wrote before the matching [`release`](Self::release),
    /// [`publish`](Self::publish) or [`ring`](Self::ring) is visible afterwards.
    fn acquire<const W: usize>(&mut self, w: Self::Words<W>, i: u64) -> u64;
    /// The signal of entry `i`, ordering nothing: the agent's own word, statistics.
    fn relaxed<const W: usize>(&mut self, w: Self::Words<W>, i: u64) -> u64;
    /// Stores the signal of entry `i` after everything this agent wrote before.
    fn release<const W: usize>(&mut self, w: Self::Words<W>, i: u64, signal: u64);
    /// Writes a whole entry, its signal last and with release.
    fn publish<const W: usize>(&mut self, w: Self::Words<W>, i: u64, entry: [u64; W]);
    /// Reads an entry's body after an [`acquire`](Self::acquire) that published it. In a field of class
    /// [`Class::Signal`] or [`Class::Register`] the last element is the signal, read relaxed.
    fn read<const W: usize>(&mut self, w: Self::Words<W>, i: u64) -> [u64; W];
    /// The first `N` words of an entry after an [`acquire`](Self::acquire) that published it: its body
    /// without loading the signal again.
    #[inline]
    fn body<const W: usize, const N: usize>(&mut self, w: Self::Words<W>, i: u64) -> [u64; N] {
        const { assert!(N <= W, "an entry has no such word") };
        let entry = self.read(w, i);
        core::array::from_fn(|k| entry[k])
    }
    /// Writes an entry of class [`Class::Body`] or [`Class::Register`], published later by a signal or a doorbell.
    fn write<const W: usize>(&mut self, w: Self::Words<W>, i: u64, entry: [u64; W]);

    /// Contended: compare-and-swap of the signal, acquire-release; `Err` holds the value seen.
    ///
    /// # Errors
    /// The word held something else: nothing was written.
    fn swap_if<const W: usize>(&mut self, w: Self::Words<W>, i: u64, old: u64, new: u64) -> Result<(), u64>;
    /// Contended: sets bits, acquire-release; the value before.
    fn or<const W: usize>(&mut self, w: Self::Words<W>, i: u64, bits: u64) -> u64;
    /// Contended: clears bits, acquire-release; the value before.
    fn clear<const W: usize>(&mut self, w: Self::Words<W>, i: u64, bits: u64) -> u64;
    /// Contended: adds (wrapping), acquire-release; the value before.
    fn add<const W: usize>(&mut self, w: Self::Words<W>, i: u64, n: u64) -> u64;
    /// Returns some time after the signal may differ from `seen`: spin or yield on real memory, a
    /// parked agent in the model.
    fn wait<const W: usize>(&mut self, w: Self::Words<W>, i: u64, seen: u64);
    /// This agent looked at everything it serves and found nothing to do. Real memory spins or
    /// yields; the model parks it until a line that it read since the last call is written, then
    /// resumes it on its polling grid.
    fn idle(&mut self);
    /// Nothing to do before `until`: a NIC between two arrivals, a rate limit. A doorbell or line
    /// that this agent read since its last idle or pause ends it early when `early` is set.
    fn pause(&mut self, until: Ps, early: bool);

    /// Posted MMIO write of a doorbell ([`Mapping::Uncached`]): the NIC sees it after everything written before.
    fn ring(&mut self, bell: Self::Words<1>, value: u64);

    /// The only way from a word that the other side wrote to a buffer.
    ///
    /// # Errors
    /// `raw` is no buffer of `b`, or `len` bytes do not fit it.
    fn check(&self, b: Self::Buffers, raw: u64, len: u32) -> Result<Buf, Fault>;
    /// Writes `bytes` at `off` of the frame, then zeros until `len` bytes are written. A NIC's put is
    /// DMA; a core's goes as [`Geometry::stores`] says. The model keeps the first 128 B and charges the rest as a run
    /// of lines.
    fn put(&mut self, b: Self::Buffers, buf: Buf, off: u32, bytes: &[u8], len: u32);
    /// Reads `len` bytes at `off` of the frame and returns the first `out.len()` of them (at most
    /// `len`). A NIC's get is DMA.
    fn get(&mut self, b: Self::Buffers, buf: Buf, off: u32, out: &mut [u8], len: u32);
    /// The core reads (or writes) the buffer's metadata line `line` (0 = first half of the mbuf).
    fn meta(&mut self, b: Self::Buffers, buf: Buf, line: u32, how: Touch);
    /// Starts fetching the line at `off` of the frame.
    fn prefetch(&mut self, b: Self::Buffers, buf: Buf, off: u32);
    /// Entry `i` is going to be read by this agent: real memory starts fetching its line.
    fn read_ahead<const W: usize>(&mut self, _w: Self::Words<W>, _i: u64) {}
    /// Entry `i` is going to be written by this agent: real memory and a modelled core start fetching its
    /// line for themselves alone.
    fn entry_ahead<const W: usize>(&mut self, _w: Self::Words<W>, _i: u64) {}
    /// A frame is going to be put into the buffer that the first word of entry `i` names: real memory and a
    /// modelled core start fetching its first line for themselves alone. An [`acquire`](Self::acquire) has
    /// published that entry.
    fn put_ahead<const W: usize>(&mut self, _b: Self::Buffers, _w: Self::Words<W>, _i: u64) {}
    /// An application's access to one line of its table, at byte `off`. Only the model charges it: the
    /// real access follows in the application's own memory.
    fn touch(&mut self, t: Self::Table, off: u64, how: Touch);
    /// [`touch`](Self::touch) of every line that the `len` bytes from byte `off` on lie in. The lines lie in
    /// a row, so only the first one has to be waited for by itself.
    fn touch_run(&mut self, t: Self::Table, off: u64, len: u64, how: Touch) {
        let first = off / LINE as u64;
        for line in first..(off + len).div_ceil(LINE as u64) {
            self.touch(t, line * LINE as u64, how);
        }
    }
    /// Starts fetching a line of the table; an access to it follows. Only the model charges it, see
    /// [`native::prefetch`].
    fn touch_ahead(&mut self, _t: Self::Table, _off: u64) {}

    /// The only clock that a ring may read.
    fn now(&mut self) -> Ps;
    /// When the bytes that this agent put last are off its hands: at once, unless an engine beside it still writes them.
    fn gone(&mut self) -> Ps {
        self.now()
    }
    /// CPU work, in cycles of the core; only the model charges it.
    fn work(&mut self, cycles: u32);
    /// What follows does not depend on what went before (the next frame): a NIC's reads no longer
    /// hold it up, and the model may let other agents catch up.
    fn chain(&mut self);
}
