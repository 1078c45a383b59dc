//! Link types: from what a capture holds to an Ethernet frame. Where there was no Ethernet header
//! one is made, with locally administered addresses.

use packet::ETHERNET;

/// The link types that can be read: number, name.
const NAMES: [(i32, &str); 10] = [
    (0, "null"),
    (1, "ethernet"),
    (12, "raw-ip"),
    (14, "raw-ip"),
    (101, "raw-ip"),
    (108, "loopback"),
    (113, "linux-sll"),
    (228, "raw-ipv4"),
    (229, "raw-ipv6"),
    (276, "linux-sll2"),
];

/// The name of a link type that can be read.
pub(crate) fn name(link: i32) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == link).map(|(_, name)| *name)
}

/// What stands before the network header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// An Ethernet header: the bytes are a frame.
    Ethernet,
    /// `strip` bytes to be replaced by a made Ethernet header with this type.
    Other { strip: usize, ethertype: u16 },
}

/// Looks at a packet of link type `link`; `None` when it is too short to tell or holds neither a
/// known protocol nor an Ethernet type.
pub(crate) fn header(link: i32, bytes: &[u8]) -> Option<Header> {
    match link {
        1 => (bytes.len() >= ETHERNET).then_some(Header::Ethernet),
        0 | 108 => family(bytes.first_chunk()?).map(|ethertype| Header::Other { strip: 4, ethertype }),
        12 | 14 | 101 | 228 | 229 => {
            let ethertype = match bytes.first()? >> 4 {
                4 => 0x0800,
                6 => 0x86dd,
                _ => return None,
            };
            Some(Header::Other { strip: 0, ethertype })
        }
        113 => cooked(bytes, 14, 16),
        276 => cooked(bytes, 0, 20),
        _ => None,
    }
}

/// Linux cooked headers: the protocol is at `at`, the packet at `strip`.
fn cooked(bytes: &[u8], at: usize, strip: usize) -> Option<Header> {
    let header = bytes.get(..strip)?;
    let ethertype = u16::from_be_bytes([header[at], header[at + 1]]);
    // Below 0x600 are Linux's own numbers (4: 802.2), which no Ethernet type carries.
    (ethertype >= 0x600).then_some(Header::Other { strip, ethertype })
}

/// BSD address families, in the byte order of whichever machine captured: small numbers, so the
/// order shows.
fn family(bytes: &[u8; 4]) -> Option<u16> {
    let family = u32::from_le_bytes(*bytes);
    match if family < 0x1_0000 { family } else { family.swap_bytes() } {
        2 => Some(0x0800),
        10 | 24 | 28 | 30 => Some(0x86dd),
        _ => None,
    }
}

/// A made Ethernet header.
pub(crate) fn made(ethertype: u16) -> [u8; ETHERNET] {
    let [a, b] = ethertype.to_be_bytes();
    [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, a, b]
}
