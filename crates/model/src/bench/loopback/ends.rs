//! Both ends of a connection: over a pool of both sides, and over one of the host alone.

use memory::{Buf, Memory};
use rings::ccnic::{HostHalf, HostTx, NicHalf, NicTx, Side, connect};
use rings::pool::{self, CoreCache};
use rings::{Buffers, Completion, Frame, Host, Nic, Outcome, Segment, Sends, Spec, TxHost, TxNic};
use rings::{SizeError, tx};

use super::{Bench, Error, MARK, MOST_BURST, Setup};
use crate::engine::view::View;
use crate::machine::layout::PoolId;

/// No frame.
pub(super) const NOTHING: Segment = Segment { buf: Buf(0), off: 0, len: 0, last: false };

impl From<SizeError> for Error {
    fn from(e: SizeError) -> Error {
        Error::Asked(e.to_string())
    }
}

/// The calls of Fig. 5, for a host.
pub(super) trait HostEnd {
    /// Before anything is sent.
    fn begin(&mut self, m: &mut View);
    /// Frames that can be sent, `most` at most.
    fn room(&mut self, m: &mut View, most: usize) -> usize;
    fn alloc(&mut self, m: &mut View, out: &mut [Buf]) -> usize;
    fn send(&mut self, m: &mut View, segs: &[Segment]) -> usize;
    fn receive(&mut self, m: &mut View, out: &mut [Segment]) -> usize;
    fn free(&mut self, m: &mut View, bufs: &[Buf]);
}

/// What a NIC does with frames to be sent.
pub(super) trait NicEnd {
    /// Takes up to `burst` of them, reads each, and sends it back.
    fn turn(&mut self, m: &mut View, burst: usize) -> Turn;
}

/// Frames that were taken, and those of them that did not go back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    pub taken: usize,
    pub lost: usize,
}

/// An end of a pool of both sides.
pub(super) struct Shared {
    side: Side<View>,
    buffers: PoolId,
    /// Whether it looks which frames are sent.
    completions: bool,
}

impl Shared {
    /// The host's, and the NIC's.
    pub(super) fn connect(
        bench: &mut Bench,
        setup: &Setup,
        buffers: PoolId,
    ) -> Result<(Shared, Shared), Error> {
        let sizes = setup.sides();
        let mut both = connect(&mut bench.space, &setup.lanes(), &sizes, 1, buffers)?;
        let (host, nic) = both.remove(0); // of one connection
        let ours = Shared { side: host, buffers, completions: setup.completions };
        Ok((ours, Shared { side: nic, buffers, completions: false }))
    }
}

impl HostEnd for Shared {
    fn begin(&mut self, _m: &mut View) {}

    fn room(&mut self, m: &mut View, most: usize) -> usize {
        self.side.room(m, most)
    }

    fn alloc(&mut self, m: &mut View, out: &mut [Buf]) -> usize {
        self.side.alloc(m, out)
    }

    fn send(&mut self, m: &mut View, segs: &[Segment]) -> usize {
        if self.completions {
            self.side.pending(m);
        }
        self.side.tx_burst(m, segs)
    }

    fn receive(&mut self, m: &mut View, out: &mut [Segment]) -> usize {
        self.side.rx_burst(m, out)
    }

    fn free(&mut self, m: &mut View, bufs: &[Buf]) {
        self.side.free(m, bufs);
    }
}

impl NicEnd for Shared {
    fn turn(&mut self, m: &mut View, burst: usize) -> Turn {
        let mut segs = [NOTHING; MOST_BURST];
        let taken = self.side.rx_burst(m, &mut segs[..burst]);
        if taken == 0 {
            return Turn::default();
        }
        // A processor looks for room while the frames come: nothing depends on them.
        let room = self.side.room(m, taken);
        let mut marks = [[0; MARK]; MOST_BURST];
        for (s, mark) in segs[..taken].iter().zip(&mut marks) {
            m.get(self.buffers, s.buf, s.off.into(), mark, s.len.into());
            m.chain();
        }
        // What was sent is free, and what is stored next goes where it was (§3.3).
        self.side.free(m, &segs.map(|s| s.buf)[..taken]);
        let mut bufs = [Buf(0); MOST_BURST];
        let got = self.side.alloc(m, &mut bufs[..room]);
        for ((s, buf), mark) in segs[..got].iter_mut().zip(bufs).zip(&marks) {
            m.put(self.buffers, buf, 0, mark, s.len.into());
            *s = Segment { buf, off: 0, ..*s };
            m.chain();
        }
        self.side.tx_burst(m, &segs[..got]);
        Turn { taken, lost: taken - got }
    }
}

