//! A pool with an end on each side: each buffer is in exactly one place, whatever the other side writes.

use std::collections::{BTreeMap, VecDeque};

use crate::common::lies::value;
use crate::common::noting::{Noting, Poke};
use crate::common::{Plain, counter};
use memory::{Backing, Buf, Geometry, Memory, NativeView, Region, Side, Space};
use proptest::prelude::*;
use rings::Buffers;
use rings::pool::sides::{End, Exchange, Fill, Pair, Sizes, build};

/// Where a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In one of the ends, or between them.
    Pool,
    /// With somebody of side 0 (host) or 1 (NIC).
    Held(usize),
    /// In a ring, to this side.
    Wire(usize),
}

/// The oracle: what is known of each buffer of a pair from its handovers alone.
struct Truth(BTreeMap<Buf, Place>);

impl Truth {
    fn new(buffers: std::ops::Range<u64>) -> Truth {
        Truth(buffers.map(|b| (Buf(b), Place::Pool)).collect())
    }

    fn goes(&mut self, buf: Buf, from: Place, to: Place) {
        let place = self.0.get_mut(&buf).unwrap_or_else(|| panic!("{buf:?} is of another pair"));
        assert_eq!(*place, from, "{buf:?} on its way to {to:?}");
        *place = to;
    }

    fn count(&self, place: Place) -> u64 {
        self.0.values().filter(|p| **p == place).count() as u64
    }
}

/// A pair, what its sides hold, and two rings between them.
struct Bed<M: Memory> {
    ends: [End<M>; 2],
    views: [M; 2],
    held: [Vec<Buf>; 2],
    /// Words to each side.
    wires: [VecDeque<u64>; 2],
    truth: Truth,
}

impl<M: Memory> Bed<M> {
    fn new((host, nic): Pair<M>, views: [M; 2], buffers: std::ops::Range<u64>) -> Bed<M> {
        let (held, wires) = Default::default();
        Bed { ends: [host, nic], views, held, wires, truth: Truth::new(buffers) }
    }

    fn take(&mut self, side: usize, n: usize) {
        let mut out = vec![Buf(u64::MAX); n];
        let got = self.ends[side].take(&mut self.views[side], &mut out);
        for buf in &out[..got] {
            self.truth.goes(*buf, Place::Pool, Place::Held(side));
        }
        self.held[side].extend(&out[..got]);
    }

    fn give(&mut self, side: usize, n: usize) {
        let n = n.min(self.held[side].len());
        let bufs: Vec<_> = self.held[side].drain(..n).collect();
        bufs.iter().for_each(|buf| self.truth.goes(*buf, Place::Held(side), Place::Pool));
        self.ends[side].give(&mut self.views[side], &bufs);
    }

    fn pass(&mut self, side: usize) {
        if let Some(buf) = self.held[side].pop() {
            self.truth.goes(buf, Place::Held(side), Place::Wire(1 - side));
            assert!(self.ends[side].pass(buf));
            self.wires[1 - side].push_back(buf.0);
        }
    }

    fn admit(&mut self, side: usize) {
        if let Some(raw) = self.wires[side].pop_front() {
            let buf = self.ends[side].admit(&self.views[side], raw, 64).unwrap();
            self.truth.goes(buf, Place::Wire(side), Place::Held(side));
            self.held[side].push(buf);
        }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Take { side, n } => self.take(side, n),
            Step::Give { side, n } => self.give(side, n),
            Step::Pass { side } => self.pass(side),
            Step::Admit { side } => self.admit(side),
            Step::Flush { side } => self.ends[side].flush(&mut self.views[side]),
            Step::Lie { .. } | Step::Name { .. } => {}
        }
        self.judge();
    }

    fn judge(&self) {
        for side in [0, 1] {
            assert_eq!(self.ends[side].held(), self.truth.count(Place::Held(side)), "held by side {side}");
        }
        let free = self.ends[0].free() + self.ends[1].free();
        assert!(free <= self.truth.count(Place::Pool), "free at both ends");
    }

    /// Everything comes back, and each side can have it all, once.
    fn settle(mut self) {
        for side in [0, 1] {
            while !self.wires[side].is_empty() {
                self.admit(side);
            }
            self.give(side, usize::MAX);
        }
        let count = self.truth.0.len();
        for side in [0, 1, 0] {
            self.ends[1 - side].flush(&mut self.views[1 - side]);
            self.take(side, count + 1);
            assert_eq!(self.held[side].len(), count, "all buffers at side {side}");
            self.give(side, count);
        }
        for end in &self.ends {
            let sum: u64 = ["pool_foreign", "pool_lies"].iter().map(|n| counter(&end.counters(), n)).sum();
            assert_eq!(sum, 0, "{:?}", end.counters());
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Take {
        side: usize,
        n: usize,
    },
    Give {
        side: usize,
        n: usize,
    },
    Pass {
        side: usize,
    },
    Admit {
        side: usize,
    },
    Flush {
        side: usize,
    },
    /// A word that `side` reads is overwritten.
    Lie {
        side: usize,
        field: usize,
        word: u64,
        value: u64,
    },
    /// A ring names this to `side`.
    Name {
        side: usize,
        raw: u64,
        len: u32,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2usize, 0..9usize).prop_map(|(side, n)| Step::Take { side, n }),
        4 => (0..2usize, 1..9usize).prop_map(|(side, n)| Step::Give { side, n }),
        4 => (0..2usize).prop_map(|side| Step::Pass { side }),
        4 => (0..2usize).prop_map(|side| Step::Admit { side }),
        1 => (0..2usize).prop_map(|side| Step::Flush { side }),
    ]
}

