//! Checksums that cover bytes which change (RFC 1624).

use packet::{Parsed, checksum};

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const GRE: u8 = 47;
const ICMP6: u8 = 58;

/// Puts `new` bytes at `at`, behind the start of the IP header or in the link layer, and lets all checksums of the outer
/// headers follow.
pub(crate) fn replace(head: &mut [u8], parsed: &Parsed, at: usize, new: &[u8]) {
    let (l3, l4) = (usize::from(parsed.l3), usize::from(parsed.l4));
    let ip = l3 != 0 && at >= l3;
    // What a checksum covers begins at an even place.
    let words = at / 2 * 2..(at + new.len()).next_multiple_of(2).min(head.len());
    let Some(old) = head.get(words.clone()).and_then(copy::<18>) else { return };
    if let Some(place) = head.get_mut(at..at + new.len()) {
        place.copy_from_slice(new);
    }
    let Some(new) = head.get(words).and_then(copy::<18>) else { return };
    let pairs =
        || old.chunks(2).zip(new.chunks(2)).map(|(old, new)| [old, new].map(word)).filter(|[o, n]| o != n);
    if parsed.is_ipv4() && ip && (l4 == 0 || at < l4) {
        fix(head, l3 + 10, pairs(), false);
    }
    let in_transport = l4 != 0 && at >= l4;
    let addresses = if parsed.is_ipv4() { l3 + 12..l3 + 20 } else { l3 + 8..l3 + 40 };
    let in_pseudo_header = ip && addresses.contains(&at) && parsed.proto != ICMP && parsed.proto != GRE;
    if l4 != 0 && (in_transport || in_pseudo_header) {
        match parsed.proto {
            TCP => fix(head, l4 + 16, pairs(), false),
            UDP => fix(head, l4 + 6, pairs(), true),
            ICMP | ICMP6 => fix(head, l4 + 2, pairs(), false),
            // Only where it says that it has one.
            GRE if head.get(l4).is_some_and(|flags| flags & 0x80 != 0) => fix(head, l4 + 4, pairs(), false),
            _ => {}
        }
    }
}

fn word(bytes: &[u8]) -> u16 {
    match *bytes {
        [a, b] => u16::from_be_bytes([a, b]),
        [a] => u16::from_be_bytes([a, 0]),
        _ => 0,
    }
}

/// Bytes with zeros behind them; none if there are more.
fn copy<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let mut all = [0; N];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(all)
}

/// The checksum at `at` follows changes of words. Of UDP, 0 says that there is none.
fn fix(head: &mut [u8], at: usize, changes: impl Iterator<Item = [u16; 2]>, udp: bool) {
    let Some([a, b]) = head.get_mut(at..at + 2) else { return };
    let old = u16::from_be_bytes([*a, *b]);
    if udp && old == 0 {
        return;
    }
    let sum = changes.fold(old, |sum, [old, new]| checksum::update(sum, old, new));
    let sum = if udp && sum == 0 { 0xffff } else { sum };
    [*a, *b] = sum.to_be_bytes();
}
