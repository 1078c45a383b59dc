//! From the transmit rings to the wire.

use core::ffi::c_void;

use memory::native::Foreign;
use memory::{Memory, Ps};
use nic::Pace;
use rings::Segment;

use super::receive::Incoming;
use super::shared::SharedEngine;
use super::{Engine, Far, Rings, Taken};
use crate::counters::add;
use crate::limits::{BURST, SLACK, TAG};
use crate::lower::{Lower, Pass};

/// A collected frame: its queue, its descriptors, whose pieces lie in [`Flight::pieces`] unless pointers are
/// passed, the first of their buffers, its bytes.
#[derive(Clone, Copy)]
struct Collected {
    queue: u16,
    first: usize,
    pieces: usize,
    buf: u64,
    len: u32,
}

/// Frames collected and not yet on the wire. Their buffers are the application's, which may not touch them
/// until they are told as sent.
#[derive(Default)]
pub(crate) struct Flight {
    frames: Vec<Collected>,
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

    fn pieces(&self, f: &Collected) -> &[&'static [u8]] {
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

    /// Forgets the first `n` frames, which are through, and their pieces: where some always wait, these would grow
    /// without end.
    #[inline(always)]
    fn advance(&mut self, n: usize) {
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

impl Rings {
    /// Gives up what is in flight, as sent. Passed pointers stay: nobody else has them yet.
    pub(crate) fn abandon(&mut self) {
        if self.passes {
            return;
        }
        for f in self.flight.frames.drain(..) {
            self.tx.sent(&mut self.m, f.queue, f.pieces);
        }
        self.flight.pieces.clear();
    }

    /// Collects frames until `most` are in flight or the wire is busy; how many are.
    fn collect(&mut self, most: usize, mut wire: Option<(&mut Pace, Ps)>) -> usize {
        let Rings { m, tx, sent, flight, tags, passes, .. } = self;
        while flight.frames.len() < most {
            if let Some((pace, now)) = &wire
                && pace.free() > *now
            {
                break;
            }
            let Some((queue, _)) = tx.collect(m, &mut flight.segments) else { break };
            let first = flight.pieces.len();
            let mut len = 0;
            for s in &flight.segments {
                if !*passes {
                    flight.pieces.extend(data(m, *sent, s));
                }
                len += u32::from(s.len);
            }
            if let (Some(tags), Some(first)) = (tags.as_mut(), flight.segments.first())
                && u32::from(first.off) == TAG
            {
                let tag = Segment { off: 0, len: first.off, ..*first };
                tags.leaves(queue, data(m, *sent, &tag).unwrap_or_default());
            }
            let (pieces, buf) = (flight.segments.len(), flight.segments.first().map_or(0, |s| s.buf.0));
            flight.frames.push(Collected { queue, first, pieces, buf, len });
            if let Some((pace, now)) = &mut wire {
                pace.send(now.saturating_sub(SLACK), len);
            }
        }
        flight.frames.len()
    }
}

/// The bytes of a segment.
fn data(m: &crate::View, sent: Foreign, s: &Segment) -> Option<&'static [u8]> {
    let (off, len) = (u32::from(s.off), u32::from(s.len));
    let buf = m.check(sent, s.buf.0, off + len).ok()?;
    // SAFETY: the driver posted the address of `off + len` bytes of an mbuf, which the application has handed
    // over and may not touch until the segment is told as sent: until then alone it is in `Flight`.
    Some(unsafe { sent.bytes(buf, off, len) })
}

/// What became of the first frames in flight.
struct Done {
    /// Those that are through.
    frames: usize,
    /// The last of them, which nobody has got.
    lost: usize,
}

impl Done {
    fn sent(frames: usize) -> Done {
        Done { frames, lost: 0 }
    }

    /// No wire, no frames: as on a card whose cable was pulled, the application has its buffers back.
    fn lost(flight: &Flight) -> Done {
        Done { frames: flight.frames.len(), lost: flight.frames.len() }
    }
}

impl Engine {
    /// Sends a burst; whether there was anything to send.
    pub(super) fn transmit(&mut self) -> bool {
        let now = self.clock();
        let Some(rings) = &mut self.rings else { return false };
        if rings.passes && !matches!(self.far, Far::Lower(Some(_)) if self.filter.link_up) {
            return false; // nobody to pass pointers to: they wait in the rings
        }
        let wire = self.tx_wire.limits().then_some((&mut self.tx_wire, now));
        if rings.collect(BURST, wire) == 0 {
            return false;
        }
        // The far end needs the engine beside the frames in flight.
        let flight = core::mem::take(&mut rings.flight);
        let done = match &self.far {
            _ if !self.filter.link_up => Done::lost(&flight),
            Far::Own => {
                let n = flight.carried(&mut self.rx_wire, now);
                self.receive(flight.incoming(n));
                Done::sent(n)
            }
            Far::Stock(_) => Done::sent(flight.frames.len()),
            Far::Peer(Some(peer)) => match to_peer(peer, &flight) {
                Some(Taken::First(n)) => Done::sent(n),
                Some(Taken::Down) => Done::lost(&flight),
                None => Done::sent(0),
            },
            Far::Lower(Some(Lower { tx_pass: Some(pass), ctx, .. })) => pass_on(*pass, *ctx, &flight),
            Far::Lower(Some(lower)) => to_lower(lower, &flight),
            Far::Peer(None) | Far::Lower(None) => Done::lost(&flight),
        };
        self.finish(flight, done)
    }

    /// The first frames in flight are through: the application may have their buffers back.
    fn finish(&mut self, mut flight: Flight, done: Done) -> bool {
        let Some(rings) = &mut self.rings else { return false };
        for (i, f) in flight.frames[..done.frames].iter().enumerate() {
            rings.tx.sent(&mut rings.m, f.queue, f.pieces);
            let Some(counters) = self.counters.tx.get(usize::from(f.queue)) else { continue };
            if i < done.frames - done.lost {
                add(&counters.packets, 1);
                add(&counters.bytes, u64::from(f.len));
            } else {
                add(&counters.faults, 1);
            }
        }
        flight.advance(done.frames);
        rings.flight = flight;
        done.frames > 0
    }
}

/// Copies frames into buffers of the port below and sends them: as many as it had buffers for.
fn to_lower(lower: &Lower, flight: &Flight) -> Done {
    let n = flight.frames.len();
    let mut lens = [0; BURST];
    for (len, f) in lens.iter_mut().zip(&flight.frames) {
        *len = f.len;
    }
    let mut data = [core::ptr::null_mut::<u8>(); BURST];
    // SAFETY: `Far::Lower` holds a port only while it is there; both arrays hold `n` entries.
    let got = unsafe { (lower.tx_get)(lower.ctx, lens.as_ptr(), data.as_mut_ptr(), n as u16) };
    let got = usize::from(got).min(n);
    for (f, to) in flight.frames.iter().zip(&data[..got]) {
        let mut at = 0;
        for piece in flight.pieces(f) {
            // SAFETY: the driver gave room for `f.len` bytes, which is what the pieces sum to.
            unsafe { core::ptr::copy_nonoverlapping(piece.as_ptr(), to.add(at), piece.len()) };
            at += piece.len();
        }
    }
    // SAFETY: the first `got` buffers are filled.
    let sent = usize::from(unsafe { (lower.tx_send)(lower.ctx, got as u16) }).min(got);
    Done { frames: got, lost: got - sent }
}

/// Hands the buffers of frames to the port below: as many as it took. The others wait.
fn pass_on(pass: Pass, ctx: *mut c_void, flight: &Flight) -> Done {
    let (n, mut faults) = (flight.frames.len(), 0);
    let mut bufs = [0; BURST];
    for (buf, f) in bufs.iter_mut().zip(&flight.frames) {
        *buf = f.buf;
    }
    // SAFETY: `Far::Lower` holds a port only while it is there; the array holds `n` entries, each of a buffer
    // that the application has handed over and the ring forgets once it is told as sent.
    let taken = usize::from(unsafe { pass(ctx, bufs.as_ptr(), n as u16, &mut faults) }).min(n);
    Done { frames: taken, lost: usize::from(faults).min(taken) }
}

/// Hands frames to the port at the other end; `None` while it is spoken for.
fn to_peer(peer: &SharedEngine, flight: &Flight) -> Option<Taken> {
    peer.claim().map(|mut far| far.receive_from_peer(flight))
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
