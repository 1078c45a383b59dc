//! Constants fitted to the claims of plans, and claims predicted that were left out.

mod claims;
mod constants;

use model::profile::Spread;
use serde::Serialize;

use crate::fail::Fail;
use crate::lab::draws;
use crate::paper::ensemble::{self, Fitted, Known, Members, deviation, mean};
use crate::paper::judge;
use crate::paper::short::{self, Server, Short};
use crate::verdict::robust::quantile;
use claims::{distance, error, of_value, outcome};
use constants::{constant, logistic, logit};

pub(crate) use claims::Outcome;
pub(crate) use constants::Constant;

/// A normal distribution has four fifths of all within so many standard deviations.
const FOUR_FIFTHS: f64 = 1.2816;

/// What is left out at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fold {
    /// A plan: a figure or a table.
    Figure,
    /// All plans of a paper.
    Paper,
}

impl Fold {
    fn of(self, id: &str) -> &str {
        match self {
            Fold::Figure => id,
            Fold::Paper => id.split('/').next().unwrap_or_default(),
        }
    }
}

/// What a fit found.
pub(crate) struct Fit {
    /// Every claim.
    pub claims: Vec<Outcome>,
    /// Every constant, fitted on all claims.
    pub constants: Vec<Constant>,
    /// What was left out at a time.
    pub left_out: Option<Fold>,
}

/// What holds, before and after.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// Claims that were judged.
    pub claims: usize,
    /// Those that hold with the profile's own constants.
    pub held: usize,
    /// Those that hold after.
    pub hold: usize,
    /// The median of the claims' distances before, percent.
    pub median_before_pct: f64,
    /// The same after.
    pub median_pct: f64,
    /// Values within the predicted intervals of four fifths.
    pub covered: u32,
    /// Of so many.
    pub values: u32,
}

impl Fit {
    /// Counts.
    pub(crate) fn summary(&self) -> Summary {
        let median = |of: fn(&Outcome) -> Option<f64>| {
            let mut all: Vec<f64> = self.claims.iter().filter_map(of).collect();
            all.sort_by(f64::total_cmp);
            100.0 * quantile(&all, 0.5)
        };
        Summary {
            claims: self.claims.len(),
            held: self.claims.iter().filter(|c| c.held).count(),
            hold: self.claims.iter().filter(|c| c.holds).count(),
            median_before_pct: median(|c| c.off_before),
            median_pct: median(|c| c.off),
            covered: self.claims.iter().map(|c| c.covered[0]).sum(),
            values: self.claims.iter().map(|c| c.covered[1]).sum(),
        }
    }
}

/// A value of a claim.
struct Item {
    plan: usize,
    claim: usize,
    known: Known,
}

