//! Division by a number that stays the same: every simulated access asks for its sets, and few caches have a power
//! of two of them.

/// A number that others are divided by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    by: u32,
    /// `2^64 / by`, rounded down below that.
    inverse: u64,
}

impl Divisor {
    /// Divides by `by`; by 1 in place of 0.
    pub(crate) fn new(by: u32) -> Divisor {
        let by = by.max(1);
        Divisor { by, inverse: u64::MAX / u64::from(by) }
    }

    /// Quotient and remainder of `n`.
    #[inline(always)]
    pub(crate) fn of(self, n: u32) -> (u32, u32) {
        // With N = n + 1:
        // 1. The inverse is below 2^64 / by, by at most 1: so N * inverse / 2^64 is below N / by, by at most 2^-32.
        // 2. Where N / by is whole, the product rounds down to the number before it, as n / by does.
        // 3. Elsewhere the next whole number below N / by is at least 1 / by away, which is more than 2^-32: the product
        //    rounds down to it, as n / by does.
        let above = u128::from(u64::from(n) + 1) * u128::from(self.inverse);
        let quotient = (above >> 64) as u32;
        (quotient, n - quotient * self.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

    #[test]
    fn divides_as_the_processor_does() {
        let edges = |n: u32| [n.wrapping_sub(1), n, n.wrapping_add(1)];
        let few = (0..32).flat_map(|bit| edges(1 << bit)).chain([10, 11, 1280, 1792, 12_288, 40_960]);
        let by: Vec<u32> =
            few.chain((0..200).map(|i| mix(i) as u32 >> (i % 31))).filter(|by| *by > 0).collect();
        for &by in &by {
            let near = (0..64).flat_map(|i| edges(by.wrapping_mul(mix(i) as u32)));
            for n in near.chain((0..64).map(|i| mix(i) as u32)).chain([0, u32::MAX]) {
                assert_eq!(Divisor::new(by).of(n), (n / by, n % by), "{n} by {by}");
            }
        }
    }
}
