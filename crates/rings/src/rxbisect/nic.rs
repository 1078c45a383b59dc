//! The NIC half of `rxbisect`: which Ax ring gives the buffer, and when its core is told (rxbisect §4.1,
//! §4.4).
//!
//! **Choice.** The Ax rings linked to the frame's Bx ring come first, then any other associated one of
//! the same NUMA node that is not empty, in rotation. An Ax ring is *eligible* only if the Bx ring that
//! it is linked to can take the notice; the entry is reserved when the buffer is consumed. So a queue
//! that is no longer polled fills its Bx ring and makes its own Ax ring ineligible, and nothing else.
//! The Ax rings of a stopped queue are not eligible at all.
//!
//! **Notices.** A buffer from a linked Ax ring is told of in the frame's own entry (combined); any other
//! in an entry of its own (split), which may be held back until a frame arrives for that Bx ring, until
//! `batch` of them wait, until its Ax ring is empty (its core must not learn last that the NIC starves),
//! or until `timeout`. What is held back is written before any later entry, so notices of one Ax ring
//! stay in ring order.
//!
//! **Outcomes.** `RingFull`: the queue's Bx ring has no room besides what is reserved. `NoBuffer`: it
//! has, but no associated Ax ring is eligible and not empty.

use std::collections::VecDeque;

use memory::{Buf, Memory, Ps};

use super::{Bx, Plan, Sizes};
use crate::contract::{Frame, Nic, Outcome};
use crate::parts::completions::Writer;
use crate::parts::empties::{Consumer, NO_GROUP};
use crate::parts::entry;

// ## NIC half

/// The NIC's end of all rings of a port.
pub struct NicHalf<M: Memory> {
    ax: Vec<AxRing<M>>,
    bx: Vec<BxRing<M>>,
    buffers: M::Buffers,
    batch: usize,
    timeout: Ps,
    /// No held notice is due before.
    next: Ps,
    /// Number of this `deliver`: where a ring is out of entries, the core's index is read at most once in a call.
    call: u64,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    foreign: u64,
    combined: u64,
    split: u64,
    batched: u64,
}

/// An Ax ring as the NIC sees it.
pub(super) struct AxRing<M: Memory> {
    consumer: Consumer<M>,
    link: usize,
    /// The call in which the doorbell was read last.
    read: u64,
}

/// A Bx ring as the NIC sees it.
pub(super) struct BxRing<M: Memory> {
    writer: Writer<M>,
    /// Associated Ax rings of the same node that are linked to this ring.
    own: Vec<u16>,
    /// The other associated Ax rings of the same node.
    others: Vec<u16>,
    /// Where in `others` to look first.
    turn: usize,
    /// Notices held back, oldest first; each has an entry reserved.
    held: VecDeque<u64>,
    /// When the oldest of them must be written.
    due: Ps,
    /// The call in which the core's index was read last.
    read: u64,
    /// Its queue is stopped: it gets nothing, and the Ax rings linked to it give nothing.
    stopped: bool,
}

impl<M: Memory> AxRing<M> {
    pub(super) fn new(consumer: Consumer<M>, link: u16) -> AxRing<M> {
        AxRing { consumer, link: usize::from(link), read: 0 }
    }

    /// Whether a buffer is posted.
    #[inline(always)]
    fn ready(&mut self, m: &mut M, call: u64) -> bool {
        if self.consumer.ready() == 0 && self.read != call {
            self.read = call;
            self.consumer.refresh(m);
        }
        self.consumer.ready() > 0
    }
}

impl<M: Memory> BxRing<M> {
    pub(super) fn new(writer: Writer<M>, id: u16, place: &Bx, plan: &Plan, sizes: &Sizes) -> BxRing<M> {
        let near = place.from.iter().copied().filter(|&a| plan.ax[usize::from(a)].node == place.node);
        let (own, others) = near.partition(|&a| plan.ax[usize::from(a)].link == id);
        let held = VecDeque::with_capacity(sizes.batch as usize);
        BxRing { writer, own, others, turn: 0, held, due: Ps::NEVER, read: 0, stopped: false }
    }

