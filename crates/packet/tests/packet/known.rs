//! Frames whose headers are written out here: link types, tunnels, faults.

use packet::{Fault, checksum, kind, parse};

/// An Ethernet frame with this type and content, padded to 80 bytes.
fn ether(ethertype: u16, content: &[u8]) -> Vec<u8> {
    let mut frame = [&[2; 12][..], &ethertype.to_be_bytes(), content].concat();
    frame.resize(frame.len().max(80), 0);
    frame
}

/// IPv4 of `proto` with these bytes behind the header.
fn ipv4(proto: u8, behind: &[u8]) -> Vec<u8> {
    let header = [0x45, 0, 0, 66, 0, 0, 0, 0, 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ether(0x0800, &[&header[..], behind].concat())
}

fn udp(dport: u16) -> Vec<u8> {
    let [a, b] = dport.to_be_bytes();
    ipv4(17, &[0x12, 0x34, a, b, 0, 46, 0, 0])
}

#[test]
fn tunnels_are_told_by_their_outer_headers() {
    let outer = kind::ETHER | kind::IPV4;
    for (frame, expected) in [
        (udp(4789), outer | kind::UDP | kind::VXLAN),
        (udp(6081), outer | kind::UDP | kind::GENEVE),
        (udp(2152), outer | kind::UDP | kind::GTPU),
        (udp(2123), outer | kind::UDP | kind::GTPC),
        (udp(4790), outer | kind::UDP),
        (ipv4(4, &[0x45]), outer | kind::IP_IN_IP),
        (ipv4(41, &[0x60]), outer | kind::IP_IN_IP),
        (ipv4(47, &[0, 0, 0x08, 0x00]), outer | kind::GRE),
        (ipv4(47, &[0x20, 0, 0x65, 0x58]), outer | kind::NVGRE),
        (ipv4(50, &[1, 2, 3, 4]), outer | kind::ESP),
    ] {
        let p = parse(&frame);
        assert_eq!((p.kind, p.fault, p.l3, p.l4), (expected, None, 14, 34), "{frame:02x?}");
    }
}

#[test]
fn link_layers() {
    let tagged = |tags: &[u16]| {
        let mut content = Vec::new();
        for next in tags.iter().skip(1).chain(&[0x86dd]) {
            content.extend([0, 5]);
            content.extend(next.to_be_bytes());
        }
        content.extend([&[0x60, 0, 0, 0, 0, 8, 17, 64][..], &[1; 32], &[0, 1, 0, 2, 0, 8, 0, 0]].concat());
        ether(tags[0], &content)
    };
    let v6 = kind::IPV6 | kind::UDP;
    for (frame, expected, l3) in [
        (ether(0x0806, &[0, 1]), kind::ARP, 0),
        (ether(0x8847, &[0, 0, 0x11, 0x40, 0x45]), kind::MPLS, 0),
        (ether(0x88cc, &[1]), kind::ETHER, 0),
        (ether(46, &[0x42, 0x42, 3]), kind::ETHER, 0),
        (tagged(&[0x8100]), kind::VLAN | v6, 18),
        (tagged(&[0x88a8, 0x8100]), kind::QINQ | v6, 22),
        (tagged(&[0x9100, 0x8100, 0x8100]), kind::QINQ | v6, 26),
    ] {
        let p = parse(&frame);
        assert_eq!((p.kind, p.fault, p.l3), (expected, None, l3), "{frame:02x?}");
    }
}

#[test]
fn faults_are_named() {
    let with = |at: usize, byte: u8| {
        let mut frame = udp(53);
        frame[at] = byte;
        parse(&frame)
    };
    assert_eq!(with(14, 0x65).fault, Some(Fault::Version));
    assert_eq!(with(14, 0x44).fault, Some(Fault::Length), "a header of 16 bytes");
    assert_eq!(with(17, 19).fault, Some(Fault::Length), "a packet of 19 bytes");
    assert_eq!(with(17, 0).fault, None, "segmentation offload leaves 0");
    assert_eq!(parse(&ether(0x86dd, &[0x45])).fault, Some(Fault::Version));
    for len in [0, 13, 14, 33, 34, 37] {
        assert_eq!(parse(&udp(53)[..len]).fault, Some(Fault::Short), "{len} bytes");
    }
    assert_eq!(parse(&udp(53)[..38]).fault, None);
}

#[test]
fn udp_never_says_no_checksum() {
    // A segment whose sum is 0xffff: the checksum would be 0.
    let segment = [0xff, 0xff - 17 - 8, 0, 0, 0, 0, 0, 0];
    assert_eq!(checksum::transport(&[0; 8], 17, &segment), 0xffff);
    assert_eq!(checksum::transport(&[0; 8], 6, &[0xff, 0xff - 6 - 8, 0, 0, 0, 0, 0, 0]), 0);
}
