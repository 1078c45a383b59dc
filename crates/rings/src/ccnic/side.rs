//! One side of a connection: the calls of Fig. 5. Both sides are the same code.
//!
//! A buffer is in one place: free in an end of the pool, held by somebody of a side, or on its way in a lane. Who sends a
//! frame gives its buffers away with it, and who receives it holds them from then on: so buffers that were sent come back
//! with what is received, and are still in this side's cache (§3.3).

use memory::{Buf, Memory};

use super::descriptor::{Coded, Descriptor};
use super::host::segment;
use super::lane::{Reader, Writer};
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

/// Entries that are written at once.
const AT_ONCE: usize = 8;

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
        // The usual case, and quick: frames of a buffer each that fill entries.
        let mut all = whole(&segs[taken..]);
        if !lane.begins(m, all.len()) {
            all = &all[..all.len().min(1)];
        }
        let frames = all.as_flattened();
        if lane.begins(m, all.len()) && end.try_pass(frames.iter().map(|s| s.buf)) {
            lane.put_entries(m, all, segment);
            taken += frames.len();
            continue;
        }
        // As usual, and as quick: what is left of the call fits in an entry.
        let rest = &segs[taken..];
        if (1..N).contains(&rest.len())
            && rest.iter().all(|s| s.last)
            && lane.begins(m, 1)
            && end.try_pass(rest.iter().map(|s| s.buf))
        {
            lane.put_some(m, rest, segment);
            taken += rest.len();
            break;
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

/// Frames of a buffer each that fill entries: as many entries as are written at once, at most.
#[inline(always)]
fn whole<const N: usize>(segs: &[Segment]) -> &[[Segment; N]] {
    let all = segs.as_chunks::<N>().0;
    let all = &all[..all.len().min(AT_ONCE)];
    if all.as_flattened().iter().all(|s| s.last) { all } else { &all[..0] }
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
    let mut taken = 0;
    while let Some(rest) = out.get_mut(taken..).filter(|rest| !rest.is_empty()) {
        // The usual case, and quick: room for all of an entry.
        if !lane.is_open() {
            let mut n = 0;
            let took = lane.take_entry(m, rest.len(), |m, d| {
                if let Some(seg) = admit(end, buffers, m, &d)
                    && let Some(to) = rest.get_mut(n)
                {
                    *to = seg;
                    n += 1;
                }
            });
            taken += n;
            if took {
                continue;
            }
            if !lane.is_open() {
                break;
            }
        }
        let Some(d) = lane.next(m) else { break };
        if let Some(seg) = admit(end, buffers, m, &d) {
            rest[0] = seg;
            taken += 1;
        }
    }
    lane.free_to(m, lane.read());
    taken
}

/// What a descriptor names, on its way into the caches, if the other side had it. Otherwise it is counted, and dropped.
#[inline(always)]
fn admit<M: Memory>(end: &mut End<M>, buffers: M::Buffers, m: &mut M, d: &Descriptor) -> Option<Segment> {
    let off = d.tag as u16;
    let buf = end.admit(m, d.raw, u32::from(off) + u32::from(d.len)).ok()?;
    m.prefetch(buffers, buf, u32::from(off));
    Some(Segment { buf, off, len: d.len, last: d.last })
}
