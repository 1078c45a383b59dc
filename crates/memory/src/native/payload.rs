//! Packet buffers: frames as bytes, stored as whole words.
//!
//! Every access is a relaxed atomic load or store of an aligned word, never a plain copy. A ring whose
//! protocol is broken, or a hostile peer, then delivers torn frames; it cannot cause undefined
//! behaviour. The words of two buffers never mix, since a stride is whole words. `wide` and `streaming` argue for the
//! instructions that move several words, and past the caches.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::bytes::{clear, load, store, zero};
use super::{streaming, wide};
use crate::{Buf, Fault, Geometry, LINE, Stores, Touch, WORD};

/// Where packet buffers lie and how their bytes are reached: the part of [`Memory`](crate::Memory) that
/// speaks of [`Memory::Buffers`](crate::Memory::Buffers). The calls mean what they mean there.
pub trait Payload: Copy {
    /// A word as a buffer.
    ///
    /// # Errors
    /// `raw` is none of these buffers, or `len` bytes do not fit it.
    fn check(self, raw: u64, len: u32) -> Result<Buf, Fault>;
    /// Writes `bytes` at `off`, then zeros until `len` bytes are written.
    fn put(self, buf: Buf, off: u32, bytes: &[u8], len: u32);
    /// Reads the first `out.len()` of `len` bytes at `off`.
    fn get(self, buf: Buf, off: u32, out: &mut [u8], len: u32);
    /// Touches a metadata line.
    fn meta(self, buf: Buf, line: u32, how: Touch);
    /// Starts fetching the line at `off`.
    fn prefetch(self, buf: Buf, off: u32);
    /// Starts fetching the first line of a frame, to write it.
    fn put_ahead(self, buf: Buf);
    /// Buffers in a stretch of a region beside those, where there are such: those of a card's own memory.
    ///
    /// # Safety
    /// As [`Buffers::new`] asks, and the bytes stay valid for as long as one of the handle's copies is used.
    #[doc(hidden)]
    unsafe fn stretch(_base: NonNull<AtomicU64>, _g: &Geometry) -> Option<Self> {
        None
    }
}

/// Packet buffers in a [`Region`](super::Region), indexes `0..count`.
#[derive(Clone, Copy, Debug)]
pub struct Buffers<'r> {
    base: NonNull<AtomicU64>,
    count: u32,
    stride: u32,
    offset: u32,
    room: u32,
    stores: Stores,
    region: PhantomData<&'r AtomicU64>,
}

/// The words of some bytes of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'r> {
    /// They are whole words.
    Words(&'r [AtomicU64]),
    /// They begin at a byte of the first word.
    Parts(&'r [AtomicU64], usize),
}

impl<'r> Place<'r> {
    /// The words, and the byte of the first where the bytes begin.
    pub(super) fn parts(self) -> (&'r [AtomicU64], usize) {
        match self {
            Place::Words(words) => (words, 0),
            Place::Parts(words, at) => (words, at),
        }
    }
}

// SAFETY: the handle reaches nothing but `AtomicU64`s that live for `'r`.
unsafe impl Send for Buffers<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Buffers<'_> {}

impl<'r> Buffers<'r> {
    /// # Safety
    /// `base` starts a line and `count * stride` bytes behind it are valid as `AtomicU64`s for `'r`;
    /// the geometry has been checked and its stride is a multiple of a word.
    pub(super) unsafe fn new(base: NonNull<AtomicU64>, g: &Geometry) -> Buffers<'r> {
        let Geometry { count, stride, offset, room, stores, .. } = *g;
        Buffers { base, count, stride, offset, room, stores, region: PhantomData }
    }

    /// The first byte of buffer 0, for code that reaches frames in place; the next ones follow by the geometry's stride.
    pub fn base(self) -> NonNull<u8> {
        self.base.cast()
    }

    /// Writes `bytes` at `off` of a frame; whether there is such a buffer, and they fit.
    #[inline(always)]
    pub fn write(self, buf: Buf, off: u32, bytes: &[u8]) -> bool {
        match self.place(buf, off, bytes.len()) {
            Some(Place::Words(words)) if self.stores == Stores::Cached => {
                wide::copy(words, bytes.as_chunks().0)
            }
            Some(place) => self.write_parts(place, bytes),
            None => return false,
        }
        true
    }

    /// What is less usual: bytes that are no whole words, or past the caches.
    #[inline(never)]
    fn write_parts(self, place: Place<'_>, bytes: &[u8]) {
        let (words, at) = place.parts();
        match self.stores {
            Stores::Cached => store(words, at, bytes, wide::copy),
            Stores::Streaming => store(words, at, bytes, streaming::copy),
        }
    }

    /// Reads as many bytes as `out` has from `off` of a frame on; whether there is such a buffer, and it has so many.
    #[inline(always)]
    pub fn read(self, buf: Buf, off: u32, out: &mut [u8]) -> bool {
        match self.place(buf, off, out.len()) {
            Some(Place::Words(words)) => wide::load(words, out.as_chunks_mut().0),
            Some(Place::Parts(words, at)) => read_parts(words, at, out),
            None => return false,
        }
        true
    }

    /// Where `len` bytes at `off` of a frame lie.
    #[inline(always)]
    pub(super) fn place(self, buf: Buf, off: u32, len: usize) -> Option<Place<'r>> {
        if buf.0 >= u64::from(self.count) || off > self.room || len > (self.room - off) as usize {
            return None;
        }
        let first = (self.offset + off) as usize;
        // SAFETY: the buffer's index is below `count`, and the bytes lie in its room, which the geometry's check puts
        // inside its stride: so they lie inside what `new` was promised.
        let start = unsafe { self.base.byte_add(buf.0 as usize * self.stride as usize + first) };
        if (first | len).is_multiple_of(WORD) {
            // SAFETY: whole words, from one that is aligned as `base` is.
            return Some(Place::Words(unsafe { core::slice::from_raw_parts(start.as_ptr(), len / WORD) }));
        }
        let at = first % WORD;
        // SAFETY: a stride is whole words, so those around the bytes lie in it as well.
        let words =
            unsafe { core::slice::from_raw_parts(start.byte_sub(at).as_ptr(), (at + len).div_ceil(WORD)) };
        Some(Place::Parts(words, at))
    }

    /// The words of a buffer, metadata and frame; none where `buf` is not one of ours.
    #[inline(always)]
    pub(super) fn words(self, buf: Buf) -> &'r [AtomicU64] {
        if buf.0 >= u64::from(self.count) {
            return &[];
        }
        // SAFETY: the index is below `count`, so the stride lies inside what `new` was promised.
        unsafe {
            let start = self.base.byte_add(buf.0 as usize * self.stride as usize);
            core::slice::from_raw_parts(start.as_ptr(), self.stride as usize / WORD)
        }
    }

    /// Where byte `off` of a frame lies, if there is such a buffer: anywhere otherwise, which is no harm to a hint.
    #[inline(always)]
    fn hint(self, buf: Buf, off: u32) -> *const u8 {
        let at = (buf.0 as usize)
            .wrapping_mul(self.stride as usize)
            .wrapping_add(self.offset as usize)
            .wrapping_add(off as usize);
        self.base.as_ptr().cast::<u8>().wrapping_add(at)
    }

    /// The bytes `off..off + len` of the frame as bytes of the buffer, cut at the room.
    #[inline(always)]
    pub(super) fn span(self, off: u32, len: u32) -> (usize, usize) {
        let start = off.min(self.room);
        let end = start.saturating_add(len).min(self.room);
        ((self.offset + start) as usize, (end - start) as usize)
    }
}

