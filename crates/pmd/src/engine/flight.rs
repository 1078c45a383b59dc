//! Frames between a transmit ring and the wire.

use memory::native::Foreign;
use memory::{Memory, Ps};
use nic::{Incoming, Pace};
use rings::{Segment, TxNic};

use super::rings::Rings;
use super::tags::Tags;
use crate::View;
use crate::limits::{SLACK, TAG};

/// A collected frame.
#[derive(Clone, Copy)]
pub(super) struct Collected {
    pub(super) queue: u16,
    /// The first of its pieces in [`Flight::pieces`].
    pub(super) first: usize,
    /// Its descriptors. Each is a piece, unless pointers are passed.
    pub(super) pieces: usize,
    /// The buffer of the first descriptor.
    pub(super) buf: u64,
    /// Bytes of the frame.
    pub(super) len: u32,
}

/// Frames collected and not yet on the wire. Their buffers are the application's, which may not touch them
/// until they are told as sent.
#[derive(Default)]
pub(crate) struct Flight {
    pub(super) frames: Vec<Collected>,
    pieces: Vec<&'static [u8]>,
    /// Scratch: descriptors of the frame in hand.
    segments: Vec<Segment>,
}

impl Flight {
    /// Forgets the frames: their queues are drained.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.pieces.clear();
    }

    /// Forgets the frames of one queue.
    pub(crate) fn clear_queue(&mut self, queue: u16) {
        self.frames.retain(|f| f.queue != queue);
    }

    /// Gives up what is in flight, as sent. Passed pointers stay: nobody else has them yet.
    pub(super) fn abandon(&mut self, rings: &mut Rings) {
        if rings.passes {
            return;
        }
        for f in self.frames.drain(..) {
            rings.tx.sent(&mut rings.m, f.queue, f.pieces);
        }
        self.pieces.clear();
    }

    /// Collects frames until `most` are in flight or the wire is busy; how many are.
    pub(super) fn collect(
        &mut self,
        rings: &mut Rings,
        mut tags: Option<&mut Tags>,
        most: usize,
        mut wire: Option<(&mut Pace, Ps)>,
    ) -> usize {
        let Rings { m, tx, sent, passes, .. } = rings;
        while self.frames.len() < most {
            if let Some((pace, now)) = &wire
                && pace.free() > *now
            {
                break;
            }
            let Some((queue, _)) = tx.collect(m, &mut self.segments) else { break };
            let first = self.pieces.len();
            let mut len = 0;
            for s in &self.segments {
                if !*passes {
                    self.pieces.extend(data(m, *sent, s));
                }
                len += u32::from(s.len);
            }
            if let (Some(tags), Some(first)) = (tags.as_mut(), self.segments.first())
                && u32::from(first.off) == TAG
            {
                let tag = Segment { off: 0, len: first.off, ..*first };
                tags.leaves(queue, data(m, *sent, &tag).unwrap_or_default());
            }
            let (pieces, buf) = (self.segments.len(), self.segments.first().map_or(0, |s| s.buf.0));
            self.frames.push(Collected { queue, first, pieces, buf, len });
            if let Some((pace, now)) = &mut wire {
                pace.send(now.saturating_sub(SLACK), len);
            }
        }
        self.frames.len()
    }

    pub(super) fn pieces(&self, f: &Collected) -> &[&'static [u8]] {
        &self.pieces[f.first..f.first + f.pieces]
    }

    /// The first `n` frames, for who receives them.
    #[inline(always)]
    pub(super) fn incoming(&self, n: usize) -> impl Iterator<Item = Incoming<'_>> {
        self.frames[..n].iter().map(|f| Incoming::gathered(self.pieces(f), f.len))
    }

    /// How many of the frames, from the first, `wire` carries by `now`; the others wait.
    #[inline(always)]
    pub(super) fn carried(&self, wire: &mut Pace, now: Ps) -> usize {
        if wire.limits() { self.paced(wire, now) } else { self.frames.len() }
    }

    /// The same where the wire has a rate.
    #[cold]
    fn paced(&self, wire: &mut Pace, now: Ps) -> usize {
        let goes = self.frames.iter().take_while(|f| {
            let free = wire.free() <= now;
            if free {
                wire.send(now.saturating_sub(SLACK), f.len);
            }
            free
        });
        goes.count()
    }

    /// Forgets the first `n` frames, which are through, and their pieces. Kept where some frames always wait, the pieces
    /// would grow without end.
    #[inline(always)]
    pub(super) fn advance(&mut self, n: usize) {
        if n == self.frames.len() {
            self.frames.clear();
            self.pieces.clear();
        } else {
            self.advance_part(n);
        }
    }

    #[cold]
    fn advance_part(&mut self, n: usize) {
        self.frames.drain(..n);
        let through = self.frames.first().map_or(self.pieces.len(), |f| f.first);
        self.pieces.drain(..through);
        for f in &mut self.frames {
            f.first -= through;
        }
    }
}

/// The bytes of a segment.
fn data(m: &View, sent: Foreign, s: &Segment) -> Option<&'static [u8]> {
    let (off, len) = (u32::from(s.off), u32::from(s.len));
    let buf = m.check(sent, s.buf.0, off + len).ok()?;
    // SAFETY: the driver posted the address of `off + len` bytes of an mbuf, which the application has handed
    // over and may not touch until the segment is told as sent: until then alone it is in `Flight`.
    Some(unsafe { sent.bytes(buf, off, len) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of two pieces, of so many bytes each.
    fn flight(lens: &[u32]) -> Flight {
        let mut flight = Flight::default();
        for &len in lens {
            let first = flight.pieces.len();
            flight.pieces.extend([&[len as u8; 1][..], &[]].map(|piece| &*piece.to_vec().leak()));
            flight.frames.push(Collected { queue: 0, first, pieces: 2, buf: 0, len });
        }
        flight
    }

    #[test]
    fn what_waits_keeps_its_pieces_and_no_others() {
        let mut flight = flight(&[1, 2, 3]);
        flight.advance(1);
        let heads: Vec<_> = flight.incoming(2).map(|f| (f.head, f.len)).collect();
        assert_eq!(heads, [(&[2][..], 2), (&[3], 3)]);
        assert_eq!(flight.pieces.len(), 4);
        flight.advance(2);
        assert_eq!((flight.frames.len(), flight.pieces.len()), (0, 0));
    }

    #[test]
    fn a_wire_carries_frames_until_it_is_busy() {
        let flight = flight(&[60, 60, 60]);
        // 672 ns a frame; what is late is made up for.
        let mut wire = Pace::new(1_000_000_000);
        assert_eq!(flight.carried(&mut wire, Ps::from_ns(1)), 1);
        assert_eq!(flight.carried(&mut wire, Ps::from_ns(671)), 0);
        assert_eq!(flight.carried(&mut wire, Ps::from_ns(1344)), 2);
        assert_eq!(flight.carried(&mut Pace::new(0), Ps::ZERO), 3);
    }
}
