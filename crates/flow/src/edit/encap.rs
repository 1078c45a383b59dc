//! Headers that VXLAN puts before a frame (RFC 7348).

use core::net::IpAddr;

use arrayvec::ArrayVec;
use packet::checksum;

use super::{Edited, LONGEST, TooLong};
use crate::action::Vxlan;
use crate::hash;

/// Bytes of the headers of UDP and VXLAN.
pub(crate) const UDP_VXLAN: usize = 16;
/// The most bytes that are put before a frame: Ethernet, IPv6, UDP, VXLAN.
pub(crate) const MOST: usize = 14 + 40 + UDP_VXLAN;
/// The UDP port of VXLAN.
const PORT: u16 = 4789;
/// Source ports that stand for flows (RFC 6335, dynamic).
const PORTS: core::ops::RangeInclusive<u16> = 49_152..=65_535;

impl Edited {
    pub(super) fn encap(&mut self, vxlan: &Vxlan) -> Result<(), TooLong> {
        let udp = UDP_VXLAN as u32 + self.len;
        let (ethertype, ip) = match (vxlan.src, vxlan.dst) {
            (IpAddr::V4(_), IpAddr::V4(_)) => ([8, 0], 20),
            _ => ([0x86, 0xdd], 40),
        };
        let len = 14 + ip + udp;
        if len > LONGEST {
            return Err(TooLong(len));
        }
        let mut before = ArrayVec::<u8, MOST>::new();
        let mut put = |bytes: &[u8]| before.extend(bytes.iter().copied());
        put(&vxlan.ethernet[0]);
        put(&vxlan.ethernet[1]);
        put(&ethertype);
        match (vxlan.src, vxlan.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                put(&ipv4(vxlan, src.octets(), dst.octets(), (ip + udp) as u16))
            }
            (src, dst) => put(&ipv6(vxlan, [src, dst].map(mapped), udp as u16)),
        }
        let sport = if vxlan.sport == 0 { self.port() } else { vxlan.sport };
        for word in [sport, PORT, udp as u16, 0] {
            put(&word.to_be_bytes()); // no checksum, as RFC 7348 and RFC 6935 allow
        }
        put(&[8, 0, 0, 0]);
        put(&(vxlan.vni << 8).to_be_bytes());
        let frame = core::mem::take(&mut self.head);
        self.head.extend(before.into_iter().chain(frame).take(self.head.capacity()));
        self.len = len;
        Ok(())
    }

    /// A source port for the frame's flow.
    fn port(&self) -> u16 {
        let parsed = packet::parse(&self.head);
        let tuple = parsed
            .addresses(&self.head)
            .into_iter()
            .flatten()
            .chain(parsed.ports(&self.head).into_iter().flatten());
        let bytes: ArrayVec<u8, 40> = tuple.copied().take(36).collect();
        let words = bytes
            .chunks(8)
            .map(|chunk| chunk.iter().fold(u64::from(parsed.proto), |all, b| all << 8 | u64::from(*b)));
        let hash = hash::of(words);
        PORTS.start() + (hash >> 16) as u16 % (PORTS.end() - PORTS.start() + 1)
    }
}

fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

fn ipv4(vxlan: &Vxlan, src: [u8; 4], dst: [u8; 4], len: u16) -> [u8; 20] {
    let mut header = [0; 20];
    (header[0], header[1]) = (0x45, vxlan.tos);
    header[2..4].copy_from_slice(&len.to_be_bytes());
    header[6] = 0x40; // not to be fragmented
    (header[8], header[9]) = (vxlan.ttl, 17);
    header[12..16].copy_from_slice(&src);
    header[16..].copy_from_slice(&dst);
    let sum = checksum::ipv4(&header).unwrap_or(0);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

fn ipv6(vxlan: &Vxlan, [src, dst]: [[u8; 16]; 2], len: u16) -> [u8; 40] {
    let mut header = [0; 40];
    header[..4].copy_from_slice(&(6 << 28 | u32::from(vxlan.tos) << 20).to_be_bytes());
    header[4..6].copy_from_slice(&len.to_be_bytes());
    (header[6], header[7]) = (17, vxlan.ttl);
    header[8..24].copy_from_slice(&src);
    header[24..].copy_from_slice(&dst);
    header
}