fn lie() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..2usize, 0..2usize, 0..16u64, value())
            .prop_map(|(side, field, word, value)| Step::Lie { side, field, word, value }),
        1 => (0..2usize, value(), 0..200u32).prop_map(|(side, raw, len)| Step::Name { side, raw, len }),
    ]
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let fill = prop_oneof![Just(Fill::Apart), Just(Fill::Sequential)];
    (2..20u32, fill).prop_flat_map(|(count, fill)| {
        (0..=count / 3).prop_map(move |cache| Sizes { fill, ..Sizes::new(count, cache) })
    })
}

/// With a queue as well, whose ends trust each other.
fn any_sizes() -> impl Strategy<Value = Sizes> {
    let exchange = prop_oneof![Just(Exchange::Lanes), Just(Exchange::Queue)];
    (sizes(), exchange).prop_map(|(sizes, exchange)| Sizes { exchange, ..sizes })
}

const fn geometry(count: u32) -> Geometry {
    Geometry::plain(count, 128)
}

const CASES: u32 = if cfg!(miri) { 3 } else { 4000 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_buffer_is_in_one_place(sizes in any_sizes(), steps in prop::collection::vec(step(), 0..120)) {
        let mut space = Plain::new(Side::Both);
        let b = space.buffers(&geometry(2 * sizes.count)).unwrap();
        let pair = build(&mut space, &sizes, 2, b).unwrap().remove(1);
        let views = [space.side(Side::Host), space.side(Side::Nic)];
        let count = u64::from(sizes.count);
        let mut bed = Bed::new(pair, views, count..2 * count);
        steps.into_iter().for_each(|step| bed.apply(step));
        bed.settle();
    }

    /// Each end of pair 0 hears lies, and never hands out what somebody of its side holds, or what is pair 1's. Pair 1,
    /// in the same region, does not notice.
    #[test]
    fn lies_cost_the_liar_alone(
        sizes in sizes(),
        steps in prop::collection::vec((any::<bool>(), prop_oneof![3 => step(), 1 => lie()]), 0..120),
    ) {
        let region = Region::new(1 << 14, Backing::Heap).unwrap();
        let mut space = Noting::new(&region);
        let b = space.buffers(&geometry(2 * sizes.count)).unwrap();
        let mut pairs = build(&mut space, &sizes, 2, b).unwrap();
        let count = u64::from(sizes.count);
        let (view, honest) = (region.view(), pairs.remove(1));
        let mut honest = Bed::new(honest, [view.clone(), view.clone()], count..2 * count);
        let mut lied = Lied::new(pairs.remove(0), space, view, count);
        for (at_honest, step) in steps {
            if at_honest { honest.apply(step) } else { lied.apply(step) }
        }
        honest.settle();
        lied.settle();
    }
}

type View<'r> = NativeView<'r>;

