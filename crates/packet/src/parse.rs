//! One walk over the headers of a frame: offsets, packet type, 5-tuple. Own code rather than a
//! general parser because every modelled frame passes here; the tests hold it against `etherparse`.

use crate::{ETHERNET, be16, kind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is wrong with a frame's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A header runs past the end of the bytes given.
    Short,
    /// The IP version is not the one that the link layer named.
    Version,
    /// An IP length field is smaller than the header itself.
    Length,
}

/// Where the headers of a frame are. Offsets count from the frame's first byte and lie inside the
/// bytes that were parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Packet-type bits (module [`kind`]), as far as the headers could be followed.
    pub kind: u32,
    /// The IP header; 0 when there is none.
    pub l3: u16,
    /// The transport header (a first fragment has one, a later one has not); 0 when there is none.
    pub l4: u16,
    /// The IP protocol number after all extension headers; 0 without IP.
    pub proto: u8,
    /// The first thing that was wrong.
    pub fault: Option<Fault>,
}

/// A flow's name: addresses, ports (0 where the packet has none, or is a fragment), protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tuple {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
    /// IP protocol number.
    pub proto: u8,
}

impl Parsed {
    /// Whether there is an IPv4 header.
    pub fn is_ipv4(&self) -> bool {
        matches!(self.kind & kind::L3, kind::IPV4 | kind::IPV4_EXT)
    }

    /// Whether there is an IPv6 header.
    pub fn is_ipv6(&self) -> bool {
        matches!(self.kind & kind::L3, kind::IPV6 | kind::IPV6_EXT)
    }

    /// Whether this is a fragment of a larger packet.
    pub fn is_fragment(&self) -> bool {
        self.kind & kind::L4 == kind::FRAG
    }

    /// Whether ports belong to the flow: TCP, UDP or SCTP, not a fragment.
    pub fn has_ports(&self) -> bool {
        matches!(self.kind & kind::L4, kind::TCP | kind::UDP | kind::SCTP)
    }

    /// Source and destination address, adjacent as in the header: 8 or 32 bytes, none without IP or
    /// when `bytes` are not the ones that were parsed.
    pub fn addresses<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let at = usize::from(self.l3);
        match self.kind & kind::L3 {
            kind::IPV4 | kind::IPV4_EXT => bytes.get(at + 12..at + 20),
            kind::IPV6 | kind::IPV6_EXT => bytes.get(at + 8..at + 40),
            _ => None,
        }
    }

    /// Source and destination port, adjacent as in the header: 4 bytes.
    pub fn ports<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8; 4]> {
        if !self.has_ports() {
            return None;
        }
        bytes.get(usize::from(self.l4)..)?.first_chunk()
    }

    /// The 5-tuple of an IP packet.
    pub fn tuple(&self, bytes: &[u8]) -> Option<Tuple> {
        let addresses = self.addresses(bytes)?;
        let (src, dst) = addresses.split_at(addresses.len() / 2);
        let (sport, dport) = match self.ports(bytes) {
            Some([a, b, c, d]) => (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])),
            None => (0, 0),
        };
        Some(Tuple { src: address(src)?, dst: address(dst)?, sport, dport, proto: self.proto })
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => bytes.first_chunk::<4>().map(|b| IpAddr::V4(Ipv4Addr::from(*b))),
        _ => bytes.first_chunk::<16>().map(|b| IpAddr::V6(Ipv6Addr::from(*b))),
    }
}

/// Parses an Ethernet frame (without FCS). `bytes` may be its first part only: a header that runs
/// past them is [`Fault::Short`], and what was before it stands.
#[inline]
pub fn parse(bytes: &[u8]) -> Parsed {
    usual(bytes).unwrap_or_else(|| walk(bytes))
}

/// Parses what most frames are, TCP or UDP over IPv4 without tags, options or fragments, by a look at fixed
/// places: a software card has some 60 cycles for all of a frame. `None`: [`parse`] walks the headers.
#[inline(always)]
pub fn usual(bytes: &[u8]) -> Option<Parsed> {
    const L3: usize = ETHERNET;
    const L4: usize = L3 + 20;
    let b: &[u8; L4 + 4] = bytes.first_chunk()?;
    let word = |at: usize| u16::from_be_bytes([b[at], b[at + 1]]);
    let plain = word(L3 - 2) == 0x0800 && b[L3] == 0x45 && word(L3 + 6) & 0x3fff == 0;
    let total = word(L3 + 2);
    let l4 = match b[L3 + 9] {
        6 => kind::TCP,
        17 => kind::UDP | udp_tunnel(word(L4 + 2)),
        _ => return None,
    };
    let kind = kind::ETHER | kind::IPV4 | l4;
    let found = Parsed { kind, l3: L3 as u16, l4: L4 as u16, proto: b[L3 + 9], fault: None };
    (plain && (total == 0 || total >= 20)).then_some(found)
}

