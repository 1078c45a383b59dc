//! How long keys and values of generated requests are. A value's length follows from its key's hash, so that clients,
//! a store, and a store that only declares its accesses agree without a word.

use super::{HEADER, KEY, VALUE, erpc};

/// Bytes of a key where values differ: assumed (A95), as room for a hash of 128 bits.
const HASHED: u16 = 16;
/// The largest IP packet where values differ (CC-NIC §5.7).
pub const MTU: u16 = 9600;
/// Headers of Ethernet, IPv4 and UDP.
const HEADERS: u16 = 14 + 20 + 8;
/// The longest value of which a put fits an IP packet of [`MTU`]; longer ones are cut to it, as in the paper.
const LONGEST: u16 = MTU - (20 + 8) - HEADER as u16 - HASHED;

/// Points of a distribution: bytes, and how many of a million values are shorter. Linear in between.
type Points = [(u32, u32); 20];

/// Lognormal through 61% below 100 B and 99.99% below 9600 B.
const ADS: Points = [
    (1, 0),
    (10, 72_709),
    (20, 175_267),
    (30, 265_003),
    (50, 403_988),
    (70, 504_200),
    (100, 610_000),
    (150, 720_685),
    (200, 788_630),
    (300, 865_904),
    (400, 907_254),
    (600, 948_406),
    (800, 967_582),
    (1200, 984_299),
    (1600, 991_076),
    (2400, 996_256),
    (3200, 998_081),
    (4800, 999_305),
    (6400, 999_679),
    (9600, 999_900),
];

/// Lognormal through 13% below 100 B and all but one of a million below 9600 B.
const GEO: Points = [
    (1, 0),
    (10, 21),
    (20, 688),
    (30, 3_710),
    (50, 21_728),
    (70, 56_385),
    (100, 130_000),
    (150, 272_899),
    (200, 407_696),
    (300, 613_651),
    (400, 745_193),
    (600, 881_350),
    (800, 939_711),
    (1200, 980_992),
    (1600, 992_763),
    (2400, 998_499),
    (3200, 999_578),
    (4800, 999_943),
    (6400, 999_988),
    (9600, 999_999),
];

const MILLION: u64 = 1_000_000;

/// Which values there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Objects {
    /// Keys of [`KEY`] and values of [`VALUE`] bytes.
    #[default]
    Fixed,
    /// *Ads* of CliqueMap, by the two points of it that CC-NIC gives (§5.7).
    Ads,
    /// *Geo* of CliqueMap, in the same way.
    Geo,
    /// Keys of [`erpc::KEY`] bytes and values of so many.
    Small(u16),
}

impl Objects {
    /// Those with a name, of which [`Protocol::Plain`](super::Protocol::Plain) carries each.
    pub const ALL: [Objects; 3] = [Objects::Fixed, Objects::Ads, Objects::Geo];

    /// The name in a workload.
    pub const fn name(self) -> &'static str {
        match self {
            Objects::Fixed => "fixed",
            Objects::Ads => "ads",
            Objects::Geo => "geo",
            Objects::Small(_) => "small",
        }
    }

    /// Bytes of a key.
    pub const fn key_len(self) -> u16 {
        match self {
            Objects::Fixed => KEY,
            Objects::Ads | Objects::Geo => HASHED,
            Objects::Small(_) => erpc::KEY,
        }
    }

    /// Whether values differ in length.
    pub const fn differ(self) -> bool {
        matches!(self, Objects::Ads | Objects::Geo)
    }

    /// Bytes of the longest value.
    pub const fn longest_value(self) -> u16 {
        match self {
            Objects::Fixed => VALUE,
            Objects::Ads | Objects::Geo => LONGEST,
            Objects::Small(value) => value,
        }
    }

    /// Bytes of the value of the key with this hash.
    pub fn value_len(self, hash: u64) -> u16 {
        // Mixed once more: buckets, tags and partitions are parts of the hash as it is.
        let mixed = hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
        let drawn = (mixed * MILLION) >> 32;
        self.value_at(drawn as u32)
    }

    /// Bytes of a value, of which `drawn` of a million are shorter.
    pub fn value_at(self, drawn: u32) -> u16 {
        let points = match self {
            Objects::Fixed | Objects::Small(_) => return self.longest_value(),
            Objects::Ads => &ADS,
            Objects::Geo => &GEO,
        };
        let next = points.partition_point(|(_, below)| *below <= drawn);
        let (Some((x, p)), Some((y, q))) = (points.get(next.wrapping_sub(1)), points.get(next)) else {
            return LONGEST;
        };
        let bytes = x + (y - x) * (drawn - p) / (q - p);
        LONGEST.min(bytes as u16)
    }

    /// Bytes of the longest frame, without FCS: a put.
    pub const fn longest_frame(self) -> u16 {
        HEADERS + HEADER as u16 + self.key_len() + self.longest_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(objects: Objects, is: impl Fn(u16) -> bool) -> f64 {
        let drawn = (0..MILLION as u32).filter(|n| is(objects.value_at(*n))).count();
        drawn as f64 / MILLION as f64
    }

    #[test]
    fn the_published_points_are_met() {
        assert_eq!(share(Objects::Ads, |len| len < 100), 0.61);
        assert_eq!(share(Objects::Geo, |len| len < 100), 0.13);
        let cut = share(Objects::Ads, |len| len >= LONGEST);
        assert!(
            (1.0e-4..1.05e-4).contains(&cut),
            "{cut}: the largest 0.01%, and what headers take of an MTU"
        );
        assert_eq!([Objects::Ads, Objects::Geo].map(|o| o.value_at(999_999)), [LONGEST; 2]);
        assert_eq!([Objects::Ads, Objects::Geo].map(|o| o.value_at(0)), [1; 2]);
        assert_eq!(usize::from(Objects::Ads.longest_frame()), 14 + usize::from(MTU));
    }

    #[test]
    fn lengths_follow_from_hashes_as_from_draws() {
        for objects in [Objects::Ads, Objects::Geo] {
            let keys = 200_000u64;
            let small =
                (0..keys).filter(|n| objects.value_len(crate::kv::hash(&n.to_be_bytes())) < 100).count();
            let (got, expected) = (small as f64 / keys as f64, share(objects, |len| len < 100));
            assert!((got - expected).abs() < 0.005, "{objects:?}: {got} against {expected}");
        }
    }
}
