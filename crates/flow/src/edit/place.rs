//! Where a frame has a field.

use packet::{ETHERNET, Parsed};

use crate::field::Field;

/// Bytes with a field, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first one, from the frame's start.
    pub(crate) at: usize,
    /// How many, 16 at the most.
    pub(crate) bytes: usize,
    /// The field's lowest bit in them.
    pub(crate) shift: u32,
}

/// The place of a field of the outer headers in a frame that begins with `head` and has that field's header. None for
/// what cannot be set.
pub(crate) fn of(field: Field, parsed: &Parsed, head: &[u8]) -> Option<Place> {
    use Field::*;
    let (l3, l4) = (usize::from(parsed.l3), usize::from(parsed.l4));
    // Behind the tags.
    let mpls = ETHERNET + 4 * tags(head);
    let (at, bytes, shift) = match field {
        EthDst => (0, 6, 0),
        EthSrc => (6, 6, 0),
        VlanTci => (ETHERNET, 2, 0),
        QinqTci => (ETHERNET + 4, 2, 0),
        MplsLabel => (mpls, 4, 12),
        MplsClass => (mpls, 4, 9),
        MplsTtl => (mpls, 4, 0),
        Ipv4Tos => (l3 + 1, 1, 0),
        Ipv4Ttl => (l3 + 8, 1, 0),
        Ipv4Src => (l3 + 12, 4, 0),
        Ipv4Dst => (l3 + 16, 4, 0),
        Ipv6Class => (l3, 4, 20),
        Ipv6Label => (l3, 4, 0),
        Ipv6Hops => (l3 + 7, 1, 0),
        Ipv6Src => (l3 + 8, 16, 0),
        Ipv6Dst => (l3 + 24, 16, 0),
        TcpSrc | UdpSrc => (l4, 2, 0),
        TcpDst | UdpDst => (l4 + 2, 2, 0),
        TcpFlags => (l4 + 13, 1, 0),
        IcmpType | Icmp6Type => (l4, 1, 0),
        IcmpCode | Icmp6Code => (l4 + 1, 1, 0),
        IcmpIdent => (l4 + 4, 2, 0),
        IcmpSeq => (l4 + 6, 2, 0),
        // Behind the checksum, if there is one.
        GreKey => (l4 + if head.get(l4)? & 0x80 != 0 { 8 } else { 4 }, 4, 0),
        VxlanVni | GeneveVni => (l4 + 12, 4, 8),
        _ => return None,
    };
    Some(Place { at, bytes, shift })
}

/// Tags of the link layer.
fn tags(head: &[u8]) -> usize {
    let tag =
        |n: usize| matches!(head.get(ETHERNET - 2 + 4 * n..), Some([0x81 | 0x91, 0, ..] | [0x88, 0xa8, ..]));
    (0..).take_while(|n| tag(*n)).count()
}
