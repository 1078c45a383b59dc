//! The security policy database (RFC 4301 §4.4.1): what happens to the packets of a flow.

use std::net::IpAddr;

use crate::table::Key;
use crate::{End, Headers};

/// What a policy does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Forwarded as it is.
    Bypass,
    /// Dropped.
    Discard,
    /// Sealed, and sent through the tunnel.
    Protect,
}

/// Which packets a policy is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Those to a network.
    To {
        /// Its prefix.
        prefix: IpAddr,
        /// Bits of it that count.
        length: u8,
    },
    /// Those of an IP protocol.
    Protocol(u8),
    /// Every `of`-th flow, from number `part` on: for traffic of which nothing is known in advance.
    Share {
        /// Which part, from 0.
        part: u64,
        /// Of how many.
        of: u64,
    },
    /// All of them.
    Any,
}

impl Selector {
    fn takes(&self, headers: &Headers, key: &Key) -> bool {
        match *self {
            Selector::To { prefix: IpAddr::V4(prefix), length } => {
                let bits = 32u32.saturating_sub(u32::from(length));
                headers.ipv4(End::Destination).is_some_and(|to| {
                    let differing = u32::from_be_bytes(to) ^ prefix.to_bits();
                    differing.checked_shr(bits).unwrap_or(0) == 0
                })
            }
            Selector::To { prefix: IpAddr::V6(prefix), length } => {
                let bits = 128u32.saturating_sub(u32::from(length));
                headers.ipv6(End::Destination).is_some_and(|to| {
                    let differing = u128::from_be_bytes(to) ^ prefix.to_bits();
                    differing.checked_shr(bits).unwrap_or(0) == 0
                })
            }
            Selector::Protocol(protocol) => headers.parsed().proto == protocol,
            // The upper bits: the lower ones choose places in tables.
            Selector::Share { part, of } => (key.hash() >> 32) % of.max(1) == part,
            Selector::Any => true,
        }
    }
}

/// Policies in order: the first that takes a packet counts; what none takes is discarded (RFC 4301 §5.1).
#[derive(Clone, Debug)]
pub struct Spd(Vec<(Selector, Policy)>);

impl Spd {
    /// The database of `policies`.
    pub fn new(policies: Vec<(Selector, Policy)>) -> Spd {
        Spd(policies)
    }

    /// A third of all flows is forwarded, a third dropped, a third sealed, as the gateway of COREC's
    /// evaluation does (§4).
    pub fn thirds() -> Spd {
        let third = |part| Selector::Share { part, of: 3 };
        Spd(vec![(third(0), Policy::Bypass), (third(1), Policy::Discard), (third(2), Policy::Protect)])
    }

    /// What happens to a packet.
    #[inline]
    pub fn policy(&self, headers: &Headers, key: &Key) -> Policy {
        let first = self.0.iter().find(|(selector, _)| selector.takes(headers, key));
        first.map_or(Policy::Discard, |(_, policy)| *policy)
    }
}
