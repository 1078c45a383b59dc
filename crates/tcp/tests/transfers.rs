//! Two ends and a network that loses, doubles and delays: every byte arrives once and in order.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use tcp::{Connection, Flow, MS, MSS, SECOND, Segment, Syn, US};
use traffic::Arrival;

const FLOW: Flow = Flow { src: [10, 0, 0, 1], dst: [48, 0, 0, 1], sport: 1024, dport: 5001 };
/// A full frame on a wire of 10 Gbps, ps.
const SPAN: u64 = 1_230_400;

/// What the network does to the n-th segment from either end: when it arrives after it was sent, as often as that.
type Fate<'a> = dyn FnMut(usize, u64) -> Vec<u64> + 'a;

/// What came of a transfer.
#[derive(Debug, PartialEq)]
struct Found {
    took: u64,
    retransmitted: u64,
    timeouts: u64,
    undone: u64,
    late: u64,
    segments: u64,
}

/// Runs a transfer of `bytes` to its end; panics if a byte is missing, comes twice, or nothing happens any more.
fn transfer(bytes: u64, isn: u32, fate: &mut Fate) -> Found {
    let mut ends = [Connection::connect(bytes, isn, 0), Connection::accept(!isn, 0)];
    let mut network: BTreeMap<(u64, u64), (usize, Segment)> = BTreeMap::new();
    let (mut now, mut number) = (0, 0);
    let mut wire = [0; 2];
    let mut got = [0; 2];
    while ends.iter().any(|e| e.closed().is_none()) {
        for (from, end) in ends.iter_mut().enumerate() {
            while wire[from] <= now
                && let Some(segment) = end.send(now)
            {
                let mut frame = Arrival::EMPTY;
                segment.encode(&FLOW, &mut frame);
                assert_eq!(Segment::decode(frame.bytes()), Some((FLOW, segment.clone())));
                wire[from] = now + SPAN;
                for delay in fate(from, number) {
                    network.insert(
                        (now + SPAN + delay, number << 8 | network.len() as u64 & 255),
                        (1 - from, segment.clone()),
                    );
                }
                number += 1;
            }
        }
        let wires = (0..2).filter(|i| ends[*i].wants()).map(|i| wire[i]);
        let timers = ends.iter().filter_map(Connection::due);
        let arrival = network.first_key_value().map(|(at, _)| at.0);
        let next = wires.chain(timers).chain(arrival).min().expect("nothing can happen any more");
        assert!(next >= now && number < 200_000, "no end: {ends:?}");
        now = next;
        while let Some(entry) = network.first_entry().filter(|e| e.key().0 <= now) {
            let (to, segment) = entry.remove();
            let fresh = ends[to].receive(&segment, now);
            assert_eq!(fresh.start, got[to], "bytes come in order and once");
            got[to] = fresh.end;
        }
        ends.iter_mut().for_each(|e| e.tick(now));
    }
    assert_eq!(got, [2, bytes + 2], "SYN, all bytes, FIN");
    Found {
        took: ends[0].closed().unwrap(),
        retransmitted: ends[0].retransmitted(),
        timeouts: ends[0].timeouts() + ends[1].timeouts(),
        undone: ends[0].undone(),
        late: ends[1].late(),
        segments: number,
    }
}

const WAY: u64 = 20 * US;

#[test]
fn a_clean_path_carries_the_wire_s_rate() {
    let segments = 10_000;
    let found = transfer(segments * u64::from(MSS), 1, &mut |_, _| vec![WAY]);
    assert_eq!((found.retransmitted, found.timeouts, found.late), (0, 0, 0));
    let ideal = segments * SPAN;
    assert!(found.took > ideal && found.took < ideal + MS, "{} of {ideal}", found.took);
}

#[test]
fn a_short_transfer_takes_three_round_trips() {
    // SYN, data with FIN, and the way back of the other FIN: its ACK of the data rides with it.
    let found = transfer(1000, 1, &mut |_, _| vec![WAY]);
    assert!(found.took >= 4 * WAY && found.took < 4 * WAY + 10 * SPAN, "{found:?}");
    assert!(found.segments <= 6, "{found:?}");
}

#[test]
fn one_lost_segment_is_sent_once_more_without_a_timeout() {
    let mut count = 0;
    let found = transfer(2000 * u64::from(MSS), 1, &mut |from, _| {
        count += u64::from(from == 0);
        if from == 0 && count == 1000 { vec![] } else { vec![WAY] }
    });
    assert_eq!((found.retransmitted, found.timeouts, found.undone), (1, 0, 0));
}

#[test]
fn a_lost_tail_is_probed_for() {
    let total = 100;
    let mut count = 0;
    let found = transfer(total * u64::from(MSS), 1, &mut |from, _| {
        count += u64::from(from == 0);
        // SYN, then the data; the last of them carries the FIN.
        if from == 0 && count == total + 1 { vec![] } else { vec![WAY] }
    });
    assert_eq!((found.retransmitted, found.timeouts), (1, 0));
    assert!(found.took < 250 * MS, "{found:?}");
}

