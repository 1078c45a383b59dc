//! Captures made by hand, in every format that can be read.

use proptest::prelude::*;
use std::io::Write;

/// One packet of a capture to be made.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// ns since the epoch.
    pub(crate) at: u64,
    /// What was captured.
    pub(crate) bytes: Vec<u8>,
    /// Length before snapping.
    pub(crate) len: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    Pcap {
        big: bool,
        nanos: bool,
    },
    /// Time stamps in units of 10^-digits seconds.
    Ng {
        big: bool,
        digits: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

pub(crate) fn formats() -> impl Strategy<Value = Format> {
    prop_oneof![
        (any::<bool>(), any::<bool>()).prop_map(|(big, nanos)| Format::Pcap { big, nanos }),
        (any::<bool>(), prop_oneof![Just(6), Just(9)]).prop_map(|(big, digits)| Format::Ng { big, digits }),
    ]
}

pub(crate) fn packings() -> impl Strategy<Value = Packing> {
    prop_oneof![Just(Packing::Plain), Just(Packing::Gzip), Just(Packing::Zstd)]
}

/// Packets with rising times and any bytes, at least an Ethernet header of them.
pub(crate) fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0u64..5_000_000, prop::collection::vec(any::<u8>(), 14..300), 0u32..2000);
    prop::collection::vec(packet, 1..40).prop_map(|gaps| {
        let mut at = 1_700_000_000_000_000_000;
        let packet = |(gap, bytes, more): (u64, Vec<u8>, u32)| {
            at += gap * 1000; // whole microseconds: every format can say them
            Packet { at, len: bytes.len() as u32 + more / 2 * (more & 1), bytes }
        };
        gaps.into_iter().map(packet).collect()
    })
}

impl Format {
    fn u16(self, v: u16) -> [u8; 2] {
        if self.big() { v.to_be_bytes() } else { v.to_le_bytes() }
    }

    fn u32(self, v: u32) -> [u8; 4] {
        if self.big() { v.to_be_bytes() } else { v.to_le_bytes() }
    }

    fn big(self) -> bool {
        match self {
            Format::Pcap { big, .. } | Format::Ng { big, .. } => big,
        }
    }

    /// A whole capture of one link type.
    pub(crate) fn file(self, link: u16, packets: &[Packet]) -> Vec<u8> {
        match self {
            Format::Pcap { nanos, .. } => self.pcap(nanos, link, packets),
            Format::Ng { digits, .. } => self.ng(digits, link, packets),
        }
    }

    fn pcap(self, nanos: bool, link: u16, packets: &[Packet]) -> Vec<u8> {
        let mut file = self.u32(if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
        file.extend([self.u16(2), self.u16(4)].concat());
        file.extend([self.u32(0), self.u32(0), self.u32(65535), self.u32(u32::from(link))].concat());
        for p in packets {
            let fraction = (p.at % 1_000_000_000) as u32 / if nanos { 1 } else { 1000 };
            let words = [(p.at / 1_000_000_000) as u32, fraction, p.bytes.len() as u32, p.len];
            file.extend(words.map(|w| self.u32(w)).concat());
            file.extend(&p.bytes);
        }
        file
    }

    fn ng(self, digits: u8, link: u16, packets: &[Packet]) -> Vec<u8> {
        let order =
            [self.u32(0x1a2b_3c4d).to_vec(), self.u16(1).to_vec(), self.u16(0).to_vec(), vec![0xff; 8]];
        let mut file = self.block(0x0a0d_0d0a, &order.concat());
        let resolution = [self.u16(9), self.u16(1)].concat();
        let interface = [self.u16(link), self.u16(0)].concat();
        let body = [interface, self.u32(0).to_vec(), resolution, vec![digits, 0, 0, 0], vec![0; 4]].concat();
        file.extend(self.block(1, &body));
        // A block of a kind nobody knows, to be stepped over.
        file.extend(self.block(0x0bad, &[1, 2, 3, 4]));
        for p in packets {
            let units = p.at / 10u64.pow(9 - u32::from(digits));
            let words = [0, (units >> 32) as u32, units as u32, p.bytes.len() as u32, p.len];
            let mut body = words.map(|w| self.u32(w)).concat();
            body.extend(&p.bytes);
            body.resize(body.len().next_multiple_of(4), 0);
            file.extend(self.block(6, &body));
        }
        file
    }

    pub(crate) fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let len = self.u32(body.len() as u32 + 12);
        [&self.u32(kind)[..], &len, body, &len].concat()
    }
}

impl Packing {
    pub(crate) fn pack(self, file: &[u8]) -> Vec<u8> {
        match self {
            Packing::Plain => file.to_vec(),
            Packing::Gzip => {
                let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                gz.write_all(file).unwrap();
                gz.finish().unwrap()
            }
            Packing::Zstd => {
                ruzstd::encoding::compress_to_vec(file, ruzstd::encoding::CompressionLevel::Fastest)
            }
        }
    }
}

/// An Ethernet frame of UDP over IPv4 with right checksums; flows differ by `flow`.
pub(crate) fn udp(flow: u8, len: u16) -> Vec<u8> {
    let mut f = vec![0; usize::from(len)];
    f[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    f[14] = 0x45;
    f[16..18].copy_from_slice(&(len - 14).to_be_bytes());
    f[22..24].copy_from_slice(&[64, 17]);
    f[26..34].copy_from_slice(&[10, 0, 0, flow, 10, 1, 0, 1]);
    f[34..38].copy_from_slice(&[4, 0, 0, 53]);
    f[38..40].copy_from_slice(&(len - 34).to_be_bytes());
    let sum = packet::checksum::ipv4(&f[14..34]).unwrap();
    f[24..26].copy_from_slice(&sum.to_be_bytes());
    let (header, segment) = f.split_at_mut(34);
    let sum = packet::checksum::transport(&header[26..34], 17, segment);
    segment[6..8].copy_from_slice(&sum.to_be_bytes());
    f
}

/// A little-endian microsecond capture of Ethernet frames at given times (us).
pub(crate) fn capture(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let packet = |(us, bytes): &(u64, Vec<u8>)| {
        let at = 1_000_000_000_000_000_000 + us * 1000;
        Packet { at, len: bytes.len() as u32, bytes: bytes.clone() }
    };
    let packets: Vec<_> = frames.iter().map(packet).collect();
    Format::Pcap { big: false, nanos: false }.file(1, &packets)
}
