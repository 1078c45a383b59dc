//! A connection of `ccnic`: frames arrive once, whole and in order, and each buffer is in one place, whatever the layout
//! and whatever one side writes.

use std::collections::VecDeque;

use crate::common::lies::value;
use crate::common::noting::{Noting, Poke};
use crate::common::{Plain, counter};
use memory::{Backing, Buf, Geometry, Memory, NativeView, Region, Side as Of, Space};
use proptest::prelude::*;
use rings::Segment;
use rings::ccnic::{Back, Homing, Layout, Side, Sides, Signal, Sizes, connect};
use rings::pool::sides;

const ROOM: u32 = 128;

/// A frame on its way: what each of its segments holds.
type Sent = Vec<(u16, Vec<u8>)>;

/// Both sides of a connection, what they hold, and what is on its way to each.
struct Bed<M: Memory> {
    sides: [Side<M>; 2],
    views: [M; 2],
    b: M::Buffers,
    held: [Vec<Buf>; 2],
    /// Frames to each side.
    ways: [VecDeque<Sent>; 2],
    /// Segments that a side has of a frame that it is receiving.
    begun: [Vec<Segment>; 2],
    next: u64,
    count: usize,
}

impl<M: Memory> Bed<M> {
    fn new((host, nic): Sides<M>, views: [M; 2], b: M::Buffers, count: u32) -> Bed<M> {
        let (held, ways, begun) = Default::default();
        Bed { sides: [host, nic], views, b, held, ways, begun, next: 0, count: count as usize }
    }

    fn alloc(&mut self, side: usize, n: usize) {
        let mut out = vec![Buf(u64::MAX); n];
        let got = self.sides[side].alloc(&mut self.views[side], &mut out);
        for buf in &out[..got] {
            assert!(!self.held.iter().flatten().any(|b| b == buf), "{buf:?} twice");
            self.held[side].push(*buf);
        }
    }

    fn free(&mut self, side: usize, n: usize) {
        let n = n.min(self.held[side].len());
        let bufs: Vec<_> = self.held[side].drain(..n).collect();
        self.sides[side].free(&mut self.views[side], &bufs);
    }

    /// Sends frames of as many segments each as told, as far as buffers are held and there is room.
    fn send(&mut self, side: usize, frames: &[u8]) {
        let (mut segs, mut sent) = (Vec::new(), Vec::new());
        for count in frames.iter().map(|n| usize::from(*n)) {
            if self.held[side].len() < count {
                break;
            }
            let bufs: Vec<_> = self.held[side].drain(..count).collect();
            let mut frame = Sent::new();
            for (k, buf) in bufs.into_iter().enumerate() {
                self.next += 1;
                let (off, bytes) = ((self.next % 50) as u16, self.next.to_le_bytes().repeat(1 + k));
                self.views[side].put(self.b, buf, off.into(), &bytes, bytes.len() as u32);
                segs.push(Segment { buf, off, len: bytes.len() as u16, last: k + 1 == count });
                frame.push((off, bytes));
            }
            sent.push(frame);
        }
        let taken = self.sides[side].tx_burst(&mut self.views[side], &segs);
        let whole = segs[..taken].iter().filter(|s| s.last).count();
        assert!(taken == 0 || segs[taken - 1].last, "a part of a frame was taken");
        self.ways[1 - side].extend(sent.drain(..whole));
        self.held[side].extend(segs[taken..].iter().map(|s| s.buf));
    }

    fn receive(&mut self, side: usize, n: usize) -> usize {
        let mut out = vec![Segment { buf: Buf(u64::MAX), off: 0, len: 0, last: false }; n];
        let got = self.sides[side].rx_burst(&mut self.views[side], &mut out);
        for segment in &out[..got] {
            let begun = self.begun.iter().flatten().map(|s| s.buf);
            assert!(
                !self.held.iter().flatten().copied().chain(begun).any(|b| b == segment.buf),
                "{segment:?} twice"
            );
            self.begun[side].push(*segment);
            if segment.last {
                let frame = self.ways[side].pop_front().expect("a frame that nobody sent");
                let begun = std::mem::take(&mut self.begun[side]);
                self.held[side].extend(begun.iter().map(|s| s.buf));
                let got: Sent = begun.iter().map(|s| self.read(side, s)).collect();
                assert_eq!(got, frame, "torn, lost, doubled or overtaken");
            }
        }
        got
    }

