//! Replays: rate, bursts, laps, ports.

use crate::make::{capture, udp};
use packet::{Tuple, checksum, parse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use traffic::{Arrival, Arrivals, Lap, Line, Rate, Source, Stamps, Trace, Workload, wire_bytes};

fn workload(frames: &[(u64, Vec<u8>)]) -> Workload {
    Workload::Pcap(Arc::new(Trace::read("made", &capture(frames)[..]).unwrap()), None)
}

fn take(source: &mut dyn Source, n: usize) -> Vec<Arrival> {
    let next = |_| {
        let mut out = Arrival::EMPTY;
        assert!(source.next(&mut out));
        out
    };
    (0..n).map(next).collect()
}

fn tuple(a: &Arrival) -> Tuple {
    parse(a.bytes()).tuple(a.bytes()).unwrap()
}

/// Picoseconds of a frame on a wire of 100 Gbps.
fn time(len: u16) -> u64 {
    u64::from(wire_bytes(len)) * 80
}

#[test]
fn compression_scales_gaps_and_keeps_bursts() {
    // Two back to back, then one after a long gap; a lap of 3 frames at 10 Gbps lasts 3 * 1224 * 800 ps.
    let w = workload(&[(0, udp(1, 1200)), (0, udp(2, 1200)), (2000, udp(3, 1200))]);
    let got = take(w.source(0, 1, Rate::Gbps(10.0), 0).as_mut(), 7);
    let lap = 3 * 1224 * 800;
    let at: Vec<u64> = got.iter().map(|a| a.at).collect();
    let (burst, gap) = (time(1200), lap * 2 / 3);
    let expected =
        [burst, 2 * burst, gap + burst, lap + burst, lap + 2 * burst, lap + gap + burst, 2 * lap + burst];
    assert_eq!(at, expected);
}

#[test]
fn own_timing_is_kept_and_loops() {
    let w = workload(&[(0, udp(1, 100)), (5, udp(2, 100)), (20, udp(3, 100))]);
    let at: Vec<u64> =
        take(w.source(0, 1, Rate::Own, 0).as_mut(), 5).iter().map(|a| a.at - time(100)).collect();
    // A lap lasts the capture's 20 us and a mean gap of 10 us.
    assert_eq!(at, [0, 5_000_000, 20_000_000, 30_000_000, 35_000_000]);
}

#[test]
fn one_instant_is_paced_evenly() {
    let frames: Vec<_> = (0..10).map(|i| (7, udp(i, 1476))).collect();
    let w = workload(&frames);
    let gaps = |mut source: Box<dyn Source>| {
        let at: Vec<u64> = take(source.as_mut(), 40).iter().map(|a| a.at).collect();
        at.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    // 1500 B on the wire at 50 Gbps: 240 ns, in each lap and between laps.
    let source = w.source(0, 1, Rate::Gbps(50.0), 0);
    assert_eq!(source.lap(), Some(Lap { ps: 10 * 240_000, frames: 10 }));
    assert!(gaps(source).iter().all(|gap| gap.abs_diff(240_000) <= 1));
    // At its own time, of which there is none, it can only run at line rate.
    assert!(gaps(w.source(0, 1, Rate::Own, 0)).iter().all(|gap| *gap == time(1476)));
}

#[test]
fn small_steps_back_are_sorted_and_a_clock_set_back_is_no_gap() {
    let w = workload(&[(100, udp(1, 100)), (50, udp(2, 100)), (60, udp(3, 100))]);
    let Workload::Pcap(trace, _) = &w else { unreachable!() };
    assert_eq!((trace.stats().out_of_order, trace.stats().duration_ns), (1, 50_000));
    let order: Vec<_> = take(w.source(0, 1, Rate::Own, 0).as_mut(), 3).iter().map(tuple).collect();
    let sent = take(
        workload(&[(0, udp(2, 100)), (1, udp(3, 100)), (2, udp(1, 100))]).source(0, 1, Rate::Own, 0).as_mut(),
        3,
    );
    assert_eq!(order, sent.iter().map(tuple).collect::<Vec<_>>());
    // Two hours back: what follows keeps its gaps.
    let hours = 7_200_000_000;
    let w = workload(&[(hours, udp(1, 100)), (0, udp(2, 100)), (10, udp(3, 100))]);
    let Workload::Pcap(trace, _) = &w else { unreachable!() };
    assert_eq!((trace.stats().out_of_order, trace.stats().duration_ns), (1, 10_000));
}

#[test]
fn few_stamps_are_spread_up_to_the_next() {
    // 40 frames of one stamp, then 20 of one that is 1 ms later.
    let frames: Vec<_> = (0..60).map(|i| (1000 * u64::from(i / 40), udp(i, 100))).collect();
    let w = workload(&frames);
    let Workload::Pcap(trace, _) = &w else { unreachable!() };
    assert_eq!((trace.stats().stamps, trace.stats().timing()), (2, Stamps::Few));
    let mut source = w.source(0, 1, Rate::Own, 0);
    assert_eq!(source.lap(), Some(Lap { ps: 2_000_000_000, frames: 60 }));
    let at: Vec<u64> = take(source.as_mut(), 61).iter().map(|a| a.at - time(100)).collect();
    let first = (0..40).map(|i| i * 25_000_000);
    let second = (0..21).map(|i| 1_000_000_000 + i * 50_000_000);
    assert_eq!(at, first.chain(second).collect::<Vec<_>>());
}

#[test]
fn idle_time_is_left_out_where_a_rate_is_asked_for() {
    // 100 frames, a microsecond apart, a month, and 100 more.
    let month = 30 * 86_400_000_000;
    let at = |i: u8| u64::from(i) + if i < 100 { 0 } else { month };
    let frames: Vec<_> = (0..200).map(|i| (at(i), udp(i, 100))).collect();
    let w = workload(&frames);
    let Workload::Pcap(trace, _) = &w else { unreachable!() };
    assert_eq!((trace.idle().gaps, trace.idle().ns), (1, (month + 1) * 1000));
    let at = |rate| take(w.source(0, 1, rate, 0).as_mut(), 200).iter().map(|a| a.at).collect::<Vec<_>>();
    let gaps: Vec<u64> = at(Rate::Gbps(1.0)).windows(2).map(|pair| pair[1] - pair[0]).collect();
    // 124 B at 1 Gbps are 992 ns; the first frame behind the gap follows at once.
    let usual = gaps.iter().filter(|gap| gap.abs_diff(1_002_000) < 10_000).count();
    assert_eq!(usual, 197, "{gaps:?}"); // all but the cut gap and the one behind it
    // Own time keeps it; a month in ps has more digits than an f64.
    let last = *at(Rate::Own).last().unwrap();
    assert!(last.abs_diff((month + 199) * 1_000_000 + time(100)) < 1024, "{last}");
}

#[test]
fn stated_arrivals_override_the_stamps() {
    let frames: Vec<_> = (0..10).map(|i| (u64::from(i / 5) * 1000, udp(i, 1476))).collect();
    let Workload::Pcap(trace, _) = workload(&frames) else { unreachable!() };
    let w = |arrivals| Workload::Pcap(trace.clone(), Some(arrivals));
    let gaps = |w: Workload| {
        let at: Vec<u64> =
            take(w.source(0, 1, Rate::Gbps(10.0), 1).as_mut(), 1000).iter().map(|a| a.at).collect();
        at.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    assert!(gaps(w(Arrivals::Constant)).iter().all(|gap| gap.abs_diff(1_200_000) <= 1));
    let bursty = gaps(w(Arrivals::Bursty { burst: 4 }));
    assert_eq!(bursty.iter().filter(|gap| **gap == time(1476)).count(), 750 - 1 + 1);
    let poisson = gaps(w(Arrivals::Poisson));
    let mean = poisson.iter().sum::<u64>() as f64 / poisson.len() as f64;
    assert!((mean / 1_200_000.0 - 1.0).abs() < 0.1 && poisson.iter().any(|gap| *gap < 400_000), "{mean}");
}

/// Each lap's flows are new, their checksums right, and a connection's two directions stay one.
#[test]
fn laps_have_new_flows_with_right_checksums() {
    let mut back = udp(1, 100);
    let (src, dst) = ([back[26], back[27], back[28], back[29]], [back[30], back[31], back[32], back[33]]);
    back[26..30].copy_from_slice(&dst);
    back[30..34].copy_from_slice(&src);
    back[34..38].rotate_left(2);
    let w = workload(&[(0, udp(1, 100)), (1, udp(2, 100)), (2, back)]);
    for seed in 0..4 {
        let mut flows = BTreeSet::new();
        for lap in take(w.source(0, 1, Rate::Gbps(50.0), seed).as_mut(), 3000).chunks(3) {
            for a in lap {
                assert!(flows.insert(tuple(a)), "flow seen before: {:?}", tuple(a));
                let head = a.bytes();
                assert_eq!(checksum::finish(checksum::add(0, &head[14..34])), 0, "IPv4 checksum");
                let sum = checksum::add(17 + 66, &head[26..34]);
                assert_eq!(checksum::finish(checksum::add(sum, &head[34..100])), 0, "UDP checksum");
            }
            let (there, back) = (tuple(&lap[0]), tuple(&lap[2]));
            assert_eq!((there.src, there.sport), (back.dst, back.dport));
            assert_eq!((there.dst, there.dport), (back.src, back.sport));
        }
    }
}

#[test]
fn the_first_lap_is_as_captured_and_seeds_change_the_next() {
    let frames: Vec<_> = (0..5).map(|i| (u64::from(i), udp(i, 100))).collect();
    let w = workload(&frames);
    let run = |seed| take(w.source(0, 1, Rate::Gbps(50.0), seed).as_mut(), 10);
    for (a, (_, bytes)) in run(9).iter().zip(&frames) {
        assert_eq!(a.bytes(), bytes);
    }
    assert_eq!(run(9), run(9));
    assert_ne!(run(9)[5..], run(10)[5..]);
}

/// TCP and ICMP over IPv6 and a first fragment: checksums past the addresses follow too.
#[test]
fn checksums_follow_where_they_are() {
    let mut v6 = vec![0; 80];
    v6[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
    v6[18..22].copy_from_slice(&[0, 26, 6, 64]);
    v6[22..54].copy_from_slice(&[0x5a; 32]);
    v6[66] = 0x50;
    let (header, segment) = v6.split_at_mut(54);
    let sum = checksum::transport(&header[22..54], 6, segment);
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
    let mut icmp = v6.clone();
    icmp[20] = 58;
    icmp[54..].fill(0);
    let (header, message) = icmp.split_at_mut(54);
    let sum = checksum::transport(&header[22..54], 58, message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut fragment = udp(1, 100);
    fragment[20] = 0x20;
    let sum = checksum::ipv4(&fragment[14..34]).unwrap();
    fragment[24..26].copy_from_slice(&sum.to_be_bytes());
    let w = workload(&[(0, v6), (1, fragment), (2, icmp)]);
    for lap in take(w.source(0, 1, Rate::Gbps(1.0), 1).as_mut(), 60).chunks(3) {
        let (v6, v4, icmp) = (lap[0].bytes(), lap[1].bytes(), lap[2].bytes());
        assert_eq!(checksum::finish(checksum::add(checksum::add(58 + 26, &icmp[22..54]), &icmp[54..80])), 0);
        assert_eq!(checksum::finish(checksum::add(checksum::add(6 + 26, &v6[22..54]), &v6[54..80])), 0);
        assert_eq!(checksum::finish(checksum::add(0, &v4[14..34])), 0);
        assert_eq!(checksum::finish(checksum::add(checksum::add(17 + 66, &v4[26..34]), &v4[34..100])), 0);
    }
}

#[test]
fn flows_stay_on_one_port_and_ports_are_even() {
    // 1, 2, .. 12 frames per flow, interleaved.
    let mut frames = Vec::new();
    for round in 0..12u8 {
        for flow in round..12 {
            frames.push((frames.len() as u64 * 3, udp(flow, 1000)));
        }
    }
    let w = workload(&frames);
    let mut homes: BTreeMap<Tuple, u32> = BTreeMap::new();
    let mut order: Vec<(u64, u32)> = Vec::new();
    for port in 0..3 {
        let mut source = w.source(port, 3, Rate::Gbps(30.0), 0);
        let own = take(source.as_mut(), frames.len() / 3);
        order.push((own.last().unwrap().at, port));
        for a in own {
            assert_eq!(*homes.entry(tuple(&a)).or_insert(port), port);
        }
    }
    assert_eq!(homes.len(), 12, "each port's share is a third of the frames, and all flows are there");
}

#[test]
fn all_ports_together_have_the_asked_rate() {
    let frames: Vec<_> = (0..64).map(|i| (u64::from(i) * 10, udp(i, 200 + u16::from(i) * 10))).collect();
    let w = workload(&frames);
    let mut gbps = 0.0;
    for port in 0..2 {
        let got = take(w.source(port, 2, Rate::Gbps(120.0), 0).as_mut(), 20_000);
        let bytes: u64 = got.iter().map(|a| u64::from(wire_bytes(a.len))).sum();
        gbps += bytes as f64 * 8000.0 / got.last().unwrap().at as f64;
    }
    assert!((gbps / 120.0 - 1.0).abs() < 0.005, "{gbps} Gbps");
}

#[test]
fn unequal_ports_are_compressed_alike() {
    // 200 flows of one frame each in 200 us, to be carried 3:1.
    let frames: Vec<_> = (0..200).map(|i| (u64::from(i), udp(i, 1000))).collect();
    let w = workload(&frames);
    let source = |port, rate| w.source_on(Line { port, loads: &[3, 1], gbps: 100.0 }, rate, 0);
    let mut seen = BTreeSet::new();
    for (port, share, count) in [(0, 0.75, 150), (1, 0.25, 50)] {
        let got = take(source(port, Rate::Gbps(80.0)).as_mut(), 20 * count);
        let flows: BTreeSet<_> = got[..count].iter().map(tuple).collect();
        assert_eq!(flows.len(), count, "a lap of port {port}");
        assert!(flows.iter().all(|f| seen.insert(*f)), "a flow stays on one port");
        let bytes: u64 = got.iter().map(|a| u64::from(wire_bytes(a.len))).sum();
        let gbps = bytes as f64 * 8000.0 / got.last().unwrap().at as f64;
        assert!((gbps / (80.0 * share) - 1.0).abs() < 0.01, "port {port}: {gbps} Gbps");
        // The capture's own time: a lap lasts as long on both ports.
        let own = take(source(port, Rate::Own).as_mut(), count + 1);
        let first = |a: &Arrival| (a.at - time(1000)) as f64 / 1e6;
        let lap = first(&own[count]) - first(&own[0]);
        assert!((lap - 200.0).abs() < 1e-3, "port {port}: a lap of {lap} us");
    }
}

#[test]
fn every_port_has_flows_where_there_are_enough() {
    let frames: Vec<_> = (0..2).map(|i| (u64::from(i), udp(i, 1000))).collect();
    let w = workload(&frames);
    for port in 0..2 {
        let line = Line { port, loads: &[1000, 1], gbps: 100.0 };
        take(w.source_on(line, Rate::Own, 0).as_mut(), 10);
    }
}

#[test]
fn no_port_exceeds_its_line() {
    let w = workload(&[(0, udp(1, 1000)), (3, udp(2, 500))]);
    for gbps in [10.0, 25.0, 100.0] {
        let line = Line { port: 0, loads: &[1], gbps };
        let got = take(w.source_on(line, Rate::Gbps(1e6), 0).as_mut(), 1000);
        let mut last = 0;
        for a in got {
            let time = u64::from(wire_bytes(a.len)) * 8000 / gbps as u64;
            assert!(a.at >= last + time);
            last = a.at;
        }
    }
}

#[test]
fn what_cannot_be_offered_ends_at_once() {
    let w = workload(&[(0, udp(1, 1000)), (3, udp(1, 500))]);
    let ends = |port, ports, rate| !w.source(port, ports, rate, 0).next(&mut Arrival::default());
    assert!(!ends(0, 2, Rate::Gbps(1.0)));
    assert!(ends(1, 2, Rate::Gbps(1.0)), "one flow, on port 0");
    assert!(ends(2, 2, Rate::Gbps(1.0)) && ends(0, 0, Rate::Own));
    for gbps in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert!(ends(0, 1, Rate::Gbps(gbps)), "{gbps} Gbps");
    }
}
