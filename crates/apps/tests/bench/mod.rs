//! Real frames through an application on real memory, and a judge that knows none of its code.
#![allow(dead_code, reason = "every test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up fails its test")]

use apps::{App, Batch, Verdict};
use etherparse::{NetHeaders, PacketBuilder, PacketHeaders, TransportHeader};
use memory::native::Buffers;
use memory::{Backing, Buf, Geometry, Memory, NativeView, Region, Space};
use rings::Completion;

/// Memory for a bench.
pub(crate) fn region() -> Region {
    Region::new(64 * 4096, Backing::Heap).unwrap()
}

/// Buffers for 64 frames and a view.
pub(crate) struct Bench<'r> {
    pub(crate) m: NativeView<'r>,
    pub(crate) buffers: Buffers<'r>,
}

impl<'r> Bench<'r> {
    pub(crate) fn new(region: &'r Region) -> Bench<'r> {
        Bench { m: region.view(), buffers: (&mut &*region).buffers(&Geometry::dpdk(64)).unwrap() }
    }

    /// What `app` does with one burst: frames sent, in order, and the batch.
    pub(crate) fn run<A: App<NativeView<'r>>>(
        &mut self,
        app: &mut A,
        frames: &[Vec<u8>],
    ) -> (Vec<Vec<u8>>, Batch) {
        let Bench { m, buffers } = self;
        let burst: Vec<_> = (0u64..)
            .zip(frames)
            .map(|(i, f)| {
                m.put(*buffers, Buf(i), 0, f, f.len() as u32);
                Completion { buf: Buf(i), len: f.len() as u16, ..Completion::none() }
            })
            .collect();
        let mut batch = Batch::default();
        app.process(m, *buffers, &burst, &mut batch);
        assert_eq!(batch.send.len() + batch.free.len(), frames.len(), "every buffer has one fate");
        let sent = batch.send.iter().map(|s| {
            let mut bytes = vec![0; usize::from(s.len)];
            m.get(*buffers, s.buf, s.off.into(), &mut bytes, u32::from(s.len));
            bytes
        });
        (sent.collect(), batch)
    }

    /// As [`run`](Self::run) for a single frame; what was sent, if it was.
    pub(crate) fn one<A: App<NativeView<'r>>>(&mut self, app: &mut A, frame: Vec<u8>) -> Option<Vec<u8>> {
        self.run(app, &[frame]).0.pop()
    }
}

/// Which transport a frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum L4 {
    Tcp,
    Udp,
    Echo,
}

/// A frame with right checksums.
pub(crate) fn ipv4(
    src: [u8; 4],
    dst: [u8; 4],
    ports: (u16, u16),
    l4: L4,
    ttl: u8,
    payload: &[u8],
) -> Vec<u8> {
    let ip = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(src, dst, ttl);
    let mut out = Vec::new();
    match l4 {
        L4::Tcp => ip.tcp(ports.0, ports.1, 7, 1000).write(&mut out, payload).unwrap(),
        L4::Udp => ip.udp(ports.0, ports.1).write(&mut out, payload).unwrap(),
        L4::Echo => ip.icmpv4_echo_request(ports.0, 3).write(&mut out, payload).unwrap(),
    }
    out
}

pub(crate) fn ipv6(
    src: [u8; 16],
    dst: [u8; 16],
    ports: (u16, u16),
    l4: L4,
    hops: u8,
    payload: &[u8],
) -> Vec<u8> {
    let ip = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv6(src, dst, hops);
    let mut out = Vec::new();
    match l4 {
        L4::Tcp => ip.tcp(ports.0, ports.1, 7, 1000).write(&mut out, payload).unwrap(),
        L4::Udp => ip.udp(ports.0, ports.1).write(&mut out, payload).unwrap(),
        L4::Echo => ip.icmpv6_echo_request(ports.0, 3).write(&mut out, payload).unwrap(),
    }
    out
}

/// What a frame says, after all its checksums were computed anew and found right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) macs: ([u8; 6], [u8; 6]),
    pub(crate) src: Vec<u8>,
    pub(crate) dst: Vec<u8>,
    pub(crate) life: u8,
    pub(crate) ports: (u16, u16),
    pub(crate) payload: Vec<u8>,
}

pub(crate) fn judge(frame: &[u8]) -> Seen {
    let p = PacketHeaders::from_ethernet_slice(frame).unwrap();
    let eth = p.link.clone().unwrap().ethernet2().unwrap();
    let payload = p.payload.slice();
    let (src, dst, life) = match p.net.as_ref().unwrap() {
        NetHeaders::Ipv4(ip, _) => {
            assert_eq!(ip.header_checksum, ip.calc_header_checksum(), "IP checksum");
            (ip.source.to_vec(), ip.destination.to_vec(), ip.time_to_live)
        }
        NetHeaders::Ipv6(ip, _) => (ip.source.to_vec(), ip.destination.to_vec(), ip.hop_limit),
        NetHeaders::Arp(_) => panic!("ARP"),
    };
    let ports = match (p.transport.as_ref().unwrap(), p.net.as_ref().unwrap()) {
        (TransportHeader::Tcp(t), NetHeaders::Ipv4(ip, _)) => {
            assert_eq!(t.checksum, t.calc_checksum_ipv4(ip, payload).unwrap(), "TCP checksum");
            (t.source_port, t.destination_port)
        }
        (TransportHeader::Tcp(t), NetHeaders::Ipv6(ip, _)) => {
            assert_eq!(t.checksum, t.calc_checksum_ipv6(ip, payload).unwrap(), "TCP checksum");
            (t.source_port, t.destination_port)
        }
        (TransportHeader::Udp(u), NetHeaders::Ipv4(ip, _)) => {
            let right = u.calc_checksum_ipv4(ip, payload).unwrap();
            assert!(u.checksum == 0 || u.checksum == right, "UDP checksum");
            (u.source_port, u.destination_port)
        }
        (TransportHeader::Udp(u), NetHeaders::Ipv6(ip, _)) => {
            assert_eq!(u.checksum, u.calc_checksum_ipv6(ip, payload).unwrap(), "UDP checksum");
            (u.source_port, u.destination_port)
        }
        (TransportHeader::Icmpv4(i), _) => {
            assert_eq!(i.checksum, i.icmp_type.calc_checksum(payload), "ICMP checksum");
            let id = u16::from_be_bytes([i.to_bytes()[4], i.to_bytes()[5]]);
            (id, id)
        }
        (TransportHeader::Icmpv6(i), NetHeaders::Ipv6(ip, _)) => {
            let right = i.icmp_type.calc_checksum(ip.source, ip.destination, payload).unwrap();
            assert_eq!(i.checksum, right, "ICMPv6 checksum");
            (0, 0)
        }
        other => panic!("{other:?}"),
    };
    Seen { macs: (eth.destination, eth.source), src, dst, life, ports, payload: payload.to_vec() }
}

/// Counts of a batch by verdict.
pub(crate) fn dropped(batch: &Batch, cause: apps::Cause) -> bool {
    let mut want = apps::Counters::default();
    want.count(Verdict::Drop(cause));
    batch.counters == want && batch.send.is_empty()
}
