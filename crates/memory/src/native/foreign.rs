//! Packet buffers that another allocator owns: a buffer is its address.

use core::ptr::{self, NonNull};
use core::sync::atomic::AtomicU64;

use super::payload::{Payload, fetch_to_write, prefetch};
use crate::{Buf, Fault, Geometry, LINE, Touch, WORD};

/// Buffers in memory of another allocator, such as DPDK's mbufs. Inside one process a handle is trusted:
/// [`check`](Payload::check) tells a wrong length and what cannot be an address, nothing more.
///
/// Bytes are moved by plain copies through the caches: there is no geometry to say otherwise. A buffer belongs to
/// one side at a time, and the words that hand it over order the copies.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    offset: u32,
    room: u32,
    /// Of a stretch whose buffers have numbers: where it begins, bytes from one to the next, and how many there are.
    first: u64,
    stride: u32,
    count: u32,
}

impl Foreign {
    /// Buffers whose frame starts `offset` bytes behind their address and may take `room` bytes.
    ///
    /// # Safety
    /// Every word that is posted in a ring as one of these buffers is the address of `offset + room` bytes,
    /// valid for reads and writes, that nobody else touches while the ring has it.
    pub const unsafe fn new(offset: u32, room: u32) -> Foreign {
        Foreign { offset, room, first: 0, stride: 0, count: 0 }
    }

    /// A buffer of a stretch.
    fn numbered(self, raw: u64, len: u32) -> Result<Buf, Fault> {
        if raw < u64::from(self.count) && len <= self.room {
            return Ok(Buf(self.first + raw * u64::from(self.stride)));
        }
        Err(Fault { raw })
    }

    /// The bytes `off..off + len` of the frame, cut at the room.
    #[inline(always)]
    fn span(self, buf: Buf, off: u32, len: u32) -> (*mut u8, usize) {
        let start = off.min(self.room);
        let end = start.saturating_add(len).min(self.room);
        let first = ptr::with_exposed_provenance_mut::<u8>(buf.0 as usize);
        (first.wrapping_add((self.offset + start) as usize), (end - start) as usize)
    }

    /// The bytes `off..off + len` of a frame that its owner has handed over to be read.
    ///
    /// # Safety
    /// `buf` came out of [`check`](Payload::check) with `off + len` bytes, and its owner neither writes nor
    /// frees it for `'a`.
    #[inline(always)]
    pub unsafe fn bytes<'a>(self, buf: Buf, off: u32, len: u32) -> &'a [u8] {
        let (from, len) = self.span(buf, off, len);
        // SAFETY: the caller's promise; `new` was promised that the bytes are valid.
        unsafe { core::slice::from_raw_parts(from, len) }
    }
}

impl Payload for Foreign {
    #[inline(always)]
    fn check(self, raw: u64, len: u32) -> Result<Buf, Fault> {
        if self.count != 0 {
            return self.numbered(raw, len);
        }
        let plausible = raw != 0 && usize::try_from(raw).is_ok();
        if plausible && len <= self.room { Ok(Buf(raw)) } else { Err(Fault { raw }) }
    }

    #[inline(always)]
    fn put(self, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        let (to, len) = self.span(buf, off, len);
        let head = bytes.len().min(len);
        // SAFETY: `span` stays inside the room, `new` was promised that it is valid and ours alone, and
        // `bytes` lie elsewhere for the same reason.
        unsafe {
            copy(bytes.as_ptr(), to, head);
            if head < len {
                ptr::write_bytes(to.add(head), 0, len - head);
            }
        }
    }

    #[inline]
    fn get(self, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        let (from, len) = self.span(buf, off, len);
        // SAFETY: as for `put`.
        unsafe { ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len().min(len)) };
    }

    /// Where the allocator keeps metadata is its own affair: line 0 is the line of the address.
    #[inline(always)]
    fn meta(self, buf: Buf, line: u32, how: Touch) {
        if how == Touch::Read && line as usize * LINE + WORD <= self.offset as usize {
            prefetch(ptr::with_exposed_provenance::<u8>(buf.0 as usize).wrapping_add(line as usize * LINE));
        }
    }

    #[inline(always)]
    fn prefetch(self, buf: Buf, off: u32) {
        prefetch(self.span(buf, off, 0).0);
    }

    unsafe fn stretch(base: NonNull<AtomicU64>, g: &Geometry) -> Option<Foreign> {
        let Geometry { count, stride, offset, room, .. } = *g;
        Some(Foreign { offset, room, first: base.expose_provenance().get() as u64, stride, count })
    }

    #[inline(always)]
    fn put_ahead(self, buf: Buf) {
        fetch_to_write(self.span(buf, 0, 0).0);
    }
}

/// A short frame is copied in place: the call of a general copy costs as much as the copy itself.
///
/// # Safety
/// As [`ptr::copy_nonoverlapping`].
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    const STEP: usize = 32;
    if !(STEP..=4 * STEP).contains(&len) {
        // SAFETY: the caller's.
        return unsafe { ptr::copy_nonoverlapping(from, to, len) };
    }
    let mut at = 0;
    // The last step overlaps the one before where the length is no multiple.
    while at < len {
        let start = at.min(len - STEP);
        // SAFETY: `start + STEP` is at most `len`.
        unsafe {
            let piece = from.add(start).cast::<[u8; STEP]>().read_unaligned();
            to.add(start).cast::<[u8; STEP]>().write_unaligned(piece);
        }
        at += STEP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of 64 B of metadata and 256 B of frame, all 0xee.
    fn with(f: impl Fn(Foreign, Buf, &dyn Fn() -> Vec<u8>)) {
        let mut bytes = vec![0xee_u8; 320];
        let base = bytes.as_mut_ptr();
        let buf = Buf(base.expose_provenance() as u64);
        // SAFETY: 320 bytes behind `base` stay valid until the end of this function, and only the calls
        // below touch them.
        let b = unsafe { Foreign::new(64, 256) };
        // SAFETY: as above; nothing writes while the copy is made.
        f(b, buf, &|| unsafe { core::slice::from_raw_parts(base, 320) }.to_vec());
        drop(bytes);
    }

    #[test]
    fn every_length_and_offset_lands_where_it_should_and_nowhere_else() {
        let source: Vec<u8> = (0..=255).collect();
        for len in (0..=256).step_by(7).chain([31, 32, 33, 64, 127, 128, 129, 255]) {
            for (off, zeros) in [(0, 0), (5, 0), (0, 9), (100, 300)] {
                with(|b, buf, all| {
                    b.put(buf, off, &source[..len], (len + zeros) as u32);
                    let (room, off) = (256 - off as usize, off as usize);
                    let (head, end) = (len.min(room), (len + zeros).min(room));
                    let mut want = vec![0xee; 320];
                    want[64 + off..][..head].copy_from_slice(&source[..head]);
                    want[64 + off + head..64 + off + end].fill(0);
                    assert_eq!(all(), want, "{len} B at {off}");
                    let mut back = vec![0; head];
                    b.get(buf, off as u32, &mut back, head as u32);
                    assert_eq!(back, source[..head]);
                });
            }
        }
    }

    #[test]
    fn no_address_and_too_long_a_frame_are_faults() {
        with(|b, buf, _| {
            assert_eq!(b.check(0, 0), Err(Fault { raw: 0 }));
            assert_eq!(b.check(buf.0, 256), Ok(buf));
            assert_eq!(b.check(buf.0, 257), Err(Fault { raw: buf.0 }));
        });
    }
}
