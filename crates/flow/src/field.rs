//! What a rule can match: headers, their fields, and where a key has them.

/// Words of a key for the headers of one layer.
pub(crate) const LAYER: usize = 10;
/// The word of metadata and the first tag; the other tags follow.
pub(crate) const REGISTERS: usize = 2 * LAYER;
/// Words of a key.
pub const WORDS: usize = REGISTERS + 2;
/// The bit of the first header in a layer's word 0.
const PRESENCE: u32 = 48;

/// Which headers of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Layer {
    /// Those that come first.
    Outer,
    /// Those in a tunnel.
    Inner,
}

impl Layer {
    /// Its first word.
    pub(crate) const fn base(self) -> usize {
        match self {
            Layer::Outer => 0,
            Layer::Inner => LAYER,
        }
    }
}

/// A header that is there or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Header {
    /// Ethernet.
    Ethernet,
    /// At least one VLAN tag.
    Vlan,
    /// At least two VLAN tags.
    Qinq,
    /// An MPLS label. What follows the labels is not looked at.
    Mpls,
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
    /// A part of an IP packet. It has no transport header here, the first part neither: all parts match alike.
    Fragment,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
    /// ICMP for IPv4.
    Icmp,
    /// ICMPv6.
    Icmp6,
    /// GRE.
    Gre,
    /// GRE with a key.
    GreKey,
    /// VXLAN: UDP to port 4789.
    Vxlan,
    /// GENEVE: UDP to port 6081.
    Geneve,
}

impl Header {
    /// All of them, in the order of their bits.
    pub const ALL: [Header; 16] = [
        Header::Ethernet,
        Header::Vlan,
        Header::Qinq,
        Header::Mpls,
        Header::Ipv4,
        Header::Ipv6,
        Header::Fragment,
        Header::Tcp,
        Header::Udp,
        Header::Sctp,
        Header::Icmp,
        Header::Icmp6,
        Header::Gre,
        Header::GreKey,
        Header::Vxlan,
        Header::Geneve,
    ];

    /// Its bit in word 0 of a layer.
    pub(crate) const fn bit(self) -> u64 {
        1 << (PRESENCE + self as u32)
    }

    /// The bits of headers that no layer has beside this one.
    pub(crate) const fn rivals(self) -> u64 {
        let (mut all, mut at) = (0, 0);
        while at < RIVALS.len() {
            if RIVALS[at] & self.bit() != 0 {
                all |= RIVALS[at];
            }
            at += 1;
        }
        all & !self.bit()
    }
}

/// Bits of headers of which a layer has one at most.
const RIVALS: [u64; 3] = {
    use Header::*;
    let transport = Tcp.bit() | Udp.bit() | Sctp.bit() | Icmp.bit() | Icmp6.bit() | Fragment.bit();
    [Ipv4.bit() | Ipv6.bit() | Mpls.bit(), transport | Gre.bit(), Gre.bit() | Vxlan.bit() | Geneve.bit()]
};

/// A field of a header, or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::VariantArray)]
#[repr(u8)]
pub enum Field {
    /// Destination address, 48 bits.
    EthDst,
    /// Source address, 48 bits.
    EthSrc,
    /// Type of what follows the tags.
    EthType,
    /// Tag control of the first tag: priority, DEI, and the identifier in the lower 12 bits.
    VlanTci,
    /// Tag control of the second tag.
    QinqTci,
    /// Label of the first entry of the stack, 20 bits.
    MplsLabel,
    /// Its traffic class, 3 bits.
    MplsClass,
    /// Whether it is the bottom of the stack.
    MplsBottom,
    /// Its time to live.
    MplsTtl,
    /// Source address.
    Ipv4Src,
    /// Destination address.
    Ipv4Dst,
    /// Protocol.
    Ipv4Proto,
    /// Type of service: DSCP and ECN.
    Ipv4Tos,
    /// Time to live.
    Ipv4Ttl,
    /// Source address.
    Ipv6Src,
    /// Destination address.
    Ipv6Dst,
    /// Protocol after the extension headers.
    Ipv6Proto,
    /// Traffic class.
    Ipv6Class,
    /// Hop limit.
    Ipv6Hops,
    /// Flow label, 20 bits.
    Ipv6Label,
    /// Source port.
    TcpSrc,
    /// Destination port.
    TcpDst,
    /// Flags from CWR to FIN.
    TcpFlags,
    /// Source port.
    UdpSrc,
    /// Destination port.
    UdpDst,
    /// Source port.
    SctpSrc,
    /// Destination port.
    SctpDst,
    /// Verification tag.
    SctpTag,
    /// Type.
    IcmpType,
    /// Code.
    IcmpCode,
    /// Identifier.
    IcmpIdent,
    /// Sequence number.
    IcmpSeq,
    /// Type.
    Icmp6Type,
    /// Code.
    Icmp6Code,
    /// Protocol type.
    GreProto,
    /// Flags and version.
    GreFlags,
    /// Key.
    GreKey,
    /// Network identifier, 24 bits.
    VxlanVni,
    /// Flags.
    VxlanFlags,
    /// Network identifier, 24 bits.
    GeneveVni,
    /// Protocol type.
    GeneveProto,
    /// Version and length of the options in words, 8 bits.
    GeneveOptions,
    /// Metadata.
    Meta,
    /// The first tag.
    Tag0,
    /// The second tag.
    Tag1,
    /// The third tag.
    Tag2,
}

