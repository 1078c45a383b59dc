//! `ccnic`: a core and the NIC over each layout and each way to tell of an entry, and a connection of two sides.

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Buf, Memory, Side as Of};
use rings::ccnic::{Back, Layout, Side, Signal, Sizes, connect};
use rings::pool::sides;
use rings::tx::Sizes as TxSizes;
use rings::{Segment, Sends, Spec};

use crate::oracle::{Core, LEN, Port, Spares, buffers};
use crate::stopping::Cycle;
use crate::tx;

const fn sizes(layout: Layout, signal: Signal, back: Back) -> Sizes {
    Sizes { layout, signal, back, ..Sizes::e810(2) }
}

const GROUP: Sizes = sizes(Layout::Group, Signal::Inline, Back::Clear);
const CREDIT: Sizes = sizes(Layout::Pad, Signal::Inline, Back::Credit);
const PAD: Sizes = sizes(Layout::Pad, Signal::Inline, Back::Clear);
const PACK: Sizes = sizes(Layout::Pack, Signal::Inline, Back::Clear);
const REGISTERS: Sizes = Sizes::e810(2);

/// Two frames share a line, if the core is late.
pub(crate) const GROUPED: Scenario =
    Scenario { name: "ccnic, ring 2, grouped, 2 frames together and 1", run: |s| receive(s, &GROUP, 2) };
pub(crate) const CREDITED: Scenario =
    Scenario { name: "ccnic, ring 2, padded with credits, 3 frames", run: |s| receive(s, &CREDIT, 1) };
pub(crate) const PADDED: Scenario =
    Scenario { name: "ccnic, ring 2, padded, 3 frames", run: |s| receive(s, &PAD, 1) };
pub(crate) const PACKED: Scenario =
    Scenario { name: "ccnic, ring 2, packed, 3 frames", run: |s| receive(s, &PACK, 1) };
pub(crate) const TOLD: Scenario =
    Scenario { name: "ccnic, ring 2, registers, 3 frames", run: |s| receive(s, &REGISTERS, 1) };

/// Each frame comes back in its own buffer: whoever has it writes it.
pub(crate) const THERE_AND_BACK: Scenario =
    Scenario { name: "ccnic, two sides, grouped, 2 frames there and back", run: |s| exchange(s, &GROUP, 2) };
pub(crate) const DENSE: Scenario = Scenario {
    name: "ccnic, two sides, dense with credits, 3 frames there and back",
    run: |s| exchange(s, &sizes(Layout::Dense, Signal::Inline, Back::Credit), 3),
};
pub(crate) const REGISTERED: Scenario = Scenario {
    name: "ccnic, two sides, registers, 2 frames there and back",
    run: |s| exchange(s, &REGISTERS, 2),
};

/// Entries that are written at once, the last one first: the reader finds them in their order.
pub(crate) const AT_ONCE: Scenario = Scenario {
    name: "ccnic, two sides, packed with credits, 2 entries at once, twice",
    run: |s| at_once(s, &sizes(Layout::Pack, Signal::Inline, Back::Credit)),
};
pub(crate) const AT_ONCE_CLEARED: Scenario =
    Scenario { name: "ccnic, two sides, packed, 2 entries at once, twice", run: |s| at_once(s, &PACK) };

/// The NIC delivers three frames, the first `together` of them in one call. Each has a mark: a descriptor before its own.
fn receive(mut space: CheckedSpace, sizes: &Sizes, together: usize) {
    let b = buffers(&mut space, 3);
    let (mut hosts, nic) = sizes.build(&mut space, 1, b).unwrap();
    let space = space.share();
    let mut m = space.view(Of::Host);
    let mut core = Core::filled(&mut m, (0, hosts.remove(0)), b, Spares::new(0, 3));
    let core = spawn(move || {
        core.receive(&mut m, 3);
        core
    });
    let (mut m, mut port) = (space.view(Of::Nic), Port::new(nic, 1));
    port.deliver_together(&mut m, 0, together);
    (together..3).for_each(|_| port.deliver(&mut m, 0));
    port.settle(&mut space.view(Of::Both), vec![core.join().unwrap()], 3);
}

