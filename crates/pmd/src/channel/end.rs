//! This side of a link.

use arrayvec::ArrayVec;
use ccnic::{Buf, Channel, Segment};

use crate::limits::BURST;

/// Segments that are none.
const NONE: [Segment; BURST] = [Segment { buf: Buf(0), off: 0, len: 0, last: false }; BURST];
/// The buffer of a piece that lies in none of the link.
pub const ELSEWHERE: u32 = u32::MAX;

/// The memory of a link's buffers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Lent {
    /// The first byte of the first buffer.
    pub base: *mut u8,
    /// Bytes from a buffer to the next one.
    pub stride: u32,
    /// Bytes of a buffer.
    pub bytes: u32,
    /// Buffers, of both sides.
    pub buffers: u32,
}

/// A piece of a frame to be sent.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Piece {
    /// Its first byte.
    pub data: *const u8,
    /// The buffer of the link that it lies in, or [`ELSEWHERE`].
    pub buf: u32,
    /// Where in that.
    pub off: u16,
    /// Bytes.
    pub len: u16,
    /// Whether the frame ends with it.
    pub last: bool,
}

/// Room for a piece of a frame to be received.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Room {
    /// Where its first byte goes.
    pub data: *mut u8,
    /// Bytes that came.
    pub len: u16,
    /// Whether the frame ends with it.
    pub last: bool,
}

/// This side of a link.
pub(super) struct End {
    pub(super) channel: Channel,
    /// Buffers to send in: what a burst took and did not need.
    stock: ArrayVec<Buf, BURST>,
    /// The other side is gone, and all that it sent is received.
    pub(super) over: bool,
    /// A mempool has the buffers.
    pub(super) lent: bool,
}

impl End {
    pub(super) fn new(channel: Channel) -> End {
        End { channel, stock: ArrayVec::new(), over: false, lent: false }
    }

    pub(super) fn lend(&mut self) -> Lent {
        self.lent = true;
        let (base, stride) = self.channel.place();
        let ccnic::Config { bytes, buffers, .. } = *self.channel.config();
        Lent { base: base.as_ptr(), stride: stride as u32, bytes, buffers }
    }

    /// The link is over, and a mempool has its buffers.
    pub(super) fn hang_up(&mut self) {
        let stock = core::mem::take(&mut self.stock);
        self.channel.free(&stock);
        self.channel.hang_up();
    }

    /// Receives segments; how many.
    #[inline]
    pub(super) fn segments(&mut self, out: &mut [Segment]) -> usize {
        self.channel.receive(out).unwrap_or_else(|_| {
            self.over = true;
            0
        })
    }

    /// As [`Line::receive`](super::line::Line::receive).
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(super) unsafe fn receive(&mut self, rooms: &mut [Room], room: u16) -> usize {
        let mut segs = NONE;
        let came = self.segments(&mut segs[..rooms.len().min(BURST)]);
        let mut bufs = ArrayVec::<Buf, BURST>::new();
        for (s, to) in segs[..came].iter().zip(rooms) {
            (to.len, to.last) = (0, s.last);
            if s.len <= room {
                // SAFETY: the caller's: so many bytes may be written. Any bytes are a `u8`.
                let out = unsafe { core::slice::from_raw_parts_mut(to.data, s.len.into()) };
                if self.channel.read(s.buf, s.off.into(), out).is_ok() {
                    to.len = s.len;
                }
            }
            bufs.push(s.buf);
        }
        self.channel.free(&bufs);
        came
    }

    /// As [`Line::send`](super::line::Line::send); the frames that went.
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(super) unsafe fn send(&mut self, pieces: &[Piece]) -> usize {
        let mut segs = ArrayVec::new();
        let mut copied = 0_u64; // a bit for each segment
        for frame in pieces.split_inclusive(|piece| piece.last) {
            if self.lent && frame.iter().all(|piece| piece.buf != ELSEWHERE) {
                if frame.len() > segs.remaining_capacity() {
                    break;
                }
                segs.extend(frame.iter().map(in_place));
                continue;
            }
            let first = segs.len();
            // SAFETY: the caller's.
            if !unsafe { self.gather(frame, &mut segs) } {
                break;
            }
            (first..segs.len()).for_each(|i| copied |= 1 << i);
        }
        // Where the other side is gone, receiving tells of it: there may be more to receive.
        let sent = self.channel.send(&segs).unwrap_or(0);
        let left = segs.iter().enumerate().skip(sent).filter(|(i, _)| copied >> i & 1 == 1);
        left.for_each(|(_, s)| self.keep(s.buf));
        segs[..sent].iter().filter(|s| s.last).count()
    }

    /// Copies a frame into buffers of the link, which go behind `segs`; false if there are not enough of them.
    ///
    /// # Safety
    /// Each piece has `len` bytes to be read.
    #[inline]
    unsafe fn gather(&mut self, frame: &[Piece], segs: &mut ArrayVec<Segment, BURST>) -> bool {
        let bytes = self.channel.config().bytes as usize;
        let total: usize = frame.iter().map(|piece| usize::from(piece.len)).sum();
        let wanted = total.div_ceil(bytes).max(1);
        if wanted > segs.remaining_capacity() || !self.has(wanted) {
            return false;
        }
        let mut at = segs.len();
        let empty = |buf| Segment { buf, off: 0, len: 0, last: false };
        segs.extend(self.stock.drain(self.stock.len() - wanted..).map(empty));
        for piece in frame {
            // SAFETY: the caller's.
            let mut rest = unsafe { core::slice::from_raw_parts(piece.data, piece.len.into()) };
            while !rest.is_empty() {
                let filled = usize::from(segs[at].len);
                let (now, later) = rest.split_at(rest.len().min(bytes - filled));
                // Inside: what is filled and this are at most `bytes`.
                let _ = self.channel.write(segs[at].buf, filled as u32, now);
                segs[at].len += now.len() as u16;
                at += usize::from(filled + now.len() == bytes && at + 1 < segs.len());
                rest = later;
            }
        }
        if let Some(last) = segs.last_mut() {
            last.last = true;
        }
        true
    }

    /// Whether there are so many buffers to send in.
    #[inline]
    fn has(&mut self, wanted: usize) -> bool {
        if self.stock.len() < wanted {
            let mut more = [Buf(0); BURST];
            let got = self.channel.alloc(&mut more[..BURST - self.stock.len()]);
            self.stock.extend(more[..got].iter().copied());
        }
        self.stock.len() >= wanted
    }

    /// Keeps the buffer of what was not sent.
    fn keep(&mut self, buf: Buf) {
        if self.stock.try_push(buf).is_err() {
            self.channel.free(&[buf]);
        }
    }
}

/// A piece that lies in a buffer of the link already.
#[inline]
fn in_place(piece: &Piece) -> Segment {
    Segment { buf: Buf(piece.buf.into()), off: piece.off, len: piece.len, last: piece.last }
}