/// Parses what a tunnel without Ethernet carries: a packet of type `ethertype` at `at`, which is not 0. Offsets
/// count from the first of `bytes`, as everywhere; the type has no link layer.
pub fn parse_carried(bytes: &[u8], at: usize, ethertype: u16) -> Parsed {
    let mut p = Parsed::default();
    if let Err(fault) = network(bytes, at, ethertype, &mut p) {
        p.fault = Some(fault);
    }
    p
}

#[inline(never)]
fn walk(bytes: &[u8]) -> Parsed {
    let mut p = Parsed::default();
    if let Err(fault) = link(bytes, &mut p) {
        p.fault = Some(fault);
    }
    p
}

/// Ethernet and its tags.
#[inline]
fn link(bytes: &[u8], p: &mut Parsed) -> Result<(), Fault> {
    let mut ethertype = be16(bytes, ETHERNET - 2).ok_or(Fault::Short)?;
    let mut at = ETHERNET;
    p.kind = kind::ETHER;
    while matches!(ethertype, 0x8100 | 0x88a8 | 0x9100) {
        p.kind = if p.kind == kind::ETHER { kind::VLAN } else { kind::QINQ };
        ethertype = be16(bytes, at + 2).ok_or(Fault::Short)?;
        at += 4;
    }
    network(bytes, at, ethertype, p)
}

/// What the link layer says that it carries.
#[inline]
fn network(bytes: &[u8], at: usize, ethertype: u16, p: &mut Parsed) -> Result<(), Fault> {
    match ethertype {
        0x0800 => ipv4(bytes, at, p),
        0x86dd => ipv6(bytes, at, p),
        0x0806 if p.kind == kind::ETHER => {
            p.kind = kind::ARP;
            Ok(())
        }
        0x8847 | 0x8848 => {
            p.kind = kind::MPLS;
            Ok(())
        }
        _ => Ok(()), // below 0x600 a length: LLC. No IP either way.
    }
}