    fn read(&mut self, side: usize, s: &Segment) -> (u16, Vec<u8>) {
        let mut bytes = vec![0; s.len.into()];
        self.views[side].get(self.b, s.buf, s.off.into(), &mut bytes, s.len.into());
        (s.off, bytes)
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Alloc { side, n } => self.alloc(*side, *n),
            Step::Free { side, n } => self.free(*side, *n),
            Step::Send { side, frames } => self.send(*side, frames),
            Step::Receive { side, n } => _ = self.receive(*side, *n),
            Step::Lie { .. } => {}
        }
        for side in [0, 1] {
            let held = self.held[side].len() + self.begun[side].len();
            assert_eq!(self.sides[side].end().held(), held as u64);
        }
    }

    /// All frames arrive, and each side can have all buffers, once.
    fn settle(mut self) {
        for side in [0, 1] {
            while self.receive(side, 7) > 0 {}
            assert!(self.ways[side].is_empty() && self.begun[side].is_empty());
            self.free(side, usize::MAX);
        }
        for side in [0, 1] {
            self.sides[1 - side].end_mut().flush(&mut self.views[1 - side]);
            self.alloc(side, self.count + 1);
            assert_eq!(self.held[side].len(), self.count);
            self.free(side, usize::MAX);
        }
        for side in &self.sides {
            let told = side.end().counters();
            assert_eq!(["pool_foreign", "pool_lies"].map(|name| counter(&told, name)), [0, 0]);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Alloc {
        side: usize,
        n: usize,
    },
    Free {
        side: usize,
        n: usize,
    },
    Send {
        side: usize,
        frames: Vec<u8>,
    },
    Receive {
        side: usize,
        n: usize,
    },
    /// A word of the connection is overwritten.
    Lie {
        field: usize,
        word: u64,
        value: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let frames = prop::collection::vec(prop_oneof![4 => Just(1_u8), 1 => 2..6_u8], 0..12);
    prop_oneof![
        3 => (0..2usize, 0..12usize).prop_map(|(side, n)| Step::Alloc { side, n }),
        2 => (0..2usize, 1..12usize).prop_map(|(side, n)| Step::Free { side, n }),
        4 => (0..2usize, frames).prop_map(|(side, frames)| Step::Send { side, frames }),
        4 => (0..2usize, 0..12usize).prop_map(|(side, n)| Step::Receive { side, n }),
    ]
}

fn lie() -> impl Strategy<Value = Step> {
    (0..16usize, 0..64u64, value()).prop_map(|(field, word, value)| Step::Lie { field, word, value })
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let layout = prop::sample::select(vec![Layout::Group, Layout::Pad, Layout::Pack, Layout::Dense]);
    let signal = prop::sample::select(vec![Signal::Inline, Signal::Register]);
    let back = prop::sample::select(vec![Back::Clear, Back::Credit]);
    let homing = prop::sample::select(vec![Homing::Writer, Homing::Reader, Homing::Host, Homing::Nic]);
    (1..=5u32, layout, signal, back, homing).prop_map(|(ring, layout, signal, back, homing)| Sizes {
        ring: 1 << ring,
        layout,
        signal,
        back,
        homing,
    })
}

fn pool() -> impl Strategy<Value = sides::Sizes> {
    (2..40u32).prop_flat_map(|count| (0..=count / 3).prop_map(move |cache| sides::Sizes::new(count, cache)))
}

const CASES: u32 = if cfg!(miri) { 3 } else { 4000 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_arrive_once_and_buffers_come_back(
        sizes in sizes(),
        pool in pool(),
        queued in any::<bool>(),
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let exchange = if queued { sides::Exchange::Queue } else { sides::Exchange::Lanes };
        let pool = sides::Sizes { exchange, ..pool };
        let mut space = Plain::new(Of::Both);
        let b = space.buffers(&Geometry::plain(2 * pool.count, ROOM)).unwrap();
        let sides = connect(&mut space, &sizes, &pool, 2, b).unwrap().remove(1);
        let views = [space.side(Of::Host), space.side(Of::Nic)];
        let mut bed = Bed::new(sides, views, b, pool.count);
        steps.iter().for_each(|step| bed.apply(step));
        bed.settle();
    }

    /// Both sides of connection 0 hear lies: neither ever holds a buffer twice, or one of connection 1, which in the
    /// same region does not notice.
    #[test]
    fn lies_cost_the_liar_alone(
        sizes in sizes(),
        pool in pool(),
        steps in prop::collection::vec((any::<bool>(), prop_oneof![3 => step(), 2 => lie()]), 0..120),
    ) {
        let region = Region::new(1 << 16, Backing::Heap).unwrap();
        let mut space = Noting::new(&region);
        let b = space.buffers(&Geometry::plain(2 * pool.count, ROOM)).unwrap();
        let mut all = connect(&mut space, &sizes, &pool, 2, b).unwrap();
        let view = region.view();
        let mut honest = Bed::new(all.remove(1), [view.clone(), view.clone()], b, pool.count);
        let mut lied = Lied::new(all.remove(0), space, view, pool.count);
        for (at_honest, step) in &steps {
            if *at_honest { honest.apply(step) } else { lied.apply(step) }
        }
        honest.settle();
        lied.settle();
    }
}

type View<'r> = NativeView<'r>;

/// A connection that hears lies.
struct Lied<'r> {
    sides: [Side<View<'r>>; 2],
    m: View<'r>,
    held: [Vec<Buf>; 2],
    pokes: Vec<Poke<'r>>,
    count: u32,
}

impl<'r> Lied<'r> {
    fn new((host, nic): Sides<View<'r>>, space: Noting<'r>, m: View<'r>, count: u32) -> Lied<'r> {
        let pokes = space.pokes.into_iter().filter(|(_, of, _)| *of == 0).map(|(_, _, poke)| poke).collect();
        Lied { sides: [host, nic], m, held: Default::default(), pokes, count }
    }

    fn hold(&mut self, side: usize, buf: Buf) {
        assert!(buf.0 < u64::from(self.count), "{buf:?} is of another connection");
        assert!(!self.held[side].contains(&buf), "side {side} has {buf:?} twice");
        self.held[side].push(buf);
    }

    fn alloc(&mut self, side: usize, n: usize) -> usize {
        let mut out = vec![Buf(u64::MAX); n];
        let got = self.sides[side].alloc(&mut self.m, &mut out);
        out[..got].iter().for_each(|buf| self.hold(side, *buf));
        got
    }

    fn free(&mut self, side: usize, n: usize) {
        let n = n.min(self.held[side].len());
        let bufs: Vec<_> = self.held[side].drain(..n).collect();
        self.sides[side].free(&mut self.m, &bufs);
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Alloc { side, n } => _ = self.alloc(*side, *n),
            Step::Free { side, n } => self.free(*side, *n),
            Step::Send { side, frames } => {
                let n = frames.len().min(self.held[*side].len());
                let segs: Vec<_> = self.held[*side].drain(..n).collect();
                let segs: Vec<_> =
                    segs.into_iter().map(|buf| Segment { buf, off: 1, len: 60, last: true }).collect();
                let taken = self.sides[*side].tx_burst(&mut self.m, &segs);
                self.held[*side].extend(segs[taken..].iter().map(|s| s.buf));
            }
            Step::Receive { side, n } => {
                let mut out = vec![Segment { buf: Buf(u64::MAX), off: 0, len: 0, last: false }; *n];
                let got = self.sides[*side].rx_burst(&mut self.m, &mut out);
                for s in &out[..got] {
                    assert!(u32::from(s.off) + u32::from(s.len) <= ROOM, "{s:?}");
                    self.hold(*side, s.buf);
                }
            }
            Step::Lie { field, word, value } => {
                self.pokes[field % self.pokes.len()](&mut self.m, *word, *value);
            }
        }
        for side in [0, 1] {
            assert_eq!(self.sides[side].end().held(), self.held[side].len() as u64);
        }
    }

    /// Each side takes the other for dead, and then has every buffer once.
    fn settle(mut self) {
        for side in [0, 1] {
            self.free(side, usize::MAX);
            self.sides[side].end_mut().reclaim();
            assert_eq!(self.alloc(side, self.count as usize + 1), self.count as usize);
            assert_eq!(counter(&self.sides[side].end().counters(), "pool_foreign"), 0);
        }
    }
}

fn one(sizes: Sizes, count: u32) -> (Bed<Plain>, Plain) {
    let mut space = Plain::new(Of::Both);
    let b = space.buffers(&Geometry::plain(count, ROOM)).unwrap();
    let sides = connect(&mut space, &sizes, &sides::Sizes::new(count, count / 3), 1, b).unwrap().remove(0);
    (Bed::new(sides, [space.side(Of::Host), space.side(Of::Nic)], b, count), space)
}

/// Lines that are written for bursts of one to nine frames (§3.2).
#[test]
fn a_burst_takes_as_few_lines_as_its_layout_allows() {
    for (layout, per_line) in [(Layout::Group, 4), (Layout::Pad, 1), (Layout::Pack, 1), (Layout::Dense, 8)] {
        let (mut bed, space) = one(Sizes { ring: 256, layout, ..Sizes::default() }, 128);
        for burst in 1..=9_usize {
            let before = space.stores("ccnic.down");
            bed.alloc(0, burst);
            bed.send(0, &vec![1; burst]);
            assert_eq!(
                space.stores("ccnic.down") - before,
                burst.div_ceil(per_line) as u64,
                "{layout:?} {burst}"
            );
            let (cleared, entries) = (space.stores("ccnic.down"), burst.div_ceil(per_line) as u64);
            assert_eq!(bed.receive(1, 16), burst);
            // What is behind the last frame of an entry is looked at with the next one.
            let now = space.stores("ccnic.down") - cleared;
            assert!(now <= entries && now + 1 >= entries, "{layout:?} {burst}: {now} cleared");
            bed.free(1, burst);
        }
        bed.settle();
    }
}

/// A buffer that was sent comes back as the first that is taken on the other side (§3.3).
#[test]
fn what_was_received_is_sent_next() {
    let (mut bed, _) = one(Sizes { ring: 8, ..Sizes::default() }, 12);
    bed.alloc(0, 1);
    let sent = bed.held[0][0];
    bed.send(0, &[1]);
    assert_eq!(bed.receive(1, 1), 1);
    bed.free(1, 1);
    bed.alloc(1, 1);
    assert_eq!(bed.held[1], [sent]);
    bed.settle();
}

#[test]
fn a_frame_with_a_buffer_of_somebody_else_goes_nowhere() {
    let (mut bed, _) = one(Sizes { ring: 8, ..Sizes::default() }, 12);
    bed.alloc(0, 2);
    let [own, other] = [bed.held[0][0], Buf(1)];
    let frame = [own, other].map(|buf| Segment { buf, off: 0, len: 1, last: buf == other });
    assert_eq!(bed.sides[0].tx_burst(&mut bed.views[0], &frame), 2, "taken, and dropped");
    assert_eq!((bed.receive(1, 4), bed.sides[0].end().held()), (0, 2), "what it held it still holds");
    assert_eq!(counter(&bed.sides[0].end().counters(), "pool_foreign"), 1);
}

#[test]
fn what_cannot_work_is_named() {
    let mut space = Plain::new(Of::Both);
    let b = space.buffers(&Geometry::plain(4, ROOM)).unwrap();
    let pool = sides::Sizes::new(1 << 23, 0);
    let mut told = |sizes: Sizes| match connect(&mut space, &sizes, &pool, 3, b) {
        Err(error) => error.to_string(),
        Ok(_) => String::new(),
    };
    assert!(
        told(Sizes { ring: 100, ..Sizes::default() })
            .starts_with("ccnic: ring is 100; allowed: a power of two")
    );
    assert_eq!(
        told(Sizes { layout: Layout::Dense, ..Sizes::default() }),
        "ccnic: 8388608 buffers for 3 dense connections; allowed: 16777216 together"
    );
}
