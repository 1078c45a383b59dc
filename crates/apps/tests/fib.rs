//! The forwarding table against a search through all routes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use apps::l3fwd::{Fib, NextHop, Route};
use memory::{Backing, Region, native::Table};
use proptest::prelude::*;

/// The longest prefix that holds the address; of equal ones the last.
fn search(routes: &[Route], to: IpAddr) -> Option<NextHop> {
    let holds = |r: &&Route| match (r.prefix, to) {
        (IpAddr::V4(p), IpAddr::V4(a)) => (0..r.length).all(|b| (p.to_bits() ^ a.to_bits()) << b >> 31 == 0),
        (IpAddr::V6(p), IpAddr::V6(a)) => (0..r.length).all(|b| (p.to_bits() ^ a.to_bits()) << b >> 127 == 0),
        _ => false,
    };
    routes.iter().filter(holds).max_by_key(|r| r.length).map(|r| r.hop)
}

/// Prefixes and addresses from a corner, so that they meet.
fn v4() -> impl Strategy<Value = Ipv4Addr> {
    (0u32..4, 0u32..4, 0u32..256).prop_map(|(a, b, c)| Ipv4Addr::from_bits(10 << 24 | a << 16 | b << 8 | c))
}

fn v6() -> impl Strategy<Value = Ipv6Addr> {
    (0u128..4, 0u128..4).prop_map(|(a, b)| Ipv6Addr::from_bits(0x2001 << 112 | a << 90 | b))
}

fn route() -> impl Strategy<Value = Route> {
    let network = prop_oneof![
        (v4(), 0u8..=32).prop_map(|(p, l)| (IpAddr::V4(p), l)),
        (v6(), 0u8..=128).prop_map(|(p, l)| (IpAddr::V6(p), l)),
    ];
    (network, any::<[u8; 6]>()).prop_map(|((prefix, length), mac)| Route {
        prefix,
        length,
        hop: NextHop { mac },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn finds_the_longest_prefix(
        routes in prop::collection::vec(route(), 0..40),
        fours in prop::collection::vec(v4(), 40), sixes in prop::collection::vec(v6(), 20),
    ) {
        let region = Region::new(64, Backing::Heap).unwrap();
        let mut m = region.view();
        let fib = Fib::new(&routes);
        for to in fours {
            prop_assert_eq!(fib.ipv4(&mut m, Table, to.octets()), search(&routes, to.into()), "{}", to);
        }
        for to in sixes {
            prop_assert_eq!(fib.ipv6(&mut m, Table, to.octets()), search(&routes, to.into()), "{}", to);
        }
    }
}