#[test]
fn a_lost_syn_waits_a_second() {
    let mut first = true;
    let found = transfer(10, 1, &mut |_, _| if core::mem::take(&mut first) { vec![] } else { vec![WAY] });
    assert_eq!((found.retransmitted, found.timeouts), (1, 1));
    assert!(found.took > SECOND && found.took < SECOND + MS, "{found:?}");
}

#[test]
fn a_window_of_one_segment_takes_one_that_ends_with_a_fin() {
    let mut first = true;
    let found =
        transfer(u64::from(MSS), 1, &mut |_, _| if core::mem::take(&mut first) { vec![] } else { vec![WAY] });
    assert_eq!((found.retransmitted, found.timeouts), (1, 1));
}

#[test]
fn reordering_is_learnt_and_taken_back() {
    // Every 50th segment is 5 us late: four behind it overtake.
    let mut late =
        |from: usize, n: u64| vec![if from == 0 && n.is_multiple_of(50) { WAY + 5 * US } else { WAY }];
    let found = transfer(5000 * u64::from(MSS), 1, &mut late);
    assert!(found.late > 50, "{found:?}");
    // A quarter of a round trip is 10 us: once reordering has been seen, none of it looks like a loss.
    assert!(found.retransmitted <= 5 && found.timeouts == 0, "{found:?}");
    assert!(found.undone <= found.retransmitted);
    let clean = transfer(5000 * u64::from(MSS), 1, &mut |_, _| vec![WAY]);
    assert!(found.took < clean.took * 102 / 100, "{} {}", found.took, clean.took);
}

#[test]
fn a_needless_recovery_is_undone() {
    let mut count = 0;
    let found = transfer(2000 * u64::from(MSS), 1, &mut |from, _| {
        count += u64::from(from == 0);
        vec![if from == 0 && count == 1000 { WAY + 15 * US } else { WAY }]
    });
    assert_eq!((found.retransmitted, found.timeouts, found.undone, found.late), (1, 0, 1, 1));
}

#[test]
fn sequence_numbers_wrap() {
    let found = transfer(300 * u64::from(MSS), u32::MAX - 100_000, &mut |_, n| {
        if n.is_multiple_of(37) { vec![] } else { vec![WAY + (n % 5) * US] }
    });
    assert!(found.retransmitted > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_byte_arrives_once_in_order_whatever_the_network_does(
        bytes in prop_oneof![Just(0_u64), 1..3000_u64, 0..400_000_u64],
        isn in any::<u32>(),
        seed in any::<u64>(),
        loss in 0..40_u64,
        double in 0..20_u64,
        spread in prop_oneof![Just(1_u64), Just(5), Just(100), Just(30_000)],
    ) {
        let mut chance = seed | 1;
        let mut draw = move |n: u64| {
            chance = chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (chance >> 33) % n
        };
        transfer(bytes, isn, &mut |_, _| {
            let copies = if draw(100) < loss { 0 } else if draw(100) < double { 2 } else { 1 };
            (0..copies).map(|_| WAY + draw(spread) * US).collect()
        });
    }

    #[test]
    fn any_segments_and_any_bytes_are_survived(
        numbers in prop::collection::vec((any::<[u8; 8]>(), -4000..4000_i64, -4000..4000_i64, -9000..9000_i64), 1..80),
        bytes in prop::collection::vec(any::<u8>(), 0..128),
        active in any::<bool>(),
    ) {
        let mut c = if active { Connection::connect(5000, 7, 0) } else { Connection::accept(7, 0) };
        if active {
            c.send(0);
        }
        let syn = Some(Syn { mss: 1448, scale: 7 });
        c.receive(&Segment { seq: 99, ack: active.then_some(8), syn, window: 9, ..Segment::default() }, 0);
        for (i, (flags, seq, ack, edge)) in numbers.into_iter().enumerate() {
            let now = i as u64 * 30 * MS;
            let near = |from: u32, off: i64| from.wrapping_add(off as u32);
            let segment = Segment {
                seq: near(100, seq),
                ack: (flags[0] > 40).then_some(near(7, ack)),
                syn: None,
                fin: flags[1] > 200,
                window: u16::from(flags[2]),
                sacks: (0..flags[3] % 4).map(|n| [near(7, edge), near(7, edge + i64::from(n) * 300)]).collect(),
                stamps: [u32::from(flags[4]) << 24, u32::from(flags[5])],
                len: u16::from(flags[6]) * 8,
            };
            let mut frame = Arrival::EMPTY;
            segment.encode(&FLOW, &mut frame);
            let decoded = Segment::decode(frame.bytes()).map(|d| d.1);
            prop_assert_eq!(decoded.as_ref(), Some(&segment));
            c.receive(&segment, now);
            while c.send(now).is_some() {}
            c.tick(now);
        }
        Segment::decode(&bytes);
    }
}
