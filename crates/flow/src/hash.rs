//! The hash of an entry's words.

/// Two odd numbers without a pattern: digits of pi.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x1319_8a2e_0370_7345;

/// Multiplies and folds a word at a time, as wyhash and its kin do. Whoever chooses keys can make them collide: then
/// look-ups get slower, not wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher(u64);

impl Default for Hasher {
    #[inline(always)]
    fn default() -> Hasher {
        Hasher(SEED)
    }
}

impl Hasher {
    #[inline(always)]
    pub(crate) fn word(self, word: u64) -> Hasher {
        Hasher(fold(self.0 ^ word, FACTOR))
    }

    /// 32 bits, the upper ones as good as the lower ones.
    #[inline(always)]
    pub(crate) fn finish(self) -> u32 {
        (fold(self.0 ^ FACTOR, SEED | 1) >> 32) as u32
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_count_up_fill_buckets_evenly() {
        for shift in if cfg!(miri) { &[0_u32][..] } else { &[0, 16, 32, 40] } {
            let mut buckets = [0u32; 256];
            for i in 0..25_600u64 {
                let hash = Hasher::default().word(7).word(i << *shift).finish();
                buckets[(hash >> 24) as usize] += 1;
            }
            // A hundred each; six standard deviations are sixty.
            assert!(buckets.iter().all(|n| (40..160).contains(n)), "shift {shift}: {buckets:?}");
        }
    }
}
