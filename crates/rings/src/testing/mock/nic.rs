//! A NIC that makes frames and keeps the books.

use std::cell::Cell;
use std::collections::VecDeque;

use memory::{Buf, Memory, Ps};

use super::BURST;
use crate::contract::{Frame, Nic, Outcome, Rest, Segment, TxNic};
use crate::interface::{AnyNic, AnyTxNic, Interface};
use crate::testing::oracle::{self, Ledger, MARK, Offered, Violation};

/// Plays the wire and the NIC.
pub struct MockNic<M: Memory> {
    /// The NIC's view.
    pub m: M,
    rx: AnyNic<M>,
    tx: AnyTxNic<M>,
    buffers: M::Buffers,
    /// The books of each queue; those that share a ring have the first one's.
    offered: Offered,
    /// The books for each queue.
    rings: Vec<u16>,
    segments: Vec<Segment>,
    sent: u64,
    /// Empty buffers of the NIC's own, oldest first, where it passes pointers.
    own: Option<VecDeque<Buf>>,
}

impl<M: Memory> MockNic<M> {
    /// A NIC of a port with `queues` of `interface`.
    pub fn new(
        m: M,
        (rx, tx): (AnyNic<M>, AnyTxNic<M>),
        buffers: M::Buffers,
        (interface, queues): (&Interface, u32),
    ) -> MockNic<M> {
        let offered = Offered::new(queues);
        let rings = (0..queues as u16).map(|queue| interface.ring_of(queue)).collect();
        MockNic { m, rx, tx, buffers, offered, rings, segments: Vec::new(), sent: 0, own: None }
    }

    /// Frames lie in `own` buffers from now on before they are delivered, as under an emulated NIC; what
    /// finds none of them free is dropped as [`Outcome::NicBufferFull`].
    pub fn emulate(&mut self, own: Vec<Buf>) {
        self.own = Some(own.into());
    }

    /// The NIC's own buffers, all empty between two calls.
    pub fn own(&self) -> impl Iterator<Item = Buf> {
        self.own.iter().flatten().copied()
    }

    /// `count` frames of `len` bytes (at least [`MARK`]) arrive for `queue`; how many were delivered.
    ///
    /// # Errors
    /// The NIC half delivered out of order.
    pub fn arrive(&mut self, queue: u16, count: usize, len: u16) -> Result<usize, Violation> {
        let len = len.max(MARK as u16);
        let before = self.offered.count(Outcome::Delivered);
        let ring = self.rings[usize::from(queue)];
        let mut left = count;
        while left > 0 {
            let n = left.min(BURST);
            let numbers: [u64; BURST] =
                core::array::from_fn(|k| if k < n { self.offered.next(ring) } else { 0 });
            let marks = numbers.map(|number| oracle::mark(ring, number));
            let lies = self.admit(&marks[..n], len);
            let frame = |k| Frame {
                rest: lies.get(k).map_or(Rest::Nothing, Rest::Buffer),
                ..oracle::frame(&marks[k], len)
            };
            let frames: [_; BURST] = core::array::from_fn(frame);
            let admitted = if self.own.is_some() { lies.len() } else { n };
            let mut out = [Outcome::NicBufferFull; BURST];
            self.rx.deliver(&mut self.m, queue, &frames[..admitted], &mut out[..admitted]);
            self.own.iter_mut().for_each(|own| own.extend(lies.iter().map(Cell::get)));
            for k in 0..n {
                self.offered.ended(ring, numbers[k], out[k])?;
            }
            left -= n;
        }
        Ok((self.offered.count(Outcome::Delivered) - before) as usize)
    }

    /// Stores frames in buffers of the NIC's own, as many as there are.
    fn admit(&mut self, marks: &[[u8; MARK]], len: u16) -> Vec<Cell<Buf>> {
        let free = self.own.as_mut().into_iter().flat_map(|own| {
            let n = own.len().min(marks.len());
            own.drain(..n)
        });
        let lies: Vec<_> = free.map(Cell::new).collect();
        for (buf, mark) in lies.iter().zip(marks) {
            // A frame that is too long is refused all the same.
            if self.m.check(self.buffers, buf.get().0, u32::from(len)).is_ok() {
                self.m.put(self.buffers, buf.get(), 0, mark, u32::from(len));
            }
        }
        lies
    }

    /// Writes what is due; the next deadline.
    pub fn poll(&mut self) -> Option<Ps> {
        self.rx.poll(&mut self.m)
    }

    /// Sends up to `count` frames; how many. The payload's mark is read and must be one.
    ///
    /// # Errors
    /// A frame's segments are not those of one buffer that holds a frame.
    pub fn send(&mut self, count: usize) -> Result<usize, Violation> {
        for done in 0..count {
            let Some((queue, descriptors)) = self.tx.collect(&mut self.m, &mut self.segments) else {
                return Ok(done);
            };
            for seg in &self.segments {
                let end = u32::from(seg.off) + u32::from(seg.len);
                let Ok(buf) = self.m.check(self.buffers, seg.buf.0, end) else {
                    return Err(Violation::Reused { buf: seg.buf.0 });
                };
                let mut bytes = [0; MARK];
                self.m.get(self.buffers, buf, u32::from(seg.off), &mut bytes, u32::from(seg.len));
            }
            self.tx.sent(&mut self.m, queue, descriptors);
            self.sent += 1;
        }
        Ok(count)
    }

    /// Writes what is held back, for the last time.
    pub fn stop(&mut self) {
        self.rx.stop(&mut self.m);
    }

    /// Stops a queue; its core [drains](super::MockHost::drain_queue) next.
    pub fn stop_queue(&mut self, queue: u16) {
        self.rx.stop_queue(&mut self.m, queue);
    }

    /// Starts a queue that is drained; its core fills next.
    pub fn start_queue(&mut self, queue: u16) {
        self.rx.start_queue(&mut self.m, queue);
    }

    /// Enters into the books what the drain of `queue` found: `received` by all cores of its ring.
    ///
    /// # Errors
    /// A frame is missing, or was received twice.
    pub fn drained(&mut self, queue: u16, received: &Ledger, unread: u64) -> Result<(), Violation> {
        self.offered.cut(self.rings[usize::from(queue)], received, unread)
    }

    /// What was offered and what became of it.
    pub fn offered(&self) -> &Offered {
        &self.offered
    }

    /// Frames sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// The NIC half's counters.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        self.rx.counters()
    }

    /// The view and the NIC halves, to test one of them alone.
    pub fn parts(&mut self) -> (&mut M, &mut AnyNic<M>, &mut AnyTxNic<M>) {
        (&mut self.m, &mut self.rx, &mut self.tx)
    }
}
