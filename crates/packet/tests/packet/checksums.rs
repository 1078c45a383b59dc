//! Checksums against `etherparse`, and updates against a sum from scratch.

use crate::build::shapes;
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use packet::{checksum, parse};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn checksums_are_those_of_etherparse(shape in shapes()) {
        let frame = shape.frame();
        let p = parse(&frame);
        let theirs = SlicedPacket::from_ethernet(&frame).unwrap();
        let segment = &frame[usize::from(p.l4)..];
        let addresses = p.addresses(&frame).unwrap();
        if let Some(NetSlice::Ipv4(ip)) = &theirs.net {
            let header = ip.header().slice();
            prop_assert_eq!(checksum::ipv4(header).unwrap(), ip.header().header_checksum());
        }
        let ip = match theirs.net.unwrap() {
            NetSlice::Ipv4(ip) => Ok((ip.header().source(), ip.header().destination())),
            NetSlice::Ipv6(ip) => Err((ip.header().source(), ip.header().destination())),
            NetSlice::Arp(_) => unreachable!("no ARP was made"),
        };
        let expected = match (theirs.transport, ip) {
            (Some(TransportSlice::Tcp(t)), Ok((s, d))) => t.calc_checksum_ipv4(s, d).unwrap(),
            (Some(TransportSlice::Tcp(t)), Err((s, d))) => t.calc_checksum_ipv6(s, d).unwrap(),
            (Some(TransportSlice::Udp(u)), Ok((s, d))) => {
                u.to_header().calc_checksum_ipv4_raw(s, d, u.payload()).unwrap()
            }
            (Some(TransportSlice::Udp(u)), Err((s, d))) => {
                u.to_header().calc_checksum_ipv6_raw(s, d, u.payload()).unwrap()
            }
            _ => return Ok(()),
        };
        prop_assert_eq!(checksum::transport(addresses, shape.proto, segment), expected);
    }

    /// RFC 1624: an update equals a sum from scratch, whatever changes to whatever.
    #[test]
    fn updates_equal_a_fresh_sum(
        mut bytes in prop::collection::vec(any::<u8>(), 20..60),
        at in 0usize..4,
        new in prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)],
    ) {
        let word = at * 4;
        let old = u32::from_be_bytes(bytes[word..word + 4].try_into().unwrap());
        let before = checksum::finish(checksum::add(0, &bytes));
        bytes[word..word + 4].copy_from_slice(&new.to_be_bytes());
        let after = checksum::finish(checksum::add(0, &bytes));
        prop_assert!(same(checksum::update32(before, old, new), after, &bytes));
        let (o, n) = ([(old >> 16) as u16, old as u16], [(new >> 16) as u16, new as u16]);
        let halves = checksum::update(checksum::update(before, o[0], n[0]), o[1], n[1]);
        prop_assert!(same(halves, after, &bytes));
    }

    #[test]
    fn udp_keeps_its_two_special_values(checksum in any::<u16>(), old in any::<u32>(), new in any::<u32>()) {
        let updated = checksum::update32_udp(checksum, old, new);
        prop_assert_eq!(updated == 0, checksum == 0);
        prop_assert_eq!(checksum::update32_udp(updated, new, old) == 0, checksum == 0);
    }
}

/// Only all-zero data sums to zero; an update cannot know and may say 0xffff's other form.
fn same(updated: u16, fresh: u16, bytes: &[u8]) -> bool {
    updated == fresh || (bytes.iter().all(|b| *b == 0) && updated == 0 && fresh == 0xffff)
}