/// There are as many buffers as descriptors: the core must free one before it can write the third frame.
pub(crate) const SENT: Scenario =
    Scenario { name: "ccnic, tx ring 2, grouped, 3 frames", run: |s| transmit(s, &GROUP, 1, 3) };
pub(crate) const SENT_SEGMENTS: Scenario = Scenario {
    name: "ccnic, tx ring 2, packed with credits, 2 frames of 2 segments",
    run: |s| transmit(s, &sizes(Layout::Pack, Signal::Inline, Back::Credit), 2, 2),
};

fn transmit(space: CheckedSpace, sizes: &Sizes, segments: usize, frames: u8) {
    tx::run_over(space, |space| sizes.transmit(space, TX, 1).unwrap(), segments, frames);
}

/// The queue stops, its core takes back what the NIC had looked at as well, and it starts again: cleared, the NIC must not
/// find what it passed over.
pub(crate) const RESTARTED: Scenario =
    Scenario { name: "ccnic, ring 2, grouped, stopped after 1 frame, 2 more", run: |s| restarted(s, &GROUP) };
pub(crate) const RESTARTED_CREDIT: Scenario = Scenario {
    name: "ccnic, ring 2, padded with credits, stopped after 1 frame, 2 more",
    run: |s| restarted(s, &CREDIT),
};
pub(crate) const TX_RESTARTED: Scenario = Scenario {
    name: "ccnic, tx ring 2, grouped, stopped after 2 frames, 3 more",
    run: |s| tx::restarted_over(s, |space| GROUP.transmit(space, TX, 1).unwrap()),
};

fn restarted(mut space: CheckedSpace, sizes: &Sizes) {
    let b = buffers(&mut space, 3);
    let (mut hosts, nic) = sizes.build(&mut space, 1, b).unwrap();
    let cycle = Cycle { b, count: 3, before: 1, after: 2 };
    cycle.run(space, (hosts.remove(0), nic), |_, _| {});
}

const TX: TxSizes = TxSizes { ring: 2, complete_every: 1 };

/// What the host sends with number `n`, and what the NIC makes of it.
const fn bytes(n: u8, back: bool) -> [u8; 2] {
    [n, back as u8]
}

/// Receives the next frame, holds it to its bytes and keeps its buffer.
fn next(m: &mut CheckedView, side: &mut Side<CheckedView>, b: CheckedBuffers, want: [u8; 2]) -> Segment {
    let mut out = [Segment { buf: Buf(u64::MAX), off: 0, len: 0, last: false }];
    while side.rx_burst(m, &mut out) == 0 {
        m.idle();
    }
    let [s] = out;
    let mut got = [0xff; 2];
    m.get(b, s.buf, s.off.into(), &mut got, s.len.into());
    assert_eq!((got, s.len, s.last), (want, LEN, true), "lost, doubled, torn or overtaken");
    s
}

fn send(m: &mut CheckedView, side: &mut Side<CheckedView>, segment: Segment) {
    while side.tx_burst(m, &[segment]) == 0 {
        m.idle();
    }
}

