//! The other side of each interface, to test one side against: a NIC that makes frames and keeps the
//! books, and a core that receives, checks, sends or frees. Two of them on two threads are a test; all
//! of a port's on one thread are a [`World`](super::world::World).

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};

use memory::{Buf, Memory, Ps};

use super::oracle::{self, Ledger, MARK, Offered, Violation};
use crate::contract::{Buffers, Completion, Frame, Host, Nic, Outcome, Rest, Segment};
use crate::dynamic::judge::Mode;
use crate::interface::{AnyHost, AnyNic, Interface};
use crate::pool::CoreCache;
use crate::tx::{HostTx, NicTx};

/// Frames or completions of one call.
const BURST: usize = 32;

/// Plays the wire and the NIC.
pub struct MockNic<M: Memory> {
    /// The NIC's view.
    pub m: M,
    rx: AnyNic<M>,
    tx: NicTx<M>,
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
        (rx, tx): (AnyNic<M>, NicTx<M>),
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

    /// Stops a queue; its core [drains](MockHost::drain_queue) next.
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
    pub fn parts(&mut self) -> (&mut M, &mut AnyNic<M>, &mut NicTx<M>) {
        (&mut self.m, &mut self.rx, &mut self.tx)
    }
}

/// Plays a core and its application.
pub struct MockHost<M: Memory> {
    /// The core's view.
    pub m: M,
    queue: u16,
    rx: AnyHost<M>,
    tx: HostTx<M>,
    pool: CoreCache<M>,
    buffers: M::Buffers,
    received: Ledger,
    /// Frames received, not yet sent or freed, oldest first.
    held: VecDeque<Completion>,
}

impl<M: Memory> MockHost<M> {
    /// The core that receives the frames of `queue`, or one of them.
    pub fn new(
        m: M,
        queue: u16,
        rx: AnyHost<M>,
        tx: HostTx<M>,
        pool: CoreCache<M>,
        buffers: M::Buffers,
    ) -> MockHost<M> {
        MockHost { m, queue, rx, tx, pool, buffers, received: Ledger::default(), held: VecDeque::new() }
    }

    /// Fills the receive rings; how many buffers are missing.
    pub fn fill(&mut self) -> usize {
        self.rx.fill(&mut self.m, &mut self.pool)
    }

    /// Asks for a mode, if the interface has more than one.
    pub fn ask(&mut self, mode: Mode) {
        if let AnyHost::Dynamic(half) = &mut self.rx {
            half.ask(&mut self.m, mode);
        }
    }

    /// Receives up to `burst` frames (0 is a poll without room), checks them and keeps them.
    ///
    /// # Errors
    /// A frame is not what was delivered.
    pub fn poll(&mut self, burst: usize) -> Result<usize, Violation> {
        let none = Completion { buf: Buf(u64::MAX), len: 0, rss: 0, kind: 0 };
        let mut out = [none; BURST];
        let n = self.rx.rx_burst(&mut self.m, &mut self.pool, &mut out[..burst.min(BURST)]);
        for got in &out[..n] {
            let mut bytes = [0; MARK];
            self.m.get(self.buffers, got.buf, 0, &mut bytes, MARK as u32);
            self.received.receive(self.queue, *got, &bytes)?;
            self.held.push_back(*got);
        }
        Ok(n)
    }

    /// Gives up to `count` held buffers to the pool; how many.
    pub fn free(&mut self, count: usize) -> usize {
        let n = count.min(self.held.len());
        for frame in self.held.drain(..n) {
            self.pool.give(&mut self.m, &[frame.buf]);
        }
        n
    }

    /// Posts up to `count` held frames to send, every other one in two segments (the second of another
    /// buffer); how many were taken.
    pub fn send(&mut self, count: usize) -> usize {
        let mut segs = Vec::new();
        for (k, frame) in self.held.iter().take(count).enumerate() {
            let last = k % 3 != 1 || k + 1 == count.min(self.held.len());
            segs.push(Segment { buf: frame.buf, off: 0, len: frame.len, last });
        }
        let taken = self.tx.tx_burst(&mut self.m, &mut self.pool, &segs);
        self.held.drain(..taken);
        taken
    }

    /// Takes everything out of the receive rings after the NIC has stopped this queue; how many frames
    /// will not be received. Frames of a ring that others still poll stay.
    pub fn drain_queue(&mut self) -> u64 {
        let unread = self.rx.waiting(&mut self.m);
        self.rx.drain(&mut self.m, &mut self.pool);
        unread.saturating_sub(self.rx.waiting(&mut self.m)) // more may have come to a ring that others poll
    }

    /// Takes everything out of the transmit ring after the NIC has stopped this queue; how many buffers.
    pub fn drain_tx(&mut self) -> usize {
        let filled = self.tx.filled();
        self.tx.drain(&mut self.m, &mut self.pool);
        filled as usize
    }

    /// Takes everything out of the rings after the NIC has stopped, and gives all buffers to the
    /// shared pool.
    pub fn drain(&mut self) {
        self.rx.drain(&mut self.m, &mut self.pool);
        self.tx.drain(&mut self.m, &mut self.pool);
        self.free(usize::MAX);
        self.pool.flush(&mut self.m);
    }

    /// Takes all buffers that this core can get out of the pool, each of which must come once, and gives
    /// them back; how many there were. After [`drain`](Self::drain) of all cores these are all.
    ///
    /// # Errors
    /// One came twice.
    pub fn count(&mut self) -> Result<u64, Violation> {
        let mut all = BTreeSet::new();
        let mut next = [Buf(0)];
        let mut twice = None;
        while twice.is_none() && self.pool.take(&mut self.m, &mut next) == 1 {
            twice = (!all.insert(next[0])).then_some(Violation::Reused { buf: next[0].0 });
        }
        let found: Vec<Buf> = all.into_iter().collect();
        self.pool.give(&mut self.m, &found);
        twice.map_or(Ok(found.len() as u64), Err)
    }

    /// What was received, with the queue that it was for, to be judged.
    pub fn received(&self) -> (u16, &Ledger) {
        (self.queue, &self.received)
    }

    /// Takes up to `count` buffers out of this core's pool.
    pub fn lend(&mut self, count: usize) -> Vec<Buf> {
        let mut lent = vec![Buf(0); count];
        let n = self.pool.take(&mut self.m, &mut lent);
        lent.truncate(n);
        lent
    }

    /// Gives them back.
    pub fn take_back(&mut self, lent: &[Buf]) {
        self.pool.give(&mut self.m, lent);
    }

    /// Buffers of received frames that are neither sent nor freed.
    pub fn held(&self) -> impl Iterator<Item = Buf> {
        self.held.iter().map(|frame| frame.buf)
    }

    /// Buffers in the shared pool and in this core's cache.
    pub fn available(&mut self) -> u64 {
        self.pool.available(&mut self.m)
    }

    /// The host half's counters.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        self.rx.counters()
    }

    /// The receive half, the transmit half and the pool, to test one of them alone.
    pub fn parts(&mut self) -> (&mut M, &mut AnyHost<M>, &mut HostTx<M>, &mut CoreCache<M>) {
        (&mut self.m, &mut self.rx, &mut self.tx, &mut self.pool)
    }
}
