//! Echo, tunnels' ends and the store behind eRPC: what comes back, byte by byte.

#![allow(clippy::unwrap_used, reason = "a test")]

mod bench;

use apps::kv::{self, ErpcKv, Partition};
use apps::udp_ack::UdpAck;
use apps::udp_echo::UdpEcho;
use apps::vxlan::Vxlan;
use apps::{App, Cause};
use bench::{Bench, L4, dropped, ipv4, ipv6, judge, region};
use memory::NativeView;
use memory::native::Table;
use packet::kv::erpc::{Header, Packet};
use packet::vxlan::Tunnel;

const A: [u8; 4] = [10, 0, 0, 2];
const B: [u8; 4] = [198, 51, 100, 1];

#[test]
fn an_echo_goes_back_to_where_it_came_from() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = UdpEcho::new(0);
    for payload in [&[7; 1400][..], b"hello", b""] {
        let came = ipv4(A, B, (5000, 7), L4::Udp, 9, payload);
        let seen = judge(&bench.one(&mut app, came.clone()).unwrap());
        assert_eq!((seen.src.as_slice(), seen.dst.as_slice(), seen.life), (&B[..], &A[..], 9));
        assert_eq!((seen.ports, seen.payload.as_slice()), ((7, 5000), payload));
        assert_eq!(seen.macs, ([came[6]; 6], [came[0]; 6]));
    }
    let seen = judge(&bench.one(&mut app, ipv6([1; 16], [2; 16], (5, 6), L4::Udp, 9, b"six")).unwrap());
    assert_eq!((seen.src, seen.dst, seen.payload), (vec![2; 16], vec![1; 16], b"six".to_vec()));
    let tcp = ipv4(A, B, (5, 6), L4::Tcp, 9, b"x");
    assert_eq!(bench.one(&mut app, tcp.clone()), Some(tcp), "what is no datagram passes");
    assert_eq!(App::<NativeView<'_>>::counters(&app), [("bytes_read", 1400 + 42 - 128)]);
}

#[test]
fn an_answer_of_64_bytes_has_the_first_bytes_of_the_datagram() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = UdpAck::new(0);
    for payload in [&[7; 1400][..], b"hello", b""] {
        let came = ipv4(A, B, (5000, 7), L4::Udp, 9, payload);
        let back = bench.one(&mut app, came).unwrap();
        let seen = judge(&back);
        assert_eq!((back.len(), seen.src.as_slice(), seen.dst.as_slice()), (60, &B[..], &A[..]));
        assert_eq!((seen.ports, seen.payload.as_slice()), ((7, 5000), &payload[..payload.len().min(18)]));
    }
    let seen = judge(&bench.one(&mut app, ipv6([1; 16], [2; 16], (5, 6), L4::Udp, 9, &[3; 90])).unwrap());
    assert_eq!((seen.src, seen.dst, seen.payload), (vec![2; 16], vec![1; 16], vec![3; 18]));
    let tcp = ipv4(A, B, (5, 6), L4::Tcp, 9, b"x");
    assert_eq!(bench.one(&mut app, tcp.clone()), Some(tcp), "what is no datagram passes");
}

/// A frame in VXLAN, padded to `len` bytes.
fn carried(frame: &[u8], len: usize) -> Vec<u8> {
    let tunnel = Tunnel { macs: [[2; 6], [3; 6]], ends: [A, B], network: 9 };
    let mut all = [&tunnel.before(frame.len() as u16, 50_000), frame].concat();
    all.resize(all.len().max(len), 0xee);
    all
}

