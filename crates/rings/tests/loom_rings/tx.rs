//! One core sends, one NIC collects. There are as many buffers as descriptors, so the core must free
//! one before it can write the next frame, and must not before the NIC has read it.

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Buf, Memory, Side};
use rings::tx::{Sizes, build};
use rings::{Buffers, Segment, TxHost, TxNic};

use crate::oracle::{LEN, Spares, buffers};
use crate::stopping::{gate, raised};

pub(crate) const SINGLE: Scenario =
    Scenario { name: "tx, ring 2, 3 frames", run: |space| run(space, 1, 1, 3) };

/// Frames of two segments; completions every 4 descriptors would never come but for the empty ring.
pub(crate) const SEGMENTS: Scenario =
    Scenario { name: "tx, ring 2, 2 frames of 2 segments", run: |space| run(space, 2, 4, 2) };

/// The queue stops before the NIC has collected both frames, is drained, and starts again.
pub(crate) const RESTARTED: Scenario =
    Scenario { name: "tx, ring 2, stopped after 2 frames, 3 more", run: restarted };

fn send<H: TxHost<CheckedView>>(m: &mut CheckedView, host: &mut H, spares: &mut Spares, frame: Frame) {
    let Frame { b, segments, n } = frame;
    let mut bufs = vec![Buf(u64::MAX); segments];
    let mut have = 0;
    while have < segments {
        let got = spares.take(m, &mut bufs[have..]);
        have += got;
        if got == 0 && host.reclaim(m, spares) == 0 {
            m.idle();
        }
    }
    let mut frame: Vec<_> = bufs.iter().map(|&buf| Segment { buf, off: 2, len: LEN, last: false }).collect();
    frame[segments - 1].last = true;
    for (k, segment) in frame.iter().enumerate() {
        m.put(b, segment.buf, segment.off.into(), &[n, k as u8], LEN.into());
    }
    while host.tx_burst(m, spares, &frame) == 0 {
        m.idle();
    }
}

#[derive(Clone, Copy)]
struct Frame {
    b: CheckedBuffers,
    segments: usize,
    n: u8,
}

/// Collects frame `n` and reads it, when it comes.
fn collect<N: TxNic<CheckedView>>(
    m: &mut CheckedView,
    nic: &mut N,
    b: CheckedBuffers,
    segments: usize,
    n: u8,
) {
    while !collected(m, nic, Frame { b, segments, n }) {
        m.idle();
    }
}

/// Collects a frame, which is this one, and reads it; whether there was one.
fn collected<N: TxNic<CheckedView>>(
    m: &mut CheckedView,
    nic: &mut N,
    Frame { b, segments, n }: Frame,
) -> bool {
    let mut frame = Vec::new();
    let Some((queue, count)) = nic.collect(m, &mut frame) else { return false };
    assert_eq!((queue, count, frame.len()), (0, segments, segments));
    for (k, segment) in (0..).zip(&frame) {
        let buf = m.check(b, segment.buf.0, segment.len.into()).unwrap();
        let mut bytes = [0xff; 3];
        m.get(b, buf, segment.off.into(), &mut bytes, segment.len.into());
        assert_eq!(bytes, [n, k, 0], "lost, doubled or overwritten");
        assert_eq!(segment.last, usize::from(k) + 1 == segments);
    }
    nic.sent(m, queue, count);
    true
}

fn run(space: CheckedSpace, segments: usize, complete_every: u32, frames: u8) {
    run_over(space, |space| build(space, Sizes { ring: 2, complete_every }, 1).unwrap(), segments, frames);
}

/// The same over any halves that send.
pub(crate) fn run_over<H, N>(
    mut space: CheckedSpace,
    build: impl FnOnce(&mut CheckedSpace) -> (Vec<H>, N),
    segments: usize,
    frames: u8,
) where
    H: TxHost<CheckedView> + 'static,
    N: TxNic<CheckedView>,
{
    let b = buffers(&mut space, 2);
    let (mut hosts, mut nic) = build(&mut space);
    let space = space.share();
    let (mut host, mut spares, mut m) = (hosts.remove(0), Spares::new(0, 2), space.view(Side::Host));
    let core = spawn(move || {
        for n in 1..=frames {
            send(&mut m, &mut host, &mut spares, Frame { b, segments, n });
        }
        (host, spares)
    });
    let mut port = space.view(Side::Nic);
    for n in 1..=frames {
        collect(&mut port, &mut nic, b, segments, n);
    }
    let (host, spares) = core.join().unwrap();
    settle(&mut space.view(Side::Both), host, spares);
}

/// Everything stands still: each buffer is there once.
fn settle<H: TxHost<CheckedView>>(m: &mut CheckedView, mut host: H, mut spares: Spares) {
    host.reclaim(m, &mut spares);
    assert_eq!(host.filled(), 0, "a completion never came");
    spares.0.sort_unstable();
    assert_eq!(spares.0, [Buf(0), Buf(1)]);
}

/// Frames 1 and 2 fill the ring; those that are not collected by the stop are never sent, 3 to 5 all are.
fn restarted(space: CheckedSpace) {
    restarted_over(space, |space| build(space, Sizes { ring: 2, complete_every: 1 }, 1).unwrap());
}

/// The same over any halves that send.
pub(crate) fn restarted_over<H, N>(
    mut space: CheckedSpace,
    build: impl FnOnce(&mut CheckedSpace) -> (Vec<H>, N),
) where
    H: TxHost<CheckedView> + 'static,
    N: TxNic<CheckedView>,
{
    let b = buffers(&mut space, 2);
    let (mut hosts, mut nic) = build(&mut space);
    let control = gate(&mut space, "test.control", Side::Nic, Side::Host);
    let drained = gate(&mut space, "test.drained", Side::Host, Side::Nic);
    let space = space.share();
    let (mut host, mut spares, mut m) = (hosts.remove(0), Spares::new(0, 2), space.view(Side::Host));
    let frame = move |n| Frame { b, segments: 1, n };
    let core = spawn(move || {
        (1..=2).for_each(|n| send(&mut m, &mut host, &mut spares, frame(n)));
        raised(&mut m, control, 1);
        host.drain(&mut m, &mut spares);
        assert_eq!(spares.0.len(), 2, "every buffer came back");
        m.release(drained, 0, 1);
        raised(&mut m, control, 2);
        (3..=5).for_each(|n| send(&mut m, &mut host, &mut spares, frame(n)));
        (host, spares)
    });
    let mut m = space.view(Side::Nic);
    let first = collected(&mut m, &mut nic, frame(1));
    if first {
        collected(&mut m, &mut nic, frame(2));
    }
    nic.stop_queue(0);
    assert!(!collected(&mut m, &mut nic, frame(0)), "a stopped queue is not collected");
    m.release(control, 0, 1);
    raised(&mut m, drained, 1);
    nic.start_queue(&mut m, 0);
    m.release(control, 0, 2);
    (3..=5).for_each(|n| collect(&mut m, &mut nic, b, 1, n));
    let (host, spares) = core.join().unwrap();
    settle(&mut space.view(Side::Both), host, spares);
}

#[test]
fn frames_leave_once_and_intact() {
    crate::passes(SINGLE);
}

#[test]
fn segments_leave_as_whole_frames() {
    crate::passes(SEGMENTS);
}

#[test]
fn a_queue_starts_again_where_it_stopped() {
    crate::passes(RESTARTED);
}
