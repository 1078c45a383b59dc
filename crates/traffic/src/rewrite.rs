//! New flows out of old ones: addresses changed in place, checksums with them.

use packet::{Parsed, checksum, parse};

/// Address bits that change: the last 24, so that networks of /8 stay what they are.
pub(crate) const BITS: u32 = 0x00ff_ffff;

/// Turns the last 24 bits of both IP addresses of a frame by `value` (exclusive or). The same value
/// on both sides keeps the two directions of a connection together. Non-IP frames stay as they are.
pub(crate) fn shift(head: &mut [u8], value: u32) {
    let value = value & BITS;
    if value == 0 {
        return;
    }
    let p = parse(head);
    let l3 = usize::from(p.l3);
    let words = if p.is_ipv4() {
        [l3 + 12, l3 + 16]
    } else if p.is_ipv6() {
        [l3 + 20, l3 + 36]
    } else {
        return;
    };
    let sum = transport_checksum(&p);
    for at in words {
        let Some(old) = turn(head, at, value) else { return };
        let new = old ^ value;
        if p.is_ipv4() {
            mend(head, l3 + 10, |c| checksum::update32(c, old, new));
        }
        match sum {
            Some(at) if p.proto == 17 => mend(head, at, |c| checksum::update32_udp(c, old, new)),
            Some(at) => mend(head, at, |c| checksum::update32(c, old, new)),
            None => {}
        }
    }
}

/// Where a checksum with a pseudo-header is. A first fragment has one too.
fn transport_checksum(p: &Parsed) -> Option<usize> {
    let l4 = usize::from(p.l4);
    match p.proto {
        _ if l4 == 0 => None,
        6 => Some(l4 + 16),
        17 => Some(l4 + 6),
        58 if p.is_ipv6() => Some(l4 + 2),
        _ => None,
    }
}

/// Turns a 32-bit word; the old one.
fn turn(head: &mut [u8], at: usize, value: u32) -> Option<u32> {
    let word: &mut [u8; 4] = head.get_mut(at..)?.first_chunk_mut()?;
    let old = u32::from_be_bytes(*word);
    *word = (old ^ value).to_be_bytes();
    Some(old)
}

/// Replaces a checksum, if the head reaches it.
fn mend(head: &mut [u8], at: usize, new: impl Fn(u16) -> u16) {
    if let Some(field) = head.get_mut(at..).and_then(|b| b.first_chunk_mut::<2>()) {
        *field = new(u16::from_be_bytes(*field)).to_be_bytes();
    }
}
