//! Toeplitz against Microsoft's verification suite: a few of its well-known vectors here, all of
//! those in `shared/rss` when they are at hand.

use crate::build::Shape;
use packet::{DEFAULT_KEY, Rss, RssError, SYMMETRIC_KEY, parse};
use std::io::Write as _;
use std::net::IpAddr;

/// Source, port, destination, port, hash of the addresses, hash with ports.
const VECTORS: [(&str, u16, &str, u16, u32, u32); 4] = [
    ("66.9.149.187", 2794, "161.142.100.80", 1766, 0x323e_8fc2, 0x51cc_c178),
    ("199.92.111.2", 14230, "65.69.140.83", 4739, 0xd718_262a, 0xc626_b0ea),
    ("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2cc1_8cd5, 0x4020_7d3d),
    ("3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0f0c_461c, 0xdde5_1bbf),
];

fn octets(address: &str) -> [u8; 16] {
    match address.parse().unwrap() {
        IpAddr::V4(a) => {
            let mut octets = [0; 16];
            octets[..4].copy_from_slice(&a.octets());
            octets
        }
        IpAddr::V6(a) => a.octets(),
    }
}

/// Checks one vector on whole frames: of every protocol with ports, without ports, and fragmented.
fn check(src: &str, sport: u16, dst: &str, dport: u16, l3: u32, l4: u32) {
    let rss = Rss::new(&DEFAULT_KEY, &[0]).unwrap();
    let v6 = src.contains(':');
    let hash = |shape: &Shape| {
        let frame = shape.frame();
        rss.hash(&parse(&frame), &frame)
    };
    let plain = |proto| Shape::plain(v6, octets(src), octets(dst), proto, sport, dport);
    for proto in [6, 17, 132] {
        assert_eq!(hash(&plain(proto)), l4, "{src} -> {dst}, protocol {proto}");
        let tagged = Shape { tags: 2, options: 3, ..plain(proto) };
        assert_eq!(hash(&tagged), l4, "{src} -> {dst}, tags and options");
        for fragment in [(0, true), (3, true), (3, false)] {
            let part = Shape { fragment: Some(fragment), ..plain(proto) };
            assert_eq!(hash(&part), l3, "{src} -> {dst}, fragment {fragment:?}");
        }
    }
    assert_eq!(hash(&plain(89)), l3, "{src} -> {dst}, no ports");
}

#[test]
fn well_known_vectors() {
    for (src, sport, dst, dport, l3, l4) in VECTORS {
        check(src, sport, dst, dport, l3, l4);
    }
}

#[test]
fn whole_verification_suite() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/rss/rss_vectors.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        writeln!(std::io::stderr(), "skipped: whole_verification_suite: no vectors at {}", path.display())
            .unwrap();
        return;
    };
    let mut checked = 0;
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<&str> = line.split('\t').collect();
        let hash = |s: &str| u32::from_str_radix(s.trim_start_matches("0x"), 16).unwrap();
        check(f[1], f[2].parse().unwrap(), f[3], f[4].parse().unwrap(), hash(f[5]), hash(f[6]));
        checked += 1;
    }
    assert!(checked > 0);
}

/// The definition, bit by bit: for each set bit of the input, the 32 key bits that start there.
fn by_definition(key: &[u8], input: &[u8]) -> u32 {
    let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (7 - i % 8) & 1;
    let window = |i: usize| (i..i + 32).fold(0, |w, j| w << 1 | u32::from(bit(key, j)));
    (0..input.len() * 8).filter(|i| bit(input, *i) == 1).fold(0, |h, i| h ^ window(i))
}

proptest::proptest! {
    #[test]
    fn any_key_hashes_by_the_definition(
        key in proptest::collection::vec(proptest::prelude::any::<u8>(), 40..60),
        input in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..=36),
        split in 0usize..=36,
    ) {
        let rss = Rss::new(&key, &[0]).unwrap();
        let hash = by_definition(&key, &input);
        proptest::prop_assert_eq!(rss.toeplitz(&input, 0), hash);
        let (a, b) = input.split_at(split.min(input.len()));
        proptest::prop_assert_eq!(rss.toeplitz(a, 0) ^ rss.toeplitz(b, a.len()), hash);
    }
}

#[test]
fn the_symmetric_key_joins_both_directions() {
    let rss = Rss::new(&SYMMETRIC_KEY, &[0]).unwrap();
    for (src, sport, dst, dport, _, _) in VECTORS {
        let v6 = src.contains(':');
        let there = Shape::plain(v6, octets(src), octets(dst), 6, sport, dport).frame();
        let back = Shape::plain(v6, octets(dst), octets(src), 6, dport, sport).frame();
        assert_eq!(rss.hash(&parse(&there), &there), rss.hash(&parse(&back), &back));
    }
}

#[test]
fn tables_and_keys_are_checked_and_used() {
    assert_eq!(Rss::new(&[0; 39], &[0]).unwrap_err(), RssError::Key(39));
    for n in [0, 3, 6] {
        assert_eq!(Rss::new(&DEFAULT_KEY, &vec![0; n]).unwrap_err(), RssError::Table(n));
    }
    let rss = Rss::new(&DEFAULT_KEY, &[5, 6, 7, 8]).unwrap();
    assert_eq!([0, 1, 2, 3, 4, u32::MAX].map(|h| rss.queue(h)), [5, 6, 7, 8, 5, 8]);
    // A frame without IP hashes to 0, whose queue is the table's first.
    assert_eq!(rss.hash(&parse(&[0xff; 60]), &[0xff; 60]), 0);
}

#[test]
fn spread_is_even() {
    for queues in [1u16, 2, 3, 7, 16, 18, 100, 1000] {
        let rss = Rss::spread(queues);
        let mut load = vec![0u32; usize::from(queues)];
        rss.table().iter().for_each(|q| load[usize::from(*q)] += 1);
        let (min, max) = (load.iter().min().unwrap(), load.iter().max().unwrap());
        assert!(f64::from(*max) <= f64::from(*min) * 1.02, "{queues} queues: {min} to {max}");
    }
}

#[test]
fn fields_say_what_is_hashed() {
    use packet::Fields;
    for (v6, alone, ports) in
        [(false, Fields::IPV4, Fields::IPV4_PORTS), (true, Fields::IPV6, Fields::IPV6_PORTS)]
    {
        let frame = Shape::plain(v6, [1; 16], [2; 16], 17, 3, 4).frame();
        let parsed = parse(&frame);
        let hashed = |fields| Rss::spread(4).with_fields(fields).hashed(&parsed, &frame);
        let addresses = Rss::spread(4).toeplitz(parsed.addresses(&frame).unwrap(), 0);
        assert_eq!(hashed(Fields::ALL), Some(Rss::spread(4).hash(&parsed, &frame)));
        assert_eq!(hashed(ports), hashed(Fields::ALL));
        assert_eq!(hashed(alone), Some(addresses));
        assert_ne!(hashed(alone), hashed(ports));
        assert_eq!(hashed(Fields::NONE), None);
    }
}
