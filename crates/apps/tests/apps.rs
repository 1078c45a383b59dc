//! What the applications do to real packets.
#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

mod bench;

use apps::kv::Partition;
use apps::l3fwd::{Fib, L3fwd, parse_routes};
use apps::lb::Lb;
use apps::nat::{Home, Nat};
use apps::table::{HashTable, Shape};
use apps::{App, Cause};
use bench::{Bench, L4, dropped, ipv4, ipv6, judge, region};
use memory::{NativeView, Ps, native::Table};
use packet::Rss;
use std::collections::BTreeSet;
use std::sync::Arc;

const A: [u8; 4] = [10, 1, 2, 3];
const B: [u8; 4] = [198, 51, 100, 7];
const PUBLIC: [u8; 4] = [203, 0, 113, 1];

fn flows<'r>(capacity: u32) -> HashTable<NativeView<'r>> {
    HashTable::new(Shape::new(capacity), Table, Ps::from_us(60_000_000))
}

fn l3fwd<'r>(routes: &str) -> L3fwd<NativeView<'r>> {
    L3fwd::new(Arc::new(Fib::new(&parse_routes(routes).unwrap())), Table, 0)
}

#[test]
fn l3fwd_sends_by_the_longest_prefix_with_one_hop_less() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = l3fwd(
        "0.0.0.0/0 via 02:00:00:00:00:f0\n198.51.100.0/24 via 02:00:00:00:00:f1\n\
         198.51.100.7/32 via 02:00:00:00:00:f2\n2001:db8::/32 via 02:00:00:00:00:f6",
    );
    for (to, hop) in [(B, 0xf2), ([198, 51, 100, 8], 0xf1), ([9, 9, 9, 9], 0xf0)] {
        for l4 in [L4::Tcp, L4::Udp, L4::Echo] {
            let seen = judge(&bench.one(&mut app, ipv4(A, to, (5, 6), l4, 64, b"payload")).unwrap());
            assert_eq!(seen.macs.0, [2, 0, 0, 0, 0, hop]);
            assert_eq!((seen.life, seen.dst.as_slice()), (63, &to[..]));
            assert_eq!(seen.payload, b"payload");
        }
    }
    let mut to = [0; 16];
    to[..4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    let seen = judge(&bench.one(&mut app, ipv6([1; 16], to, (5, 6), L4::Tcp, 2, b"x")).unwrap());
    assert_eq!((seen.life, seen.macs.0[5]), (1, 0xf6));
}

#[test]
fn l3fwd_drops_what_has_no_route_or_no_life_left() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = l3fwd("10.0.0.0/8 via 02:00:00:00:00:f0");
    let away = ipv4(A, B, (1, 2), L4::Udp, 64, b"");
    assert!(dropped(&bench.run(&mut app, &[away]).1, Cause::NoRoute));
    for ttl in [0, 1] {
        let old = ipv4(B, A, (1, 2), L4::Udp, ttl, b"");
        assert!(dropped(&bench.run(&mut app, &[old]).1, Cause::TtlExpired));
    }
    assert!(dropped(
        &bench.run(&mut app, &[ipv6([1; 16], [2; 16], (1, 2), L4::Udp, 9, b"")]).1,
        Cause::NoRoute
    ));
}

#[test]
fn frames_without_ip_pass_unchanged_and_contradictions_do_not() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = l3fwd("0.0.0.0/0 via 02:00:00:00:00:f0");
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    let (sent, batch) = bench.run(&mut app, &[arp.clone()]);
    assert_eq!((sent, batch.counters.passed), (vec![arp], 1));
    let mut bad = ipv4(A, B, (1, 2), L4::Udp, 64, b"");
    bad[14] = 0x65;
    assert!(dropped(&bench.run(&mut app, &[bad]).1, Cause::BadHeader));
    assert!(dropped(&bench.run(&mut app, &[vec![0; 9]]).1, Cause::BadHeader));
}

