//! From the transmit rings to the wire.

use core::ffi::c_void;

use rings::TxNic;

use super::flight::Flight;
use super::near::Near;
use super::receive::from_flight;
use super::shared::SharedEngine;
use super::{Engine, Far, Taken};
use crate::counters::add;
use crate::limits::BURST;
use crate::lower::{Lower, Pass};

/// What became of the first frames in flight.
struct Done {
    /// Those that are through.
    frames: usize,
    /// How many of them, from the last, nobody has received.
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
    #[inline(never)] // as those that receive
    pub(super) fn transmit(&mut self) -> bool {
        let now = self.clock();
        let Engine { near, flight, far, rx_wire, tx_wire, .. } = self;
        let Some(rings) = &mut near.rings else { return false };
        let link_up = near.pipeline.filter.link_up;
        if rings.passes && !matches!(far, Far::Lower(Some(_)) if link_up) {
            return false; // nobody to pass pointers to: they wait in the rings
        }
        let wire = tx_wire.limits().then_some((tx_wire, now));
        if flight.collect(rings, near.tags.as_mut(), BURST, wire) == 0 {
            return false;
        }
        let done = match far {
            _ if !link_up => Done::lost(flight),
            Far::Own => Done::sent(from_flight(near, flight, rx_wire, now)),
            Far::Stock(_) => Done::sent(flight.frames.len()),
            Far::Peer(Some(peer)) => match to_peer(peer, flight) {
                Some(Taken::First(n)) => Done::sent(n),
                Some(Taken::Down) => Done::lost(flight),
                None => Done::sent(0),
            },
            Far::Lower(Some(Lower { tx_pass: Some(pass), ctx, .. })) => pass_on(*pass, *ctx, flight),
            Far::Lower(Some(lower)) => to_lower(lower, flight),
            Far::Peer(None) | Far::Lower(None) => Done::lost(flight),
        };
        finish(near, flight, &done)
    }
}

/// The first frames in flight are through: the application may have their buffers back. Whether there were any.
fn finish(near: &mut Near, flight: &mut Flight, done: &Done) -> bool {
    let Some(rings) = &mut near.rings else { return false };
    for (i, f) in flight.frames[..done.frames].iter().enumerate() {
        rings.tx.sent(&mut rings.m, f.queue, f.pieces);
        let Some(counters) = near.counters.tx.get(usize::from(f.queue)) else { continue };
        if i < done.frames - done.lost {
            add(&counters.packets, 1);
            add(&counters.bytes, u64::from(f.len));
        } else {
            add(&counters.faults, 1);
        }
    }
    flight.advance(done.frames);
    done.frames > 0
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
