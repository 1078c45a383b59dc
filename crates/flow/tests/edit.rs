//! What edits do to frames: fields, checksums and tunnels, against frames of `etherparse`.

#![allow(clippy::unwrap_used, reason = "tests")]

use etherparse::{PacketBuilder, SlicedPacket, VlanId};
use flow::{Action, Edited, Ending, Field, HEAD, Header, Key, Layer, Limits, Match, Rule, Vxlan, Writer};
use proptest::prelude::*;

/// What a frame is made of.
#[derive(Clone, Debug)]
struct Shape {
    v6: bool,
    vlan: bool,
    proto: u8,
    addresses: [[u8; 16]; 2],
    ports: [u16; 2],
    payload: Vec<u8>,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let proto = prop_oneof![Just(6_u8), Just(17), Just(1)];
    let payload = proptest::collection::vec(any::<u8>(), 0..300);
    (any::<bool>(), any::<bool>(), proto, any::<[[u8; 16]; 2]>(), any::<[u16; 2]>(), payload).prop_map(
        |(v6, vlan, proto, addresses, ports, payload)| {
            // Not those that say which headers follow.
            let ports =
                ports.map(|port| if matches!(port, 4789 | 4790 | 6081 | 250 | 8472) { 1 } else { port });
            Shape { v6, vlan, proto, addresses, ports, payload }
        },
    )
}

impl Shape {
    fn frame(&self) -> Vec<u8> {
        self.frame_of(64)
    }

    /// With a time to live, or hop limit.
    fn frame_of(&self, ttl: u8) -> Vec<u8> {
        let [src, dst] = self.addresses;
        let [sport, dport] = self.ports;
        let v4 = |a: [u8; 16]| a.first_chunk::<4>().copied().unwrap();
        let link = PacketBuilder::ethernet2([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]);
        let ip = match (self.vlan, self.v6) {
            (false, false) => link.ipv4(v4(src), v4(dst), ttl),
            (false, true) => link.ipv6(src, dst, ttl),
            (true, false) => link.single_vlan(VlanId::try_new(7).unwrap()).ipv4(v4(src), v4(dst), ttl),
            (true, true) => link.single_vlan(VlanId::try_new(7).unwrap()).ipv6(src, dst, ttl),
        };
        let mut frame = Vec::new();
        match (self.proto, self.v6) {
            (6, _) => ip.tcp(sport, dport, 1, 1).write(&mut frame, &self.payload).unwrap(),
            (17, _) => ip.udp(sport, dport).write(&mut frame, &self.payload).unwrap(),
            (_, false) => ip.icmpv4_echo_request(sport, dport).write(&mut frame, &self.payload).unwrap(),
            (_, true) => ip.icmpv6_echo_request(sport, dport).write(&mut frame, &self.payload).unwrap(),
        }
        frame
    }
}

fn read(frame: &[u8]) -> Key {
    Key::read(frame, &packet::parse(frame))
}

/// The whole frame after an edit.
fn whole(edited: &Edited, old: &[u8]) -> Vec<u8> {
    let all = [edited.head(), &old[edited.rest_from() as usize..]].concat();
    assert_eq!(all.len(), edited.len() as usize);
    all
}

/// The checksums of a frame, as it has them and as they should be.
fn sums(frame: &[u8]) -> Vec<[u16; 2]> {
    let mut sums = Vec::new();
    let parsed = packet::parse(frame);
    let (l3, l4) = (usize::from(parsed.l3), usize::from(parsed.l4));
    if parsed.is_ipv4() {
        let is = u16::from_be_bytes([frame[l3 + 10], frame[l3 + 11]]);
        sums.push([is, packet::checksum::ipv4(&frame[l3..l4]).unwrap()]);
    }
    let at = match parsed.proto {
        6 => 16,
        17 => 6,
        _ => 2,
    };
    let mut segment = frame[l4..].to_vec();
    let is = u16::from_be_bytes([segment[at], segment[at + 1]]);
    segment[at..at + 2].fill(0);
    let should = match parsed.proto {
        1 => packet::checksum::finish(packet::checksum::add(0, &segment)),
        proto => packet::checksum::transport(parsed.addresses(frame).unwrap(), proto, &segment),
    };
    sums.push([is, should]);
    sums
}

