//! From the far end of the wire to the near one.
//!
//! Each kind of far end has a function of its own, which is not inlined: beside others it had fewer registers, and took
//! up to 3% more instructions for a frame.

use core::array;
use core::cell::Cell;

use memory::{Buf, Ps};
use nic::{Incoming, Pace};
use rings::Rest;

use super::flight::Flight;
use super::near::Near;
use super::{Engine, Far, Taken};
use crate::limits::{BURST, SLACK};
use crate::lower::{Lower, LowerFrame};
use crate::stock::Stock;

/// Frames in one piece.
struct Whole<I>(I);

impl<'a, I: Iterator<Item = (&'a [u8], u32)>> Iterator for Whole<I> {
    type Item = Incoming<'a>;

    // Inlined always, as the stock's: `receive` uses it in two places, so the compiler would call it.
    #[inline(always)]
    fn next(&mut self) -> Option<Incoming<'a>> {
        let (head, len) = self.0.next()?;
        Some(Incoming::whole(head, len))
    }
}

impl Engine {
    /// A burst from a far end that is asked for it; whether there was any.
    pub(super) fn receive(&mut self) -> bool {
        if matches!(self.far, Far::Own | Far::Peer(_) | Far::Lower(None)) {
            return false; // nobody to ask
        }
        let now = self.clock();
        match &mut self.far {
            Far::Stock(stock) => from_stock(&mut self.near, stock, &mut self.rx_wire, now),
            Far::Lower(Some(lower)) => from_lower(&mut self.near, lower, &mut self.rx_wire, now),
            _ => false,
        }
    }

    /// Frames that a peer has sent.
    pub(super) fn receive_from_peer(&mut self, flight: &Flight) -> Taken {
        if !self.running {
            return Taken::Down;
        }
        let now = self.clock();
        Taken::First(from_flight(&mut self.near, flight, &mut self.rx_wire, now))
    }
}

/// A burst of a stock; whether any frame found room.
#[inline(never)]
fn from_stock(near: &mut Near, stock: &mut Stock, wire: &mut Pace, now: Ps) -> bool {
    near.receive(Whole(stock.take(wire, now))) > 0
}

/// Frames in flight, as many as the wire carries by `now`; how many.
#[inline(never)]
pub(super) fn from_flight(near: &mut Near, flight: &Flight, wire: &mut Pace, now: Ps) -> usize {
    let n = flight.carried(wire, now);
    near.receive(flight.incoming(n));
    n
}

/// A burst of the port below; whether there was any frame. Lengths are not known before frames are taken, so the wire is
/// charged for the whole burst, and the next one waits until it is free.
#[inline(never)]
fn from_lower(near: &mut Near, lower: &Lower, wire: &mut Pace, now: Ps) -> bool {
    if wire.limits() && wire.free() > now {
        return false;
    }
    let mut frames = [LowerFrame::NONE; BURST];
    // SAFETY: `Far::Lower` holds a port only while it is there, and the frames of the last call were
    // given back below.
    let n = unsafe { lower.receive(&mut frames) };
    if n == 0 {
        return false;
    }
    let lies: [Cell<Buf>; BURST] = array::from_fn(|i| Cell::new(Buf(frames[i].buf)));
    near.receive(frames[..n].iter().zip(&lies).map(|(f, lies)| {
        // SAFETY: the driver filled in the frame, which stays as it is until `rx_done`; one that is passed
        // on is not looked at once its completion is published.
        let head = unsafe { core::slice::from_raw_parts(f.data, f.len as usize) };
        let rest = if f.buf == 0 { Rest::Nothing } else { Rest::Buffer(lies) };
        Incoming { head, rest, len: f.len }
    }));
    if wire.limits() {
        for f in &frames[..n] {
            wire.send(now.saturating_sub(SLACK), f.len);
        }
    }
    let bufs = lies.map(|lies| lies.into_inner().0);
    // SAFETY: as above; no frame is looked at any more.
    unsafe { (lower.rx_done)(lower.ctx, bufs.as_ptr()) };
    true
}
