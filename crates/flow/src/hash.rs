//! The hash of an entry's words.

/// Two odd numbers without a pattern: digits of pi.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x1319_8a2e_0370_7345;

/// The hash of words: 32 bits of which the upper ones are as good as the lower ones, never 0.
///
/// Two words are multiplied and the product folded, as foldhash and wyhash do. Whoever chooses keys can make them collide:
/// then look-ups get slower, not wrong.
#[inline(always)]
pub(crate) fn of(mut words: impl Iterator<Item = u64>) -> u32 {
    let mut two = || words.next().map(|first| [first, words.next().unwrap_or(0)]);
    let mut sum = product(SEED, two().unwrap_or([0; 2]));
    while let Some(words) = two() {
        sum = product(sum, words);
    }
    finish(sum)
}

/// [`of`] two words.
#[inline(always)]
pub(crate) fn of_two(words: [u64; 2]) -> u32 {
    finish(product(SEED, words))
}

/// An empty slot has 0 where others have a hash.
#[inline(always)]
fn finish(sum: u64) -> u32 {
    (sum >> 32) as u32 | 1
}

#[inline(always)]
fn product(sum: u64, [first, second]: [u64; 2]) -> u64 {
    let product = u128::from(sum ^ first) * u128::from(FACTOR ^ second);
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
                let hash = of([7, i << *shift].into_iter());
                assert_eq!(hash, of_two([7, i << *shift]));
                buckets[(hash >> 24) as usize] += 1;
            }
            // A hundred each; six standard deviations are sixty.
            assert!(buckets.iter().all(|n| (40..160).contains(n)), "shift {shift}: {buckets:?}");
        }
    }
}