/// Lanes of a port with one queue, whose buffers are the host's.
pub(super) struct Apart;

/// The host's end, of any port.
pub(super) struct HostPort<R, T> {
    pub rx: R,
    pub tx: T,
    pub pool: CoreCache<View>,
}

/// The same of `ccnic`.
type OurPort = HostPort<HostHalf<View>, HostTx<View>>;

/// The NIC's.
pub(super) struct NicPort {
    rx: NicHalf<View>,
    tx: NicTx<View>,
    buffers: PoolId,
    /// Scratch.
    frame: Vec<Segment>,
}

impl Apart {
    pub(super) fn connect(
        bench: &mut Bench,
        setup: &Setup,
        buffers: PoolId,
    ) -> Result<(OurPort, NicPort), Error> {
        let space = &mut bench.space;
        let (mut rx, nic_rx) = setup.lanes().build(space, 1, buffers)?;
        let sizes = tx::Sizes { ring: setup.lanes.ring, ..tx::Sizes::default() };
        let (mut tx, nic_tx) = setup.lanes().transmit(space, sizes, 1)?;
        let mut pool = pool::build(space, setup.buffers.count, 1, setup.cache)?;
        // Of one queue and one core.
        let host = HostPort { rx: rx.remove(0), tx: tx.remove(0), pool: pool.remove(0) };
        Ok((host, NicPort { rx: nic_rx, tx: nic_tx, buffers, frame: Vec::new() }))
    }
}

impl<R: Host<View>, T: TxHost<View>> HostEnd for HostPort<R, T> {
    fn begin(&mut self, m: &mut View) {
        self.rx.fill(m, &mut self.pool);
    }

    fn room(&mut self, _m: &mut View, most: usize) -> usize {
        most // its driver knows while it posts
    }

    fn alloc(&mut self, m: &mut View, out: &mut [Buf]) -> usize {
        self.pool.take(m, out)
    }

    fn send(&mut self, m: &mut View, segs: &[Segment]) -> usize {
        self.tx.tx_burst(m, &mut self.pool, segs)
    }

    fn receive(&mut self, m: &mut View, out: &mut [Segment]) -> usize {
        let mut got = [Completion::none(); MOST_BURST];
        let n = self.rx.rx_burst(m, &mut self.pool, &mut got[..out.len()]);
        for (s, c) in out.iter_mut().zip(&got[..n]) {
            *s = Segment { buf: c.buf, off: 0, len: c.len, last: true };
        }
        n
    }

    fn free(&mut self, m: &mut View, bufs: &[Buf]) {
        self.pool.give(m, bufs);
    }
}

impl NicEnd for NicPort {
    fn turn(&mut self, m: &mut View, burst: usize) -> Turn {
        let mut marks = [[0; MARK]; MOST_BURST];
        let (mut lens, mut taken) = ([0; MOST_BURST], 0);
        while taken < burst
            && let Some((_, descriptors)) = self.tx.collect(m, &mut self.frame)
        {
            // Hosts send frames of one segment.
            if let Some(s) = self.frame.first()
                && let Ok(buf) = m.check(self.buffers, s.buf.0, u32::from(s.off) + u32::from(s.len))
            {
                m.get(self.buffers, buf, s.off.into(), &mut marks[taken], s.len.into());
                lens[taken] = s.len;
            }
            self.tx.sent(m, 0, descriptors);
            taken += 1;
            m.chain();
        }
        if taken == 0 {
            return Turn::default();
        }
        let frames: [Frame<'_>; MOST_BURST] = core::array::from_fn(|i| Frame::new(&marks[i], lens[i], 0, 0));
        let mut outcomes = [Outcome::Delivered; MOST_BURST];
        self.rx.deliver(m, 0, &frames[..taken], &mut outcomes[..taken]);
        let lost = outcomes[..taken].iter().filter(|o| **o != Outcome::Delivered).count();
        Turn { taken, lost }
    }
}
