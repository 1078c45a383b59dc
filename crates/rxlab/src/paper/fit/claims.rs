//! A claim before and after a fit, and how far its values are from the published ones.

use serde::Serialize;

use super::FOUR_FIFTHS;
use crate::fail::Fail;
use crate::paper::judge::{self, Cell, Rule};
use crate::paper::plan::Claim;

/// A claim before and after.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    /// Its id.
    pub id: String,
    /// The plan that it is in.
    pub plan: String,
    /// What is published.
    pub published: String,
    /// The unit.
    pub unit: String,
    /// What the profile's own constants give.
    pub before: Vec<f64>,
    /// What the fitted ones give; those of a fit without this claim where it was left out.
    pub after: Vec<f64>,
    /// Whether the claim holds before.
    pub held: bool,
    /// Whether it holds after.
    pub holds: bool,
    /// The largest distance of its values from the published ones after, in parts of these; none where it is an answer or
    /// a bound.
    pub off: Option<f64>,
    /// The same before.
    pub off_before: Option<f64>,
    /// Of its values, how many are within the predicted interval of four fifths, and of how many; none where it is an answer.
    pub covered: [u32; 2],
}

/// The published value of the one at a place: a single one stands for all.
pub(super) fn of_value(cells: &[Cell], at: usize) -> Option<&Cell> {
    if cells.len() == 1 { cells.first() } else { cells.get(at) }
}

/// How far a value is from the published one, on a scale on which errors of either sign are alike.
pub(super) fn distance(rule: Rule, cell: &Cell, value: f64) -> f64 {
    let nearest = cell.nearest(value);
    match rule {
        Rule::Points => value - nearest,
        _ => (value / nearest).ln(),
    }
}

/// The error of a claim on that scale: what is allowed is taken as four fifths of all cases. None for answers and bounds.
pub(super) fn error(c: &Claim) -> Option<f64> {
    let allowed = match c.rule {
        Rule::Ratio => c.tolerance.ln_1p(),
        Rule::Factor => c.tolerance.ln(),
        Rule::Octave => c.tolerance * std::f64::consts::LN_2,
        Rule::Points => c.tolerance,
        Rule::Range | Rule::AtMost | Rule::Exact | Rule::Input => return None,
    };
    (allowed > 0.0).then_some(allowed / FOUR_FIFTHS)
}

/// A claim by what its values are before and after; none of an input.
///
/// # Errors
/// Never in practice: a plan's published values were read before.
pub(super) fn outcome(
    plan: &str,
    claim: &Claim,
    (before, after): (Vec<f64>, Vec<f64>),
    covered: [u32; 2],
) -> Result<Option<Outcome>, Fail> {
    if claim.rule == Rule::Input {
        return Ok(None);
    }
    let cells = judge::cells(&claim.published).map_err(Fail::new)?;
    let holds =
        |values: &[f64]| judge::judge(claim.rule, &cells, claim.tolerance, values).holds.unwrap_or(false);
    let off = |values: &[f64]| {
        error(claim)?;
        let one = |(i, v): (usize, &f64)| {
            of_value(&cells, i).map_or(f64::NAN, |cell| (v / cell.nearest(*v) - 1.0).abs())
        };
        let all: Vec<f64> = values.iter().enumerate().map(one).collect();
        // One that is missing is as far as can be.
        Some(all.into_iter().fold(0.0, |most: f64, v| if v.is_nan() { f64::INFINITY } else { most.max(v) }))
    };
    Ok(Some(Outcome {
        id: claim.id.clone(),
        plan: plan.to_string(),
        published: claim.published.clone(),
        unit: claim.unit.clone(),
        held: holds(&before),
        holds: holds(&after),
        off: off(&after),
        off_before: off(&before),
        before,
        after,
        covered,
    }))
}
