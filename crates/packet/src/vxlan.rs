//! VXLAN (RFC 7348): what stands before a frame that another one carries, over IPv4 without options or tags.

use crate::{ETHERNET, checksum};

/// Bytes before the carried frame: Ethernet, IPv4, UDP, VXLAN.
pub const BEFORE: usize = ETHERNET + 20 + UDP + HEADER;
/// Bytes of the VXLAN header itself.
pub const HEADER: usize = 8;
/// The UDP port.
pub const PORT: u16 = 4789;

const UDP: usize = 8;
/// The only flag that means something: a network identifier follows.
const IDENTIFIED: u8 = 8;

/// The ends of a tunnel, and which network it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Link addresses: to, from.
    pub macs: [[u8; 6]; 2],
    /// IPv4 addresses: from, to.
    pub ends: [[u8; 4]; 2],
    /// Identifier of the network, 24 bits.
    pub network: u32,
}

impl Tunnel {
    /// What stands before a frame of `len` bytes. The source port stands for the frame's flow. There is no UDP checksum, as
    /// the RFC allows; the longest frame that a tunnel takes has 65,485 bytes, and the lengths of a longer one are cut.
    pub fn before(&self, len: u16, source: u16) -> [u8; BEFORE] {
        let mut bytes = [0; BEFORE];
        bytes[..6].copy_from_slice(&self.macs[0]);
        bytes[6..12].copy_from_slice(&self.macs[1]);
        bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0]);
        let udp = len.saturating_add((UDP + HEADER) as u16);
        bytes[16..18].copy_from_slice(&udp.saturating_add(20).to_be_bytes());
        bytes[20..24].copy_from_slice(&[0x40, 0, 64, 17]);
        bytes[26..30].copy_from_slice(&self.ends[0]);
        bytes[30..34].copy_from_slice(&self.ends[1]);
        let sum = checksum::ipv4(&bytes[14..34]).unwrap_or(0);
        bytes[24..26].copy_from_slice(&sum.to_be_bytes());
        bytes[34..36].copy_from_slice(&source.to_be_bytes());
        bytes[36..38].copy_from_slice(&PORT.to_be_bytes());
        bytes[38..40].copy_from_slice(&udp.to_be_bytes());
        bytes[42] = IDENTIFIED;
        bytes[46..50].copy_from_slice(&(self.network << 8).to_be_bytes());
        bytes
    }
}

/// Whether a UDP payload that begins with `bytes` has a VXLAN header that names a network.
pub fn is_header(bytes: &[u8]) -> bool {
    bytes.len() >= HEADER && bytes[0] & IDENTIFIED != 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a sum that is missing fails its test")]

    use super::*;
    use crate::{kind, parse};

    #[test]
    fn what_stands_before_a_frame_is_read_as_vxlan() {
        let tunnel =
            Tunnel { macs: [[2; 6], [4; 6]], ends: [[10, 0, 0, 1], [10, 0, 0, 2]], network: 0xabcdef };
        let bytes = tunnel.before(60, 50_000);
        let parsed = parse(&bytes);
        assert_eq!((parsed.fault, parsed.l4, parsed.kind & kind::TUNNEL), (None, 34, kind::VXLAN));
        assert_eq!(checksum::ipv4(&bytes[14..34]).unwrap().to_be_bytes(), bytes[24..26]);
        assert_eq!(bytes[16..18], 96u16.to_be_bytes());
        assert_eq!(bytes[38..40], 76u16.to_be_bytes());
        assert_eq!((is_header(&bytes[42..]), &bytes[46..49]), (true, &[0xab, 0xcd, 0xef][..]));
        assert!(!is_header(&bytes[42..49]) && !is_header(&[0; 8]));
    }
}
