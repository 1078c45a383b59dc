//! Generated traffic: rates, sizes, flows, arrivals.

use packet::{checksum, parse};
use std::collections::{BTreeMap, BTreeSet};
use traffic::{Arrival, Line, Rate, Source, Spec, Workload, wire_bytes};

fn source(spec: &str, port: u32, ports: u32, gbps: f64, seed: u64) -> Box<dyn Source> {
    Workload::Generated(spec.parse().unwrap()).source(port, ports, Rate::Gbps(gbps), seed)
}

/// Calls `each` with the next `n` arrivals; they must not overlap on a wire of 100 Gbps.
fn run(source: &mut dyn Source, n: u64, mut each: impl FnMut(&Arrival)) -> u64 {
    let (mut out, mut last) = (Arrival::EMPTY, 0);
    for _ in 0..n {
        assert!(source.next(&mut out));
        assert!(out.at >= last + u64::from(wire_bytes(out.len)) * 80);
        last = out.at;
        each(&out);
    }
    last
}

#[test]
fn two_ports_at_200_gbps_carry_16_4_million_frames_a_second() {
    let n = 1_000_000;
    let last = run(source("fixed:1500,flows=10000", 0, 2, 200.0, 1).as_mut(), n, |_| ());
    let mpps = 2.0 * n as f64 / (last as f64 / 1e6);
    assert!((mpps - 16.404).abs() < 0.001, "{mpps} Mpps");
}

#[test]
fn every_kind_of_traffic_has_the_asked_rate() {
    for sizes in ["fixed:60", "fixed:9000", "imix", "empirical:websearch", "empirical:fb_hadoop"] {
        for arrivals in ["constant", "poisson", "bursty:64"] {
            let spec = format!("{sizes},arrivals={arrivals}");
            let mut bytes = 0;
            let last = run(source(&spec, 1, 2, 60.0, 7).as_mut(), 400_000, |a| {
                bytes += u64::from(wire_bytes(a.len))
            });
            let gbps = bytes as f64 * 8000.0 / last as f64;
            assert!((gbps / 30.0 - 1.0).abs() < 0.01, "{spec}: {gbps} Gbps");
        }
    }
}

#[test]
fn frames_are_valid_udp() {
    run(source("imix,flows=1M", 1, 2, 100.0, 3).as_mut(), 5000, |a| {
        let head = a.bytes();
        let p = parse(head);
        assert_eq!((p.kind, p.fault), (0x211, None));
        assert_eq!(u16::from_be_bytes([head[16], head[17]]), a.len - 14);
        assert_eq!(checksum::finish(checksum::add(0, &head[14..34])), 0);
        let udp = a.len - 34;
        assert_eq!(u16::from_be_bytes([head[38], head[39]]), udp);
        // The payload is zeros: it adds nothing.
        let sum = checksum::add(17 + u64::from(udp), &head[26..42]);
        assert_eq!(checksum::finish(sum), 0);
        assert_eq!(a.head_len, 42);
        assert!(a.head[42..].iter().all(|b| *b == 0));
    });
}

#[test]
fn imix_has_its_shares() {
    let (n, mut counts) = (240_000, BTreeMap::new());
    run(source("imix", 0, 1, 50.0, 1).as_mut(), n, |a| *counts.entry(a.len).or_insert(0u64) += 1);
    for (len, share) in [(60, 7.0), (590, 4.0), (1514, 1.0)] {
        let got = counts.remove(&len).unwrap() as f64 * 12.0 / n as f64;
        assert!((got / share - 1.0).abs() < 0.03, "{len} B: {got} of 12");
    }
    assert!(counts.is_empty());
}

/// The flows of a run by frames, in falling order.
fn flows(spec: &str, port: u32, ports: u32, seed: u64, n: u64) -> BTreeMap<packet::Tuple, u64> {
    let mut counts = BTreeMap::new();
    run(source(spec, port, ports, 50.0, seed).as_mut(), n, |a| {
        *counts.entry(parse(a.bytes()).tuple(a.bytes()).unwrap()).or_insert(0) += 1;
    });
    counts
}