#[test]
fn a_udp_checksum_of_zero_stays_zero() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Nat::new(flows(64), &[PUBLIC], None, 0);
    let mut frame = ipv4(A, B, (5, 6), L4::Udp, 64, b"data");
    frame[40..42].fill(0);
    let sent = bench.one(&mut app, frame).unwrap();
    assert_eq!(sent[40..42], [0, 0]);
    judge(&sent);
}

#[test]
fn lb_keeps_a_flow_on_its_server_and_uses_all_servers_alike() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Lb::new(flows(4096), 32, 0);
    let mut chosen = Vec::new();
    for round in 0..3 {
        for port in 0..1600 {
            let frame = if port % 2 == 0 {
                ipv4(A, B, (port, 80), if port % 4 == 0 { L4::Tcp } else { L4::Udp }, 64, b"hello")
            } else {
                ipv6(
                    [1; 16],
                    [2; 16],
                    (port, 80),
                    if port % 4 == 1 { L4::Tcp } else { L4::Udp },
                    64,
                    b"hello",
                )
            };
            let seen = judge(&bench.one(&mut app, frame).unwrap());
            assert_eq!((seen.ports, seen.payload.as_slice()), ((port, 80), &b"hello"[..]));
            let server = (seen.dst, seen.macs.0);
            match round {
                0 => chosen.push(server),
                _ => assert_eq!(chosen[usize::from(port)], server),
            }
        }
    }
    let load: Vec<_> = app.servers().iter().map(|s| s.1).collect();
    assert_eq!(load.iter().sum::<u64>(), 1600);
    assert!(load.iter().all(|n| (35..=65).contains(n)), "50 expected on each: {load:?}");
}

#[test]
fn lb_refuses_flows_that_its_table_cannot_hold() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Lb::new(flows(8), 32, 0);
    let frames: Vec<_> = (0..20).map(|p| ipv4(A, B, (p, 80), L4::Udp, 64, b"")).collect();
    let (sent, batch) = bench.run(&mut app, &frames);
    assert_eq!((sent.len(), batch.counters.of(Cause::TableFull)), (8, 12));
    // Known flows go on.
    assert_eq!(bench.run(&mut app, &frames[..8]).0.len(), 8);
}

#[test]
fn nat_translates_out_and_back() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Nat::new(flows(64), &[PUBLIC], None, 0);
    for (l4, ports) in [(L4::Tcp, (5000, 443)), (L4::Udp, (5000, 53)), (L4::Echo, (77, 77))] {
        let out = judge(&bench.one(&mut app, ipv4(A, B, ports, l4, 64, b"ask")).unwrap());
        assert_eq!((out.src.as_slice(), out.dst.as_slice(), out.life), (&PUBLIC[..], &B[..], 63));
        assert!(out.ports.0 >= 1024);
        let again = judge(&bench.one(&mut app, ipv4(A, B, ports, l4, 64, b"ask")).unwrap());
        assert_eq!(again, out, "the mapping stays");
        let reply = (if l4 == L4::Echo { out.ports.0 } else { ports.1 }, out.ports.0);
        let back = judge(&bench.one(&mut app, ipv4(B, PUBLIC, reply, l4, 9, b"answer")).unwrap());
        assert_eq!((back.src.as_slice(), back.dst.as_slice(), back.life), (&B[..], &A[..], 8));
        assert_eq!(back.ports, if l4 == L4::Echo { ports } else { (ports.1, ports.0) });
        assert_eq!(back.payload, b"answer");
    }
}

#[test]
fn nat_keeps_connections_apart_and_strangers_out() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Nat::new(flows(20_000), &[PUBLIC], None, 0);
    let mut mappings = BTreeSet::new();
    for host in 0..8000u16 {
        let [c, d] = host.to_be_bytes();
        let out = judge(&bench.one(&mut app, ipv4([10, 0, c, d], B, (5000, 443), L4::Tcp, 64, b"")).unwrap());
        assert!(mappings.insert(out.ports.0), "port {} given twice towards one server", out.ports.0);
    }
    let stranger = ipv4([8, 8, 8, 8], PUBLIC, (443, 2000), L4::Tcp, 64, b"");
    assert!(dropped(&bench.run(&mut app, &[stranger]).1, Cause::NoRoute));
}