impl Payload for Buffers<'_> {
    #[inline(always)]
    fn check(self, raw: u64, len: u32) -> Result<Buf, Fault> {
        if raw < u64::from(self.count) && len <= self.room { Ok(Buf(raw)) } else { Err(Fault { raw }) }
    }

    #[inline(always)]
    fn put(self, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        let words = self.words(buf);
        let (at, len) = self.span(off, len);
        let head = bytes.len().min(len);
        if words.is_empty() {
            return;
        }
        match self.stores {
            Stores::Cached => {
                store(words, at, &bytes[..head], wide::copy);
                if head < len {
                    zero(words, at + head, len - head, clear);
                }
            }
            Stores::Streaming => {
                store(words, at, &bytes[..head], streaming::copy);
                zero(words, at + head, len - head, streaming::clear);
            }
        }
    }

    #[inline(always)]
    fn get(self, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        let words = self.words(buf);
        let (at, len) = self.span(off, len);
        let wanted = out.len().min(len);
        if !words.is_empty() {
            load(words, at, &mut out[..wanted], wide::load);
        }
    }

    /// Metadata line `line` follows the line of the allocator's own header ([`Geometry::dpdk`]); a
    /// geometry too small for it has none.
    #[inline(always)]
    fn meta(self, buf: Buf, line: u32, how: Touch) {
        let byte = (u64::from(line) + 1) * LINE as u64;
        if byte + LINE as u64 > u64::from(self.offset) {
            return;
        }
        let Some(word) = self.words(buf).get(byte as usize / WORD) else { return };
        match how {
            Touch::Read => {
                core::hint::black_box(word.load(Relaxed)); // the value is not needed, the access is
            }
            Touch::Write => word.store(buf.0, Relaxed),
        }
    }

    #[inline(always)]
    fn prefetch(self, buf: Buf, off: u32) {
        prefetch(self.hint(buf, off));
    }

    #[inline(always)]
    fn put_ahead(self, buf: Buf) {
        fetch_to_write(self.hint(buf, 0));
    }
}

/// What is less usual: bytes that are no whole words.
#[inline(never)]
fn read_parts(words: &[AtomicU64], at: usize, out: &mut [u8]) {
    load(words, at, out, wide::load);
}

#[inline(always)]
#[allow(unused_variables, reason = "elsewhere there is no instruction to give it to")]
pub(super) fn prefetch(line: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch changes no state that the program can see, and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
}

/// Starts fetching a line that is going to be written, so that no other cache keeps it.
#[inline(always)]
#[allow(unused_variables, reason = "elsewhere there is no instruction to give it to")]
pub(super) fn fetch_to_write(line: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: as in `prefetch`. The intrinsic would need a target feature; processors without the instruction
    // do nothing. By its number, since nothing is read or written by way of it.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) line.addr(), options(nomem, nostack, preserves_flags));
    }
}