/// Fits the constants of all plans on their claims by `members` runs of each.
///
/// # Errors
/// No claims, a run that the model refuses.
pub(crate) fn fit(plans: &[Short], members: u32, seed: u64, left_out: Option<Fold>) -> Result<Fit, Fail> {
    let spreads = spreads(plans)?;
    let all: Vec<&Short> = plans.iter().collect();
    let drawn = draws::hypercube(&spreads, members, seed);
    let valued = |values: &[f64]| -> Server { spreads.iter().cloned().zip(values.iter().copied()).collect() };
    let mut servers = vec![Server::new()];
    servers.extend(drawn.iter().map(|d| valued(&d.iter().map(|v| v.1).collect::<Vec<_>>())));
    let found = short::run(&all, &servers)?;
    let Some((before, found)) = found.split_first() else { return Err(Fail::new("nothing was run")) };
    // Shares become numbers without ends, which a fit may move as it will.
    let constants: Vec<Members> = spreads
        .iter()
        .enumerate()
        .map(|(i, s)| drawn.iter().map(|d| logit(s.share(d[i].1))).collect())
        .collect();
    let items = items(plans, found)?;
    let back = |fitted: &Fitted| -> Server {
        let values = spreads.iter().zip(&fitted.constants).map(|(s, z)| s.at(logistic(mean(z))));
        valued(&values.collect::<Vec<_>>())
    };
    let known: Vec<Known> = items.iter().map(|i| i.known.clone()).collect();
    let whole = ensemble::fit(&constants, &known, &vec![true; known.len()]);
    let mut claims = Vec::new();
    for mine in folds(plans, left_out) {
        let used: Vec<bool> = items.iter().map(|i| left_out.is_none() || !mine.contains(&i.plan)).collect();
        let fitted = ensemble::fit(&constants, &known, &used);
        let some: Vec<&Short> = mine.iter().map(|i| &plans[*i]).collect();
        let after = short::run(&some, &[back(&fitted)])?;
        let noise = residual(&items, &fitted, &used);
        for (nth, plan) in mine.iter().enumerate() {
            for (c, claim) in plans[*plan].claims().iter().enumerate() {
                let of_claim =
                    items.iter().zip(&fitted.values).filter(|(i, _)| i.plan == *plan && i.claim == c);
                let inside = |(item, members): &(&Item, &Members)| {
                    let sd = deviation(members).hypot(noise * item.known.error);
                    mean(members).abs() <= FOUR_FIFTHS * sd
                };
                let of_claim: Vec<_> = of_claim.collect();
                let covered =
                    [of_claim.iter().filter(|i| inside(i)).count(), of_claim.len()].map(|n| n as u32);
                let values = (before[*plan][c].clone(), after[0][nth][c].clone());
                claims.extend(outcome(plans[*plan].id(), claim, values, covered)?);
            }
        }
    }
    let told = |i: usize| constant(i, &spreads[i], &constants[i], &whole, &items, plans);
    Ok(Fit { claims, constants: (0..spreads.len()).map(told).collect(), left_out })
}

/// The constants of all plans, each once.
fn spreads(plans: &[Short]) -> Result<Vec<Spread>, Fail> {
    let mut all: Vec<Spread> = Vec::new();
    for plan in plans {
        for spread in plan.spreads()? {
            if !all.iter().any(|s| short::is_same(s, &spread)) {
                all.push(spread);
            }
        }
    }
    Ok(all)
}

/// The places of plans that are left out together; each by itself where nothing is.
fn folds(plans: &[Short], left_out: Option<Fold>) -> Vec<Vec<usize>> {
    let key = |i: usize| left_out.map(|fold| fold.of(plans[i].id()));
    let mut all: Vec<Vec<usize>> = Vec::new();
    for i in 0..plans.len() {
        match all.iter_mut().find(|places| left_out.is_some() && places.iter().all(|p| key(*p) == key(i))) {
            Some(places) => places.push(i),
            None => all.push(vec![i]),
        }
    }
    all
}

/// The values that can be fitted: numbers that every member has.
fn items(plans: &[Short], found: &[Vec<Vec<Vec<f64>>>]) -> Result<Vec<Item>, Fail> {
    let mut all = Vec::new();
    for (plan, of) in plans.iter().enumerate() {
        for (claim, c) in of.claims().iter().enumerate() {
            let cells = judge::cells(&c.published).map_err(Fail::new)?;
            let Some(error) = error(c) else { continue };
            let count = found.iter().map(|member| member[plan][claim].len()).min().unwrap_or(0);
            for at in 0..count {
                let Some(cell) = of_value(&cells, at) else { continue };
                let members: Members =
                    found.iter().map(|member| distance(c.rule, cell, member[plan][claim][at])).collect();
                if members.iter().all(|m| m.is_finite()) {
                    all.push(Item { plan, claim, known: Known { members, error } });
                }
            }
        }
    }
    if all.is_empty() {
        return Err(Fail::new(
            "no claim with a number; allowed: plans with claims of rule ratio, points, factor, octave",
        ));
    }
    Ok(all)
}

/// How far used values still are from the published ones, in their errors: what the model itself gets wrong.
fn residual(items: &[Item], fitted: &Fitted, used: &[bool]) -> f64 {
    let all: Vec<f64> = items
        .iter()
        .zip(&fitted.values)
        .zip(used)
        .filter(|(_, used)| **used)
        .map(|((item, members), _)| (mean(members) / item.known.error).powi(2))
        .collect();
    mean(&all).sqrt()
}
