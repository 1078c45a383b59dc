//! Times in bins of equal relative width.

/// Bits of the mantissa that tell bins apart: a bin is a thousandth wide.
const DIGITS: u32 = 10;
const SHIFT: u32 = 52 - DIGITS;
/// Times from 2^-10 to 2^14 are told apart; shorter and longer ones count in the end bins.
const LOWEST: u64 = (1023 - 10) << DIGITS;
const BINS: usize = 24 << DIGITS;

/// Counts of times.
#[derive(Clone)]
pub(crate) struct Histogram {
    bins: Vec<u32>,
    count: u64,
}

impl Histogram {
    pub(crate) fn new() -> Histogram {
        Histogram { bins: vec![0; BINS], count: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, time: f64) {
        // The bits of positive numbers are in the order of the numbers.
        let bin = (time.to_bits() >> SHIFT).saturating_sub(LOWEST).min(BINS as u64 - 1);
        self.bins[bin as usize] += 1;
        self.count += 1;
    }

    /// Adds what `other` has counted.
    pub(crate) fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *mine += theirs;
        }
        self.count += other.count;
    }

    pub(crate) fn clear(&mut self) {
        self.bins.fill(0);
        self.count = 0;
    }

    /// The time that a share `q` of all does not exceed, by interpolation inside its bin; NaN of nothing.
    pub(crate) fn quantile(&self, q: f64) -> f64 {
        let rank = q * self.count as f64;
        let mut below = 0.0;
        for (bin, &n) in self.bins.iter().enumerate() {
            let n = f64::from(n);
            if n > 0.0 && below + n >= rank {
                let edge = |bin: u64| f64::from_bits((bin + LOWEST) << SHIFT);
                let (lo, hi) = (edge(bin as u64), edge(bin as u64 + 1));
                return lo + (hi - lo) * ((rank - below) / n).max(0.0);
            }
            below += n;
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_a_thousandth() {
        let (mut all, mut half) = (Histogram::new(), Histogram::new());
        for i in 0..100_000 {
            let h = if i % 2 == 0 { &mut all } else { &mut half };
            h.add(f64::from(i + 1) / 1000.0);
        }
        all.merge(&half);
        for q in [0.01, 0.5, 0.99, 0.999] {
            assert!((all.quantile(q) / (100.0 * q) - 1.0).abs() < 1e-3, "{q}: {}", all.quantile(q));
        }
        all.clear();
        assert!(all.quantile(0.5).is_nan());
    }

    #[test]
    fn what_is_out_of_range_counts_at_the_ends() {
        let mut h = Histogram::new();
        h.add(0.0);
        h.add(1e-9);
        h.add(1e9);
        assert!(h.quantile(0.5) <= 1.0 / 1023.0 && h.quantile(1.0) > 16_000.0);
    }
}
