//! Logarithm and power to base 2, fast enough to draw one number per frame: a table of 256 steps and
//! a short series. The same bits on every machine; relative error below 1e-13.

use std::f64::consts::{LN_2, LOG2_E};
use std::sync::LazyLock;

pub(crate) struct Powers {
    /// 2^(j/256).
    steps: [f64; 256],
    /// Of the middle c of the j-th of 256 parts of 1..2: 1/c and its logarithm.
    parts: [(f64, f64); 256],
}

/// The tables, made on first use.
pub(crate) fn powers() -> &'static Powers {
    static POWERS: LazyLock<Powers> = LazyLock::new(|| Powers {
        steps: std::array::from_fn(|j| libm::exp2(j as f64 / 256.0)),
        parts: std::array::from_fn(|j| {
            let c = 1.0 + (j as f64 + 0.5) / 256.0;
            (1.0 / c, libm::log2(c))
        }),
    });
    &POWERS
}

impl Powers {
    /// Logarithm to base 2 of a positive normal number.
    #[inline]
    pub(crate) fn log2(&self, x: f64) -> f64 {
        let bits = x.to_bits();
        let exponent = ((bits >> 52) as i64 - 1023) as f64;
        let (inverse, log) = self.parts[(bits >> 44 & 255) as usize];
        let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
        let r = mantissa * inverse - 1.0; // at most 1/512
        let series = r - r * r * (1.0 / 2.0 - r * (1.0 / 3.0 - r * (1.0 / 4.0 - r * (1.0 / 5.0))));
        exponent + (log + series * LOG2_E)
    }

    /// 2^x, for x held to -1000..1000.
    #[inline]
    pub(crate) fn exp2(&self, x: f64) -> f64 {
        let x = x.clamp(-1000.0, 1000.0);
        let scaled = (x + 1024.0) * 256.0; // positive: the conversion rounds down
        let k = scaled as i64;
        let t = (scaled - k as f64) * (LN_2 / 256.0);
        let series = 1.0 + t * (1.0 + t * (1.0 / 2.0 + t * (1.0 / 6.0 + t * (1.0 / 24.0))));
        let power = f64::from_bits(((k >> 8) as u64 - 1) << 52); // 2^(k/256 - 1024)
        self.steps[(k & 255) as usize] * series * power
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_libm() {
        let p = powers();
        let mut x = 1e-300;
        while x < 1e300 {
            let (got, expected) = (p.log2(x), libm::log2(x));
            assert!((got - expected).abs() <= 1e-13 * expected.abs().max(1.0), "log2 {x}: {got}");
            x *= 1.000_37 + x.fract() * 0.01;
        }
        let mut x = -999.0;
        while x < 999.0 {
            let (got, expected) = (p.exp2(x), libm::exp2(x));
            assert!((got / expected - 1.0).abs() < 1e-12, "exp2 {x}: {got}");
            x += 0.001_37;
        }
        assert_eq!((p.log2(1.0).abs() < 1e-15, p.exp2(0.0), p.exp2(-1.0)), (true, 1.0, 0.5));
    }
}
