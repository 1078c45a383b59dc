//! From the transmit rings to the wire.

use core::ffi::c_void;

use memory::native::Foreign;
use memory::{Memory, Ps};
use nic::Pace;
use rings::Segment;

use super::flight::{Collected, Flight};
use super::shared::SharedEngine;
use super::{Engine, Far, Rings, Taken};
use crate::counters::add;
use crate::limits::{BURST, SLACK, TAG};
use crate::lower::{Lower, Pass};

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
