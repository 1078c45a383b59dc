//! A seeded simulation, customer by customer.
//!
//! Queues are first come, first served, so a customer's times follow from when servers become free: it
//! begins when it has come and the first server that it may go to is free (Kiefer and Wolfowitz). What an
//! event list would find, this finds without one.

use hdrhistogram::Histogram;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{RngCore, SeedableRng};

use crate::{Layout, Service, System};

/// Batches of a run; one more before them is left out.
const BATCHES: u64 = 32;
/// Student's t, 95%, of [`BATCHES`] - 1 degrees of freedom.
const T: f64 = 2.040;
/// The number of customers is this, over the square of the idle share: the time in which a queue forgets its
/// past grows as fast.
const CUSTOMERS: f64 = 2e6;

/// Parts of a service time that are told apart.
const PARTS: f64 = (1u64 << 20) as f64;
/// Digits of a percentile that hold.
const DIGITS: u8 = 4;

/// A value with half the width of its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// In service times.
    pub value: f64,
    /// In service times.
    pub half_width: f64,
}

/// What a simulation found of the time in the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// Its mean.
    pub mean: Estimate,
    /// Its 99th percentile.
    pub p99: Estimate,
    /// Customers that counted.
    pub customers: u64,
}

/// Customers that [`simulate`] takes unless told otherwise.
pub fn customers(system: &System) -> u64 {
    (CUSTOMERS / (1.0 - system.load).powi(2)) as u64
}

/// Simulates some `customers` of `system`, with confidence intervals from the means of batches.
pub fn simulate(system: &System, customers: u64, seed: u64) -> Simulated {
    let size = (customers / BATCHES).max(1);
    let mut run = Run::new(system, seed);
    let (mut batch, mut all) = (Times::default(), Times::default());
    let (mut means, mut tails) = (Vec::new(), Vec::new());
    for number in 0..=BATCHES {
        batch.0.reset();
        let mut sum = 0.0;
        for _ in 0..size {
            let time = run.customer();
            sum += time;
            batch.add(time);
        }
        if number > 0 {
            means.push(sum / size as f64);
            tails.push(batch.quantile(0.99));
            all.0 += &batch.0;
        }
    }
    let (mean, tail) = (estimate(&means), estimate(&tails));
    let p99 = Estimate { value: all.quantile(0.99), ..tail };
    Simulated { mean, p99, customers: size * BATCHES }
}

/// Times in the system.
struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Times {
        #[expect(clippy::expect_used, reason = "the crate takes 1 to 5 digits")]
        Times(Histogram::new(DIGITS).expect("digits"))
    }
}

impl Times {
    #[inline]
    fn add(&mut self, time: f64) {
        // It grows: no time is too long for it.
        self.0 += (time * PARTS) as u64;
    }

    /// The time that a share `q` of all does not exceed.
    fn quantile(&self, q: f64) -> f64 {
        self.0.value_at_quantile(q) as f64 / PARTS
    }
}

fn estimate(batches: &[f64]) -> Estimate {
    let n = batches.len() as f64;
    let value = batches.iter().sum::<f64>() / n;
    let variance = batches.iter().map(|b| (b - value).powi(2)).sum::<f64>() / (n - 1.0);
    Estimate { value, half_width: T * (variance / n).sqrt() }
}

/// A system at work.
struct Run {
    system: System,
    rng: Pcg64Mcg,
    /// Mean time between arrivals.
    gap: f64,
    now: f64,
    /// When each server has served all that came so far.
    free: Vec<f64>,
}

impl Run {
    fn new(system: &System, seed: u64) -> Run {
        let gap = 1.0 / (system.load * f64::from(system.servers));
        let free = vec![0.0; system.servers as usize];
        Run { system: *system, rng: Pcg64Mcg::seed_from_u64(seed), gap, now: 0.0, free }
    }

    /// The next customer's time in the system.
    #[inline]
    fn customer(&mut self) -> f64 {
        self.now += self.gap * exponential(&mut self.rng);
        let server = match self.system.layout {
            Layout::Split => below(&mut self.rng, self.free.len()),
            Layout::Shared => earliest(&self.free),
        };
        let served = match self.system.service {
            Service::Exponential => exponential(&mut self.rng),
            Service::Deterministic => 1.0,
        };
        let done = self.free[server].max(self.now) + served;
        self.free[server] = done;
        done - self.now
    }
}

fn earliest(free: &[f64]) -> usize {
    let mut first = 0;
    for (i, at) in free.iter().enumerate() {
        if *at < free[first] {
            first = i;
        }
    }
    first
}

/// Uniform in `0..n`.
fn below(rng: &mut Pcg64Mcg, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// Exponentially distributed, mean 1.
#[inline]
fn exponential(rng: &mut Pcg64Mcg) -> f64 {
    // In (0, 1]: the logarithm is finite. `libm`: the same bits on every machine.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64);
    -libm::log(uniform)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::Theory;

    #[test]
    fn simulation_and_theory_agree() {
        for service in Service::ALL {
            for layout in Layout::ALL {
                for (servers, load) in [(1, 0.5), (4, 0.7), (8, 0.8)] {
                    let system = System { servers, layout, service, load };
                    let (found, exact) = (simulate(&system, 4_000_000, 7), Theory::new(&system));
                    let off = found.mean.value / exact.mean() - 1.0;
                    assert!(off.abs() < 0.01, "{system:?}: mean off by {off}");
                    let off = found.p99.value / exact.percentile(0.99) - 1.0;
                    assert!(off.abs() < 0.02, "{system:?}: p99 off by {off}");
                    assert!(found.mean.half_width < 0.02 * exact.mean(), "{system:?}: {:?}", found.mean);
                }
            }
        }
    }

    #[test]
    fn intervals_hold_the_exact_value_as_often_as_they_say() {
        let system = System { servers: 4, layout: Layout::Shared, service: Service::Exponential, load: 0.6 };
        let exact = Theory::new(&system).mean();
        let inside = |seed: &u64| {
            let mean = simulate(&system, 100_000, *seed).mean;
            (mean.value - exact).abs() <= mean.half_width
        };
        let n = (0..100).filter(inside).count();
        assert!((88..=100).contains(&n), "{n} of 100");
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let system = System { servers: 2, layout: Layout::Split, service: Service::Exponential, load: 0.9 };
        assert_eq!(simulate(&system, 10_000, 3), simulate(&system, 10_000, 3));
        assert_ne!(simulate(&system, 10_000, 3), simulate(&system, 10_000, 4));
    }
}
