//! A core that receives, checks, and sends or frees.

use std::collections::{BTreeSet, VecDeque};

use memory::{Buf, Memory};

use super::BURST;
use crate::contract::{Buffers, Completion, Host, Segment, TxHost};
use crate::dynamic::judge::Mode;
use crate::interface::{AnyHost, AnyTxHost};
use crate::pool::CoreCache;
use crate::testing::oracle::{Ledger, MARK, Violation};

/// Plays a core and its application.
pub struct MockHost<M: Memory> {
    /// The core's view.
    pub m: M,
    queue: u16,
    rx: AnyHost<M>,
    tx: AnyTxHost<M>,
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
        tx: AnyTxHost<M>,
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
        let none = Completion { buf: Buf(u64::MAX), ..Completion::none() };
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
    pub fn parts(&mut self) -> (&mut M, &mut AnyHost<M>, &mut AnyTxHost<M>, &mut CoreCache<M>) {
        (&mut self.m, &mut self.rx, &mut self.tx, &mut self.pool)
    }
}
