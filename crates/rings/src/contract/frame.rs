//! A frame as the NIC delivers it, and how it comes into a buffer: the same for all interfaces.

use core::cell::Cell;

use memory::{Buf, Memory};

/// The lines that a frame goes to are fetched so many frames before it. Cores have read every line since the last
/// store to it, so each store waits for its line. A processor that plays the card holds the stores of three frames or so
/// meanwhile.
pub const AHEAD: u64 = 12;

/// The completions of so many frames are written together, once all of them lie in their buffers. A core that is not
/// behind takes each line of completions away as soon as it is written; its prefetcher perhaps takes the next ones too.
/// A processor that plays the card writes in order, so the frames behind such a line wait with it.
pub const TOGETHER: usize = 8;

/// Where a frame lies, beside its first piece.
#[derive(Clone, Copy, Debug)]
pub enum Rest<'a> {
    /// Nowhere else: the first piece is all that was captured.
    Nothing,
    /// In further pieces that follow the first, such as the segments of a frame that another port sent.
    Pieces(&'a [&'a [u8]]),
    /// In this buffer already, whole: the NIC half passes pointers (rxbisect §5). A delivered frame
    /// leaves the empty buffer here that the host had posted for it; a dropped one stays.
    Buffer(&'a Cell<Buf>),
}

/// A frame as the NIC delivers it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its first bytes, all of them or as many as were captured.
    pub head: &'a [u8],
    /// What follows `head`. Zeros follow the last piece until `len`.
    pub rest: Rest<'a>,
    /// The number of its flow on the card; 0 where it has none, or the card keeps none. Frames of one flow have one
    /// number. A card that tells flows apart by their hash alone gives that. No completion has it.
    pub flow: u32,
    /// RSS hash in the lower half, packet type in the upper, as a completion has them. One word, not two: a processor
    /// that reads at once what it wrote in two pieces first waits for all its earlier stores.
    pub(crate) meta: u64,
    /// Length and mark in the same way.
    pub(crate) size: u64,
}

/// Two numbers as a word of a frame.
#[inline(always)]
const fn word(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

impl<'a> Frame<'a> {
    /// A frame of one piece, without mark and flow, as those below.
    #[inline(always)]
    pub const fn new(head: &'a [u8], len: u16, rss: u32, kind: u32) -> Frame<'a> {
        let (meta, size) = (word(rss, kind), word(len as u32, 0));
        Frame { head, rest: Rest::Nothing, flow: 0, meta, size }
    }

    /// The same that lies in `rest` as well.
    #[inline(always)]
    pub const fn with_rest(self, rest: Rest<'a>) -> Frame<'a> {
        Frame { rest, ..self }
    }

    /// The same with a mark, for its completion; 0 is none.
    #[inline(always)]
    pub const fn marked(self, mark: u32) -> Frame<'a> {
        Frame { size: word(self.len() as u32, mark), ..self }
    }

    /// The same with other bytes, `head` being all that there are.
    #[inline(always)]
    pub const fn copied(self, head: &'a [u8], len: u16) -> Frame<'a> {
        Frame { head, rest: Rest::Nothing, size: word(len as u32, self.mark()), ..self }
    }

    /// Bytes, without FCS.
    #[allow(clippy::len_without_is_empty, reason = "a length of a frame, not of a collection")]
    #[inline(always)]
    pub const fn len(&self) -> u16 {
        self.size as u16
    }

    /// The mark that the card gave it.
    #[inline(always)]
    pub const fn mark(&self) -> u32 {
        (self.size >> 32) as u32
    }

    /// A frame of several pieces.
    #[inline(always)]
    pub const fn gathered(head: &'a [u8], more: &'a [&'a [u8]], len: u16, rss: u32, kind: u32) -> Frame<'a> {
        let rest = if more.is_empty() { Rest::Nothing } else { Rest::Pieces(more) };
        Frame::new(head, len, rss, kind).with_rest(rest)
    }

    /// A frame that lies in `buf`, a buffer of the pool that the interface is bound to.
    #[inline(always)]
    pub const fn lying(buf: &'a Cell<Buf>, len: u16, rss: u32, kind: u32) -> Frame<'a> {
        Frame::new(&[], len, rss, kind).with_rest(Rest::Buffer(buf))
    }

    /// RSS hash.
    #[inline(always)]
    pub const fn rss(&self) -> u32 {
        self.meta as u32
    }

    /// Packet type.
    #[inline(always)]
    pub const fn kind(&self) -> u32 {
        (self.meta >> 32) as u32
    }

    /// The bytes of the first piece that belong to the frame.
    #[inline(always)]
    pub fn bytes(&self) -> &'a [u8] {
        &self.head[..self.head.len().min(usize::from(self.len()))]
    }

    /// Whether storing it writes into the empty buffer.
    #[inline(always)]
    pub(crate) fn is_copied(&self) -> bool {
        !matches!(self.rest, Rest::Buffer(_))
    }

    /// Stores the frame by means of `empty`, which the host posted and which has room for `len` bytes; the
    /// buffer in which it lies then, for the completion to name.
    #[inline(always)]
    pub(crate) fn store<M: Memory>(&self, m: &mut M, b: M::Buffers, empty: Buf) -> Buf {
        match self.rest {
            Rest::Nothing => m.put(b, empty, 0, self.bytes(), u32::from(self.len())),
            Rest::Pieces(more) => self.gather(m, b, empty, more),
            Rest::Buffer(lies) => return lies.replace(empty),
        }
        empty
    }

    /// Apart, to keep the usual frame of one piece short.
    #[inline(never)]
    fn gather<M: Memory>(&self, m: &mut M, b: M::Buffers, buf: Buf, more: &[&[u8]]) {
        let len = usize::from(self.len());
        let mut off = 0;
        for piece in [self.head].iter().chain(more) {
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
