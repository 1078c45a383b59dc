//! A frame as it comes from the wire.

use flow::Edited;
use packet::Parsed;
use rings::Rest;

use super::checksums;

/// A frame on the wire, in one piece or more, or in a buffer already: then `head` is all of it.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Its first piece, or as much of it as was captured.
    pub head: &'a [u8],
    /// What follows the first piece. Zeros follow the last until `len`.
    pub rest: Rest<'a>,
    /// Bytes, without FCS.
    pub len: u32,
}

impl<'a> Incoming<'a> {
    /// A frame of one piece.
    #[inline(always)]
    pub fn whole(head: &'a [u8], len: u32) -> Incoming<'a> {
        Incoming { head, rest: Rest::Nothing, len }
    }

    /// A frame of one piece or more.
    #[inline]
    pub fn gathered(pieces: &'a [&'a [u8]], len: u32) -> Incoming<'a> {
        match pieces {
            [] => Incoming::whole(&[], len),
            [head] => Incoming::whole(head, len),
            [head, more @ ..] => Incoming { head, rest: Rest::Pieces(more), len },
        }
    }

    /// The pieces behind the first.
    #[inline]
    pub fn more(&self) -> &'a [&'a [u8]] {
        if let Rest::Pieces(more) = self.rest { more } else { &[] }
    }

    /// Appends the bytes of the frame that rules made of it.
    pub fn append_edited(&self, edited: &Edited, out: &mut Vec<u8>) {
        let end = out.len() + edited.len() as usize;
        out.extend_from_slice(edited.head());
        let mut skip = edited.rest_from() as usize;
        for piece in core::iter::once(&self.head).chain(self.more()) {
            out.extend_from_slice(piece.get(skip..).unwrap_or_default());
            skip = skip.saturating_sub(piece.len());
        }
        out.resize(end, 0);
    }

    /// The verdict on its checksums. `parsed` comes by value, so that it need not lie in memory where nobody asks.
    #[inline(never)]
    pub(super) fn verify(&self, parsed: Parsed) -> u32 {
        match self.more() {
            [] if self.head.len() >= self.len as usize => checksums::verify(&parsed, self.head),
            _ => checksums::verify(&parsed, &self.in_one()),
        }
    }

    /// All its bytes in one piece.
    #[cold]
    fn in_one(&self) -> Vec<u8> {
        let mut frame = [&[self.head], self.more()].concat().concat();
        frame.resize(self.len as usize, 0);
        frame
    }
}
