//! What follows from a seed.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

/// SplitMix64's finaliser: seeds that differ in one bit end far apart.
pub(crate) fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A port's own random numbers.
pub(crate) fn rng(seed: u64, port: u32) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(mix(seed) ^ mix(!u64::from(port)))
}

/// What a seed adds to flow numbers.
pub(crate) fn salt(seed: u64) -> u32 {
    mix(mix(seed)) as u32
}