    /// Whether one more entry fits besides those that are reserved.
    #[inline(always)]
    fn has_room(&mut self, m: &mut M, call: u64) -> bool {
        if self.writer.room() <= self.held.len() as u64 && self.read != call {
            self.read = call;
            self.writer.refresh(m);
        }
        self.writer.room() > self.held.len() as u64
    }

    /// Writes what is held back; how many.
    #[inline(always)]
    fn flush(&mut self, m: &mut M) -> u64 {
        let count = self.held.len() as u64;
        while let Some(notice) = self.held.pop_front() {
            self.writer.notice(m, notice);
        }
        count
    }
}

impl<M: Memory> NicHalf<M> {
    pub(super) fn new(
        ax: Vec<AxRing<M>>,
        bx: Vec<BxRing<M>>,
        buffers: M::Buffers,
        sizes: &Sizes,
    ) -> NicHalf<M> {
        let (batch, timeout) = (sizes.batch as usize, sizes.timeout);
        let counts = Counts::default();
        NicHalf { ax, bx, buffers, batch, timeout, next: Ps::NEVER, call: 0, counts }
    }

    /// Reads what the core has posted before it runs out, so that buffers can be fetched ahead up to its end.
    #[inline(always)]
    fn refresh_linked(&mut self, m: &mut M, queue: usize, frames: &[Frame<'_>]) {
        let ax = self.bx[queue].own.first().map(|id| &mut self.ax[usize::from(*id)].consumer);
        if let Some(ring) = ax.filter(|ring| ring.ready() < frames.len() as u64)
            && frames.first().is_some_and(Frame::is_copied)
        {
            ring.refresh(m);
        }
    }

    /// Stores frames from the front while the first linked Ax ring is known to have a buffer and the Bx
    /// ring room: the usual case, in which nothing else need be looked at. How many.
    #[inline(always)]
    fn store_linked(&mut self, m: &mut M, queue: usize, frames: &[Frame<'_>], out: &mut [Outcome]) -> usize {
        let bx = &mut self.bx[queue];
        let Some(&id) = bx.own.first() else { return 0 };
        if !bx.held.is_empty() {
            return 0; // to be written first, into room that is theirs
        }
        let ring = &mut self.ax[usize::from(id)].consumer;
        let ready = ring.ready().min(bx.writer.room()).min(frames.len() as u64) as usize;
        let mut done = 0;
        let mut group = NO_GROUP;
        while done < ready {
            let stored = ring.store(m, self.buffers, &frames[done..ready], Outcome::NoBuffer, &mut group);
            for (i, buf) in stored.each(&group) {
                bx.writer.frame(m, buf, &frames[done], entry::notice(id, i));
                out[done] = Outcome::Delivered;
                done += 1;
                m.chain();
            }
            if stored.refused.is_some() {
                break;
            }
        }
        self.counts.combined += done as u64;
        done
    }

    fn store(&mut self, m: &mut M, queue: usize, frame: &Frame<'_>) -> Outcome {
        if !self.bx[queue].has_room(m, self.call) {
            return Outcome::RingFull;
        }
        let (ax, buf) = match self.choose(m, queue, frame) {
            Ok(choice) => choice,
            Err(outcome) => return outcome,
        };
        let ring = &mut self.ax[usize::from(ax)];
        let (notice, link) = (entry::notice(ax, ring.consumer.head()), ring.link);
        ring.consumer.advance();
        let buf = frame.store(m, self.buffers, buf);
        let bx = &mut self.bx[queue];
        self.counts.batched += bx.flush(m);
        if link == queue {
            bx.writer.frame(m, buf, frame, notice);
            self.counts.combined += 1;
        } else {
            bx.writer.frame(m, buf, frame, 0);
            self.counts.foreign += 1;
            self.hold(m, ax, notice);
        }
        Outcome::Delivered
    }

    /// The Ax ring to take from, and its buffer, which is not yet consumed.
    #[inline(always)]
    fn choose(&mut self, m: &mut M, queue: usize, frame: &Frame<'_>) -> Result<(u16, Buf), Outcome> {
        for k in 0..self.bx[queue].own.len() {
            let ax = self.bx[queue].own[k]; // its notice shares the frame's entry: always eligible
            match self.peek(m, ax, frame) {
                Err(Outcome::NoBuffer) => {}
                found => return found.map(|buf| (ax, buf)),
            }
        }
        let (turn, count) = (self.bx[queue].turn, self.bx[queue].others.len());
        for k in 0..count {
            let at = if turn + k < count { turn + k } else { turn + k - count };
            let ax = self.bx[queue].others[at];
            let link = self.ax[usize::from(ax)].link;
            let bx = &mut self.bx[link];
            if bx.stopped || !self.ax[usize::from(ax)].ready(m, self.call) || !bx.has_room(m, self.call) {
                continue;
            }
            match self.peek(m, ax, frame) {
                Err(Outcome::NoBuffer) => {}
                found => {
                    self.bx[queue].turn = if at + 1 < count { at + 1 } else { 0 };
                    return found.map(|buf| (ax, buf));
                }
            }
        }
        Err(Outcome::NoBuffer)
    }

    #[inline(always)]
    fn peek(&mut self, m: &mut M, ax: u16, frame: &Frame<'_>) -> Result<Buf, Outcome> {
        let ring = &mut self.ax[usize::from(ax)];
        if !ring.ready(m, self.call) {
            return Err(Outcome::NoBuffer);
        }
        ring.consumer.peek(m, self.buffers, frame, Outcome::NoBuffer)
    }

    /// Tells the core of `ax`, now or later; an entry of its Bx ring is reserved from here on.
    fn hold(&mut self, m: &mut M, ax: u16, notice: u64) {
        let ring = &self.ax[usize::from(ax)];
        let last = ring.consumer.ready() == 0;
        let bx = &mut self.bx[ring.link];
        bx.held.push_back(notice);
        self.counts.split += 1;
        if bx.held.len() >= self.batch || last {
            let written = bx.flush(m);
            self.counts.batched += if written > 1 { written } else { 0 };
        } else if bx.held.len() == 1 {
            bx.due = m.now() + self.timeout;
            self.next = self.next.min(bx.due);
        }
    }
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let queue = usize::from(queue);
        if queue >= self.bx.len() {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        }
        if self.bx[queue].stopped {
            return out.fill(Outcome::QueueStopped);
        }
        self.call += 1;
        self.refresh_linked(m, queue, frames);
        let mut done = 0;
        while done < frames.len().min(out.len()) {
            let run = self.store_linked(m, queue, &frames[done..], &mut out[done..]);
            done += run;
            if run == 0 {
                out[done] = self.store(m, queue, &frames[done]);
                m.chain();
                done += 1;
            }
        }
    }

    fn poll(&mut self, m: &mut M) -> Option<Ps> {
        if self.next == Ps::NEVER {
            return None;
        }
        let now = m.now();
        if self.next <= now {
            self.next = Ps::NEVER;
            for bx in self.bx.iter_mut().filter(|bx| !bx.held.is_empty()) {
                if bx.due <= now {
                    self.counts.batched += bx.flush(m);
                } else {
                    self.next = self.next.min(bx.due);
                }
            }
        }
        (self.next != Ps::NEVER).then_some(self.next)
    }

    fn stop(&mut self, m: &mut M) {
        for bx in &mut self.bx {
            self.counts.batched += bx.flush(m);
        }
        self.next = Ps::NEVER;
    }

    fn stop_queue(&mut self, m: &mut M, queue: u16) {
        if let Some(bx) = self.bx.get_mut(usize::from(queue)) {
            self.counts.batched += bx.flush(m);
            bx.stopped = true;
        }
    }

    fn start_queue(&mut self, _m: &mut M, queue: u16) {
        let queue = usize::from(queue);
        if let Some(bx) = self.bx.get_mut(queue) {
            bx.stopped = false;
            self.ax.iter_mut().filter(|ax| ax.link == queue).for_each(|ax| ax.consumer.restart());
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let bad = || self.ax.iter().map(|ax| ax.consumer.faults).sum();
        let c = &self.counts;
        Some(match i {
            0 => ("foreign", c.foreign),
            1 => ("combined", c.combined),
            2 => ("split", c.split),
            3 => ("batched", c.batched),
            4 => ("bad_descriptors", bad()),
            _ => return None,
        })
    }
}