fn exchange(mut space: CheckedSpace, sizes: &Sizes, frames: u8) {
    let b = buffers(&mut space, 2);
    let pool = sides::Sizes::new(2, 0);
    let (mut host, mut nic) = connect(&mut space, sizes, &pool, 1, b).unwrap().remove(0);
    let space = space.share();
    let mut m = space.view(Of::Nic);
    let thread = spawn(move || {
        for n in 1..=frames {
            let segment = next(&mut m, &mut nic, b, bytes(n, false));
            m.put(b, segment.buf, segment.off.into(), &bytes(n, true), LEN.into());
            send(&mut m, &mut nic, segment);
        }
        nic
    });
    let mut m = space.view(Of::Host);
    // The pool gave the host one buffer of the two.
    let mut buf = [Buf(u64::MAX)];
    assert_eq!(host.alloc(&mut m, &mut buf), 1);
    for n in 1..=frames {
        m.put(b, buf[0], 3, &bytes(n, false), LEN.into());
        send(&mut m, &mut host, Segment { buf: buf[0], off: 3, len: LEN, last: true });
        buf[0] = next(&mut m, &mut host, b, bytes(n, true)).buf;
    }
    let nic = thread.join().unwrap();
    assert_eq!([host.end().held(), nic.end().held()], [1, 0]);
    for side in [&host, &nic] {
        assert!(side.end().counters().iter().all(|(_, count)| *count == 0), "{:?}", side.end().counters());
    }
}

/// Two frames in one call, then two in their buffers, which the other side has freed.
fn at_once(mut space: CheckedSpace, sizes: &Sizes) {
    let b = buffers(&mut space, 4);
    let pool = sides::Sizes::new(4, 0);
    let (mut host, mut nic) = connect(&mut space, sizes, &pool, 1, b).unwrap().remove(0);
    let space = space.share();
    let mut m = space.view(Of::Nic);
    let thread = spawn(move || {
        for n in 1..=4 {
            let segment = next(&mut m, &mut nic, b, bytes(n, false));
            nic.free(&mut m, &[segment.buf]);
        }
        nic
    });
    let mut m = space.view(Of::Host);
    for n in [1, 3] {
        let mut bufs = [Buf(u64::MAX); 2];
        let mut got = host.alloc(&mut m, &mut bufs);
        while got < bufs.len() {
            m.idle();
            got += host.alloc(&mut m, &mut bufs[got..]);
        }
        let segs = [0, 1].map(|k| Segment { buf: bufs[k], off: 3, len: LEN, last: true });
        (n..).zip(&bufs).for_each(|(n, buf)| m.put(b, *buf, 3, &bytes(n, false), LEN.into()));
        let mut sent = host.tx_burst(&mut m, &segs);
        while sent < segs.len() {
            m.idle();
            sent += host.tx_burst(&mut m, &segs[sent..]);
        }
    }
    let nic = thread.join().unwrap();
    assert_eq!([host.end().held(), nic.end().held()], [0, 0]);
    assert!(host.end().counters().iter().all(|(name, count)| *count == 0 || *name == "pool_shortages"));
}

#[test]
fn a_group_arrives_once_and_intact() {
    crate::passes(GROUPED);
}

#[test]
fn entries_that_are_told_of_are_not_overwritten() {
    crate::passes(CREDITED);
}

#[test]
fn padded_entries_arrive_once_and_intact() {
    crate::passes(PADDED);
}

#[test]
fn packed_entries_arrive_once_and_intact() {
    crate::passes(PACKED);
}

#[test]
fn registers_tell_of_whole_entries() {
    crate::passes(TOLD);
}

#[test]
fn a_buffer_goes_there_and_back() {
    crate::passes(THERE_AND_BACK);
}

#[test]
fn a_dense_line_goes_there_and_back() {
    crate::passes(DENSE);
}

#[test]
fn entries_that_are_written_at_once_arrive_in_order() {
    crate::passes(AT_ONCE);
    crate::passes(AT_ONCE_CLEARED);
}

#[test]
fn registers_tell_both_ways() {
    crate::passes(REGISTERED);
}

#[test]
fn frames_leave_once_and_intact() {
    crate::passes(SENT);
}

#[test]
fn segments_leave_as_whole_frames() {
    crate::passes(SENT_SEGMENTS);
}

#[test]
fn a_queue_starts_again_where_it_stopped() {
    crate::passes(RESTARTED);
    crate::passes(RESTARTED_CREDIT);
}

#[test]
fn a_transmit_queue_starts_again_where_it_stopped() {
    crate::passes(TX_RESTARTED);
}
