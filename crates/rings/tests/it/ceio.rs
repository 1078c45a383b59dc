//! What `ceio` promises beside the others: order of each flow on any path, no drop while the card's memory lasts, all of
//! that memory free in the end, zero copy, activity.

use crate::common;
use crate::common::{Plain, counter};
use memory::{Buf, Geometry, Memory, Ps, Side, Space};
use proptest::prelude::*;
use rings::ceio::{HostHalf, Kind, Mark, NicHalf, NicMemory, SLOT, Sizes, build};
use rings::{Buffers, Completion, Frame, Host, Nic, Outcome};

/// A stack of empty buffers.
struct Spares(Vec<Buf>);

impl Buffers<Plain> for Spares {
    fn take(&mut self, _m: &mut Plain, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.0.len());
        out.iter_mut().zip(self.0.drain(..n)).for_each(|(slot, buf)| *slot = buf);
        n
    }

    fn give(&mut self, _m: &mut Plain, bufs: &[Buf]) {
        self.0.extend_from_slice(bufs);
    }
}

struct Bed {
    m: Plain,
    card: Plain,
    b: common::Pool,
    host: HostHalf<Plain>,
    nic: NicHalf<Plain>,
    spares: Spares,
}

const BUFFERS: u32 = 64;
const ROOM: u32 = 6000;

fn sizes(credits: u32, slots: u32) -> Sizes {
    let (idle, recall) = (Ps::from_us(1_000_000), Ps::from_us(100));
    let nic_memory = NicMemory { slots };
    Sizes { ring: 16, credits, nic_memory, release: 4, drain: 8, idle, recall, ..Sizes::default() }
}

fn bed(sizes: Sizes) -> Bed {
    let mut space = Plain::new(Side::Both);
    let b = space.buffers(&Geometry::plain(BUFFERS, ROOM.next_multiple_of(64))).unwrap();
    let (mut hosts, nic) = build(&mut space, &sizes, 1, b).unwrap();
    let (m, card) = (space.side(Side::Host), space.side(Side::Nic));
    let spares = Spares((0..u64::from(BUFFERS)).map(Buf).collect());
    let mut bed = Bed { m, card, b, host: hosts.remove(0), nic, spares };
    assert_eq!(bed.host.fill(&mut bed.m, &mut bed.spares), 0);
    bed
}

impl Bed {
    /// A frame of `flow` with a number arrives.
    fn arrive(&mut self, flow: u32, number: u32, len: u16) -> Outcome {
        self.arrive_marked(flow, number, len, 0)
    }

    /// One that has a mark on the card.
    fn arrive_marked(&mut self, flow: u32, number: u32, len: u16, mark: u32) -> Outcome {
        let mut bytes = vec![number as u8; usize::from(len)];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        let frame = Frame::new(&bytes, len, flow << 16, number).marked(mark);
        let mut out = [Outcome::BadFrame];
        self.nic.deliver(&mut self.card, 0, &[frame], &mut out);
        out[0]
    }

    /// One receive call; flow, number and length of each frame, whose bytes are what was sent.
    fn receive(&mut self, burst: usize) -> Vec<(u32, u32, u16)> {
        let mut out = vec![Completion::none(); burst];
        let n = self.host.async_recv(&mut self.m, &mut self.spares, &mut out);
        out[..n].iter().map(|got| self.check(got)).collect()
    }

    fn check(&mut self, got: &Completion) -> (u32, u32, u16) {
        let mut bytes = vec![0; usize::from(got.len)];
        self.m.get(self.b, got.buf, 0, &mut bytes, got.len.into());
        assert_eq!(bytes[..4], got.kind.to_le_bytes());
        assert!(bytes[4..].iter().all(|byte| *byte == got.kind as u8), "torn: {got:?}");
        self.spares.0.push(got.buf);
        (got.rss >> 16, got.kind, got.len)
    }

    /// The card works and the core receives until nothing comes any more.
    fn settle(&mut self) -> Vec<(u32, u32, u16)> {
        let (mut all, mut vain) = (Vec::new(), 0);
        while vain < 3 {
            self.nic.poll(&mut self.card);
            let got = self.receive(8);
            vain = if got.is_empty() { vain + 1 } else { 0 };
            all.extend(got);
        }
        all
    }

    fn of(&self, name: &str) -> u64 {
        counter(&self.nic.counters(), name)
    }