#[test]
fn flows_are_as_many_as_asked_and_split_over_ports() {
    let mut all = BTreeSet::new();
    for port in 0..3 {
        let mine = flows("fixed:60,flows=1000", port, 3, 5, 20_000);
        assert_eq!(mine.len(), if port == 0 { 334 } else { 333 });
        all.extend(mine.into_keys());
    }
    assert_eq!(all.len(), 1000, "no flow is on two ports");
    assert!(!source("fixed:60,flows=2", 2, 3, 50.0, 0).next(&mut Arrival::default()), "no flow for port 2");
    // Of 4 billion flows hardly one comes twice.
    assert!(flows("fixed:60,flows=4294967296", 0, 1, 5, 20_000).len() > 19_990);
}

#[test]
fn unequal_ports_have_flows_and_rate_in_proportion() {
    for (loads, flows) in [(&[3u16, 1][..], 1000u64), (&[1, 2, 5], 801), (&[1000, 1], 2), (&[1, 1], 7)] {
        let w = Workload::Generated(format!("fixed:500,flows={flows}").parse().unwrap());
        let all: u64 = loads.iter().map(|l| u64::from(*l)).sum();
        let mut seen = BTreeSet::new();
        for (port, load) in (0..).zip(loads) {
            let line = Line { port, loads, gbps: 100.0 };
            let mine = line.share(flows);
            let fair = flows as f64 * f64::from(*load) / all as f64;
            assert!(
                mine >= 1 && (mine as f64 - fair).abs() <= 1.0,
                "{mine} flows of {loads:?} for port {port}"
            );
            let mut tuples = BTreeSet::new();
            let n = 40_000;
            let last = run(w.source_on(line, Rate::Gbps(90.0), 1).as_mut(), n, |a| {
                tuples.insert(parse(a.bytes()).tuple(a.bytes()).unwrap());
            });
            assert_eq!(tuples.len() as u64, mine, "port {port} of {loads:?}");
            assert!(tuples.into_iter().all(|t| seen.insert(t)), "a flow of two ports of {loads:?}");
            let gbps = n as f64 * 524.0 * 8000.0 / last as f64;
            let asked = 90.0 * f64::from(*load) / all as f64;
            assert!((gbps / asked - 1.0).abs() < 0.01, "port {port} of {loads:?}: {gbps} Gbps");
        }
        assert_eq!(seen.len() as u64, flows, "{loads:?}");
    }
}

#[test]
fn uniform_flows_are_even() {
    let n = 200_000;
    let counts = flows("fixed:60,flows=100", 0, 1, 9, n);
    let mean = n as f64 / 100.0;
    let chi2: f64 = counts.values().map(|c| (*c as f64 - mean).powi(2) / mean).sum();
    // 99 degrees of freedom: mean 99, deviation 14.
    assert!((40.0..160.0).contains(&chi2), "chi-square {chi2}");
}

#[test]
fn zipf_flows_follow_the_law() {
    for s in [0.5, 0.99, 1.0, 1.3, 3.0] {
        let (n, k) = (300_000, 1000);
        let mut counts: Vec<u64> =
            flows(&format!("fixed:60,flows={k},zipf={s}"), 0, 1, 2, n).into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let total: f64 = (1..=k).map(|i| f64::from(i).powf(-s)).sum();
        for rank in [1usize, 2, 3, 5, 10] {
            let expected = n as f64 * (rank as f64).powf(-s) / total;
            let got = counts[rank - 1] as f64;
            let slack = 5.0 * expected.sqrt() + if s < 0.6 { 0.1 * expected } else { 0.0 };
            assert!((got - expected).abs() < slack, "s {s}, rank {rank}: {got}, expected {expected}");
        }
        // The tail too: the share of the first half of the ranks (where they are all seen).
        let head: u64 = counts.iter().take(k as usize / 10).sum();
        let expected: f64 = (1..=k / 10).map(|i| f64::from(i).powf(-s)).sum::<f64>() / total;
        assert!((head as f64 / n as f64 - expected).abs() < 0.015, "s {s}: first tenth");
    }
}

