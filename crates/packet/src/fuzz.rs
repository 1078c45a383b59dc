//! What a fuzzer feeds: the same functions run in `cargo test` over random and mutated bytes.

use crate::{ETHERNET, Rss, checksum, parse};

/// Parses any bytes, checks what [`parse`] promises and hashes them with `rss`.
///
/// # Panics
/// A promise is broken.
pub fn parser(bytes: &[u8], rss: &Rss) {
    let p = parse(bytes);
    assert!(usize::from(p.l3) <= bytes.len() && usize::from(p.l4) <= bytes.len(), "offset outside: {p:?}");
    assert!(p.l4 == 0 || p.l4 > p.l3, "transport before network: {p:?}");
    assert!(p.l3 != 0 || p.l4 == 0, "transport without network: {p:?}");
    assert_eq!(p.kind != 0, bytes.len() >= ETHERNET, "a type for each Ethernet frame, and no other: {p:?}");
    assert_eq!(p.addresses(bytes).is_some(), p.is_ipv4() || p.is_ipv6(), "addresses: {p:?}");
    assert_eq!(p.ports(bytes).is_some(), p.has_ports(), "ports: {p:?}");
    assert_eq!(p.tuple(bytes).is_some(), p.l3 != 0, "tuple: {p:?}");
    let hash = rss.hash(&p, bytes);
    assert!(p.l3 != 0 || hash == 0, "hash without IP: {p:?}");
    assert!(rss.table().contains(&rss.queue(hash)));
    // Parsed offsets used on other bytes must not panic either.
    let cut = &bytes[..bytes.len() / 2];
    let _ = (p.tuple(cut), rss.hash(&p, cut));
    let _ = checksum::ipv4(bytes);
    let _ = checksum::transport(bytes, 17, cut);
}
