//! The Internet checksum (RFC 1071), over whole headers and incrementally (RFC 1624).

/// One's complement sum of the big-endian 16-bit words of `bytes`, added to `sum`; an odd last byte
/// counts as a word's first half. Not folded: feed it on, then [`finish`] it.
pub fn add(sum: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    // 32-bit words sum to the same 16-bit one's complement sum, since 2^16 = 1 modulo 0xffff.
    let sum = words.iter().fold(sum, |s, w| s + u64::from(u32::from_be_bytes(*w)));
    match *rest {
        [a] => sum + u64::from(u16::from_be_bytes([a, 0])),
        [a, b] => sum + u64::from(u16::from_be_bytes([a, b])),
        [a, b, c] => sum + u64::from(u16::from_be_bytes([a, b])) + u64::from(u16::from_be_bytes([c, 0])),
        _ => sum,
    }
}

/// Folds a sum to 16 bits and complements it: the checksum field.
pub fn finish(sum: u64) -> u16 {
    !fold(sum)
}

/// The 16-bit sum of what a sum of words holds. It has no branch: one on the sum's carries would be guessed wrong too often.
#[inline(always)]
fn fold(sum: u64) -> u16 {
    halves(around((sum >> 32) as u32, sum as u32))
}

/// The sum of two words, whose carry comes around to the lowest bit.
#[inline(always)]
fn around(a: u32, b: u32) -> u32 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u32::from(carry)
}

/// The sum of a word's halves, whose carry comes around: the upper half of the word and itself turned by one half.
#[inline(always)]
fn halves(word: u32) -> u16 {
    (word.wrapping_add(word.rotate_left(16)) >> 16) as u16
}

/// The checksum of an IPv4 header whose checksum field counts as zero. `header` is the whole header,
/// options included; `None` when it is shorter than 20 bytes.
pub fn ipv4(header: &[u8]) -> Option<u16> {
    let (before, after) = (header.get(..10)?, header.get(12..)?);
    (after.len() >= 8).then(|| finish(add(add(0, before), after)))
}

/// The checksum of a TCP or UDP segment with its pseudo-header. `addresses` are source and
/// destination as they stand in the IP header (8 or 32 bytes); the checksum field inside `segment`
/// must be zero, or the result is zero when it was right (0xffff for UDP).
pub fn transport(addresses: &[u8], proto: u8, segment: &[u8]) -> u16 {
    let sum = add(u64::from(proto) + segment.len() as u64, addresses);
    let checksum = finish(add(sum, segment));
    // UDP says 0xffff for zero, because zero means "none" (RFC 768).
    if proto == 17 && checksum == 0 { 0xffff } else { checksum }
}

/// The checksum after a 16-bit word that it covers changed from `old` to `new` (RFC 1624, equation
/// 3).
#[inline]
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !halves(u32::from(!checksum) + u32::from(!old) + u32::from(new)) // 18 bits
}

/// [`update`] for a 32-bit word, such as an IPv4 address.
#[inline]
pub fn update32(checksum: u16, old: u32, new: u32) -> u16 {
    !halves(around(around(!old, new), u32::from(!checksum)))
}

/// [`update32`] for UDP over IPv4, where 0 means that there is no checksum and stays so.
#[inline(always)]
pub fn update32_udp(checksum: u16, old: u32, new: u32) -> u16 {
    match checksum {
        0 => 0,
        _ => match update32(checksum, old, new) {
            0 => 0xffff,
            c => c,
        },
    }
}
