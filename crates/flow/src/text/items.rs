//! The items of a pattern and their fields.

use super::value::Form;
use crate::field::{Field, Header};

/// An item of a pattern.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) fields: &'static [Part],
}

/// What an item stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing is asked.
    Free,
    /// Metadata or a tag.
    Register,
    /// A header on this floor of the stack, from 0.
    Header(Header, u8),
}

/// A field of an item.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) means: Means,
}

/// What a field of an item asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// The bits of a field from `shift` on.
    Bits { field: Field, shift: u32 },
    /// The type behind Ethernet's addresses.
    EthType,
    /// The type behind a tag.
    InnerType,
    /// Whether there is a tag.
    HasVlan,
    /// Whether there is a tag behind this one.
    HasMoreVlan,
    /// Whether it is a fragment.
    Fragment,
    /// Which tag.
    Index,
}

const fn part(name: &'static str, form: Form, means: Means) -> Part {
    Part { name, form, means }
}

/// A whole field that is a number of so many bits.
const fn number(name: &'static str, bits: u32, field: Field) -> Part {
    bits_of(name, bits, field, 0)
}

const fn bits_of(name: &'static str, bits: u32, field: Field, shift: u32) -> Part {
    part(name, Form::Number(bits), Means::Bits { field, shift })
}

const fn address(name: &'static str, form: Form, field: Field) -> Part {
    part(name, form, Means::Bits { field, shift: 0 })
}

const fn header(name: &'static str, header: Header, floor: u8, fields: &'static [Part]) -> Item {
    Item { name, kind: Kind::Header(header, floor), fields }
}

const fn other(name: &'static str, kind: Kind, fields: &'static [Part]) -> Item {
    Item { name, kind, fields }
}

/// The floor of tags, of which there may be two.
pub(super) const TAGGED: u8 = 1;
/// The floor of headers that begin a tunnel.
pub(super) const TUNNEL: u8 = 4;
/// The floor of a header that comes behind one of [`TUNNEL`] and belongs to it.
pub(super) const TUNNEL_KEY: u8 = 5;

/// All items but `end`.
pub(super) const ITEMS: &[Item] = &[
    other("void", Kind::Free, &[]),
    other("any", Kind::Free, &[]),
    header(
        "eth",
        Header::Ethernet,
        0,
        &[
            address("dst", Form::Mac, Field::EthDst),
            address("src", Form::Mac, Field::EthSrc),
            part("type", Form::Number(16), Means::EthType),
            part("has_vlan", Form::Number(1), Means::HasVlan),
        ],
    ),
    header(
        "vlan",
        Header::Vlan,
        TAGGED,
        &[
            number("tci", 16, Field::VlanTci),
            bits_of("pcp", 3, Field::VlanTci, 13),
            bits_of("dei", 1, Field::VlanTci, 12),
            number("vid", 12, Field::VlanTci),
            part("inner_type", Form::Number(16), Means::InnerType),
            part("has_more_vlan", Form::Number(1), Means::HasMoreVlan),
        ],
    ),
    header(
        "mpls",
        Header::Mpls,
        2,
        &[
            number("label", 20, Field::MplsLabel),
            number("tc", 3, Field::MplsClass),
            number("s", 1, Field::MplsBottom),
            number("ttl", 8, Field::MplsTtl),
        ],
    ),
    header(
        "ipv4",
        Header::Ipv4,
        2,
        &[
            address("src", Form::Ipv4, Field::Ipv4Src),
            address("dst", Form::Ipv4, Field::Ipv4Dst),
            number("proto", 8, Field::Ipv4Proto),
            number("tos", 8, Field::Ipv4Tos),
            number("ttl", 8, Field::Ipv4Ttl),
            part("fragment_offset", Form::Number(16), Means::Fragment),
        ],
    ),
    header(
        "ipv6",
        Header::Ipv6,
        2,
        &[
            address("src", Form::Ipv6, Field::Ipv6Src),
            address("dst", Form::Ipv6, Field::Ipv6Dst),
            number("proto", 8, Field::Ipv6Proto),
            number("tc", 8, Field::Ipv6Class),
            number("hop", 8, Field::Ipv6Hops),
            number("flow", 20, Field::Ipv6Label),
        ],
    ),
    header(
        "tcp",
        Header::Tcp,
        3,
        &[
            number("src", 16, Field::TcpSrc),
            number("dst", 16, Field::TcpDst),
            number("flags", 8, Field::TcpFlags),
        ],
    ),
    header("udp", Header::Udp, 3, &[number("src", 16, Field::UdpSrc), number("dst", 16, Field::UdpDst)]),
    header(
        "sctp",
        Header::Sctp,
        3,
        &[
            number("src", 16, Field::SctpSrc),
            number("dst", 16, Field::SctpDst),
            number("tag", 32, Field::SctpTag),
        ],
    ),
    header(
        "icmp",
        Header::Icmp,
        3,
        &[
            number("type", 8, Field::IcmpType),
            number("code", 8, Field::IcmpCode),
            number("ident", 16, Field::IcmpIdent),
            number("seq", 16, Field::IcmpSeq),
        ],
    ),
    header(
        "icmp6",
        Header::Icmp6,
        3,
        &[number("type", 8, Field::Icmp6Type), number("code", 8, Field::Icmp6Code)],
    ),
    header(
        "gre",
        Header::Gre,
        TUNNEL,
        &[
            number("protocol", 16, Field::GreProto),
            number("c_rsvd0_ver", 16, Field::GreFlags),
            bits_of("c_bit", 1, Field::GreFlags, 15),
            bits_of("k_bit", 1, Field::GreFlags, 13),
            bits_of("s_bit", 1, Field::GreFlags, 12),
        ],
    ),
    header("gre_key", Header::GreKey, TUNNEL_KEY, &[number("value", 32, Field::GreKey)]),
    header("vxlan", Header::Vxlan, TUNNEL, &[number("vni", 24, Field::VxlanVni)]),
    header(
        "geneve",
        Header::Geneve,
        TUNNEL,
        &[
            number("vni", 24, Field::GeneveVni),
            number("protocol", 16, Field::GeneveProto),
            bits_of("optlen", 6, Field::GeneveOptions, 0),
        ],
    ),
    other("meta", Kind::Register, &[number("data", 32, Field::Meta)]),
    other(
        "tag",
        Kind::Register,
        &[number("data", 32, Field::Tag0), part("index", Form::Number(8), Means::Index)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_room_for_what_is_written() {
        let parts = ITEMS.iter().flat_map(|item| item.fields);
        for part in parts {
            if let Means::Bits { field, shift } = part.means {
                assert!(part.form.bits() + shift <= field.bits(), "{part:?}");
            }
        }
        for item in ITEMS {
            let Kind::Header(header, _) = item.kind else { continue };
            let fields = item.fields.iter().filter_map(|part| match part.means {
                Means::Bits { field, .. } => field.header(),
                _ => None,
            });
            assert!(fields.into_iter().all(|of| of == header), "{item:?}");
        }
    }
}