#[test]
fn nat_chooses_ports_whose_replies_come_home() {
    let region = region();
    let mut bench = Bench::new(&region);
    let rss = Rss::spread(16);
    for queue in 0..16 {
        let home = Home { rss: rss.clone(), queue };
        let mut app = Nat::new(flows(4096), &[PUBLIC], Some(home), 0);
        for port in 0..64 {
            let l4 = if port % 2 == 0 { L4::Tcp } else { L4::Udp };
            let out = judge(&bench.one(&mut app, ipv4(A, B, (port, 443), l4, 64, b"")).unwrap());
            let reply = ipv4(B, PUBLIC, (443, out.ports.0), l4, 64, b"");
            assert_eq!(rss.queue(rss.hash(&packet::parse(&reply), &reply)), queue);
        }
    }
}

#[test]
fn nat_leaves_no_half_of_a_connection_when_the_table_is_full() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Nat::new(flows(7), &[PUBLIC], None, 0);
    let frames: Vec<_> = (0..9).map(|p| ipv4(A, B, (p, 80), L4::Udp, 64, b"")).collect();
    let (sent, batch) = bench.run(&mut app, &frames);
    assert_eq!((sent.len(), batch.counters.of(Cause::TableFull)), (3, 6), "3 connections of 2 entries each");
    assert_eq!(app.flows().len(), 6);
}

#[test]
fn nat_passes_ipv6_and_translates_fragments_by_address() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Nat::new(flows(64), &[PUBLIC], None, 0);
    let six = ipv6([1; 16], [2; 16], (1, 2), L4::Udp, 9, b"x");
    assert_eq!(bench.one(&mut app, six.clone()), Some(six));
    // A later fragment: no transport header, so ports cannot change.
    let mut fragment = ipv4(A, B, (5, 6), L4::Udp, 64, &[0xab; 32]);
    fragment[20..22].copy_from_slice(&[0, 4]);
    fragment[24..26].fill(0);
    let sum = packet::checksum::ipv4(&fragment[14..34]).unwrap();
    fragment[24..26].copy_from_slice(&sum.to_be_bytes());
    let sent = bench.one(&mut app, fragment.clone()).unwrap();
    assert_eq!(sent[26..30], PUBLIC);
    assert_eq!(sent[34..], fragment[34..], "what is not the IP header stays");
    assert_eq!(packet::checksum::ipv4(&sent[14..34]).unwrap().to_be_bytes(), sent[24..26]);
}

#[test]
fn vlan_tags_move_headers_not_results() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut frame = ipv4(A, B, (5, 6), L4::Tcp, 64, b"data");
    frame.splice(12..12, [0x81, 0, 0, 9]);
    let sent = bench.one(&mut Lb::new(flows(8), 32, 0), frame).unwrap();
    assert_eq!(sent[12..16], [0x81, 0, 0, 9]);
    let seen = judge(&sent);
    assert_eq!(seen.dst[..2], [10, 100]);
}

#[test]
fn any_app_does_what_the_app_does() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut any: apps::AnyApp<NativeView<'_>, _, Partition<NativeView<'_>>> =
        apps::AnyApp::Lb(Lb::new(flows(64), 32, 12));
    assert_eq!(any.cycles(), 12);
    let frame = ipv4(A, B, (5, 6), L4::Tcp, 64, b"data");
    let direct = bench.one(&mut Lb::new(flows(64), 32, 12), frame.clone());
    assert_eq!(bench.one(&mut any, frame), direct);
    assert_eq!(any.counters(), [("flows_opened", 1)]);
}
