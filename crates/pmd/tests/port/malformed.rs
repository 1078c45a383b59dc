//! Frames whose packets are malformed: cards deliver them.

use super::*;

/// Malformed frames, each with what is wrong and its packet type.
fn kinds() -> Vec<(&'static str, Vec<u8>, u32)> {
    use packet::kind::{ETHER, IPV4, IPV6, IPV6_EXT, QINQ, VLAN};
    let ipv4 = |at: usize, byte: u8| {
        let mut f = vec![2; 12];
        f.extend([8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        f.extend([0, 7, 0, 9, 0, 26, 0, 0]);
        f.resize(60, 0);
        f[at] = byte;
        f
    };
    let good = ipv4(0, 2);
    let ether = |ethertype: u16, body: &[u8]| [&[2; 12], &ethertype.to_be_bytes()[..], body].concat();
    let ipv6 = |next: u8, body: &[u8]| {
        let head = [&[0x60, 0, 0, 0, 0, 8, next, 64][..], &[1; 16], &[2; 16]].concat();
        ether(0x86dd, &[&head, body].concat())
    };
    vec![
        ("no payload", good[..14].to_vec(), ETHER),
        ("IP version 5", ipv4(14, 0x55), ETHER),
        ("IP version 6 in an IPv4 frame", ipv4(14, 0x65), ETHER),
        ("IP version 0", ipv4(14, 0x05), ETHER),
        ("an IP header of 0 B", ipv4(14, 0x40), ETHER),
        ("an IP header of 16 B", ipv4(14, 0x44), ETHER),
        ("an IP header longer than the frame", ipv4(14, 0x4f), ETHER),
        ("a packet shorter than its header", ipv4(17, 19), ETHER),
        ("a packet longer than the frame", ipv4(16, 0xff), ETHER | IPV4 | 0x200),
        ("an IPv4 header cut off", good[..33].to_vec(), ETHER),
        ("no UDP header", good[..34].to_vec(), ETHER | IPV4),
        ("UDP ports cut off", good[..37].to_vec(), ETHER | IPV4),
        ("an empty IPv6 frame", ether(0x86dd, &[]), ETHER),
        ("an IPv6 header cut off", ipv6(17, &[])[..53].to_vec(), ETHER),
        ("IP version 4 in an IPv6 frame", ether(0x86dd, &[0x45; 46]), ETHER),
        ("an IPv6 extension cut off", ipv6(0, &[17, 0]), ETHER | IPV6),
        ("an IPv6 extension beyond the frame", ipv6(0, &[17, 200, 0, 0, 0, 0, 0, 0]), ETHER | IPV6_EXT),
        ("a VLAN tag cut off", ether(0x8100, &[0, 5]), VLAN),
        ("a VLAN tag and no more", ether(0x8100, &[0, 5, 8, 0]), VLAN),
        ("QinQ cut off", ether(0x88a8, &[0, 5, 0x81, 0, 0]), QINQ),
        ("an ethertype of nothing", ether(0xffff, &[0; 46]), ETHER),
    ]
}

/// They come whole, to every interface, in one piece or more, whether checksums are asked for or not.
#[test]
fn malformed_packets_are_delivered() {
    for iface in IFACES {
        let core = Core::idle();
        let mut port = Device::new(&core, &[("iface", iface)]).unwrap();
        let mut pool = Pool::new(512);
        port.start(1, 64, &mut pool).unwrap();
        let mut posted = VecDeque::new();
        for (what, frame, kind) in kinds() {
            for cut in [frame.len(), 13, 1] {
                let mut segments = Vec::new();
                for piece in [&frame[..cut], &frame[cut..]].into_iter().filter(|piece| !piece.is_empty()) {
                    let buf = pool.free.pop().unwrap();
                    bytes(buf, piece.len()).copy_from_slice(piece);
                    posted.push_back(buf);
                    let buf = Buf(buf + driver::OFFSET as u64);
                    segments.push(Segment { buf, off: 0, len: piece.len() as u16, last: false });
                }
                segments.last_mut().unwrap().last = true;
                let (taken, freed) = send(port.txq(0), &segments);
                assert_eq!(taken, segments.len());
                pool.free.extend(posted.drain(..freed));
                // SAFETY: the NIC core lives and has no thread.
                unsafe { rxlab_nic_core_turn(core.0) };
                let mut out = [NONE; 4];
                assert_eq!(receive(port.rxq(0), &mut pool, &mut out), 1, "{iface}: {what}");
                let len = usize::from(out[0].len);
                assert_eq!(bytes(out[0].buf.0, len), frame, "{iface}: {what}");
                assert_eq!(out[0].kind & 0xffff, kind, "{iface}: {what}");
                pool.free.push(out[0].buf.0);
            }
        }
        let left = port.stop(1, &mut pool)[0];
        pool.free.extend(posted.drain(..left as usize));
        assert_eq!((pool.free.len(), outcomes(&port, 1)[0]), (512, 3 * kinds().len() as u64), "{iface}");
    }
}

/// What is no Ethernet frame is dropped, and counted.
#[test]
fn what_a_mac_drops_is_counted() {
    let core = Core::idle();
    let mut port = Device::new(&core, &[]).unwrap();
    let mut lcore = Lcore::new(Pool::new(512));
    port.start(1, 64, &mut lcore.pool).unwrap();
    let buf = lcore.pool.free.pop().unwrap();
    let segment = Segment { buf: Buf(buf + driver::OFFSET as u64), off: 0, len: 13, last: true };
    assert_eq!(send(port.txq(0), &[segment]).0, 1);
    lcore.posted.push_back(buf);
    // SAFETY: the NIC core lives and has no thread.
    unsafe { rxlab_nic_core_turn(core.0) };
    assert_eq!(outcomes(&port, 1)[rings::Outcome::BadFrame as usize], 1);
    let left = port.stop(1, &mut lcore.pool)[0];
    lcore.free(left as usize);
    assert_eq!(lcore.pool.free.len(), 512);
}
