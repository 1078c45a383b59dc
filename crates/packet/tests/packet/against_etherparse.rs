//! The parser against `etherparse`: on valid packets of every shape, and on real captures.

use crate::build::{Shape, shapes};
use etherparse::{LaxNetSlice, LaxSlicedPacket, NetSlice, SlicedPacket, TransportSlice};
use packet::{DEFAULT_KEY, Parsed, Rss, kind, parse};
use proptest::prelude::*;
use std::io::Write as _;

fn expected_l4(shape: &Shape) -> u32 {
    match shape.proto {
        _ if shape.is_part() => kind::FRAG,
        6 => kind::TCP,
        17 => kind::UDP,
        132 => kind::SCTP,
        1 | 58 => kind::ICMP,
        2 => kind::IGMP,
        _ => kind::NONFRAG,
    }
}

/// Where `etherparse` found transport bytes.
fn offset_of(part: &[u8], frame: &[u8]) -> usize {
    part.as_ptr() as usize - frame.as_ptr() as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn agrees_on_valid_packets(shape in shapes()) {
        let frame = shape.frame();
        let p = parse(&frame);
        prop_assert_eq!(p.fault, None);
        prop_assert_eq!(p.is_ipv6(), shape.v6);
        prop_assert_eq!(p.kind & kind::L4, expected_l4(&shape));
        prop_assert_eq!(p.addresses(&frame).unwrap(), &shape.addresses()[..]);
        let link = [kind::ETHER, kind::VLAN, kind::QINQ][usize::from(shape.tags)];
        prop_assert_eq!(p.kind & kind::L2, link);
        let extended = match shape.v6 {
            true => shape.options & 7 != 0 || shape.fragment.is_some() || (shape.auth && !shape.is_part()),
            false => shape.options != 0,
        };
        let plain = matches!(p.kind & kind::L3, kind::IPV4 | kind::IPV6);
        prop_assert_eq!(plain, !extended);
        if p.has_ports() {
            let tuple = p.tuple(&frame).unwrap();
            prop_assert_eq!((tuple.sport, tuple.dport, tuple.proto), (shape.sport, shape.dport, shape.proto));
        }

        let theirs = SlicedPacket::from_ethernet(&frame).unwrap();
        match theirs.transport {
            Some(TransportSlice::Tcp(t)) => prop_assert_eq!(usize::from(p.l4), offset_of(t.slice(), &frame)),
            Some(TransportSlice::Udp(u)) => prop_assert_eq!(usize::from(p.l4), offset_of(u.slice(), &frame)),
            Some(_) => prop_assert!(!p.has_ports()),
            None => prop_assert!(p.is_fragment() || !matches!(p.proto, 6 | 17)),
        }
        match theirs.net.unwrap() {
            NetSlice::Ipv4(ip) => prop_assert_eq!(usize::from(p.l3), offset_of(ip.header().slice(), &frame)),
            NetSlice::Ipv6(ip) => prop_assert_eq!(usize::from(p.l3), offset_of(ip.header().slice(), &frame)),
            NetSlice::Arp(_) => prop_assert!(false, "no ARP was made"),
        }
    }

    /// Cut anywhere, what was parsed stands and the rest is missing.
    #[test]
    fn a_cut_frame_keeps_what_it_has(shape in shapes(), part in 0.0..1.0f64) {
        let frame = shape.frame();
        let whole = parse(&frame);
        let cut = &frame[..(frame.len() as f64 * part) as usize];
        let p = parse(cut);
        prop_assert!(p.l3 == 0 || p.l3 == whole.l3);
        prop_assert!(p.l4 == 0 || p.l4 == whole.l4);
        prop_assert!(p.fault.is_some() || p.kind & (kind::L2 | kind::L4) == whole.kind & (kind::L2 | kind::L4) || p.l4 == 0);
        packet::fuzz::parser(cut, &rss());
    }

    #[test]
    fn any_bytes_are_parsed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        packet::fuzz::parser(&bytes, &rss());
    }
}

fn rss() -> Rss {
    Rss::new(&DEFAULT_KEY, &[0, 1, 2, 3]).unwrap()
}

/// The packets of a classic pcap file, by hand; nothing for another format or link type.
fn packets(file: &[u8]) -> Vec<&[u8]> {
    let big = file[..2] == [0xa1, 0xb2];
    let word = |at: usize| {
        let b = file[at..at + 4].try_into().unwrap();
        (if big { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) }) as usize
    };
    let (mut at, mut found) = (24, Vec::new());
    while word(20) == 1 && at + 16 <= file.len() {
        let captured = word(at + 8);
        found.push(&file[at + 16..at + 16 + captured]);
        at += 16 + captured;
    }
    found
}

/// Both name the same IP header of a frame and the same ports; whether there were ports to compare.
fn compare(p: &Parsed, frame: &[u8]) -> bool {
    let Ok(theirs) = LaxSlicedPacket::from_ethernet(frame) else {
        assert_eq!(p.l3, 0);
        return false;
    };
    let ip = match &theirs.net {
        Some(LaxNetSlice::Ipv4(ip)) => Some(offset_of(ip.header().slice(), frame)),
        Some(LaxNetSlice::Ipv6(ip)) => Some(offset_of(ip.header().slice(), frame)),
        _ => None,
    };
    let ports = match theirs.transport {
        Some(TransportSlice::Tcp(t)) => Some((t.source_port(), t.destination_port())),
        Some(TransportSlice::Udp(u)) => Some((u.source_port(), u.destination_port())),
        _ => None,
    };
    let ours = p.tuple(frame).filter(|_| p.has_ports() && p.proto != 132).map(|t| (t.sport, t.dport));
    assert_eq!((p.l3 != 0).then_some(usize::from(p.l3)), ip, "{p:?} {frame:02x?}");
    // Where snapping cut a transport header, etherparse names no ports; here four bytes are enough.
    assert!(ports == ours || ports.is_none(), "{ports:?} is not {ours:?}: {p:?} {frame:02x?}");
    ports.is_some()
}

#[test]
fn agrees_on_real_captures() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let Ok(entries) = std::fs::read_dir(&dir) else {
        writeln!(std::io::stderr(), "skipped: agrees_on_real_captures: no captures at {}", dir.display())
            .unwrap();
        return;
    };
    for path in entries.map(|e| e.unwrap().path()) {
        let file = std::fs::read(&path).unwrap();
        let packets = packets(&file);
        let compared = packets.iter().filter(|frame| compare(&parse(frame), frame)).count();
        println!("{}: {compared} of {} with ports in both", path.display(), packets.len());
        assert!(compared >= packets.len() / 2, "{}", path.display());
    }
}
