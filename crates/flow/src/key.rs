//! What the classifier knows of a frame: a flat array of words, filled once.

use packet::{ETHERNET, Parsed, kind};

use crate::field::{self, Field, Header, Layer, WORDS};

/// The fields of a frame and its registers. Headers that are not there have zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub(crate) words: [u64; WORDS],
}

impl Default for Key {
    /// A frame without headers.
    fn default() -> Key {
        Key { words: [0; WORDS] }
    }
}

/// What a tunnel carries.
enum Carried {
    Ethernet(usize),
    Network { at: usize, ethertype: u16 },
}

impl Key {
    /// The key of a frame that begins with `bytes`, in which [`packet::parse`] found `parsed`.
    pub fn read(bytes: &[u8], parsed: &Parsed) -> Key {
        let mut key = Key::default();
        let carried = Reader { bytes, layer: Layer::Outer, key: &mut key }.headers(parsed, true);
        match carried {
            Some(Carried::Ethernet(at)) => {
                let bytes = bytes.get(at..).unwrap_or_default();
                Reader { bytes, layer: Layer::Inner, key: &mut key }.headers(&packet::parse(bytes), true);
            }
            Some(Carried::Network { at, ethertype }) => {
                let parsed = packet::parse_carried(bytes, at, ethertype);
                Reader { bytes, layer: Layer::Inner, key: &mut key }.headers(&parsed, false);
            }
            None => {}
        }
        key
    }

    /// Whether the frame has `header`.
    pub fn has(&self, layer: Layer, header: Header) -> bool {
        self.words[layer.base()] & header.bit() != 0
    }

    /// The value of `field`; none where its header is not there.
    pub fn get(&self, layer: Layer, field: Field) -> Option<u128> {
        let there = field.header().is_none_or(|header| self.has(layer, header));
        there.then(|| field::take(&self.words, layer, field))
    }

    /// Sets `field` where its header is there, under `mask`. Bits beyond the field's are lost.
    pub fn set(&mut self, layer: Layer, field: Field, value: u128, mask: u128) {
        if let Some(old) = self.get(layer, field) {
            field::clear(&mut self.words, layer, field);
            field::put(&mut self.words, layer, field, old & !mask | value & mask);
        }
    }

    /// Takes the tunnel off: the inner headers are the outer ones, and none are inside.
    pub fn decap(&mut self) {
        let (outer, inner) = self.words.split_at_mut(Layer::Inner.base());
        outer.copy_from_slice(&inner[..outer.len()]);
        inner[..outer.len()].fill(0);
    }
}

/// Reads the headers of one layer into a key.
struct Reader<'a> {
    bytes: &'a [u8],
    layer: Layer,
    key: &'a mut Key,
}

