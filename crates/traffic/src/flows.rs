//! Which flow a frame belongs to, and what a flow's frames look like.

use crate::FlowDraw;
use crate::powers::{Powers, powers};
use crate::sizes::{below, unit};
use crate::spec::MOST_ACTIVE;
use rand_pcg::Pcg64Mcg;
use std::f64::consts::{LN_2, LOG2_E};

/// Draws flow numbers `0..n`.
pub(crate) enum Draw {
    Uniform(u64),
    Zipf(Zipf),
    Slots(Slots),
}

/// Some of `of` flows, until other ones take their places.
pub(crate) struct Slots {
    of: u64,
    active: Vec<u64>,
    /// Their time, and when it is over, ps.
    slot: u64,
    ends: u64,
}

impl Slots {
    fn next(&mut self, rng: &mut Pcg64Mcg, at: u64) -> u64 {
        if at >= self.ends {
            self.active.iter_mut().for_each(|flow| *flow = below(rng, self.of));
            self.ends = (at / self.slot + 1).saturating_mul(self.slot);
        }
        self.active[below(rng, self.active.len() as u64) as usize]
    }
}

impl Draw {
    pub(crate) fn new(how: FlowDraw, n: u64) -> Self {
        match how {
            FlowDraw::Uniform => Draw::Uniform(n),
            FlowDraw::Zipf(s) => Draw::Zipf(Zipf::new(n, s)),
            FlowDraw::Slots { active, us } => {
                let active = vec![0; active.clamp(1, MOST_ACTIVE) as usize];
                Draw::Slots(Slots { of: n, active, slot: u64::from(us.max(1)) * 1_000_000, ends: 0 })
            }
        }
    }

    /// The flow of the next frame, behind one of time `at`, ps.
    #[inline(always)]
    pub(crate) fn next(&mut self, rng: &mut Pcg64Mcg, at: u64) -> u64 {
        match self {
            Draw::Uniform(n) => below(rng, *n),
            Draw::Zipf(zipf) => zipf.next(rng),
            Draw::Slots(slots) => slots.next(rng, at),
        }
    }
}

/// Zipf's law by rejection-inversion (Hörmann and Derflinger, ACM TOMACS 6(3), 1996): no table, any
/// number of flows. Flow k (from 0) has weight (k+1)^-s.
pub(crate) struct Zipf {
    n: f64,
    s: f64,
    /// 1 / (1 - s): a division would be half of the inverse's time.
    root: f64,
    /// The integral of the weight at 1.5 minus the first weight, and at n + 0.5.
    first: f64,
    last: f64,
    /// Candidates this close below their rank are accepted without a further look.
    sure: f64,
    powers: &'static Powers,
}

impl Zipf {
    pub(crate) fn new(n: u64, s: f64) -> Self {
        let mut z = Self {
            n: n as f64,
            s,
            root: 1.0 / (1.0 - s),
            first: 0.0,
            last: 0.0,
            sure: 0.0,
            powers: powers(),
        };
        z.first = z.integral(1.5) - 1.0;
        z.last = z.integral(z.n + 0.5);
        z.sure = 2.0 - z.inverse(z.integral(2.5) - z.weight(2.0));
        z
    }

    #[inline]
    pub(crate) fn next(&self, rng: &mut Pcg64Mcg) -> u64 {
        loop {
            let u = self.last + unit(rng) * (self.first - self.last);
            let x = self.inverse(u);
            let k = ((x + 0.5) as i64 as f64).clamp(1.0, self.n);
            if k - x <= self.sure || u >= self.integral(k + 0.5) - self.weight(k) {
                return k as u64 - 1;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        self.powers.exp2(-self.s * self.powers.log2(x))
    }

    /// Integral of the weight from 1 to `x`: (x^(1-s) - 1) / (1-s), which near s = 1 is ln x.
    fn integral(&self, x: f64) -> f64 {
        let (t, log) = (1.0 - self.s, self.powers.log2(x));
        if t.abs() < NEAR { log * LN_2 } else { (self.powers.exp2(t * log) - 1.0) * self.root }
    }

    /// The inverse of [`integral`](Self::integral).
    #[inline]
    fn inverse(&self, y: f64) -> f64 {
        let t = 1.0 - self.s;
        let log = if t.abs() < NEAR {
            y * LOG2_E
        } else {
            self.powers.log2((1.0 + t * y).max(f64::MIN_POSITIVE)) * self.root // rounding may step past the pole
        };
        self.powers.exp2(log)
    }
}

/// Closer to 1 an exponent is taken for 1: the weights of 2^32 flows change by less than 1e-6.
const NEAR: f64 = 1e-8;

/// Addresses and ports of a flow: distinct for all 2^32 flow numbers. Source 10.0.0.0/8,
/// destination 48.0.0.0/8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) sport: u16,
    pub(crate) dport: u16,
}

#[inline]
pub(crate) fn name(flow: u32) -> Name {
    // A permutation: 24 of its bits go to the source address, the other 8 to the source port.
    let x = scatter(flow);
    let y = scatter(x ^ 0x5bd1_e995);
    Name {
        src: 0x0a00_0000 | (x & 0x00ff_ffff),
        dst: 0x3000_0000 | (y & 0x00ff_ffff),
        sport: 1024 + (x >> 24) as u16,
        dport: 1024 + (y >> 24) as u16,
    }
}

/// A permutation of 32-bit numbers with good avalanche (shifts and odd multiplications invert).
#[inline]
fn scatter(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}
