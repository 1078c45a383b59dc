//! Rx checksum offload: what the card says of a frame's IP and transport checksums.

use packet::{Parsed, checksum, kind};

use super::bits::{IP_BAD, IP_GOOD, L4_BAD, L4_GOOD};

/// The bits for `frame`; none of a layer that has no checksum or was not looked at (fragments,
/// tunnels' inner headers, SCTP).
pub(super) fn verify(parsed: &Parsed, frame: &[u8]) -> u32 {
    ip(parsed, frame) | transport(parsed, frame)
}

fn ip(parsed: &Parsed, frame: &[u8]) -> u32 {
    if !parsed.is_ipv4() {
        return 0;
    }
    let Some(rest) = frame.get(usize::from(parsed.l3)..) else { return 0 };
    let length = rest.first().map_or(0, |b| usize::from(b & 15) * 4);
    match rest.get(..length) {
        // Summed with its checksum, a header gives zero.
        Some(header) if checksum::finish(checksum::add(0, header)) == 0 => IP_GOOD,
        _ => IP_BAD,
    }
}

fn transport(parsed: &Parsed, frame: &[u8]) -> u32 {
    let at = match parsed.kind & kind::L4 {
        kind::TCP => 16,
        kind::UDP => 6,
        _ => return 0,
    };
    let l4 = usize::from(parsed.l4);
    let (Some(addresses), Some(end)) = (parsed.addresses(frame), end_of_ip(parsed, frame)) else {
        return 0;
    };
    let Some(segment) = frame.get(l4..end).filter(|s| s.len() >= at + 2) else { return L4_BAD };
    if at == 6 && segment[6..8] == [0, 0] {
        // UDP over IPv4 may go without (RFC 768), over IPv6 it must not.
        return if parsed.is_ipv4() { L4_GOOD } else { L4_BAD };
    }
    let sum = checksum::add(u64::from(parsed.proto) + segment.len() as u64, addresses);
    if checksum::finish(checksum::add(sum, segment)) == 0 { L4_GOOD } else { L4_BAD }
}

/// Where the IP packet ends in the frame: padding behind it is not summed.
fn end_of_ip(parsed: &Parsed, frame: &[u8]) -> Option<usize> {
    let l3 = usize::from(parsed.l3);
    let word = |at: usize| Some(usize::from(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?)));
    let end = if parsed.is_ipv6() { l3 + 40 + word(l3 + 4)? } else { l3 + word(l3 + 2)? };
    (end <= frame.len()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UDP over IPv4 with right checksums and 3 bytes of padding.
    fn frame() -> Vec<u8> {
        let mut f = vec![2; 12];
        f.extend([8, 0, 0x45, 0, 0, 33, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        f.extend([0, 7, 0, 9, 0, 13, 0, 0, 1, 2, 3, 4, 5, 0xee, 0xee, 0xee]);
        let sum = checksum::ipv4(&f[14..34]).unwrap().to_be_bytes();
        f[24..26].copy_from_slice(&sum);
        let sum = checksum::transport(&f[26..34], 17, &f[34..47]).to_be_bytes();
        f[40..42].copy_from_slice(&sum);
        f
    }

    fn verdict(f: &[u8]) -> u32 {
        verify(&packet::parse(f), f)
    }

    #[test]
    fn every_summed_byte_counts_and_padding_does_not() {
        let good = frame();
        assert_eq!(verdict(&good), IP_GOOD | L4_GOOD);
        for at in (14..47).filter(|at| ![14, 16, 17, 20, 21, 23].contains(at)) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert_ne!(verdict(&bad), IP_GOOD | L4_GOOD, "byte {at}");
        }
        let mut padded = good.clone();
        padded[48] = 0;
        assert_eq!(verdict(&padded), IP_GOOD | L4_GOOD);
    }

    #[test]
    fn no_udp_checksum_is_no_error_over_ipv4() {
        let mut f = frame();
        f[40..42].fill(0);
        assert_eq!(verdict(&f), IP_GOOD | L4_GOOD);
    }

    #[test]
    fn a_frame_cut_short_never_panics() {
        let good = frame();
        for n in 0..good.len() {
            verdict(&good[..n]);
        }
    }
}
