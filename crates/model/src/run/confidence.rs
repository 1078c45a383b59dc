//! How sure the means of a window are: confidence intervals by batch means (Law, Simulation Modeling and Analysis, 9.5.3).
//!
//! A window is many short batches, whose means depend on each other. Neighbours are put together until those of the longer
//! batches hardly do; what dependence is left widens the interval. It tells of other arrivals on the same placement of
//! buffers: what placements change is told by running several.

use serde::{Deserialize, Serialize};

/// Half the width of 95% confidence intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Of the load sent back, Gbps.
    pub throughput_gbps: f64,
    /// Of the hit rate of DMA-written lines, points.
    pub ddio_hit_pct: f64,
    /// Of the DRAM traffic both ways, Gbps.
    pub dram_gbps: f64,
}

/// The same rates of one batch; DRAM traffic is that of the simulated sets alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub throughput_gbps: f64,
    pub ddio_hit_pct: f64,
    pub dram_gbps: f64,
}

impl Confidence {
    /// In the means of equally long `batches`, where there are enough of them. A simulated set stands for `scale`.
    pub(crate) fn of(batches: &[Rates], scale: f64) -> Option<Confidence> {
        let half_width = |of: fn(&Rates) -> f64| half_width(&batches.iter().map(of).collect::<Vec<f64>>());
        Some(Confidence {
            throughput_gbps: half_width(|b| b.throughput_gbps)?,
            ddio_hit_pct: half_width(|b| b.ddio_hit_pct)?,
            dram_gbps: scale * half_width(|b| b.dram_gbps)?,
        })
    }
}

/// The fewest batches that tell anything of their spread.
const FEWEST: usize = 8;
/// Quantile of the normal distribution for 95%, both sides.
const NORMAL: f64 = 1.959_964;
/// Neighbouring batches hardly depend on each other where their correlation is below so many of its standard errors.
const ALIKE: f64 = 1.0;
/// The largest dependence that is allowed for: from there on a window has no two batches that tell different things.
const MOST: f64 = 0.9;

/// Half the width of the 95% interval of the mean that `batches` have, equally long and in order; `None` of too few.
fn half_width(batches: &[f64]) -> Option<f64> {
    if batches.len() < FEWEST {
        return None;
    }
    let mut batches = batches.to_vec();
    loop {
        let (count, correlation) = (batches.len() as f64, correlation(&batches));
        if correlation * count.sqrt() > ALIKE && batches.len() >= 2 * FEWEST {
            batches = batches.chunks_exact(2).map(mean).collect();
            continue;
        }
        let left = correlation.clamp(0.0, MOST);
        let spread = (squares(&batches) / (count - 1.0)).sqrt();
        return Some(student(count - 1.0) * spread * ((1.0 + left) / (1.0 - left) / count).sqrt());
    }
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len().max(1) as f64
}

/// Squares of the distances from the mean, summed.
fn squares(of: &[f64]) -> f64 {
    let mean = mean(of);
    of.iter().map(|x| (x - mean) * (x - mean)).sum()
}

/// The correlation of neighbours. The estimate from few batches is low by about one over their number.
fn correlation(of: &[f64]) -> f64 {
    let mean = mean(of);
    let products: f64 = of.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let squares = squares(of);
    if squares > 0.0 { products / squares + 1.0 / of.len() as f64 } else { 0.0 }
}

/// The quantile of Student's distribution that 95% lie within, by an expansion in the degrees of freedom (Abramowitz and
/// Stegun, 26.7.5): to three digits from 7 on.
fn student(freedom: f64) -> f64 {
    let z = NORMAL;
    let z2 = z * z;
    let terms = [
        (z2 + 1.0) / 4.0,
        ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0,
        (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0,
    ];
    z * terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (freedom, listed) in [(7.0, 2.365), (15.0, 2.131), (31.0, 2.040), (1e6, 1.960)] {
            assert!((student(freedom) - listed).abs() < 2e-3, "{freedom}: {}", student(freedom));
        }
    }

    /// A series whose neighbours correlate by `by`, around 0; its uniform steps are of this seed.
    fn series(seed: u64, by: f64, count: u64) -> Vec<f64> {
        let step = |k: u64| (mix(seed << 20 ^ k) >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        let scale = (1.0 - by * by).sqrt();
        let mut x = (0..64).fold(0.0, |x, k| by * x + scale * step(k));
        let next = |k| {
            x = by * x + scale * step(64 + k);
            x
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn intervals_cover_the_mean_of_independent_and_of_dependent_batches() {
        const SEEDS: u64 = 2000;
        for (by, least) in [(0.0, 0.94), (0.3, 0.91), (0.6, 0.88)] {
            let covers = |seed: &u64| {
                let batches = series(*seed, by, 32);
                mean(&batches).abs() <= half_width(&batches).unwrap()
            };
            let covered = (0..SEEDS).filter(covers).count() as f64 / SEEDS as f64;
            assert!((least..0.99).contains(&covered), "correlation {by}: {covered}");
        }
    }

    #[test]
    fn what_does_not_vary_is_sure_and_few_batches_tell_nothing() {
        assert_eq!(half_width(&[3.0; 32]), Some(0.0));
        assert_eq!(half_width(&[3.0; FEWEST - 1]), None);
    }
}