    /// Nothing is left anywhere: credits, the card's memory, buffers.
    fn at_rest(&mut self) {
        self.nic.poll(&mut self.card);
        assert_eq!((self.of("nic_memory_slots"), self.of("credits_in_use")), (0, 0));
        self.nic.stop_queue(&mut self.card, 0);
        self.host.drain(&mut self.m, &mut self.spares);
        let mut all = self.spares.0.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq((0..u64::from(BUFFERS)).map(Buf)));
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive(u32, u16, u32),
    Receive(usize),
    Poll(u64),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 3 } else { 500 }, ..ProptestConfig::default() })]

    /// Any number of flows, credits and slots: each flow's frames come once and in order, whatever path each took.
    #[test]
    fn flows_keep_their_order(
        (credits, slots) in (0..30u32, 1..60u32),
        (flows, release, drain) in ((0..4u32).prop_map(|n| 1 << n), 1..20u32, 1..16u32),
        (idle, recall) in (0..3000u64, 0..500u64),
        kind in prop::sample::select(vec![Kind::Detected, Kind::Involved, Kind::Bypass]),
        steps in prop::collection::vec(prop_oneof![
            4 => (0..8u32, 16..5000u16, 6..9u32).prop_map(|(flow, len, mark)| Step::Arrive(flow, len, mark)),
            2 => (0..20usize).prop_map(Step::Receive),
            2 => (0..500u64).prop_map(Step::Poll),
        ], 0..200),
    ) {
        let (idle, recall) = (Ps::from_ns(idle), Ps::from_ns(recall));
        let bypass_mark = Mark(Some(7));
        let mut bed = bed(Sizes { flows, release, drain, idle, recall, kind, bypass_mark, ..sizes(credits, slots) });
        let (mut next, mut want, mut got) = (0, vec![Vec::new(); 8], Vec::new());
        for step in steps {
            match step {
                Step::Arrive(flow, len, mark) => {
                    match bed.arrive_marked(flow, next, len, mark) {
                        Outcome::Delivered => want[flow as usize].push((flow, next, len)),
                        outcome => prop_assert_eq!(outcome, Outcome::NicMemoryFull),
                    }
                    next += 1;
                }
                Step::Receive(burst) => got.extend(bed.receive(burst)),
                Step::Poll(ns) => {
                    bed.m.advance(Ps::from_ns(ns));
                    bed.nic.poll(&mut bed.card);
                }
            }
        }
        got.extend(bed.settle());
        for (flow, want) in (0..).zip(&want) {
            let of_flow: Vec<_> = got.iter().copied().filter(|frame| frame.0 == flow).collect();
            prop_assert_eq!(&of_flow, want);
        }
        bed.at_rest();
    }
}

/// A hundred rings of 16; ten under Miri.
const BURST: u32 = if cfg!(miri) { 160 } else { 1600 };

#[test]
fn a_burst_of_a_hundred_rings_is_kept_and_nothing_drops() {
    let mut bed = bed(sizes(8, BURST));
    for number in 0..BURST {
        assert_eq!(bed.arrive(0, number, 64), Outcome::Delivered);
    }
    assert_eq!((bed.of("kept"), bed.of("nic_memory_slots")), (u64::from(BURST) - 8, u64::from(BURST) - 8));
    let got: Vec<_> = bed.settle().into_iter().map(|(_, number, _)| number).collect();
    assert!(got.into_iter().eq(0..BURST));
    assert_eq!(bed.arrive(0, 0, 64), Outcome::Delivered);
    assert_eq!(bed.of("kept"), u64::from(BURST) - 8, "it is on the fast path again");
    bed.settle();
    bed.at_rest();
}

#[test]
fn a_full_memory_drops_by_its_own_name_and_says_so_before() {
    let mut bed = bed(sizes(0, 4));
    let outcomes: Vec<_> = (0..6).map(|number| bed.arrive(0, number, 64)).collect();
    assert_eq!(outcomes[..4], [Outcome::Delivered; 4]);
    assert_eq!(outcomes[4..], [Outcome::NicMemoryFull; 2]);
    assert_eq!(bed.receive(4), []);
    assert_eq!(counter(&bed.host.counters(), "congested"), 1);
    assert_eq!(bed.of("kept_congested"), 3, "from half of it on");
    assert_eq!(bed.settle().len(), 4);
    bed.at_rest();
}

#[test]
fn long_frames_take_several_slots_and_too_long_ones_are_bad() {
    let mut bed = bed(sizes(0, 4));
    assert_eq!(bed.arrive(0, 7, 2 * SLOT as u16 + 1), Outcome::Delivered);
    assert_eq!(bed.of("nic_memory_slots"), 3);
    assert_eq!(bed.arrive(0, 8, SLOT as u16 + 1), Outcome::NicMemoryFull);
    assert_eq!(bed.arrive(0, 9, 7000), Outcome::BadFrame);
    assert_eq!(bed.settle(), [(0, 7, 2 * SLOT as u16 + 1)]);
    bed.at_rest();
}

#[test]
fn a_receive_call_that_waits_ends_at_its_time() {
    let mut bed = bed(sizes(0, 16));
    (0..3).for_each(|number| assert_eq!(bed.arrive(0, number, 64), Outcome::Delivered));
    let mut out = [Completion::none(); 8];
    // Nobody plays the card meanwhile, and the clock stands.
    let until = bed.m.now();
    assert_eq!(bed.host.recv(&mut bed.m, &mut bed.spares, &mut out, until), 0);
    bed.nic.poll(&mut bed.card);
    assert_eq!(bed.host.recv(&mut bed.m, &mut bed.spares, &mut out, until), 3);
    out[..3].iter().for_each(|got| assert_eq!(bed.check(got).2, 64));
    bed.at_rest();
}

