//! Any bytes at all: no panic, and every buffer has one fate.

mod bench;

use std::sync::{Arc, LazyLock};

use apps::ipsec::{Cost, Ipsec, Keys, Sa, Spd};
use apps::kv::{self, ErpcKv, Kv, Partition};
use apps::l3fwd::{Fib, L3fwd};
use apps::lb::Lb;
use apps::nat::Nat;
use apps::nf::{Nf, Numbers};
use apps::table::{HashTable, Shape};
use apps::udp_ack::UdpAck;
use apps::udp_echo::UdpEcho;
use apps::vxlan::Vxlan;
use apps::{AnyApp, Cause, Kind};
use bench::{Bench, L4, dropped, ipv4, ipv6, region};
use memory::native::Table;
use memory::{NativeView, Ps};
use packet::kv::erpc::{Header, Packet};
use packet::vxlan;
use proptest::prelude::*;

/// 64 MiB that take their time to fill.
static FIB: LazyLock<Arc<Fib>> = LazyLock::new(|| Arc::new(Fib::default_route()));

fn app<'r>(kind: Kind) -> AnyApp<NativeView<'r>, HashTable<NativeView<'r>>, Partition<NativeView<'r>>> {
    let table = || HashTable::new(Shape::new(8), Table, Ps(1));
    match kind {
        Kind::L3fwd => AnyApp::L3fwd(L3fwd::new(FIB.clone(), Table, 0)),
        Kind::Kv => AnyApp::Kv(Kv::new(Partition::new(kv::Shape::new(64), Table), 0, 1, 0)),
        Kind::Ipsec => {
            let sa = Sa::new(1, [192, 0, 2, 1], [192, 0, 2, 2], Keys::gcm([7; 16], [0; 4]));
            AnyApp::Ipsec(Ipsec::new(L3fwd::new(FIB.clone(), Table, 0), Spd::thirds(), sa, Cost::default()))
        }
        Kind::ErpcKv => AnyApp::ErpcKv(ErpcKv::new(Partition::new(kv::Shape::new(64), Table), 0, 1, 0)),
        Kind::UdpEcho => AnyApp::UdpEcho(UdpEcho::new(0)),
        Kind::UdpAck => AnyApp::UdpAck(UdpAck::new(0)),
        Kind::Vxlan => AnyApp::Vxlan(Vxlan::new(0)),
        Kind::Lb => AnyApp::Lb(Lb::new(table(), 3, 0)),
        Kind::Nat => AnyApp::Nat(Nat::new(table(), &[[10, 0, 0, 1]], None, 0)),
        Kind::Nf => {
            AnyApp::Nf(Nf::new(L3fwd::new(FIB.clone(), Table, 0), Numbers::declared(), Table, 0, 1, 0))
        }
    }
}

/// A put in a packet of eRPC.
fn asked() -> Vec<u8> {
    let header =
        Header { request: 2, message: 80, session: 1, packet: Packet::Request, number: 0, sequence: 2 };
    let mut payload = header.bytes().to_vec();
    payload.resize(96, 7);
    payload
}

/// A good frame, some bytes of it replaced, cut or grown.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let l4 = prop::sample::select(vec![L4::Tcp, L4::Udp, L4::Echo]);
    let changes = prop::collection::vec((0usize..80, any::<u8>()), 0..6);
    let port = prop::sample::select(vec![6, vxlan::PORT]);
    (any::<bool>(), l4, port, changes, 0usize..300).prop_map(|(six, l4, port, changes, len)| {
        let mut frame = match six {
            true => ipv6([1; 16], [2; 16], (5, port), l4, 9, b"\x08payload, a frame of more than 14 bytes"),
            false => ipv4([10, 0, 0, 2], [10, 0, 0, 1], (5, port), l4, 9, &asked()),
        };
        for (at, byte) in changes {
            if let Some(b) = frame.get_mut(at) {
                *b = byte;
            }
        }
        frame.resize(len, 0);
        frame
    })
}

/// A good frame's packet made bad: what is wrong, and the frame.
fn malformed() -> Vec<(&'static str, Vec<u8>)> {
    let good = ipv4([10, 0, 0, 2], [10, 0, 0, 1], (5, 6), L4::Udp, 9, b"payload");
    let good6 = ipv6([1; 16], [2; 16], (5, 6), L4::Udp, 9, b"payload");
    let with = |at: usize, byte: u8| {
        let mut frame = good.clone();
        frame[at] = byte;
        frame
    };
    let tagged = [&good[..12], &[0x81, 0, 0, 5]].concat();
    vec![
        ("IP version 5", with(14, 0x55)),
        ("IP version 6 in an IPv4 frame", with(14, 0x65)),
        ("an IP header of 16 B", with(14, 0x44)),
        ("an IP header longer than the frame", with(14, 0x4f)),
        ("a packet shorter than its header", with(17, 19)),
        ("no payload", good[..14].to_vec()),
        ("an IPv4 header cut off", good[..33].to_vec()),
        ("no UDP header", good[..34].to_vec()),
        ("UDP ports cut off", good[..37].to_vec()),
        ("an IPv6 header cut off", good6[..50].to_vec()),
        ("IPv6 and no UDP header", good6[..54].to_vec()),
        ("a VLAN tag cut off", tagged[..15].to_vec()),
        ("a VLAN tag and no more", tagged),
    ]
}

/// Cards deliver them, and no application takes them for its own: all are dropped, and say why.
#[test]
fn malformed_packets_are_dropped_with_their_cause() {
    let region = region();
    let mut bench = Bench::new(&region);
    for kind in Kind::ALL {
        for (what, frame) in malformed() {
            let batch = bench.run(&mut app(kind), &[frame]).1;
            assert!(dropped(&batch, Cause::BadHeader), "{}: {what}", kind.name());
        }
    }
}

proptest! {
    #[test]
    fn nothing_panics(frames in prop::collection::vec(frame(), 1..40)) {
        let region = region();
        let mut bench = Bench::new(&region);
        for kind in Kind::ALL {
            let (sent, batch) = bench.run(&mut app(kind), &frames);
            prop_assert_eq!(batch.counters.total(), frames.len() as u64);
            prop_assert_eq!(sent.len() as u64, batch.counters.sent + batch.counters.passed);
        }
    }
}
