//! Longest-prefix match by masks.
//!
//! At equal priority the mask with more bits wins, so routes of one priority need nothing else. Beside rules of other
//! kinds, whose masks may have more bits, the length of the prefix has to be in the priority.

use core::net::IpAddr;

use crate::error::Error;
use crate::field::{Field, Layer};
use crate::matching::Match;

/// What a route to `address`, with a prefix of `bits` bits, asks of the destination of the outer headers.
///
/// # Errors
/// The prefix is longer than the address.
pub fn route(address: IpAddr, bits: u32) -> Result<Match, Error> {
    match address {
        IpAddr::V4(a) => Match::any().prefix(Layer::Outer, Field::Ipv4Dst, u32::from(a).into(), bits),
        IpAddr::V6(a) => Match::any().prefix(Layer::Outer, Field::Ipv6Dst, a.into(), bits),
    }
}

/// The priority of a prefix of `bits` bits, so that longer ones win: from `base`, for the longest address, to 128 more.
pub fn priority(base: u32, bits: u32) -> u32 {
    base.saturating_add(128_u32.saturating_sub(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_prefixes_come_first() {
        assert!((0..128).all(|bits| priority(7, bits + 1) < priority(7, bits)));
        assert_eq!(priority(u32::MAX, 3), u32::MAX);
        let route = |bits| route(IpAddr::from([10, 1, 2, 3]), bits);
        assert_eq!(route(8), Match::any().masked(Layer::Outer, Field::Ipv4Dst, 10 << 24, 0xff << 24));
        assert_eq!(route(33), Err(Error::Prefix { field: Field::Ipv4Dst, bits: 33 }));
        assert!(route(0).is_ok());
    }
}
