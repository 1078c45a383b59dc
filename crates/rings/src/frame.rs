//! A frame as the NIC delivers it, and how it is written into a buffer: the same for all interfaces.

use memory::{Buf, Memory};

/// A frame as the NIC delivers it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its first bytes, all of them or as many as were captured.
    pub head: &'a [u8],
    /// Further pieces that follow `head`, such as the segments of a frame that another port sent. Zeros
    /// follow the last piece until `len`.
    pub more: &'a [&'a [u8]],
    /// Bytes, without FCS.
    pub len: u16,
    /// RSS hash.
    pub rss: u32,
    /// Packet type and mark.
    pub kind: u32,
}

impl<'a> Frame<'a> {
    /// A frame of one piece.
    #[inline(always)]
    pub const fn new(head: &'a [u8], len: u16, rss: u32, kind: u32) -> Frame<'a> {
        Frame { head, more: &[], len, rss, kind }
    }

    /// The bytes of the first piece that belong to the frame.
    #[inline(always)]
    pub fn bytes(&self) -> &'a [u8] {
        &self.head[..self.head.len().min(self.len as usize)]
    }

    /// Writes the frame into `buf`, which has room for `len` bytes.
    #[inline(always)]
    pub(crate) fn put<M: Memory>(&self, m: &mut M, b: M::Buffers, buf: Buf) {
        if self.more.is_empty() {
            m.put(b, buf, 0, self.bytes(), u32::from(self.len));
        } else {
            self.gather(m, b, buf);
        }
    }

    /// Apart, so that the usual frame of one piece pays for a comparison and nothing else.
    #[inline(never)]
    fn gather<M: Memory>(&self, m: &mut M, b: M::Buffers, buf: Buf) {
        let len = usize::from(self.len);
        let mut off = 0;
        for piece in [self.head].iter().chain(self.more) {
            let piece = &piece[..piece.len().min(len - off)];
            if !piece.is_empty() {
                m.put(b, buf, off as u32, piece, piece.len() as u32);
                off += piece.len();
            }
        }
        if off < len {
            m.put(b, buf, off as u32, &[], (len - off) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_bytes_beyond_the_frame_are_not_part_of_it() {
        let frame = |len| Frame::new(&[7; 40], len, 0, 0);
        assert_eq!([frame(60), frame(40), frame(14)].map(|f| f.bytes().len()), [40, 40, 14]);
    }
}
