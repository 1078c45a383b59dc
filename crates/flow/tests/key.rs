//! What a key has of a frame, against frames of `etherparse` and by hand.

#![allow(clippy::unwrap_used, reason = "tests")]

use etherparse::{PacketBuilder, PacketBuilderStep, VlanId};
use flow::{Field, Header, Key, Layer};
use proptest::prelude::*;

const MACS: [[u8; 6]; 2] = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]];

fn read(frame: &[u8]) -> Key {
    Key::read(frame, &packet::parse(frame))
}

#[track_caller]
fn holds(key: &Key, layer: Layer, fields: &[(Field, u128)]) {
    for (field, value) in fields {
        assert_eq!(key.get(layer, *field), Some(*value), "{field:?} of {layer:?}");
    }
}

/// Ethernet with so many tags.
fn link(tags: u8, tci: [u16; 2]) -> PacketBuilderStep<etherparse::VlanHeader> {
    let ids = tci.map(|id| VlanId::try_new(id & 0xfff).unwrap());
    let builder = PacketBuilder::ethernet2(MACS[0], MACS[1]);
    match tags {
        1 => builder.single_vlan(ids[0]),
        _ => builder.double_vlan(ids[0], ids[1]),
    }
}

proptest! {
    #[test]
    fn fields_are_those_that_another_writer_put_there(
        (v6, tags, tci) in (any::<bool>(), 1..3_u8, any::<[u16; 2]>()),
        (src, dst) in (any::<[u8; 16]>(), any::<[u8; 16]>()),
        (ttl, sport, dport) in (1..=255_u8, any::<u16>(), any::<u16>()),
        proto in prop_oneof![Just(6_u8), Just(17), Just(1)],
        seq in any::<u16>(),
    ) {
        let link = link(tags, tci);
        let v4 = |a: [u8; 16]| a.first_chunk::<4>().copied().unwrap();
        let ip = if v6 { link.ipv6(src, dst, ttl) } else { link.ipv4(v4(src), v4(dst), ttl) };
        let mut frame = Vec::new();
        match (proto, v6) {
            (6, _) => ip.tcp(sport, dport, 1, 1).syn().ack(2).write(&mut frame, &[0; 9]).unwrap(),
            (17, _) => ip.udp(sport, dport).write(&mut frame, &[0; 9]).unwrap(),
            (_, false) => ip.icmpv4_echo_request(sport, seq).write(&mut frame, &[]).unwrap(),
            (_, true) => ip.icmpv6_echo_request(sport, seq).write(&mut frame, &[]).unwrap(),
        }
        let key = read(&frame);
        let mac = |m: [u8; 6]| m.iter().fold(0, |all, b| all << 8 | u128::from(*b));
        holds(&key, Layer::Outer, &[
            (Field::EthSrc, mac(MACS[0])),
            (Field::EthDst, mac(MACS[1])),
            (Field::EthType, if v6 { 0x86dd } else { 0x0800 }),
            (Field::VlanTci, u128::from(tci[0] & 0xfff)),
        ]);
        let second = (tags == 2).then_some(u128::from(tci[1] & 0xfff));
        prop_assert_eq!(key.get(Layer::Outer, Field::QinqTci), second);
        let address = |a: [u8; 16]| u128::from_be_bytes(a) >> if v6 { 0 } else { 96 };
        let (ports, ttl) = ([sport, dport].map(u128::from), u128::from(ttl));
        match v6 {
            true => holds(&key, Layer::Outer, &[
                (Field::Ipv6Src, address(src)), (Field::Ipv6Dst, address(dst)), (Field::Ipv6Hops, ttl),
                (Field::Ipv6Proto, if proto == 1 { 58 } else { proto.into() }),
            ]),
            false => holds(&key, Layer::Outer, &[
                (Field::Ipv4Src, address(src)), (Field::Ipv4Dst, address(dst)), (Field::Ipv4Ttl, ttl),
                (Field::Ipv4Proto, proto.into()),
            ]),
        }
        let versions = [Header::Ipv4, Header::Ipv6].map(|header| key.has(Layer::Outer, header));
        prop_assert_eq!(versions, [!v6, v6]);
        match (proto, v6) {
            (6, _) => holds(&key, Layer::Outer, &[
                (Field::TcpSrc, ports[0]), (Field::TcpDst, ports[1]), (Field::TcpFlags, 0x12),
            ]),
            (17, _) => holds(&key, Layer::Outer, &[(Field::UdpSrc, ports[0]), (Field::UdpDst, ports[1])]),
            (_, false) => holds(&key, Layer::Outer, &[
                (Field::IcmpType, 8), (Field::IcmpCode, 0), (Field::IcmpIdent, ports[0]),
                (Field::IcmpSeq, seq.into()),
            ]),
            (_, true) => holds(&key, Layer::Outer, &[(Field::Icmp6Type, 128), (Field::Icmp6Code, 0)]),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }
}

/// An Ethernet frame whose IPv4 packet has this protocol and payload.
fn ipv4(proto: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = [&MACS[0][..], &MACS[1][..], &[8, 0, 0x45, 0xb8, 0, 20 + payload.len() as u8]].concat();
    frame.extend([0, 1, 0, 0, 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(payload);
    frame
}

/// All frames with headers in a tunnel, or below the usual ones.
fn tunnels() -> Vec<(Vec<u8>, Header)> {
    let inner = ipv4(132, &[0, 5, 0, 6, 0xaa, 0xbb, 0xcc, 0xdd, 0, 0, 0, 0]);
    let udp = |port: u16| [&[0, 9][..], &port.to_be_bytes(), &[0, 0, 0, 0]].concat();
    let vxlan = [&udp(4789)[..], &[8, 0, 0, 0, 0x12, 0x34, 0x56, 0], &inner].concat();
    let geneve = [&udp(6081)[..], &[2, 0, 0x65, 0x58, 0x12, 0x34, 0x56, 0], &[0; 8], &inner].concat();
    let gre = [&[0xb0, 0, 0x65, 0x58, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 7][..], &inner].concat();
    let bare = [&[0x20, 0, 8, 0, 1, 2, 3, 4][..], &inner[14..]].concat();
    vec![
        (ipv4(17, &vxlan), Header::Vxlan),
        (ipv4(17, &geneve), Header::Geneve),
        (ipv4(47, &gre), Header::GreKey),
        (ipv4(47, &bare), Header::Gre),
    ]
}

#[test]
fn tunnels_are_looked_into() {
    for (at, (frame, header)) in tunnels().into_iter().enumerate() {
        let mut key = read(&frame);
        assert!(key.has(Layer::Outer, header));
        holds(&key, Layer::Outer, &[(Field::Ipv4Tos, 0xb8), (Field::Ipv4Src, 0x0a00_0001)]);
        holds(
            &key,
            Layer::Outer,
            match at {
                0 => &[(Field::VxlanVni, 0x12_3456), (Field::VxlanFlags, 8), (Field::UdpSrc, 9)],
                1 => {
                    &[(Field::GeneveVni, 0x12_3456), (Field::GeneveProto, 0x6558), (Field::GeneveOptions, 2)]
                }
                2 => &[(Field::GreKey, 0x0102_0304), (Field::GreProto, 0x6558), (Field::GreFlags, 0xb000)],
                _ => &[(Field::GreKey, 0x0102_0304), (Field::GreProto, 0x0800), (Field::GreFlags, 0x2000)],
            },
        );
        let inside = [(Field::SctpSrc, 5), (Field::SctpDst, 6), (Field::SctpTag, 0xaabb_ccdd)];
        holds(&key, Layer::Inner, &inside);
        assert_eq!(key.has(Layer::Inner, Header::Ethernet), at < 3);
        key.decap();
        holds(&key, Layer::Outer, &inside);
        assert_eq!(key, if at < 3 { read(&ipv4(132, &frame[frame.len() - 12..])) } else { key });
    }
}

#[test]
fn a_frame_that_was_cut_has_what_is_left() {
    for (frame, header) in tunnels() {
        let mut had = false;
        for n in 0..frame.len() {
            let key = read(&frame[..n]);
            assert!(!had || key.has(Layer::Outer, header), "{header:?} of the first {n} bytes");
            had = key.has(Layer::Outer, header);
            let shorter = read(&frame[..n.saturating_sub(1)]);
            let gone = |layer, h| shorter.has(layer, h) && !key.has(layer, h);
            for h in Header::ALL {
                assert!(!gone(Layer::Outer, h) && !gone(Layer::Inner, h), "{h:?} of the first {n} bytes");
            }
        }
        assert!(had);
    }
}

#[test]
fn labels_and_fragments() {
    let mut frame = [&MACS[0][..], &MACS[1][..], &[0x81, 0, 0, 5, 0x88, 0x47]].concat();
    frame.extend([0x12, 0x34, 0x57, 0x40, 0, 0, 0, 0]);
    let key = read(&frame);
    holds(
        &key,
        Layer::Outer,
        &[
            (Field::MplsLabel, 0x1_2345),
            (Field::MplsClass, 3),
            (Field::MplsBottom, 1),
            (Field::MplsTtl, 0x40),
        ],
    );
    holds(&key, Layer::Outer, &[(Field::EthType, 0x8847), (Field::VlanTci, 5)]);
    let mut first = ipv4(17, &[0, 1, 0, 2, 0, 8, 0, 0]);
    first[20] = 0x20;
    let key = read(&first);
    assert!(key.has(Layer::Outer, Header::Fragment) && !key.has(Layer::Outer, Header::Udp));
    assert_eq!(key.get(Layer::Outer, Field::UdpDst), None);
}

#[test]
fn a_field_is_set_where_its_header_is() {
    let mut key = read(&ipv4(17, &[0, 1, 0, 2, 0, 8, 0, 0]));
    let before = key;
    key.set(Layer::Outer, Field::Ipv6Dst, 1, u128::MAX);
    key.set(Layer::Outer, Field::TcpDst, 1, u128::MAX);
    assert_eq!(key, before);
    key.set(Layer::Outer, Field::Ipv4Dst, 0xff00_00ff, 0xff);
    key.set(Layer::Outer, Field::Meta, 7, 0xffff_ffff);
    holds(
        &key,
        Layer::Outer,
        &[(Field::Ipv4Dst, 0x0a00_00ff), (Field::Meta, 7), (Field::Ipv4Src, 0x0a00_0001)],
    );
}
