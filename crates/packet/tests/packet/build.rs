//! Valid packets of every shape, written by `etherparse`.

use etherparse::{
    IpAuthHeader, IpFragOffset, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, Ipv4Options, Ipv6Extensions,
    Ipv6FragmentHeader, Ipv6Header, Ipv6RawExtHeader, Ipv6RoutingExtensions, PacketBuilder, VlanId,
};
use proptest::prelude::*;

/// What a packet is made of.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) tags: u8,
    pub(crate) v6: bool,
    pub(crate) src: [u8; 16],
    pub(crate) dst: [u8; 16],
    /// IPv4 options in words; for IPv6 bits: hop-by-hop, destination options, routing.
    pub(crate) options: u8,
    pub(crate) auth: bool,
    /// Offset in units of 8 bytes, more fragments; IPv6 has the header only when this is there.
    pub(crate) fragment: Option<(u16, bool)>,
    pub(crate) proto: u8,
    pub(crate) sport: u16,
    pub(crate) dport: u16,
    pub(crate) payload: usize,
}

pub(crate) fn shapes() -> impl Strategy<Value = Shape> {
    let fragment = prop_oneof![
        3 => Just(None),
        1 => (0u16..0x1fff, any::<bool>()).prop_map(Some),
        1 => Just(Some((0, true))),
        1 => Just(Some((0, false))),
    ];
    let proto = prop_oneof![Just(6u8), Just(17), Just(132), Just(1), Just(58), Just(2), Just(89)];
    let addresses = (any::<[u8; 16]>(), any::<[u8; 16]>());
    let ports = (any::<u16>(), prop_oneof![any::<u16>(), Just(4789), Just(2152)]);
    let ip = (0u8..3, any::<bool>(), addresses, 0u8..=10, any::<bool>(), fragment);
    (ip, proto, ports, 0usize..100).prop_map(|(ip, proto, (sport, dport), payload)| {
        let (tags, v6, (src, dst), options, auth, fragment) = ip;
        Shape { tags, v6, src, dst, options, auth, fragment, proto, sport, dport, payload }
    })
}

impl Shape {
    /// A small packet between two addresses, for tests of known values.
    pub(crate) fn plain(v6: bool, src: [u8; 16], dst: [u8; 16], proto: u8, sport: u16, dport: u16) -> Self {
        Self {
            tags: 0,
            v6,
            src,
            dst,
            options: 0,
            auth: false,
            fragment: None,
            proto,
            sport,
            dport,
            payload: 8,
        }
    }

    /// Whether it is a part of a packet only.
    pub(crate) fn is_part(&self) -> bool {
        self.fragment.is_some_and(|(offset, more)| offset > 0 || more)
    }

    pub(crate) fn addresses(&self) -> Vec<u8> {
        let n = if self.v6 { 16 } else { 4 };
        [&self.src[..n], &self.dst[..n]].concat()
    }

    pub(crate) fn frame(&self) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let vlan = |id| VlanId::try_new(id).unwrap();
        let ip = if self.v6 { self.ipv6() } else { self.ipv4() };
        let builder = match self.tags {
            0 => builder.ip(ip),
            1 => builder.single_vlan(vlan(5)).ip(ip),
            _ => builder.double_vlan(vlan(7), vlan(9)).ip(ip),
        };
        let mut frame = Vec::new();
        builder.write_to_vec(&mut frame, IpNumber(self.proto), &self.transport()).unwrap();
        frame
    }

    fn ipv4(&self) -> IpHeaders {
        let address = |a: &[u8; 16]| [a[0], a[1], a[2], a[3]];
        let mut header =
            Ipv4Header::new(0, 64, IpNumber(self.proto), address(&self.src), address(&self.dst)).unwrap();
        header.options = Ipv4Options::try_from(&vec![1; usize::from(self.options) * 4][..]).unwrap();
        if let Some((offset, more)) = self.fragment {
            header.dont_fragment = false;
            header.fragment_offset = IpFragOffset::try_new(offset).unwrap();
            header.more_fragments = more;
        }
        IpHeaders::Ipv4(header, Ipv4Extensions { auth: self.auth() })
    }

    fn ipv6(&self) -> IpHeaders {
        let header =
            Ipv6Header { source: self.src, destination: self.dst, hop_limit: 64, ..Default::default() };
        let raw = |bit: u8, len: usize| {
            let header = || Ipv6RawExtHeader::new_raw(IpNumber(0), &vec![0; len]).unwrap();
            (self.options & bit != 0).then(header)
        };
        let extensions = Ipv6Extensions {
            hop_by_hop_options: raw(1, 6),
            destination_options: raw(2, 22),
            routing: raw(4, 14)
                .map(|routing| Ipv6RoutingExtensions { routing, final_destination_options: None }),
            fragment: self.fragment.map(|(offset, more)| {
                Ipv6FragmentHeader::new(IpNumber(0), IpFragOffset::try_new(offset).unwrap(), more, 7)
            }),
            auth: self.auth(),
        };
        IpHeaders::Ipv6(header, extensions)
    }

    /// AH, unless fragmentation would cut it off from its header.
    fn auth(&self) -> Option<IpAuthHeader> {
        let auth = || IpAuthHeader::new(IpNumber(0), 1, 2, &[3; 12]).unwrap();
        (self.auth && !self.is_part()).then(auth)
    }

    /// The transport header, right in what parsers look at, and a payload.
    fn transport(&self) -> Vec<u8> {
        let mut bytes = vec![0; 20 + self.payload];
        bytes[..2].copy_from_slice(&self.sport.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.dport.to_be_bytes());
        match self.proto {
            6 => bytes[12] = 0x50,
            17 => {
                let len = bytes.len() as u16;
                bytes[4..6].copy_from_slice(&len.to_be_bytes());
            }
            // Timestamps (13, 14) have a length of their own, to which etherparse holds them.
            1 => bytes[0] = 8,
            _ => {}
        }
        bytes
    }
}