/// Fields that can be set.
fn settable() -> impl Iterator<Item = Field> {
    Field::ALL.iter().copied().filter(|field| {
        let actions = [Action::Set { field: *field, value: 0 }, Action::Drop];
        let mut tables = Writer::new(Limits::for_rules(1)).unwrap();
        let rule = Rule { group: 0, priority: 0, matching: Match::any(), actions: (&actions[..]).into() };
        tables.insert(&rule).is_ok()
    })
}

/// What may not become: the words that mean the same sum differ, 0 and 0xffff.
fn same(sum: u16) -> u16 {
    if sum == 0xffff { 0 } else { sum }
}

proptest! {
    #[test]
    fn a_field_that_is_set_is_what_a_key_finds_and_checksums_are_right(shape in shapes(), value in any::<u128>()) {
        let frame = shape.frame();
        let len = frame.len() as u32;
        for field in settable() {
            let value = value & field.largest();
            let mut edited = Edited::new(&frame, len);
            edited.apply(&Action::Set { field, value }).unwrap();
            let now = whole(&edited, &frame);
            let mut expected = read(&frame);
            expected.set(Layer::Outer, field, value, field.largest());
            // A port may say that a tunnel follows; fields of its headers are found then, which were payload before.
            let key = read(&now);
            for other in Field::ALL.iter().filter(|other| expected.get(Layer::Outer, **other).is_some()) {
                prop_assert_eq!(key.get(Layer::Outer, *other), expected.get(Layer::Outer, *other), "{:?} by {:?}", other, field);
            }
            for [is, should] in sums(&now) {
                prop_assert_eq!(same(is), same(should), "{:?}", field);
            }
        }
    }

    /// The frame is the one that its sender would have made with one less.
    #[test]
    fn a_time_to_live_is_one_less_with_its_checksum(shape in shapes(), ttl in prop_oneof![0..3_u8, any::<u8>()]) {
        let frame = shape.frame_of(ttl);
        let mut edited = Edited::new(&frame, frame.len() as u32);
        edited.apply(&Action::DecTtl).unwrap();
        let (now, less) = (whole(&edited, &frame), shape.frame_of(ttl.saturating_sub(1)));
        prop_assert_eq!(read(&now), read(&less));
        let header = usize::from(packet::parse(&now).l3);
        if !shape.v6 {
            // 0 and 0xffff are the same sum.
            let sum = |frame: &[u8]| same(u16::from_be_bytes([frame[header + 10], frame[header + 11]]));
            prop_assert_eq!(sum(&now), sum(&less));
        }
        let differs = |(at, (a, b)): (usize, (&u8, &u8))| (a != b).then_some(at);
        let changed = now.iter().zip(&less).enumerate().filter_map(differs);
        prop_assert!(changed.into_iter().all(|at| matches!(at - header, 10 | 11)));
    }

    #[test]
    fn what_was_put_on_is_taken_off(shape in shapes(), v6 in any::<bool>(), vni in 0..1_u32 << 24, sport in any::<u16>()) {
        let frame = shape.frame();
        let address = |n| match v6 {
            true => core::net::IpAddr::from([n; 16]),
            false => core::net::IpAddr::from([n; 4]),
        };
        let ethernet = [[2; 6], [4; 6]];
        let vxlan = Vxlan { ethernet, src: address(9), dst: address(8), tos: 4, ttl: 63, sport, vni };
        let mut edited = Edited::new(&frame, frame.len() as u32);
        edited.apply(&Action::VxlanEncap(vxlan)).unwrap();
        let outside = whole(&edited, &frame);
        let key = read(&outside);
        prop_assert_eq!(key.get(Layer::Outer, Field::VxlanVni), Some(u128::from(vni)));
        let version = if v6 { Header::Ipv6 } else { Header::Ipv4 };
        prop_assert!(key.has(Layer::Outer, version));
        let port = key.get(Layer::Outer, Field::UdpSrc).unwrap();
        let right = if sport == 0 { port >= 49_152 } else { port == u128::from(sport) };
        prop_assert!(right);
        for field in Field::ALL {
            prop_assert_eq!(key.get(Layer::Inner, *field), read(&frame).get(Layer::Outer, *field));
        }
        // Another reader finds all lengths right.
        let sliced = SlicedPacket::from_ethernet(&outside).unwrap();
        let etherparse::TransportSlice::Udp(udp) = sliced.transport.unwrap() else { panic!("no UDP") };
        prop_assert_eq!(usize::from(udp.length()), frame.len() + 16);
        if !v6 {
            prop_assert_eq!(packet::checksum::ipv4(&outside[14..34]).unwrap().to_be_bytes(), [outside[24], outside[25]]);
        }
        let mut edited = Edited::new(&outside, outside.len() as u32);
        edited.apply(&Action::VxlanDecap).unwrap();
        prop_assert_eq!(whole(&edited, &outside), frame);
    }

    #[test]
    fn no_bytes_and_no_value_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), len in 0..500_u32, value in any::<u128>()) {
        for field in Field::ALL {
            let mut edited = Edited::new(&bytes, len);
            let set = Action::Set { field: *field, value: value & field.largest() };
            for action in [set, Action::DecTtl, Action::VxlanDecap] {
                edited.apply(&action).unwrap();
            }
            prop_assert!(edited.head().len() <= HEAD && edited.rest_from() <= len.max(bytes.len() as u32));
        }
    }
}

