//! A constant before and after a fit, and which claims pulled it.

use model::profile::Spread;
use serde::Serialize;

use super::{FOUR_FIFTHS, Item};
use crate::paper::ensemble::{Fitted, Members, deviation, mean};
use crate::paper::short::Short;

/// The claims that are told of a constant.
const PULLS: usize = 3;

/// A constant before and after.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Constant {
    /// Its name.
    pub name: &'static str,
    /// Where the profile's value is from.
    pub origin: String,
    /// The unit.
    pub unit: &'static str,
    /// The spread that it began with.
    pub prior: [f64; 2],
    /// The value of the profile.
    pub value: f64,
    /// The fitted one.
    pub fitted: f64,
    /// What a tenth and nine tenths of the members are below.
    pub spread: [f64; 2],
    /// The claims that pulled it most, and how far, in standard deviations of its first spread.
    pub pulls: Vec<Pull>,
}

/// A claim's pull.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pull {
    /// The claim.
    pub claim: String,
    /// How far: up where it is positive.
    pub by: f64,
}

/// The constant at place `i` of what was fitted.
pub(super) fn constant(
    i: usize,
    spread: &Spread,
    prior: &Members,
    fitted: &Fitted,
    items: &[Item],
    plans: &[Short],
) -> Constant {
    let z = &fitted.constants[i];
    let value = |z: f64| spread.at(logistic(z));
    let (middle, sd) = (mean(z), deviation(z));
    let first = deviation(prior).max(1e-12);
    let mut pulls: Vec<Pull> = Vec::new();
    for (item, by) in items.iter().zip(&fitted.pulls) {
        let claim = &plans[item.plan].claims()[item.claim].id;
        match pulls.iter_mut().find(|p| p.claim == *claim) {
            Some(pull) => pull.by += by[i] / first,
            None => pulls.push(Pull { claim: claim.clone(), by: by[i] / first }),
        }
    }
    pulls.sort_by(|a, b| b.by.abs().total_cmp(&a.by.abs()));
    pulls.truncate(PULLS);
    Constant {
        name: spread.name,
        origin: spread.origin.clone(),
        unit: spread.unit,
        prior: [spread.low, spread.high],
        value: spread.value,
        fitted: value(middle),
        spread: [value(middle - FOUR_FIFTHS * sd), value(middle + FOUR_FIFTHS * sd)],
        pulls,
    }
}

/// A share as a number without ends.
pub(super) fn logit(share: f64) -> f64 {
    let inside = share.clamp(0.005, 0.995);
    (inside / (1.0 - inside)).ln()
}

/// The share of such a number.
pub(super) fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_comes_back() {
        for share in [0.01, 0.5, 0.93] {
            assert!((logistic(logit(share)) - share).abs() < 1e-12);
        }
        assert_eq!([f64::NEG_INFINITY, f64::INFINITY].map(logistic), [0.0, 1.0]);
    }
}