/// Where a key has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The header that it is in; registers are in none.
    pub(crate) header: Option<Header>,
    /// Its first word, in its layer or in the key.
    pub(crate) word: usize,
    /// Its lowest bit in the word.
    pub(crate) shift: u32,
    /// Its bits. 128 fill two words, the upper half first.
    pub(crate) bits: u32,
}

/// Where a frame has its time to live: in one of these.
pub(crate) const TTL: [Field; 2] = [Field::Ipv4Ttl, Field::Ipv6Hops];

impl Field {
    /// All of them.
    pub const ALL: &[Field] = <Field as strum::VariantArray>::VARIANTS;

    /// The tag of number `index`, below [`TAGS`](crate::TAGS).
    pub fn tag(index: u8) -> Option<Field> {
        [Field::Tag0, Field::Tag1, Field::Tag2].get(usize::from(index)).copied()
    }

    /// Bits of the field.
    pub fn bits(self) -> u32 {
        self.place().bits
    }

    /// The header that it is in; registers are in none.
    pub fn header(self) -> Option<Header> {
        self.place().header
    }

    /// The largest value.
    pub fn largest(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }

    /// Word 0 of a layer: presence 16, protocol 8, TCP flags 8, ports 16 and 16. Words 1 to 4: addresses. Word 5:
    /// destination 48, type 16. Word 6: source 48, second tag 16. Word 7: first tag 16, class 8, hops 8, flow label 32.
    /// Word 8: MPLS 32, tunnel's number 32. Word 9: tunnel's protocol 16, its flags 16, words of transport headers 32.
    pub(crate) const fn place(self) -> Place {
        let (header, word, shift, bits) = match self {
            Field::EthDst => (Header::Ethernet, 5, 16, 48),
            Field::EthType => (Header::Ethernet, 5, 0, 16),
            Field::EthSrc => (Header::Ethernet, 6, 16, 48),
            Field::QinqTci => (Header::Qinq, 6, 0, 16),
            Field::VlanTci => (Header::Vlan, 7, 48, 16),
            Field::MplsLabel => (Header::Mpls, 8, 44, 20),
            Field::MplsClass => (Header::Mpls, 8, 41, 3),
            Field::MplsBottom => (Header::Mpls, 8, 40, 1),
            Field::MplsTtl => (Header::Mpls, 8, 32, 8),
            Field::Ipv4Src => (Header::Ipv4, 1, 32, 32),
            Field::Ipv4Dst => (Header::Ipv4, 1, 0, 32),
            Field::Ipv4Proto => (Header::Ipv4, 0, 40, 8),
            Field::Ipv4Tos => (Header::Ipv4, 7, 40, 8),
            Field::Ipv4Ttl => (Header::Ipv4, 7, 32, 8),
            Field::Ipv6Src => (Header::Ipv6, 1, 0, 128),
            Field::Ipv6Dst => (Header::Ipv6, 3, 0, 128),
            Field::Ipv6Proto => (Header::Ipv6, 0, 40, 8),
            Field::Ipv6Class => (Header::Ipv6, 7, 40, 8),
            Field::Ipv6Hops => (Header::Ipv6, 7, 32, 8),
            Field::Ipv6Label => (Header::Ipv6, 7, 0, 20),
            Field::TcpSrc => (Header::Tcp, 0, 16, 16),
            Field::TcpDst => (Header::Tcp, 0, 0, 16),
            Field::TcpFlags => (Header::Tcp, 0, 32, 8),
            Field::UdpSrc => (Header::Udp, 0, 16, 16),
            Field::UdpDst => (Header::Udp, 0, 0, 16),
            Field::SctpSrc => (Header::Sctp, 0, 16, 16),
            Field::SctpDst => (Header::Sctp, 0, 0, 16),
            Field::SctpTag => (Header::Sctp, 9, 0, 32),
            Field::IcmpType => (Header::Icmp, 0, 24, 8),
            Field::IcmpCode => (Header::Icmp, 0, 16, 8),
            Field::IcmpIdent => (Header::Icmp, 9, 16, 16),
            Field::IcmpSeq => (Header::Icmp, 9, 0, 16),
            Field::Icmp6Type => (Header::Icmp6, 0, 24, 8),
            Field::Icmp6Code => (Header::Icmp6, 0, 16, 8),
            Field::GreProto => (Header::Gre, 9, 48, 16),
            Field::GreFlags => (Header::Gre, 9, 32, 16),
            Field::GreKey => (Header::GreKey, 8, 0, 32),
            Field::VxlanVni => (Header::Vxlan, 8, 0, 24),
            Field::VxlanFlags => (Header::Vxlan, 9, 32, 8),
            Field::GeneveVni => (Header::Geneve, 8, 0, 24),
            Field::GeneveProto => (Header::Geneve, 9, 48, 16),
            Field::GeneveOptions => (Header::Geneve, 9, 32, 8),
            Field::Meta => return Place { header: None, word: REGISTERS, shift: 32, bits: 32 },
            Field::Tag0 => return Place { header: None, word: REGISTERS, shift: 0, bits: 32 },
            Field::Tag1 => return Place { header: None, word: REGISTERS + 1, shift: 32, bits: 32 },
            Field::Tag2 => return Place { header: None, word: REGISTERS + 1, shift: 0, bits: 32 },
        };
        Place { header: Some(header), word, shift, bits }
    }
}

