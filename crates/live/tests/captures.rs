//! Every frame of every capture at hand through the whole path: card, ring, application, transmit ring,
//! wire. Whatever a capture holds, only header fields that the application owns may change, checksums
//! must keep what they said (right stays right, wrong stays wrong by the same amount), and every frame
//! and buffer is accounted for.

#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use apps::ipsec::{self, Cost, Ipsec, Keys, Sa, Spd};
use apps::kv::{self, ErpcKv, Kv, Partition};
use apps::l3fwd::{Fib, L3fwd};
use apps::lb::Lb;
use apps::nat::Nat;
use apps::nf::{Nf, Numbers};
use apps::table::{HashTable, Shape};
use apps::udp_ack::UdpAck;
use apps::udp_echo::UdpEcho;
use apps::vxlan::Vxlan;
use apps::{AnyApp, Kind, Worker};
use memory::native::Table;
use memory::{Backing, Geometry, NativeView, Ps, Region, Space};
use nic::{Arrival, Config, Port, TxConfig, TxPort};
use packet::{Rss, parse};
use rings::{Outcome, pool, privring, tx};
use traffic::{Rate, Trace, Workload};

type View<'r> = NativeView<'r>;

fn app<'r>(kind: Kind) -> AnyApp<View<'r>, HashTable<View<'r>>, Partition<View<'r>>> {
    let table = || HashTable::new(Shape::new(500_000), Table, Ps::NEVER);
    let route = || L3fwd::new(Arc::new(Fib::default_route()), Table, 0);
    match kind {
        Kind::L3fwd => AnyApp::L3fwd(route()),
        Kind::Nf => AnyApp::Nf(Nf::new(route(), Numbers::real(), Table, 0, 1, 0)),
        Kind::Kv => AnyApp::Kv(Kv::new(Partition::new(kv::Shape::new(64), Table), 0, 1, 0)),
        Kind::Lb => AnyApp::Lb(Lb::new(table(), 32, 0)),
        Kind::Ipsec => {
            let sa = Sa::new(1, ipsec::HERE, ipsec::THERE, keys());
            AnyApp::Ipsec(Ipsec::new(route(), Spd::thirds(), sa, Cost::default()))
        }
        Kind::UdpEcho => AnyApp::UdpEcho(UdpEcho::new(0)),
        Kind::UdpAck => AnyApp::UdpAck(UdpAck::new(0)),
        Kind::Vxlan => AnyApp::Vxlan(Vxlan::new(0)),
        Kind::ErpcKv => AnyApp::ErpcKv(ErpcKv::new(Partition::new(kv::Shape::new(64), Table), 0, 1, 0)),
        Kind::Nat => AnyApp::Nat(Nat::new(table(), &[[203, 0, 113, 1]], None, 0)),
    }
}

fn keys() -> Keys {
    Keys::gcm([7; 16], [1, 2, 3, 4])
}

/// The bytes of a sent frame that are to be compared with those `before`, a sealed one's at their old places.
fn plain(sent: &[u8], before: &[u8]) -> Vec<u8> {
    if ipsec::spi(sent) != Some(1) {
        return sent[..before.len()].to_vec();
    }
    let mut sealed = sent.to_vec();
    let inner = keys().open(&mut sealed).unwrap();
    let (mut plain, l3) = (before.to_vec(), usize::from(parse(before).l3));
    let shown = inner.len().min(before.len() - l3);
    plain[l3..l3 + shown].copy_from_slice(&sealed[inner.start..inner.start + shown]);
    plain
}

/// What the words of `bytes` add up to in one's complement arithmetic.
fn sum(bytes: &[u8]) -> u64 {
    let word = |w: &[u8]| u64::from(w[0]) << 8 | u64::from(*w.get(1).unwrap_or(&0));
    bytes.chunks(2).map(word).sum::<u64>() % 0xffff
}

/// The sums that IP and transport checksums keep: header, and addresses with the transport's bytes.
/// ICMP covers no addresses; protocols with neither are their bytes alone.
fn sums(frame: &[u8]) -> (u64, u64) {
    let p = parse(frame);
    let (l3, l4) = (usize::from(p.l3), usize::from(p.l4));
    if l3 == 0 {
        return (0, sum(frame));
    }
    let ip = if p.is_ipv4() { sum(&frame[l3..][..usize::from(frame[l3] & 15) * 4]) } else { 0 };
    let covered = matches!(p.proto, 6 | 17 | 58) && l4 != 0;
    let none = p.proto == 17 && frame.get(l4 + 6..l4 + 8) == Some(&[0, 0]);
    let addresses = if covered { sum(p.addresses(frame).unwrap()) } else { 0 };
    // UDP that says "no checksum" promises nothing.
    (ip, if l4 == 0 || none { 0 } else { (addresses + sum(&frame[l4..])) % 0xffff })
}

/// Whether a byte belongs to an application: link addresses, hops, addresses, ports, checksums.
fn owned(frame: &[u8], at: usize) -> bool {
    let p = parse(frame);
    let (l3, l4) = (usize::from(p.l3), usize::from(p.l4));
    let ip = match p.is_ipv4() {
        true => [l3 + 8..l3 + 9, l3 + 10..l3 + 20],
        false => [l3 + 7..l3 + 8, l3 + 8..l3 + 40],
    };
    let transport = match p.proto {
        6 => [l4..l4 + 4, l4 + 16..l4 + 18],
        17 => [l4..l4 + 4, l4 + 6..l4 + 8],
        1 | 58 => [l4 + 2..l4 + 4, l4 + 4..l4 + 6],
        _ => [0..0, 0..0],
    };
    at < 12
        || ip.iter().any(|r| l3 != 0 && r.contains(&at))
        || transport.iter().any(|r| l4 != 0 && r.contains(&at))
}

