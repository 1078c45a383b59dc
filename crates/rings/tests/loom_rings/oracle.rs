//! What a run is judged by: numbered frames, buffers that are counted.

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView};
use memory::{Buf, Geometry, Memory, Space};
use rings::{Buffers, Completion, Frame, Host, Nic, Outcome};

/// Bytes of a frame.
pub(crate) const LEN: u16 = 60;

/// `count` buffers.
pub(crate) fn buffers(space: &mut CheckedSpace, count: u32) -> CheckedBuffers {
    space.buffers(&Geometry { count, stride: 256, offset: 128, room: 128 }).unwrap()
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

/// The NIC stores frame `n` for `queue`; a full ring is waited for.
pub(crate) fn deliver<N: Nic<CheckedView>>(m: &mut CheckedView, nic: &mut N, queue: u16, n: u8) {
    let frame = Frame { head: &[n; 8], len: LEN, rss: n.into(), kind: 7 };
    let mut outcome = [Outcome::BadFrame];
    loop {
        nic.deliver(m, queue, &[frame], &mut outcome);
        match outcome {
            [Outcome::Delivered] => return,
            [Outcome::RingFull | Outcome::NoBuffer] => m.idle(),
            other => panic!("frame {n}: {other:?}"),
        }
        nic.poll(m);
    }
}

/// One poll of a core: reads each frame and frees its buffer.
pub(crate) fn poll<H: Host<CheckedView>>(
    m: &mut CheckedView,
    host: &mut H,
    spares: &mut Spares,
    b: CheckedBuffers,
    seen: &mut Vec<u8>,
) -> usize {
    let mut out = [Completion { buf: Buf(u64::MAX), len: 0, rss: 0, kind: 0 }; 2];
    let n = host.rx_burst(m, spares, &mut out);
    for frame in &out[..n] {
        let mut bytes = [0xff; 10];
        m.get(b, frame.buf, 0, &mut bytes, LEN.into());
        let n = frame.rss as u8;
        assert_eq!((frame.len, frame.kind, bytes), (LEN, 7, [n, n, n, n, n, n, n, n, 0, 0]));
        seen.push(n);
        spares.give(m, &[frame.buf]);
    }
    n
}

/// Polls until the frames of `seen` are `want`.
pub(crate) fn receive<H: Host<CheckedView>>(
    m: &mut CheckedView,
    host: &mut H,
    spares: &mut Spares,
    b: CheckedBuffers,
    want: &[u8],
) {
    let mut seen = Vec::new();
    while seen.len() < want.len() {
        if poll(m, host, spares, b, &mut seen) == 0 {
            m.idle();
        }
    }
    assert_eq!(seen, want, "lost, doubled or out of order");
}

/// Everything stands still: the rings give their buffers back, and each of `count` is there once.
pub(crate) fn conserved<H, N>(
    m: &mut CheckedView,
    nic: &mut N,
    hosts: impl IntoIterator<Item = (H, Spares)>,
    count: u64,
) where
    H: Host<CheckedView>,
    N: Nic<CheckedView>,
{
    nic.stop(m);
    let mut all = Vec::new();
    for (mut host, mut spares) in hosts {
        host.drain(m, &mut spares);
        assert!(host.counters().iter().all(|(name, n)| *name != "faults" || *n == 0), "faults");
        all.append(&mut spares.0);
    }
    all.sort_unstable();
    assert!(all.iter().copied().eq((0..count).map(Buf)), "buffers at the end: {all:?}");
}
