//! Frame sizes of generated traffic.

use crate::cdf::Cdf;
use packet::kv::{HEADER, Objects as Values, Protocol, VALUE};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

/// Bytes before the payload of a generated frame: Ethernet, IPv4, UDP.
pub(crate) const HEADERS: u16 = 14 + 20 + 8;
/// Longest frame that an object is cut into, without FCS.
const LONGEST: u16 = 1514;

/// How long frames are.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// All frames have this many bytes, without FCS.
    Fixed(u16),
    /// All frames have the size of RFC 2544 by this name, which counts the FCS: one of [`RFC_2544`].
    Rfc2544(u16),
    /// The simple Internet mix: 64, 594 and 1518 B with FCS in the ratio 7:4:1.
    Imix,
    /// Objects of the sizes of a distribution, cut into frames of 1514 B (1472 B of payload) and a rest. At
    /// any time 64 objects per port are being sent, each in its own flow; each frame belongs to a random one
    /// of them.
    Empirical(Cdf),
    /// Requests to a key-value store ([`packet::kv`]): puts, the rest gets. Flows are keys, and partitions those
    /// of the keys' hashes.
    Kv {
        /// Percent of puts.
        put_percent: f64,
        /// Their keys and values: puts of 1210 B and gets of 186 B unless they differ.
        objects: Values,
        /// What says so. Requests of eRPC are as long as a put, gets too.
        protocol: Protocol,
    },
}

/// The length of a get of few words.
pub(crate) const fn get_len(objects: Values) -> u16 {
    HEADERS + HEADER as u16 + objects.key_len()
}

/// The frame sizes of RFC 2544 for Ethernet (section 9.1), with the 4 bytes of FCS.
pub const RFC_2544: [u16; 7] = [64, 128, 256, 512, 1024, 1280, 1518];
/// Bytes of the FCS.
const FCS: u16 = 4;

impl Sizes {
    /// The length of all frames, without FCS, where they have one length.
    pub fn fixed(&self) -> Option<u16> {
        match self {
            Sizes::Fixed(len) => Some(*len),
            Sizes::Rfc2544(named) => Some(named.saturating_sub(FCS)),
            _ => None,
        }
    }

    /// Requests for `objects`, where they are requests.
    pub(crate) fn of(&self, objects: Values) -> Sizes {
        match self {
            Sizes::Kv { put_percent, protocol, .. } => {
                Sizes::Kv { put_percent: *put_percent, objects, protocol: *protocol }
            }
            other => other.clone(),
        }
    }

    /// The length of the longest frame, where it is known in advance.
    pub fn longest(&self) -> Option<u16> {
        match self {
            Sizes::Kv { objects, .. } => Some(objects.longest_frame()),
            sizes => sizes.fixed(),
        }
    }

    /// Mean frame length where it is known in advance.
    pub(crate) fn mean_frame(&self) -> Option<f64> {
        match self {
            Sizes::Fixed(_) | Sizes::Rfc2544(_) => self.fixed().map(f64::from),
            Sizes::Imix => Some((7.0 * 60.0 + 4.0 * 590.0 + 1514.0) / 12.0),
            Sizes::Empirical(_) => None,
            Sizes::Kv { objects, protocol: Protocol::Erpc, .. } => Some(objects.longest_frame().into()),
            Sizes::Kv { put_percent, objects: Values::Fixed, .. } => {
                Some(f64::from(get_len(Values::Fixed)) + put_percent / 100.0 * f64::from(VALUE))
            }
            Sizes::Kv { .. } => None,
        }
    }
}

/// One of the simple Internet mix, without FCS.
#[inline]
pub(crate) fn imix(rng: &mut Pcg64Mcg) -> u16 {
    match below(rng, 12) {
        0..7 => 60,
        7..11 => 590,
        _ => 1514,
    }
}

/// Objects being sent.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    cdf: Cdf,
    /// (flow, bytes left); 64 so that flows interleave as they do behind a switch.
    slots: [(u64, u64); 64],
}

impl Objects {
    pub(crate) fn new(cdf: Cdf) -> Self {
        Self { cdf, slots: [(0, 0); 64] }
    }

    /// Flow and length of the next frame; a new object's flow is drawn by `flow`.
    pub(crate) fn next(&mut self, rng: &mut Pcg64Mcg, flow: impl FnOnce(&mut Pcg64Mcg) -> u64) -> (u64, u16) {
        let slot = below(rng, 64) as usize;
        if self.slots[slot].1 == 0 {
            self.slots[slot] = (flow(rng), self.cdf.at(unit(rng)));
        }
        let (flow, left) = &mut self.slots[slot];
        let payload = (*left).min(u64::from(LONGEST - HEADERS)) as u16;
        *left -= u64::from(payload);
        (*flow, (HEADERS + payload).max(crate::MIN_FRAME))
    }
}

/// Uniform in `0..n`, for `n` above 0 (the bias is below n/2^64).
#[inline]
pub(crate) fn below(rng: &mut Pcg64Mcg, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Uniform in `0..1`.
#[inline]
pub(crate) fn unit(rng: &mut Pcg64Mcg) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
