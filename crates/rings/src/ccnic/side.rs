//! One side of a connection: the calls of Fig. 5. Both sides are the same code.
//!
//! A buffer is in one place: free in an end of the pool, held by somebody of a side, or on its way in a lane. Who sends a
//! frame gives its buffers away with it, and who receives it holds them from then on: so buffers that were sent come back
//! with what is received, and are still in this side's cache (§3.3).

use memory::{Buf, Memory};

use super::host::segment;
use super::lane::{Coded, Descriptor, Reader, Writer};
use super::shape::{inside, of_layout};
use crate::contract::{Buffers, Segment};
use crate::pool::sides::End;

/// A connection: the host's side and the NIC's.
pub type Sides<M> = (Side<M>, Side<M>);

/// Both lanes of a side.
pub(super) struct Lanes<M: Memory, const W: usize, const N: usize, const D: usize> {
    pub(super) tx: Writer<M, W, N, D>,
    pub(super) rx: Reader<M, W, N, D>,
}

type AnyLanes<M> = of_layout!(Lanes, M);

/// One side of a connection, for one agent.
pub struct Side<M: Memory> {
    lanes: AnyLanes<M>,
    end: End<M>,
    buffers: M::Buffers,
}

impl<M: Memory> Side<M> {
    pub(super) fn new(lanes: AnyLanes<M>, end: End<M>, buffers: M::Buffers) -> Side<M> {
        Side { lanes, end, buffers }
    }

    /// Takes up to `out.len()` buffers; how many there were.
    #[inline]
    pub fn alloc(&mut self, m: &mut M, out: &mut [Buf]) -> usize {
        self.end.take(m, out)
    }

    /// Gives buffers back that this side holds.
    #[inline]
    pub fn free(&mut self, m: &mut M, bufs: &[Buf]) {
        self.end.give(m, bufs);
    }

    /// As many frames of one segment as there is room for, `most` at most: a look before they are made.
    #[inline]
    pub fn room(&mut self, m: &mut M, most: usize) -> usize {
        inside!(&mut self.lanes, lanes => lanes.tx.room(m, most))
    }

    /// Sends as many whole frames of `segs` as there is room for; the segments taken. Their buffers are the other side's
    /// from then on. A frame with a buffer that this side does not hold is counted, and goes nowhere.
    #[inline]
    pub fn tx_burst(&mut self, m: &mut M, segs: &[Segment]) -> usize {
        inside!(&mut self.lanes, lanes => send(&mut lanes.tx, &mut self.end, m, segs))
    }

    /// Receives up to `out.len()` segments; how many. Their buffers are this side's from then on. A frame ends with a
    /// segment that is marked as its last, perhaps in a later call.
    #[inline]
    pub fn rx_burst(&mut self, m: &mut M, out: &mut [Segment]) -> usize {
        inside!(&mut self.lanes, lanes => receive(&mut lanes.rx, (&mut self.end, self.buffers), m, out))
    }

    /// Entries that were sent and that the other side has not given back, as it says by now: what a driver looks at that
    /// has to keep frames until they are read, as those of today's cards have.
    #[inline]
    pub fn pending(&mut self, m: &mut M) -> u64 {
        inside!(&mut self.lanes, lanes => lanes.tx.entry().wrapping_sub(lanes.tx.reclaim(m)))
    }

    /// This side's end of the pool.
    pub fn end(&self) -> &End<M> {
        &self.end
    }

    /// This side's end of the pool, to flush it or to reclaim what the other side had.
    pub fn end_mut(&mut self) -> &mut End<M> {
        &mut self.end
    }
}

#[inline(always)]
fn send<M: Memory, const W: usize, const N: usize, const D: usize>(
    lane: &mut Writer<M, W, N, D>,
    end: &mut End<M>,
    m: &mut M,
    segs: &[Segment],
) -> usize
where
    [u64; D]: Coded,
{
    let mut taken = 0;
    loop {
        // The usual case, and quick: frames of a buffer each that fill an entry.
        if let Some(all) = segs[taken..].first_chunk::<N>()
            && all.iter().all(|s| s.last)
            && lane.begins(m)
            && end.try_pass(all.iter().map(|s| s.buf))
        {
            lane.put_entry(m, all.each_ref().map(segment));
            taken += N;
            continue;
        }
        let Some(len) = segs[taken..].iter().position(|s| s.last).map(|at| at + 1) else { break };
        if !lane.fits(m, len) {
            break;
        }
        let frame = &segs[taken..taken + len];
        if end.pass_all(frame.iter().map(|s| s.buf)) {
            frame.iter().for_each(|s| lane.put(m, &segment(s)));
        }
        taken += len;
    }
    lane.flush(m);
    taken
}

#[inline(always)]
fn receive<M: Memory, const W: usize, const N: usize, const D: usize>(
    lane: &mut Reader<M, W, N, D>,
    (end, buffers): (&mut End<M>, M::Buffers),
    m: &mut M,
    out: &mut [Segment],
) -> usize
where
    [u64; D]: Coded,
{
    let (mut taken, room) = (0, out.len());
    let mut take = |m: &mut M, d: Descriptor, taken: &mut usize| {
        let off = d.tag as u16;
        // Otherwise counted there, and dropped.
        if let Ok(buf) = end.admit(m, d.raw, u32::from(off) + u32::from(d.len))
            && let Some(to) = out.get_mut(*taken)
        {
            m.prefetch(buffers, buf, u32::from(off));
            *to = Segment { buf, off, len: d.len, last: d.last };
            *taken += 1;
        }
    };
    while taken < room {
        // The usual case, and quick: room for all of an entry.
        if room - taken >= N && !lane.is_open() {
            if !lane.take_entry(m, |m, d| take(m, d, &mut taken)) {
                break;
            }
        } else {
            let Some(d) = lane.next(m) else { break };
            take(m, d, &mut taken);
        }
    }
    lane.free_to(m, lane.read());
    taken
}