#[test]
fn the_application_may_post_its_own_buffers() {
    let mut bed = bed(sizes(16, 16));
    assert_eq!(bed.host.post_recv(&mut bed.m, &[Buf(63)]), 0, "the ring is full");
    let mut out = [Completion::none(); 1];
    for number in 0..40 {
        assert_eq!(bed.arrive(0, number, 64), Outcome::Delivered);
        let spares = bed.spares.0.len();
        assert_eq!(bed.host.async_recv(&mut bed.m, &mut bed.spares, &mut out), 1);
        assert_eq!(bed.spares.0.len(), spares, "no call but this one posts");
        assert_eq!(bed.check(&out[0]), (0, number, 64));
        let mine = [bed.spares.0.pop().unwrap(), bed.spares.0.pop().unwrap()];
        assert_eq!(bed.host.post_recv(&mut bed.m, &mine), 1, "one descriptor is free");
        bed.spares.0.push(mine[1]);
    }
    assert_eq!((bed.of("kept"), counter(&bed.host.counters(), "debts")), (0, 0));
    bed.receive(1);
    bed.at_rest();
}

#[test]
fn a_silent_flow_is_retired_and_recalled_once_it_speaks() {
    let mut bed = bed(Sizes { idle: Ps::from_us(10), ..sizes(16, 16) });
    assert_eq!(bed.arrive(0, 0, 64), Outcome::Delivered);
    bed.settle();
    for _ in 0..3 {
        bed.m.advance(Ps::from_us(10));
        bed.nic.poll(&mut bed.card);
    }
    assert_eq!((bed.of("retired"), bed.of("recalled")), (1, 0));
    bed.m.advance(Ps::from_us(200));
    assert_eq!(bed.arrive(0, 1, 64), Outcome::Delivered);
    assert_eq!(bed.of("kept"), 1, "it has no credits");
    bed.settle();
    assert_eq!(bed.of("recalled"), 1);
    assert_eq!(bed.arrive(0, 2, 64), Outcome::Delivered);
    assert_eq!(bed.of("kept"), 1);
    bed.settle();
    bed.at_rest();
}

/// Marked frames take no credits from others, and no frame of their flow overtakes them.
#[test]
fn frames_with_the_mark_of_a_bypass_are_kept() {
    let bypass_mark = Mark(Some(7));
    let mut bed = bed(Sizes { flows: 2, bypass_mark, ..sizes(12, 64) });
    for number in 0..10 {
        assert_eq!(bed.arrive_marked(1, number, 64, 8), Outcome::Delivered);
    }
    (10..20).for_each(|number| assert_eq!(bed.arrive(0, number, 64), Outcome::Delivered));
    assert_eq!((bed.of("kept"), bed.of("credits_in_use")), (10, 10));
    // Another mark is none; but the flow is on the slow path.
    assert_eq!(bed.arrive_marked(1, 20, 64, 7), Outcome::Delivered);
    assert_eq!(bed.of("kept"), 11);
    let of_flow = |all: &[(u32, u32, u16)], flow| -> Vec<u32> {
        all.iter().filter(|frame| frame.0 == flow).map(|frame| frame.1).collect()
    };
    let all = bed.settle();
    assert_eq!(of_flow(&all, 1), (0..10).chain([20]).collect::<Vec<_>>());
    assert_eq!(of_flow(&all, 0), (10..20).collect::<Vec<_>>());
    // A flow that had credits gives them up with its first marked frame.
    assert_eq!(bed.arrive(1, 21, 64), Outcome::Delivered);
    assert_eq!((bed.of("kept"), bed.of("retired")), (11, 0));
    assert_eq!(bed.arrive_marked(1, 22, 64, 8), Outcome::Delivered);
    assert_eq!((bed.of("kept"), bed.of("retired")), (12, 1));
    assert_eq!(bed.settle().len(), 2);
    bed.at_rest();
}

#[test]
fn a_port_whose_flows_bypass_cores_keeps_all_frames() {
    let mut bed = bed(Sizes { kind: Kind::Bypass, ..sizes(12, 64) });
    (0..40).for_each(|number| assert_eq!(bed.arrive(0, number, 64), Outcome::Delivered));
    assert_eq!((bed.of("kept"), bed.of("credits_in_use")), (40, 0));
    // The card drains without being asked, as far as buffers are posted.
    assert_eq!(bed.of("nic_memory_slots"), 40 - 16);
    assert!(bed.settle().iter().map(|frame| frame.1).eq(0..40));
    bed.at_rest();
}

/// A flow whose frames on the fast path nobody processes while its kept ones are drained, and another that is received.
#[test]
fn a_flow_that_is_drained_unread_leaves_its_credits_to_others() {
    for (kind, retired) in [(Kind::Detected, 1), (Kind::Involved, 0)] {
        let mut bed = bed(Sizes { release: 1, kind, ..sizes(12, 16) });
        (0..16).for_each(|number| assert_eq!(bed.arrive(0, number, 64), Outcome::Delivered));
        // A driver that asks for kept frames before it reads any other.
        bed.m.poke("ceio.asked", 0, 0, 1 << 32);
        bed.nic.poll(&mut bed.card);
        assert_eq!((bed.of("nic_memory_slots"), bed.of("retired")), (3, retired));
    }
}