#[test]
fn a_frame_that_would_be_too_long_is_refused() {
    let ethernet = [[0; 6]; 2];
    let address = core::net::IpAddr::from([1; 4]);
    let vxlan = Vxlan { ethernet, src: address, dst: address, tos: 0, ttl: 1, sport: 1, vni: 1 };
    let mut edited = Edited::new(&[0; 60], 65_535 - 50);
    edited.apply(&Action::VxlanEncap(vxlan)).unwrap();
    assert_eq!(edited.len(), 65_535);
    assert_eq!(edited.apply(&Action::VxlanEncap(vxlan)).unwrap_err().0, 65_585);
}

#[test]
fn a_verdict_edits_in_the_order_of_its_rules() {
    let mut tables = Writer::new(Limits::for_rules(10)).unwrap();
    let first = [Action::Set { field: Field::Ipv4Ttl, value: 9 }, Action::Jump(1)];
    let second = [
        Action::Set { field: Field::Ipv4Ttl, value: 5 },
        Action::Set { field: Field::UdpDst, value: 53 },
        Action::Queue(2),
    ];
    for (group, actions) in [(0, &first[..]), (1, &second[..])] {
        let matching = Match::any().has(Layer::Outer, Header::Ipv4).unwrap();
        tables.insert(&Rule { group, priority: 0, matching, actions: actions.into() }).unwrap();
    }
    tables.commit();
    let shape = Shape {
        v6: false,
        vlan: false,
        proto: 17,
        addresses: [[1; 16], [2; 16]],
        ports: [1, 2],
        payload: vec![0; 20],
    };
    let frame = shape.frame();
    let reader = tables.reader();
    let burst = reader.burst(0);
    let verdict = burst.classify(&mut read(&frame), frame.len() as u32);
    assert_eq!((verdict.ending, verdict.is_edited()), (Ending::Queue(2), true));
    let now = whole(&verdict.edit(&frame, frame.len() as u32).unwrap(), &frame);
    let key = read(&now);
    assert_eq!(
        [Field::Ipv4Ttl, Field::UdpDst].map(|field| key.get(Layer::Outer, field)),
        [Some(5), Some(53)]
    );
    assert!(sums(&now).iter().all(|[is, should]| is == should));
}

/// What reaches 0 goes on with it, and the next group may tell it apart.
#[test]
fn a_rule_finds_what_reached_its_end() {
    let mut tables = Writer::new(Limits::for_rules(10)).unwrap();
    let ended = Match::any().field(Layer::Outer, Field::Ipv4Ttl, 0).unwrap();
    let dec = [Action::DecTtl, Action::Jump(1)];
    for (group, priority, matching, actions) in [
        (0, 0, Match::any(), &dec[..]),
        (1, 0, ended, &[Action::Queue(9)]),
        (1, 1, Match::any(), &[Action::Queue(1)]),
    ] {
        tables.insert(&Rule { group, priority, matching, actions: actions.into() }).unwrap();
    }
    tables.commit();
    let addresses = [[1; 16], [2; 16]];
    let shape = Shape { v6: false, vlan: false, proto: 17, addresses, ports: [1, 2], payload: vec![0; 20] };
    let reader = tables.reader();
    let burst = reader.burst(0);
    for (ttl, queue, left) in [(0, 9, 0), (1, 9, 0), (2, 1, 1), (255, 1, 254)] {
        let frame = shape.frame_of(ttl);
        let verdict = burst.classify(&mut read(&frame), frame.len() as u32);
        assert_eq!(verdict.ending, Ending::Queue(queue));
        let now = whole(&verdict.edit(&frame, frame.len() as u32).unwrap(), &frame);
        assert_eq!(read(&now).get(Layer::Outer, Field::Ipv4Ttl), Some(left));
    }
}
