//! The two ends of a port, judged by [`rings::oracle`]. Spares instead of the pool keep the checker's
//! work small; the pool has a scenario of its own.

use std::cell::Cell;

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView};
use memory::{Buf, Geometry, Memory, Space};
use rings::oracle::{self, Ledger, MARK, Offered};
use rings::{Buffers, Completion, Host, Nic, Outcome, Rest};

/// Bytes of a frame.
pub(crate) const LEN: u16 = 60;

/// `count` buffers.
pub(crate) fn buffers(space: &mut CheckedSpace, count: u32) -> CheckedBuffers {
    space.buffers(&Geometry::new(count, 256, 128, 128)).unwrap()
}

/// A core's spares: what a driver hands over with the call.
pub(crate) struct Spares(pub Vec<Buf>);

impl Spares {
    /// Buffers `from..to`.
    pub(crate) fn new(from: u64, to: u64) -> Spares {
        Spares((from..to).map(Buf).collect())
    }
}

impl Buffers<CheckedView> for Spares {
    fn take(&mut self, _m: &mut CheckedView, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.0.len());
        out.iter_mut().zip(self.0.drain(..n)).for_each(|(slot, buf)| *slot = buf);
        n
    }

    fn give(&mut self, _m: &mut CheckedView, bufs: &[Buf]) {
        self.0.extend_from_slice(bufs);
    }
}

/// The NIC half and its books.
pub(crate) struct Port<N> {
    pub(crate) nic: N,
    offered: Offered,
    /// A buffer of the NIC's own, where it passes pointers.
    own: Option<(CheckedBuffers, Cell<Buf>)>,
}

impl<N: Nic<CheckedView>> Port<N> {
    pub(crate) fn new(nic: N, queues: u32) -> Port<N> {
        Port { nic, offered: Offered::new(queues), own: None }
    }

    /// The same with frames that lie in `own` before they are delivered.
    pub(crate) fn passing(self, b: CheckedBuffers, own: Buf) -> Port<N> {
        Port { own: Some((b, Cell::new(own))), ..self }
    }

    /// Offers frames to `queue` until one is delivered; waits where there is no room.
    pub(crate) fn deliver(&mut self, m: &mut CheckedView, queue: u16) {
        while !self.offer(m, queue) {
            m.idle();
        }
    }

    /// Offers `count` frames to `queue` in one call, and one by one in place of those that found no room.
    pub(crate) fn deliver_together(&mut self, m: &mut CheckedView, queue: u16, count: usize) {
        let delivered = self.offer_together(m, queue, count);
        (delivered..count).for_each(|_| self.deliver(m, queue));
    }

    /// Offers a frame to `queue`; whether it is delivered, which it is where there is room.
    pub(crate) fn offer(&mut self, m: &mut CheckedView, queue: u16) -> bool {
        self.offer_together(m, queue, 1) == 1
    }

    fn offer_together(&mut self, m: &mut CheckedView, queue: u16, count: usize) -> usize {
        let numbers: Vec<_> = (0..count).map(|_| self.offered.next(queue)).collect();
        let marks: Vec<_> = numbers.iter().map(|n| oracle::mark(queue, *n)).collect();
        let mut frames: Vec<_> = marks.iter().map(|mark| oracle::frame(mark, LEN)).collect();
        if let Some((b, own)) = &self.own {
            assert_eq!(count, 1, "the NIC has one buffer of its own");
            m.put(*b, own.get(), 0, &marks[0], LEN.into());
            frames[0].rest = Rest::Buffer(own);
        }
        let mut outcomes = vec![Outcome::BadFrame; count];
        self.nic.deliver(m, queue, &frames, &mut outcomes);
        for (n, outcome) in numbers.into_iter().zip(&outcomes) {
            self.offered.ended(queue, n, *outcome).unwrap();
            assert!(
                matches!(outcome, Outcome::Delivered | Outcome::RingFull | Outcome::NoBuffer),
                "frame {n}: {outcome:?}"
            );
        }
        let delivered = outcomes.iter().filter(|outcome| **outcome == Outcome::Delivered).count();
        if delivered > 0 {
            self.nic.poll(m);
        }
        delivered
    }

    /// Polls until the card keeps nothing for its cores.
    pub(crate) fn hand_out(&mut self, m: &mut CheckedView) {
        while self.nic.poll(m).is_some() {
            m.idle();
        }
    }

    /// Strikes from the books what the drain of `queue` found unread.
    pub(crate) fn cut(&mut self, queue: u16, received: &Ledger, unread: u64) {
        self.offered.cut(queue, received, unread).unwrap();
    }

    /// Everything stands still: the books agree, the rings give their buffers back, and each of
    /// `count` is there once.
    pub(crate) fn settle<H>(mut self, m: &mut CheckedView, cores: Vec<Core<H>>, count: u64)
    where
        H: Host<CheckedView>,
    {
        self.nic.stop(m);
        self.offered.judge(cores.iter().map(|core| (core.queue, &core.received))).unwrap();
        let mut all: Vec<_> = self.own.iter().map(|(_, own)| own.get()).collect();
        for mut core in cores {
            core.host.drain(m, &mut core.spares);
            assert!(core.host.counters().iter().all(|(name, n)| *name != "faults" || *n == 0), "faults");
            all.append(&mut core.spares.0);
        }
        all.sort_unstable();
        assert!(all.iter().copied().eq((0..count).map(Buf)), "buffers at the end: {all:?}");
    }
}

/// A host half, its spares and its books.
pub(crate) struct Core<H> {
    pub(crate) host: H,
    pub(crate) spares: Spares,
    queue: u16,
    buffers: CheckedBuffers,
    received: Ledger,
}

impl<H: Host<CheckedView>> Core<H> {
    /// The core of `queue` with buffers `from..to`, its rings filled.
    pub(crate) fn filled(
        m: &mut CheckedView,
        (queue, mut host): (u16, H),
        buffers: CheckedBuffers,
        mut spares: Spares,
    ) -> Core<H> {
        assert_eq!(host.fill(m, &mut spares), 0, "buffers missing");
        Core { host, spares, queue, buffers, received: Ledger::default() }
    }

    /// One poll: reads each frame and frees its buffer; how many there were.
    pub(crate) fn poll(&mut self, m: &mut CheckedView) -> usize {
        let mut out = [Completion { buf: Buf(u64::MAX), ..Completion::none() }; 2];
        let n = self.host.rx_burst(m, &mut self.spares, &mut out);
        for frame in &out[..n] {
            let mut bytes = [0xff; MARK];
            m.get(self.buffers, frame.buf, 0, &mut bytes, LEN.into());
            self.received.receive(self.queue, *frame, &bytes).unwrap();
            self.spares.give(m, &[frame.buf]);
        }
        n
    }

    /// Takes everything back; what was received so far, and how many frames were not.
    pub(crate) fn drain(&mut self, m: &mut CheckedView) -> (Ledger, u64) {
        let unread = self.host.waiting(m);
        self.host.drain(m, &mut self.spares);
        (self.received.clone(), unread)
    }

    /// Polls until `want` frames came.
    pub(crate) fn receive(&mut self, m: &mut CheckedView, want: u64) {
        while self.received.count() < want {
            if self.poll(m) == 0 {
                m.idle();
            }
        }
    }
}