/// Frames and bytes on the wire of each partition, and Gbps of all, of one port of two at 100 Gbps.
fn partitions(spec: &str, n: u64) -> (BTreeMap<u16, (u64, u64)>, f64) {
    let (mut got, mut bytes) = (BTreeMap::<u16, (u64, u64)>::new(), 0);
    let last = run(source(spec, 1, 2, 200.0, 3).as_mut(), n, |a| {
        let port = u16::from_be_bytes([a.head[36], a.head[37]]);
        let of = got.entry(port - packet::PARTITION_PORT).or_default();
        (of.0, of.1) = (of.0 + 1, of.1 + u64::from(wire_bytes(a.len)));
        bytes += u64::from(wire_bytes(a.len));
        assert_eq!(checksum::finish(checksum::add(17 + u64::from(a.len - 34), &a.head[26..42])), 0);
    });
    (got, bytes as f64 * 8000.0 / last as f64)
}

#[test]
fn partitions_get_flows_alike_and_a_flow_stays_in_its_own() {
    let (got, _) = partitions("imix,flows=8000,partitions=8", 400_000);
    assert_eq!(got.keys().copied().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    assert!(got.values().all(|(frames, _)| frames.abs_diff(50_000) < 1_500), "{got:?}");
    // 1000 flows of a port: as many 5-tuples, whichever partitions they are in.
    assert_eq!(flows("fixed:60,flows=1000,partitions=7", 0, 1, 5, 40_000).len(), 1000);
}

#[test]
fn a_target_gets_its_gbps_and_the_others_the_rest_alike() {
    for (spec, gbps) in
        [("fixed:1500", 1.0), ("fixed:1500", 40.0), ("imix", 12.5), ("imix,arrivals=poisson", 5.0)]
    {
        let (got, all) = partitions(&format!("{spec},partitions=8,target=gbps:{gbps}"), 400_000);
        let bytes: u64 = got.values().map(|(_, bytes)| bytes).sum();
        assert!((all - 100.0).abs() < 1.5, "{spec}: {all} Gbps");
        let rate = |p: u16| got[&p].1 as f64 / bytes as f64 * 100.0;
        assert!((rate(0) / gbps - 1.0).abs() < 0.01, "{spec}: {} Gbps of {gbps}", rate(0));
        for p in 1..8 {
            assert!((rate(p) / ((100.0 - gbps) / 7.0) - 1.0).abs() < 0.03, "{spec}: {p} has {}", rate(p));
        }
    }
}

#[test]
fn a_target_gets_its_share_of_frames_in_its_size() {
    for percent in [0.0, 1.0, 12.5, 31.0, 100.0] {
        let spec = format!("fixed:1500,partitions=8,target=pct:{percent}/60");
        let (got, all) = partitions(&spec, 200_000);
        let target = got.get(&0).copied().unwrap_or_default();
        assert!((target.0 as f64 / 2000.0 - percent).abs() < 0.01, "{percent}: {target:?}");
        assert_eq!(target.1, target.0 * 84, "60 B on the wire");
        let others: Vec<_> = got.iter().filter(|(p, _)| **p != 0).collect();
        assert!(others.iter().all(|(_, (frames, bytes))| *bytes == frames * 1524));
        let even = (200_000 - target.0) / 7;
        assert!(others.iter().all(|(_, of)| of.0.abs_diff(even) < 800), "{got:?}");
        assert!((all - 100.0).abs() < 0.01, "{percent}: {all} Gbps");
    }
}

#[test]
fn targets_frames_come_evenly() {
    let mut gaps = Vec::new();
    let mut since = 0;
    run(source("fixed:1500,partitions=4,target=pct:20/60", 0, 1, 100.0, 3).as_mut(), 1000, |a| {
        since += 1;
        if a.len == 60 {
            gaps.push(since);
            since = 0;
        }
    });
    assert!(gaps[1..].iter().all(|gap| *gap == 5), "{gaps:?}");
}

/// Index of dispersion of counts in windows of ten mean gaps.
fn dispersion(arrivals: &str) -> f64 {
    let spec = format!("fixed:1226,arrivals={arrivals}"); // 1250 B on the wire: 1 us at 10 Gbps
    let mut counts = vec![0u32; 20_000];
    run(source(&spec, 0, 1, 10.0, 4).as_mut(), 200_000, |a| {
        if let Some(c) = counts.get_mut((a.at / 10_000_000) as usize) {
            *c += 1;
        }
    });
    let mean = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    counts.iter().map(|c| (f64::from(*c) - mean).powi(2)).sum::<f64>() / counts.len() as f64 / mean
}

#[test]
fn arrivals_are_as_bursty_as_their_names() {
    let constant = dispersion("constant");
    assert!(constant < 0.02, "{constant}");
    let poisson = dispersion("poisson");
    // The wire spaces what Poisson would put closer: a little below 1.
    assert!((0.9..1.05).contains(&poisson), "{poisson}");
    let bursty = dispersion("bursty:32");
    assert!(bursty > 10.0, "{bursty}");
}

#[test]
fn a_burst_is_back_to_back_and_then_silent() {
    let mut at = Vec::new();
    run(source("fixed:1226,arrivals=bursty:8", 0, 1, 50.0, 4).as_mut(), 80, |a| at.push(a.at));
    let gaps: Vec<u64> = at.windows(2).map(|w| w[1] - w[0]).collect();
    for (i, gap) in gaps.iter().enumerate() {
        // 100 ns each at line rate; a burst every 1.6 us.
        let expected = if i % 8 == 7 { 1_600_000 - 7 * 100_000 } else { 100_000 };
        assert!(gap.abs_diff(expected) <= 1, "gap {i}: {gap}");
    }
}

/// Objects keep their flow from the first frame to the last, and their sizes follow the distribution.
#[test]
fn objects_are_cut_into_frames() {
    let path = std::env::temp_dir().join(format!("traffic-cdf-{}.txt", std::process::id()));
    std::fs::write(&path, "# all between 10000 and 10001 bytes\n0 0\n10000 0\n10000.4 100\n").unwrap();
    let spec = format!("empirical:{},flows=4294967296", path.display());
    let mut objects: BTreeMap<packet::Tuple, (u64, u64)> = BTreeMap::new();
    run(source(&spec, 0, 1, 50.0, 4).as_mut(), 50_000, |a| {
        let object = objects.entry(parse(a.bytes()).tuple(a.bytes()).unwrap()).or_default();
        object.0 += 1;
        object.1 += u64::from(a.len) - 42;
    });
    std::fs::remove_file(&path).unwrap();
    // 10000 B are 6 frames of 1472 B of payload and one of 1168; 64 objects may be unfinished.
    let whole = objects.values().filter(|o| **o == (7, 10_000)).count();
    assert!(objects.len() - whole <= 64, "{whole} of {}", objects.len());
}

#[test]
fn the_seed_decides_everything() {
    let take = |seed| {
        let mut got = Vec::new();
        run(source("imix,zipf=1.1,arrivals=poisson", 0, 2, 50.0, seed).as_mut(), 1000, |a| {
            got.push(a.clone())
        });
        got
    };
    assert_eq!(take(1), take(1));
    assert_ne!(take(1), take(2));
    let names = |seed| flows("fixed:60,flows=10", 0, 1, seed, 1000).into_keys().collect::<BTreeSet<_>>();
    assert!(names(1).is_disjoint(&names(2)), "other flows, not only another order");
}

#[test]
fn own_rate_is_line_rate() {
    let spec = Spec::default();
    let mut source = Workload::Generated(spec).source(0, 4, Rate::Own, 1);
    let last = run(source.as_mut(), 10_000, |_| ());
    assert!((last as f64 / (10_000.0 * 1524.0 * 80.0) - 1.0).abs() < 0.001);
}

#[test]
fn requests_are_whole_and_lead_to_the_partitions_of_their_keys() {
    use packet::kv::{HEADER, KEY, Op, Request, VALUE, hash, partition};
    let (mut puts, mut bytes, mut keys) = (0, 0, BTreeMap::<Vec<u8>, u64>::new());
    let mut counts = [0u64; 8];
    let last = run(source("kv:put=95,keys=1000,partitions=8", 1, 2, 200.0, 3).as_mut(), 100_000, |a| {
        let mut frame = a.bytes().to_vec();
        frame.resize(usize::from(a.len), 0);
        let p = parse(&frame);
        assert_eq!((p.fault, p.l4), (None, 34));
        assert_eq!(checksum::transport(p.addresses(&frame).unwrap(), 17, &frame[34..]), 0xffff);
        let request = Request::parse(&frame[42..], frame.len() - 42).unwrap();
        let key = &frame[42 + HEADER..][..usize::from(KEY)];
        let to = p.tuple(&frame).unwrap().dport - packet::PARTITION_PORT;
        assert_eq!((request.key_len, u32::from(to)), (KEY, partition(hash(key), 8)));
        assert_eq!(request.value_len, if request.op == Op::Put { VALUE } else { 0 });
        puts += u64::from(request.op == Op::Put);
        counts[usize::from(to)] += 1;
        *keys.entry(key.to_vec()).or_default() += 1;
        bytes += u64::from(wire_bytes(a.len));
        assert!(a.head[usize::from(a.head_len)..].iter().all(|b| *b == 0));
    });
    assert!((puts as f64 / 1e5 - 0.95).abs() < 0.003, "{puts} puts");
    assert_eq!(keys.len(), 500, "of 1000 keys, those of this port");
    assert!(keys.values().all(|n| n.abs_diff(200) < 80), "{keys:?}");
    assert!(counts.iter().all(|n| *n > 8_000), "{counts:?}");
    assert!((bytes as f64 * 8000.0 / last as f64 - 100.0).abs() < 0.5);
}

#[test]
fn values_have_the_lengths_that_their_keys_say() {
    use packet::kv::{HEADER, Objects, Op, Request, hash};
    for (objects, small) in [(Objects::Ads, 0.61), (Objects::Geo, 0.13)] {
        let (mut puts, mut short) = (0u32, 0u32);
        let spec = format!("kv:put=50,objects={},keys=10M,partitions=4", objects.name());
        run(source(&spec, 0, 1, 100.0, 3).as_mut(), 100_000, |a| {
            let mut frame = a.bytes().to_vec();
            frame.resize(usize::from(a.len), 0);
            let request = Request::parse(&frame[42..], frame.len() - 42).unwrap();
            assert_eq!(request.key_len, 16);
            let len = objects.value_len(hash(&frame[42 + HEADER..][..16]));
            assert_eq!(request.value_len, if request.op == Op::Put { len } else { 0 });
            assert_eq!(
                checksum::transport(parse(&frame).addresses(&frame).unwrap(), 17, &frame[34..]),
                0xffff
            );
            puts += u32::from(request.op == Op::Put);
            short += u32::from(request.op == Op::Put && len < 100);
        });
        let share = f64::from(short) / f64::from(puts);
        assert!((share - small).abs() < 0.01, "{objects:?}: {share}");
    }
}

#[test]
fn a_put_of_each_key_comes_before_requests_for_them() {
    let spec: Spec = "kv:put=5,objects=geo,keys=500,partitions=4".parse().unwrap();
    let key = |a: &Arrival| a.head[58..66].to_vec();
    let mut puts = spec.puts(7).unwrap();
    let (mut a, mut keys) = (Arrival::EMPTY, BTreeMap::new());
    while puts.next(&mut a) {
        assert_eq!(a.head[45], packet::kv::Op::Put as u8);
        assert_eq!(keys.insert(key(&a), a.len), None, "each once");
    }
    assert_eq!(keys.len(), 500);
    run(Workload::Generated(spec).source(0, 1, Rate::Gbps(10.0), 7).as_mut(), 5_000, |a| {
        assert!(keys.contains_key(&key(a)));
    });
    assert!(Spec::default().puts(7).is_none());
}

#[test]
fn keys_follow_zipfs_law() {
    let mut counts = BTreeMap::<Vec<u8>, u64>::new();
    run(source("kv:put=50,keys=1000,zipf=0.99", 0, 1, 100.0, 3).as_mut(), 200_000, |a| {
        *counts.entry(a.head[58..66].to_vec()).or_default() += 1;
    });
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let total: f64 = (1..=1000).map(|i| f64::from(i).powf(-0.99)).sum();
    for rank in [1usize, 2, 5, 10] {
        let expected = 200_000.0 * (rank as f64).powf(-0.99) / total;
        assert!((counts[rank - 1] as f64 - expected).abs() < 5.0 * expected.sqrt(), "rank {rank}");
    }
}

/// What a tunnel carries is the frame that comes without it, and the whole wire is paced.
#[test]
fn frames_in_vxlan_carry_the_frames_that_come_without() {
    use packet::{kind, vxlan};

    let mut plain = source("fixed:200,flows=50", 0, 1, 10.0, 9);
    let (mut inner, mut frames) = (Arrival::EMPTY, Vec::new());
    for _ in 0..500 {
        plain.next(&mut inner);
        frames.push((inner.head[..42].to_vec(), inner.flow));
    }
    let (mut n, mut ports, mut bytes) = (0, BTreeSet::new(), 0);
    let last = run(source("fixed:200,flows=50,tunnel=vxlan", 0, 1, 10.0, 9).as_mut(), 500, |a| {
        let p = parse(a.bytes());
        assert_eq!((p.fault, p.kind & kind::TUNNEL, a.len, a.head_len), (None, kind::VXLAN, 250, 92));
        assert!(vxlan::is_header(&a.head[42..]));
        assert_eq!(u16::from_be_bytes([a.head[38], a.head[39]]), 250 - 34);
        assert_eq!((a.head[vxlan::BEFORE..92].to_vec(), a.flow), frames[n]);
        assert!(a.head[92..].iter().all(|b| *b == 0));
        ports.insert([a.head[34], a.head[35]]);
        bytes += u64::from(wire_bytes(a.len));
        n += 1;
    });
    assert!(ports.len() > 40, "{} of 50 flows have a port of their own", ports.len());
    assert!((bytes as f64 * 8000.0 / last as f64 / 10.0 - 1.0).abs() < 0.01);
}

#[test]
fn requests_of_erpc_are_alike_in_length_and_read_as_such() {
    use packet::kv::{Op, Protocol, hash, partition};

    let mut puts = 0;
    run(source("erpc:put=50,keys=100,partitions=4", 0, 1, 50.0, 3).as_mut(), 4000, |a| {
        let len = usize::from(a.len) - 42;
        let request = Protocol::Erpc.request(&a.head[42..], len).unwrap();
        assert_eq!((a.len, request.key_len), (138, 16));
        assert_eq!(request.value_len, if request.op == Op::Put { 64 } else { 0 });
        puts += usize::from(request.op == Op::Put);
        let port = u16::from_be_bytes([a.head[36], a.head[37]]);
        let home = partition(hash(&a.head[58..74]), 4);
        assert_eq!(u32::from(port - packet::PARTITION_PORT), home);
        let sum = checksum::add(17 + u64::from(a.len - 34), &a.head[26..128]);
        assert_eq!(checksum::finish(sum), 0, "the rest is zeros");
    });
    assert!((1800..2200).contains(&puts), "{puts}");
}

#[test]
fn flows_of_a_time_slot_give_way_to_others() {
    let mut slots: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); 40];
    // 60 B every 67.2 ns: some 1500 frames a slot.
    run(source("fixed:60,flows=1000,slots=16/100", 0, 1, 10.0, 5).as_mut(), 55_000, |a| {
        if let Some(slot) = slots.get_mut((a.at / 100_000_000) as usize) {
            slot.insert(a.flow);
        }
    });
    // A frame belongs to the slot of the one before it.
    let sizes: Vec<_> = slots[1..36].iter().map(BTreeSet::len).collect();
    assert!(sizes.iter().all(|n| (14..=17).contains(n)), "{sizes:?}: two may be drawn twice");
    let common = slots[1..36].windows(2).map(|w| w[0].intersection(&w[1]).count()).sum::<usize>();
    assert!(common < 60, "{common} flows go on in the next of 35 slots, of 16 in 1000 each");
    let all: BTreeSet<_> = slots.iter().flatten().collect();
    assert!(all.len() > 350, "{}", all.len());
}