#[inline]
fn ipv4(bytes: &[u8], at: usize, p: &mut Parsed) -> Result<(), Fault> {
    let header: &[u8; 20] = bytes.get(at..).and_then(|b| b.first_chunk()).ok_or(Fault::Short)?;
    if header[0] >> 4 != 4 {
        return Err(Fault::Version);
    }
    let length = usize::from(header[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    // A total length of 0 is what segmentation offload leaves in captures of the sending host.
    if length < 20 || (total != 0 && total < length) {
        return Err(Fault::Length);
    }
    if bytes.len() < at + length {
        return Err(Fault::Short);
    }
    p.l3 = offset(at)?;
    p.kind |= if length == 20 { kind::IPV4 } else { kind::IPV4_EXT };
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
    let part = Part { fragment: fragment != 0, first: fragment & 0x1fff == 0 };
    after_ip(bytes, at + length, header[9], part, p)
}

#[inline]
fn ipv6(bytes: &[u8], at: usize, p: &mut Parsed) -> Result<(), Fault> {
    let header: &[u8; 40] = bytes.get(at..).and_then(|b| b.first_chunk()).ok_or(Fault::Short)?;
    if header[0] >> 4 != 6 {
        return Err(Fault::Version);
    }
    p.l3 = offset(at)?;
    p.kind |= kind::IPV6;
    after_ip(bytes, at + 40, header[6], Part { fragment: false, first: true }, p)
}

/// Which part of a packet a frame carries.
#[derive(Clone, Copy)]
struct Part {
    fragment: bool,
    first: bool,
}

/// Extension headers (of IPv6; of IPv4 only AH), then the transport header.
#[inline]
fn after_ip(bytes: &[u8], at: usize, next: u8, part: Part, p: &mut Parsed) -> Result<(), Fault> {
    let (mut at, mut next, mut part) = (at, next, part);
    p.proto = next;
    while part.first && is_extension(next, p.is_ipv6()) {
        // Every extension header is at least 8 bytes: the loop ends with the bytes.
        let header: &[u8; 8] = bytes.get(at..).and_then(|b| b.first_chunk()).ok_or(Fault::Short)?;
        if p.is_ipv6() {
            p.kind |= kind::IPV6_EXT;
        }
        at += match next {
            44 => {
                let fragment = u16::from_be_bytes([header[2], header[3]]) & 0xfff9;
                // An "atomic" fragment (RFC 6946) is the whole packet.
                part = Part { fragment: fragment != 0, first: fragment & 0xfff8 == 0 };
                8
            }
            51 => (usize::from(header[1]) + 2) * 4,
            _ => (usize::from(header[1]) + 1) * 8,
        };
        next = header[0];
        p.proto = next;
    }
    transport(bytes, at, next, part, p)
}

fn is_extension(next: u8, ipv6: bool) -> bool {
    match next {
        51 => true,
        0 | 43 | 44 | 60 | 135 | 139 | 140 => ipv6,
        _ => false,
    }
}

#[inline]
fn transport(bytes: &[u8], at: usize, proto: u8, part: Part, p: &mut Parsed) -> Result<(), Fault> {
    if part.fragment {
        p.kind |= kind::FRAG;
        if part.first && at < bytes.len() {
            p.l4 = offset(at)?;
        }
        return Ok(());
    }
    let (l4, tunnel) = match proto {
        6 => (kind::TCP, 0),
        17 => (kind::UDP, udp_tunnel(be16(bytes, at + 2).ok_or(Fault::Short)?)),
        132 => (kind::SCTP, 0),
        1 | 58 => (kind::ICMP, 0),
        2 => (kind::IGMP, 0),
        4 | 41 => (0, kind::IP_IN_IP),
        47 => (0, if be16(bytes, at + 2) == Some(0x6558) { kind::NVGRE } else { kind::GRE }),
        50 => (0, kind::ESP),
        _ => (kind::NONFRAG, 0),
    };
    // The ports must be there; of other protocols, one byte.
    let ports = matches!(l4, kind::TCP | kind::UDP | kind::SCTP);
    if bytes.len() < at + if ports { 4 } else { 1 } {
        return if ports { Err(Fault::Short) } else { Ok(()) };
    }
    p.l4 = offset(at)?;
    p.kind |= l4 | tunnel;
    Ok(())
}

#[inline]
fn udp_tunnel(dport: u16) -> u32 {
    match dport {
        4789 => kind::VXLAN,
        6081 => kind::GENEVE,
        2123 => kind::GTPC,
        2152 => kind::GTPU,
        _ => 0,
    }
}

/// Offsets are 16 bits: no frame is longer.
fn offset(at: usize) -> Result<u16, Fault> {
    u16::try_from(at).map_err(|_| Fault::Short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carried_packet_is_parsed_where_it_lies() {
        let mut f = vec![2; 12];
        f.extend([8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        f.extend([0, 7, 0, 9, 0, 26, 0, 0]);
        let whole = parse(&f);
        let carried = Parsed { kind: whole.kind & !kind::L2, ..whole };
        assert_eq!(parse_carried(&f, ETHERNET, 0x0800), carried);
        assert_eq!(parse_carried(&f, ETHERNET, 0x86dd).fault, Some(Fault::Short));
        assert_eq!(parse_carried(&f, 1000, 0x0800).fault, Some(Fault::Short));
        assert_eq!(parse_carried(&f, ETHERNET, 0x1234), Parsed::default());
    }

    #[test]
    fn the_short_way_finds_what_the_walk_finds() {
        let mut f = vec![2; 12];
        f.extend([8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        f.extend([0, 7, 0, 9, 0, 26, 0, 0]);
        assert!(usual(&f).is_some());
        // Every byte of every header, at values around those that mean something.
        for at in 12..f.len() {
            for value in 0..=255 {
                let mut g = f.clone();
                g[at] = value;
                assert_eq!(parse(&g), walk(&g), "byte {at} is {value}");
                assert_eq!(parse(&g[..38]), walk(&g[..38]), "byte {at} is {value}");
                assert_eq!(parse(&g[..37]), walk(&g[..37]), "byte {at} is {value}");
            }
        }
        for dport in [4789_u16, 6081, 2123, 2152] {
            f[36..38].copy_from_slice(&dport.to_be_bytes());
            assert_eq!(usual(&f), Some(walk(&f)));
        }
    }
}