#[test]
fn a_tunnel_ends_with_the_frame_that_it_carried() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Vxlan::new(0);
    for frame in [ipv4(A, B, (5, 6), L4::Tcp, 9, &[1; 700]), ipv6([1; 16], [2; 16], (5, 6), L4::Udp, 9, b"x")]
    {
        assert_eq!(bench.one(&mut app, carried(&frame, 0)), Some(frame.clone()));
        assert_eq!(bench.one(&mut app, carried(&frame, 1000)), Some(frame.clone()), "without what pads it");
        assert_eq!(bench.one(&mut app, frame.clone()), Some(frame), "what is no VXLAN passes");
    }
    // A tag in the outer frame moves what it carries.
    let frame = ipv4(A, B, (5, 6), L4::Udp, 9, b"inner");
    let mut tagged = carried(&frame, 0);
    tagged.splice(12..12, [0x81, 0, 0, 9]);
    assert_eq!(bench.one(&mut app, tagged), Some(frame.clone()));
    let broken = [(42, 0), (39, 15), (38, 9), (39, 29)];
    for (at, byte) in broken {
        let mut bad = carried(&frame, 0);
        bad[at] = byte;
        assert!(dropped(&bench.run(&mut app, &[bad]).1, Cause::BadHeader), "byte {at} is {byte}");
    }
}

/// A request of eRPC: its type, its number and its message.
fn call(request: u8, sequence: u64, message: &[u8]) -> Vec<u8> {
    let len = message.len() as u32;
    let header = Header { request, message: len, session: 3, packet: Packet::Request, number: 0, sequence };
    ipv4(A, B, (9000, 20_000), L4::Udp, 9, &[&header.bytes(), message].concat())
}

/// Status and value of the answer to a call.
fn ask<'r>(
    bench: &mut Bench<'r>,
    app: &mut ErpcKv<Partition<NativeView<'r>>>,
    request: u8,
    sequence: u64,
    message: &[u8],
) -> (u8, Vec<u8>) {
    let seen = judge(&bench.one(app, call(request, sequence, message)).unwrap());
    assert_eq!((seen.dst.as_slice(), seen.ports), (&A[..], (20_000, 9000)));
    let header = Header::parse(&seen.payload).unwrap();
    let said = (header.request, header.session, header.packet, header.number, header.sequence);
    assert_eq!(said, (request, 3, Packet::Response, 0, sequence));
    assert_eq!(header.message as usize, seen.payload.len() - 16);
    (seen.payload[16], seen.payload[24..].to_vec())
}

#[test]
fn calls_to_a_store_are_answered_in_place() {
    let region = region();
    let mut bench = Bench::new(&region);
    let store = Partition::new(kv::Shape::of(100, 16, 64), Table);
    let mut app = ErpcKv::new(store, 0, 1, 0);
    let [get, put, delete] = [1, 2, 3];
    let (key, value) = ([0xab; 16], [0x5c; 64]);
    let (item, padded) = ([&key[..], &value].concat(), [&key[..], &[0; 64]].concat());
    assert_eq!(ask(&mut bench, &mut app, get, 1, &padded), (1, vec![]), "not found");
    assert_eq!(ask(&mut bench, &mut app, put, 1 << 43, &item), (0, vec![]));
    assert_eq!(ask(&mut bench, &mut app, get, 3, &padded), (0, value.to_vec()));
    assert_eq!(ask(&mut bench, &mut app, get, 4, &key), (0, value.to_vec()), "without room for a value");
    assert_eq!(ask(&mut bench, &mut app, put, 5, &item[..19]), (0, vec![]));
    assert_eq!(ask(&mut bench, &mut app, get, 6, &padded), (0, vec![0x5c; 3]));
    assert_eq!(ask(&mut bench, &mut app, delete, 7, &padded), (0, vec![]));
    assert_eq!(ask(&mut bench, &mut app, get, 8, &padded), (1, vec![]));
    // A part of a longer request, what is no request, and a type that nobody knows.
    let good = call(get, 9, &padded);
    for (at, byte) in [(43, 200), (48, 7), (48, 3), (42, 9), (55, 0)] {
        let mut bad = good.clone();
        bad[at] = byte;
        assert!(dropped(&bench.run(&mut app, &[bad]).1, Cause::BadRequest), "byte {at} is {byte}");
    }
    assert!(dropped(&bench.run(&mut app, &[call(get, 9, &key[..15])]).1, Cause::BadRequest));
}