impl Reader<'_> {
    fn there(&mut self, header: Header) {
        self.key.words[self.layer.base()] |= header.bit();
    }

    fn put(&mut self, field: Field, value: impl Into<u128>) {
        field::put(&mut self.key.words, self.layer, field, value.into());
    }

    /// `N` bytes at `at`; zeros where the frame was cut before them.
    fn at<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes.get(at..).and_then(|b| b.first_chunk()).copied().unwrap_or([0; N])
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.at(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.at(at))
    }

    fn headers(&mut self, p: &Parsed, ethernet: bool) -> Option<Carried> {
        if ethernet && self.bytes.len() >= ETHERNET {
            self.link();
        }
        if p.kind & kind::L2 == kind::MPLS {
            self.mpls();
        }
        let l3 = usize::from(p.l3);
        if p.is_ipv4() {
            self.ipv4(l3, p.proto);
        } else if p.is_ipv6() {
            self.ipv6(l3, p.proto);
        }
        let l4 = usize::from(p.l4);
        match p.kind & kind::L4 {
            kind::FRAG => self.there(Header::Fragment),
            kind::TCP => self.tcp(l4),
            kind::UDP => return self.udp(p, l4),
            kind::SCTP => self.sctp(l4),
            kind::ICMP => self.icmp(l4, p.is_ipv4()),
            _ if matches!(p.kind & kind::TUNNEL, kind::GRE | kind::NVGRE) => return self.gre(l4),
            _ => {}
        }
        None
    }

    fn link(&mut self) {
        self.there(Header::Ethernet);
        let [dst, src] = [0, 6].map(|at| self.u48(at));
        self.put(Field::EthDst, dst);
        self.put(Field::EthSrc, src);
        let (ethertype, tags) = self.tags();
        self.put(Field::EthType, ethertype);
        if tags > 0 {
            self.there(Header::Vlan);
            self.put(Field::VlanTci, self.u16(ETHERNET));
        }
        if tags > 1 {
            self.there(Header::Qinq);
            self.put(Field::QinqTci, self.u16(ETHERNET + 4));
        }
    }

    /// The type that follows all tags, and how many there are. A tag that was cut off is none.
    fn tags(&self) -> (u16, usize) {
        let (mut at, mut tags) = (ETHERNET - 2, 0);
        while matches!(self.u16(at), 0x8100 | 0x88a8 | 0x9100) && self.bytes.len() >= at + 6 {
            (at, tags) = (at + 4, tags + 1);
        }
        (self.u16(at), tags)
    }

    fn u48(&self, at: usize) -> u64 {
        let [a, b, c, d, e, f] = self.at(at);
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    fn mpls(&mut self) {
        let at = ETHERNET + 4 * self.tags().1;
        if self.bytes.len() < at + 4 {
            return;
        }
        self.there(Header::Mpls);
        let entry = self.u32(at);
        self.put(Field::MplsLabel, entry >> 12);
        self.put(Field::MplsClass, entry >> 9 & 7);
        self.put(Field::MplsBottom, entry >> 8 & 1);
        self.put(Field::MplsTtl, entry & 0xff);
    }

    fn ipv4(&mut self, at: usize, proto: u8) {
        self.there(Header::Ipv4);
        self.put(Field::Ipv4Src, self.u32(at + 12));
        self.put(Field::Ipv4Dst, self.u32(at + 16));
        self.put(Field::Ipv4Proto, proto);
        let ([tos], [ttl]) = (self.at(at + 1), self.at(at + 8));
        self.put(Field::Ipv4Tos, tos);
        self.put(Field::Ipv4Ttl, ttl);
    }

    fn ipv6(&mut self, at: usize, proto: u8) {
        self.there(Header::Ipv6);
        self.put(Field::Ipv6Src, u128::from_be_bytes(self.at(at + 8)));
        self.put(Field::Ipv6Dst, u128::from_be_bytes(self.at(at + 24)));
        self.put(Field::Ipv6Proto, proto);
        let first = self.u32(at);
        self.put(Field::Ipv6Class, first >> 20 & 0xff);
        self.put(Field::Ipv6Label, first & 0xf_ffff);
        let [hops] = self.at(at + 7);
        self.put(Field::Ipv6Hops, hops);
    }

    fn tcp(&mut self, at: usize) {
        self.there(Header::Tcp);
        self.put(Field::TcpSrc, self.u16(at));
        self.put(Field::TcpDst, self.u16(at + 2));
        let [flags] = self.at(at + 13);
        self.put(Field::TcpFlags, flags);
    }

    fn sctp(&mut self, at: usize) {
        self.there(Header::Sctp);
        self.put(Field::SctpSrc, self.u16(at));
        self.put(Field::SctpDst, self.u16(at + 2));
        self.put(Field::SctpTag, self.u32(at + 4));
    }

    fn icmp(&mut self, at: usize, ipv4: bool) {
        let [kind, code] = self.at(at);
        let (header, fields) = match ipv4 {
            true => (Header::Icmp, [Field::IcmpType, Field::IcmpCode]),
            false => (Header::Icmp6, [Field::Icmp6Type, Field::Icmp6Code]),
        };
        self.there(header);
        self.put(fields[0], kind);
        self.put(fields[1], code);
        if ipv4 {
            self.put(Field::IcmpIdent, self.u16(at + 4));
            self.put(Field::IcmpSeq, self.u16(at + 6));
        }
    }

    fn udp(&mut self, p: &Parsed, at: usize) -> Option<Carried> {
        self.there(Header::Udp);
        self.put(Field::UdpSrc, self.u16(at));
        self.put(Field::UdpDst, self.u16(at + 2));
        let tunnel = at + 8;
        if self.bytes.len() < tunnel + 8 {
            return None;
        }
        match p.kind & kind::TUNNEL {
            kind::VXLAN => self.vxlan(tunnel),
            kind::GENEVE => self.geneve(tunnel),
            _ => None,
        }
    }

    fn vxlan(&mut self, at: usize) -> Option<Carried> {
        self.there(Header::Vxlan);
        let [flags] = self.at(at);
        self.put(Field::VxlanFlags, flags);
        self.put(Field::VxlanVni, self.u32(at + 4) >> 8);
        Some(Carried::Ethernet(at + 8))
    }

    fn geneve(&mut self, at: usize) -> Option<Carried> {
        self.there(Header::Geneve);
        let [options] = self.at::<1>(at);
        self.put(Field::GeneveOptions, options);
        self.put(Field::GeneveVni, self.u32(at + 4) >> 8);
        let proto = self.u16(at + 2);
        self.put(Field::GeneveProto, proto);
        carried(at + 8 + usize::from(options & 0x3f) * 4, proto)
    }

    /// RFC 2784 and 2890: optional words for checksum, key and sequence number, in this order.
    fn gre(&mut self, at: usize) -> Option<Carried> {
        if self.bytes.len() < at + 4 {
            return None;
        }
        self.there(Header::Gre);
        let (flags, proto) = (self.u16(at), self.u16(at + 2));
        self.put(Field::GreFlags, flags);
        self.put(Field::GreProto, proto);
        // Source routes (RFC 1701) and other versions: what follows has another form.
        if flags & 0x4007 != 0 {
            return None;
        }
        let word = |bit: u16| if flags & bit != 0 { 4 } else { 0 };
        let key = at + 4 + word(0x8000);
        if word(0x2000) != 0 && self.bytes.len() >= key + 4 {
            self.there(Header::GreKey);
            self.put(Field::GreKey, self.u32(key));
        }
        carried(key + word(0x2000) + word(0x1000), proto)
    }
}

fn carried(at: usize, proto: u16) -> Option<Carried> {
    match proto {
        0x6558 => Some(Carried::Ethernet(at)),
        0x0800 | 0x86dd => Some(Carried::Network { at, ethertype: proto }),
        _ => None,
    }
}
