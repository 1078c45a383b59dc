//! When frames that follow a law are due.

use crate::powers::{Powers, powers};
use crate::sizes::unit;
use crate::{Arrivals, OVERHEAD};
use rand_pcg::Pcg64Mcg;
use std::f64::consts::LN_2;

/// When frames are due, in ps.
pub(crate) struct Clock {
    arrivals: Arrivals,
    ps_per_byte: f64,
    /// Mean wire bytes of a frame where it is known in advance.
    mean: Option<f64>,
    now: f64,
    /// Start of the current burst, and frames left of it.
    burst: (f64, u32),
    powers: &'static Powers,
}

impl Clock {
    /// The first frame comes at a random phase, so that ports do not march in step. `mean_frame` is the mean
    /// length without FCS, where it is known in advance.
    pub(crate) fn new(
        arrivals: Arrivals,
        mean_frame: Option<f64>,
        ps_per_byte: f64,
        rng: &mut Pcg64Mcg,
    ) -> Self {
        let mean = mean_frame.map(|len| len + f64::from(OVERHEAD));
        let frames = match arrivals {
            Arrivals::Bursty { burst } => f64::from(burst),
            _ => 1.0,
        };
        let now = unit(rng) * mean.unwrap_or(1538.0) * ps_per_byte * frames;
        Self { arrivals, ps_per_byte, mean, now, burst: (now, 0), powers: powers() }
    }

    #[inline]
    pub(crate) fn next(&mut self, wire: u32, rng: &mut Pcg64Mcg) -> f64 {
        let time = f64::from(wire) * self.ps_per_byte;
        match self.arrivals {
            // Constant bit rate: each frame takes its own time at the asked rate.
            Arrivals::Constant => {
                let due = self.now;
                self.now += time;
                due
            }
            // Gaps do not depend on sizes. Where no mean is known, the frame's own time stands for it: its
            // mean is the same.
            Arrivals::Poisson => {
                let mean = self.mean.map_or(time, |bytes| bytes * self.ps_per_byte);
                self.now -= self.powers.log2(1.0 - unit(rng)) * LN_2 * mean;
                self.now
            }
            // A burst's frames are due at once: the wire spaces them.
            Arrivals::Bursty { burst } => {
                if self.burst.1 == 0 {
                    self.burst = (self.now, burst);
                }
                self.burst.1 -= 1;
                self.now += time;
                self.burst.0
            }
        }
    }
}