/// Whether a frame came through `udp-ack` unchanged, or is an answer with the first bytes of the datagram.
fn acknowledges(sent: &[u8], sent_len: u32, before: &[u8], len: u32) -> bool {
    const KEPT: usize = 18;
    let shown = sent.len().min(before.len());
    if sent_len == len && sent[..shown] == before[..shown] {
        return true;
    }
    let at = usize::from(parse(before).l4) + 8;
    let said = usize::from(u16::from_be_bytes([before[at - 4], before[at - 3]])) - 8;
    let kept = said.min(KEPT).min(before.len() - at);
    let [mine, theirs] = [&sent[at..at + kept], &before[at..at + kept]];
    let turned = sent[at - 8..at - 4] == [&before[at - 6..at - 4], &before[at - 8..at - 6]].concat()[..];
    mine == theirs && turned && sent_len as usize == (at + said.min(KEPT)).max(60)
}

/// Runs one lap of a capture; frames sent.
fn lap(trace: &Arc<Trace>, kind: Kind, name: &str) -> u64 {
    let region = Region::new(8 << 20, Backing::Heap).unwrap();
    let (mut space, mut m) = (&region, region.view());
    let buffers = space.buffers(&Geometry { stride: 10_240, room: 9_600, ..Geometry::dpdk(128) }).unwrap();
    let (mut hosts, ring) = privring::build(&mut space, &privring::Sizes { ring: 32 }, 1, buffers).unwrap();
    let (mut txs, wire) = tx::build(&mut space, tx::Sizes { ring: 32, complete_every: 8 }, 1).unwrap();
    let pool = pool::build(&mut space, 128, 1, 16).unwrap().pop().unwrap();
    let open = Config { rate_bps: 0, pipeline_pps: 0, buffer_bytes: u32::MAX, max_frame: 9_600 };
    let mut port = Port::new(ring, Rss::spread(1), open);
    let mut out = TxPort::new(wire, buffers, TxConfig { rate_bps: 0, ahead: Ps::ZERO, head: 9_600 });
    let mut worker = Worker::new(hosts.pop().unwrap(), txs.pop().unwrap(), pool, buffers, app(kind), 32);
    worker.fill(&mut m);

    let mut source = Workload::Pcap(trace.clone(), None).source(0, 1, Rate::Own, 1);
    let (mut a, mut delivered) = (traffic::Arrival::EMPTY, 0);
    for i in 0..trace.stats().packets {
        assert!(source.next(&mut a));
        // At time 0: a real card's waiting is not what is tested.
        let frame = Arrival { at: Ps::ZERO, head: a.bytes(), len: u32::from(a.len), flow: a.flow };
        let (_, outcome) = port.receive(&mut m, &frame);
        let fits = (packet::ETHERNET..=9_600).contains(&usize::from(a.len));
        let expected = if fits { Outcome::Delivered } else { Outcome::BadFrame };
        assert_eq!(outcome, expected, "{name} frame {i}");
        delivered += u64::from(fits);
        worker.poll(&mut m);
        let before = a.bytes();
        out.send(&mut m, |sent| {
            let len = u32::from(a.len);
            if kind == Kind::Vxlan && sent.len != len {
                let from = usize::from(parse(before).l4) + 16;
                let shown = (before.len() - from).min(sent.len as usize);
                let carried = &before[from..from + shown];
                return assert_eq!(&sent.head[..shown], carried, "{name} frame {i}");
            }
            if kind == Kind::UdpAck {
                return assert!(acknowledges(sent.head, sent.len, before, len), "{name} frame {i}");
            }
            assert!(sent.len == len || kind == Kind::Ipsec && sent.len > len - 46, "{name} frame {i}");
            let after = plain(sent.head, before);
            assert_eq!(sums(&after), sums(before), "{name} {} frame {i}", kind.name());
            let changed = (0..before.len()).filter(|at| before[*at] != after[*at]);
            let astray: Vec<_> = changed.filter(|at| !owned(before, *at)).collect();
            assert!(astray.is_empty(), "{name} {} frame {i}: bytes {astray:?} changed", kind.name());
        });
    }
    worker.stop(&mut m);
    let c = worker.counters();
    assert!(c.balanced(), "{c:?}");
    assert_eq!(c.received, delivered);
    assert_eq!((c.posted, out.faults()), (out.sent(), 0));
    assert_eq!(worker.pool_mut().available(&mut m), 128, "buffers in use = 0");
    out.sent()
}

/// Frames of a long capture.
const LONG: u64 = 50_000;

#[test]
fn every_capture_goes_through_every_application() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let Ok(files) = std::fs::read_dir(&dir) else {
        writeln!(
            std::io::stderr(),
            "skipped: every_capture_goes_through_every_application: no captures in {}",
            dir.display()
        )
        .unwrap();
        return;
    };
    for file in files.flatten().map(|f| f.path()).filter(|f| f.extension().is_some_and(|e| e == "pcap")) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let trace = Arc::new(Trace::open(&file).unwrap());
        for kind in Kind::ALL.into_iter().filter(|k| k.protocol().is_none()) {
            // What two of them do depends on no state: for time, long captures are left to the others.
            if matches!(kind, Kind::UdpEcho | Kind::Vxlan) && trace.stats().packets > LONG {
                continue;
            }
            let sent = lap(&trace, kind, &name);
            let least = if kind == Kind::Ipsec { 1 } else { 8 };
            assert!(sent * 10 > trace.stats().packets * least, "{name} {}: {sent} sent", kind.name());
        }
    }
}