/// Ors `value` into the place of `field`; bits beyond the field's are lost.
pub(crate) fn put(words: &mut [u64; WORDS], layer: Layer, field: Field, value: u128) {
    let (at, place) = locate(layer, field);
    if place.bits == 128 {
        words[at] |= (value >> 64) as u64;
        words[at + 1] |= value as u64;
    } else {
        words[at] |= ((value & field.largest()) as u64) << place.shift;
    }
}

/// The value of `field` in `words`.
pub(crate) fn take(words: &[u64; WORDS], layer: Layer, field: Field) -> u128 {
    let (at, place) = locate(layer, field);
    if place.bits == 128 {
        return u128::from(words[at]) << 64 | u128::from(words[at + 1]);
    }
    u128::from(words[at] >> place.shift) & field.largest()
}

/// Clears `field`.
pub(crate) fn clear(words: &mut [u64; WORDS], layer: Layer, field: Field) {
    let (at, place) = locate(layer, field);
    if place.bits == 128 {
        words[at..at + 2].fill(0);
    } else {
        words[at] &= !((field.largest() as u64) << place.shift);
    }
}

fn locate(layer: Layer, field: Field) -> (usize, Place) {
    let place = field.place();
    let base = if place.header.is_some() { layer.base() } else { 0 };
    (base + place.word, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_headers_that_go_together_do_not_overlap() {
        let rivals = |a: Header, b: Header| a.rivals() & b.bit() != 0;
        let words = |field| {
            let mut words = [0; WORDS];
            put(&mut words, Layer::Outer, field, u128::MAX);
            words
        };
        for (i, &a) in Field::ALL.iter().enumerate() {
            assert_eq!(take(&words(a), Layer::Outer, a), a.largest(), "{a:?}");
            assert!(words(a)[0] >> PRESENCE == 0, "{a:?} lies on the presence bits");
            for &b in Field::ALL.iter().skip(i + 1) {
                let apart = words(a).iter().zip(words(b)).all(|(a, b)| a & b == 0);
                let never = a.header().zip(b.header()).is_some_and(|(a, b)| rivals(a, b) || above(a, b));
                assert!(apart || never, "{a:?} and {b:?}");
            }
        }
    }

    /// Tunnels over UDP and transports other than it, in either order.
    fn above(a: Header, b: Header) -> bool {
        let pair = |a, b| {
            matches!(a, Header::Vxlan | Header::Geneve | Header::GreKey)
                && matches!(
                    b,
                    Header::Tcp
                        | Header::Sctp
                        | Header::Icmp
                        | Header::Icmp6
                        | Header::Vxlan
                        | Header::Geneve
                )
        };
        pair(a, b) || pair(b, a)
    }
}