/// A pair that hears lies. What one of its sides does no longer tells where a buffer is; each side for itself may hold
/// a buffer of the pair once.
struct Lied<'r> {
    ends: [End<View<'r>>; 2],
    m: View<'r>,
    held: [Vec<Buf>; 2],
    wires: [VecDeque<u64>; 2],
    /// Words that each side reads.
    pokes: [Vec<Poke<'r>>; 2],
    count: u64,
}

impl<'r> Lied<'r> {
    fn new((host, nic): Pair<View<'r>>, space: Noting<'r>, m: View<'r>, count: u64) -> Lied<'r> {
        let mut pokes = [Vec::new(), Vec::new()];
        for (name, pair, poke) in space.pokes {
            if pair == 0 {
                pokes[usize::from(name.starts_with("pool.host"))].push(poke);
            }
        }
        assert!(pokes.iter().all(|of| of.len() == 2), "slots and a number in each direction");
        Lied { ends: [host, nic], m, held: Default::default(), wires: Default::default(), pokes, count }
    }

    fn hold(&mut self, side: usize, buf: Buf) {
        assert!(buf.0 < self.count, "{buf:?} is of another pair");
        assert!(!self.held[side].contains(&buf), "side {side} has {buf:?} twice");
        self.held[side].push(buf);
    }

    fn take(&mut self, side: usize, n: usize) -> usize {
        let mut out = vec![Buf(u64::MAX); n];
        let got = self.ends[side].take(&mut self.m, &mut out);
        out[..got].iter().for_each(|buf| self.hold(side, *buf));
        got
    }

    fn give(&mut self, side: usize, n: usize) {
        let n = n.min(self.held[side].len());
        let bufs: Vec<_> = self.held[side].drain(..n).collect();
        self.ends[side].give(&mut self.m, &bufs);
    }

    fn admit(&mut self, side: usize, raw: u64, len: u32) {
        if let Ok(buf) = self.ends[side].admit(&self.m, raw, len) {
            assert!(len <= 128 && buf.0 == raw);
            self.hold(side, buf);
        }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Take { side, n } => {
                self.take(side, n);
            }
            Step::Give { side, n } => self.give(side, n),
            Step::Pass { side } => {
                if let Some(buf) = self.held[side].pop() {
                    assert!(self.ends[side].pass(buf), "an honest side held it");
                    self.wires[1 - side].push_back(buf.0);
                }
            }
            Step::Admit { side } => {
                if let Some(raw) = self.wires[side].pop_front() {
                    self.admit(side, raw, 64);
                }
            }
            Step::Flush { side } => self.ends[side].flush(&mut self.m),
            Step::Lie { side, field, word, value } => self.pokes[side][field](&mut self.m, word, value),
            Step::Name { side, raw, len } => self.admit(side, raw, len),
        }
        assert_eq!([0, 1].map(|s| self.ends[s].held()), [0, 1].map(|s| self.held[s].len() as u64));
    }

    /// Each side takes the other for dead, and then has every buffer of the pair once.
    fn settle(mut self) {
        for side in [0, 1] {
            self.give(side, usize::MAX);
            self.ends[side].reclaim();
            assert_eq!(self.take(side, self.count as usize + 1), self.count as usize);
            assert_eq!(counter(&self.ends[side].counters(), "pool_foreign"), 0);
        }
    }
}

fn pair(count: u32, cache: u32) -> (Pair<Plain>, Plain, Plain) {
    let mut space = Plain::new(Side::Both);
    let b = space.buffers(&geometry(count)).unwrap();
    let pair = build(&mut space, &Sizes::new(count, cache), 1, b).unwrap().remove(0);
    (pair, space.side(Side::Host), space.side(Side::Nic))
}

fn take<M: Memory>(end: &mut End<M>, m: &mut M, n: usize) -> Vec<u64> {
    let mut out = vec![Buf(u64::MAX); n];
    let got = end.take(m, &mut out);
    out[..got].iter().map(|buf| buf.0).collect()
}

#[test]
fn neighbours_are_on_two_sides_at_first() {
    let ((mut host, mut nic), mut h, mut n) = pair(7, 2);
    assert_eq!(take(&mut host, &mut h, 9), [6, 4, 2, 0]);
    assert_eq!(take(&mut nic, &mut n, 9), [5, 3, 1]);
    assert_eq!(counter(&nic.counters(), "pool_shortages"), 1);
}

#[test]
fn the_last_freed_is_taken_first_and_the_oldest_go() {
    let ((mut host, mut nic), mut h, mut n) = pair(16, 4);
    let held = take(&mut host, &mut h, 8);
    assert_eq!(take(&mut nic, &mut n, 8).len(), 8);
    let given = |bufs: &[u64]| bufs.iter().map(|b| Buf(*b)).collect::<Vec<_>>();
    host.give(&mut h, &given(&held[..6]));
    assert_eq!((host.free(), take(&mut nic, &mut n, 1).len()), (6, 0), "1.5 times the cache stays");
    host.give(&mut h, &given(&held[6..7]));
    assert_eq!(host.free(), 4);
    assert_eq!(take(&mut nic, &mut n, 3), [held[2], held[1], held[0]], "the oldest, the last of them first");
    assert_eq!(take(&mut host, &mut h, 4), [held[6], held[5], held[4], held[3]]);
}

#[test]
fn a_buffer_is_let_in_once_and_given_once() {
    let ((mut host, mut nic), mut h, mut n) = pair(6, 2);
    let first = take(&mut nic, &mut n, 1)[0];
    assert!(nic.pass(Buf(first)) && !nic.pass(Buf(first)), "once");
    nic.give(&mut n, &[Buf(first)]);
    assert_eq!(counter(&nic.counters(), "pool_foreign"), 2, "what is passed is not ours to give");
    assert_eq!(host.admit(&h, first, 128), Ok(Buf(first)));
    assert!(host.admit(&h, first, 128).is_err(), "it is held here");
    assert!(
        host.admit(&h, 0, 64).is_err() && host.admit(&h, 6, 0).is_err() && host.admit(&h, 3, 129).is_err()
    );
    host.give(&mut h, &[Buf(first), Buf(first)]);
    let told = ["pool_lies", "pool_foreign"].map(|name| counter(&host.counters(), name));
    assert_eq!(told, [4, 1]);
}

#[test]
fn a_number_of_more_buffers_than_there_are_is_not_believed() {
    let mut space = Plain::new(Side::Both);
    let b = space.buffers(&geometry(6)).unwrap();
    let (mut host, _) = build(&mut space, &Sizes::new(6, 0), 1, b).unwrap().remove(0);
    let mut h = space.side(Side::Host);
    (0..8).for_each(|k| space.poke("pool.nic.slot", 0, k, 1)); // one of the NIC's
    for lie in [7, u64::MAX] {
        space.poke("pool.nic.given", 0, 0, lie);
        assert_eq!(take(&mut host, &mut h, 6).iter().filter(|b| **b == 1).count(), 0, "{lie}");
    }
    assert_eq!(counter(&host.counters(), "pool_lies"), 2);
    space.poke("pool.nic.given", 0, 0, 6);
    assert_eq!(take(&mut host, &mut h, 6), [1], "named six times, let in once");
    assert_eq!(counter(&host.counters(), "pool_lies"), 7);
}

#[test]
fn a_dead_peer_loses_no_buffer() {
    let ((mut host, mut nic), mut h, mut n) = pair(8, 0);
    let held = take(&mut host, &mut h, 2);
    host.give(&mut h, &[Buf(held[0])]); // on its way to the NIC, and two more
    let taken = take(&mut nic, &mut n, 3);
    nic.give(&mut n, &[Buf(taken[0])]); // on its way to the host
    drop(nic);
    assert_eq!(host.reclaim(), 7, "its four, and the three on their way there");
    let mut all = take(&mut host, &mut h, 9);
    all.push(held[1]);
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
    host.give(&mut h, &all.iter().map(|b| Buf(*b)).collect::<Vec<_>>());
    assert_eq!((host.free(), host.reclaim()), (8, 0), "nothing goes to a dead peer");
}

#[test]
fn what_cannot_work_is_named() {
    let told = |count, cache| Sizes::new(count, cache).validate().unwrap_err().to_string();
    assert_eq!(told(1, 0), "pool: 1 buffers of two sides; allowed: 2 to 16777216");
    assert_eq!(told(12, 5), "pool: an end's cache of 5 for 12 buffers; allowed: up to 4, a third of them");
    assert!(Sizes::new(12, 4).validate().is_ok());
}

/// Without stacks, what one side frees the other one takes from its lane. From a queue whoever is first takes the oldest.
#[test]
fn without_stacks_buffers_come_from_where_they_were_given() {
    for (exchange, gets) in [(Exchange::Lanes, 0), (Exchange::Queue, 2)] {
        let mut space = Plain::new(Side::Both);
        let b = space.buffers(&geometry(8)).unwrap();
        let sizes = Sizes { exchange, ..Sizes::new(8, 0) };
        let (mut host, mut nic) = build(&mut space, &sizes, 1, b).unwrap().remove(0);
        let (mut h, mut n) = (space.side(Side::Host), space.side(Side::Nic));
        let mut out = [Buf(u64::MAX); 8];
        assert_eq!(host.take(&mut h, &mut out), 4, "its half of them");
        host.give(&mut h, &out[..4]);
        assert_eq!(host.take(&mut h, &mut out[..2]), gets, "{exchange:?}");
        let mut rest = [Buf(u64::MAX); 8];
        nic.flush(&mut n);
        assert_eq!(host.take(&mut h, &mut rest), 8 - gets, "all others, from either way: {exchange:?}");
    }
}

/// The order in which a side takes its first buffers.
#[test]
fn a_fill_decides_on_neighbours() {
    for (fill, want) in [(Fill::Apart, [[6, 4, 2], [7, 5, 3]]), (Fill::Sequential, [[0, 1, 2], [4, 5, 6]])] {
        let mut space = Plain::new(Side::Both);
        let b = space.buffers(&geometry(8)).unwrap();
        let (host, nic) = build(&mut space, &Sizes { fill, ..Sizes::new(8, 2) }, 1, b).unwrap().remove(0);
        for (mut end, side, want) in [(host, Side::Host, want[0]), (nic, Side::Nic, want[1])] {
            let mut out = [Buf(u64::MAX); 3];
            assert_eq!(end.take(&mut space.side(side), &mut out), 3);
            assert_eq!(out, want.map(Buf), "{fill:?} {side:?}");
        }
    }
}
