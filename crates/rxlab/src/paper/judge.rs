//! Whether a published statement holds for what was obtained: the rules, and nothing else.
//!
//! Every obtained value is compared with the nearest published one of its cell (a cell may be an
//! interval such as `100-119`), and several values are compared one by one.

use serde::{Deserialize, Serialize};

/// How a published value and an obtained one are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rule {
    /// |obtained / published - 1| <= tolerance.
    Ratio,
    /// |obtained - published| <= tolerance, in the unit.
    Points,
    /// Between published / tolerance and published * tolerance.
    Factor,
    /// A power of two at most `tolerance` doublings away.
    Octave,
    /// Inside the published interval.
    Range,
    /// obtained <= published, or <= tolerance where one is given.
    AtMost,
    /// The same number, or the same answer.
    Exact,
    /// Given to the model, or not to be had: reported, never counted as held.
    Input,
}

/// A published number, or an interval of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    lo: f64,
    hi: f64,
}

impl Cell {
    /// The published value that is nearest to one.
    pub(crate) fn nearest(&self, value: f64) -> f64 {
        value.clamp(self.lo, self.hi)
    }
}

/// What a rule says of the values of one claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    /// One per obtained value: relative for `ratio`, a quotient for `factor`, doublings for `octave`,
    /// the unit's own for the others.
    pub deviation: Vec<f64>,
    /// `None` for inputs.
    pub holds: Option<bool>,
}

/// Reads a published cell (`theory` is 1, what a ratio to the exact value should be): `0.8`, `yes`, `100-119`, `97.9 97.8`, `88 -> 1`, `1 + 1/4`.
pub(crate) fn cells(text: &str) -> Result<Vec<Cell>, String> {
    let text = text.replace("->", " ").replace('+', " ");
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        if let Some(cell) = cell(word) {
            found.push(cell);
        } else if !word.chars().all(char::is_alphabetic) {
            return Err(format!("`{word}` is no published value; allowed: a number, a/b, a-b, yes, no"));
        }
    }
    if found.is_empty() {
        return Err(format!("`{text}` holds no published value; allowed: a number, a/b, a-b, yes, no"));
    }
    Ok(found)
}

fn cell(word: &str) -> Option<Cell> {
    let point = |v: f64| Some(Cell { lo: v, hi: v });
    match word {
        "yes" | "theory" => return point(1.0),
        "no" => return point(0.0),
        _ => {}
    }
    if let Ok(v) = word.parse::<f64>() {
        return v.is_finite().then_some(Cell { lo: v, hi: v });
    }
    let two = |(a, b): (&str, &str)| Some((a.parse::<f64>().ok()?, b.parse::<f64>().ok()?));
    if let Some((a, b)) = word.split_once('/').and_then(two) {
        return point(a / b);
    }
    let (lo, hi) = word.split_once('-').and_then(two)?;
    (lo <= hi).then_some(Cell { lo, hi })
}

/// Applies `rule`. A single published value stands for every obtained one; otherwise there must be as
/// many of one as of the other. A value that could not be obtained (`NaN`) never holds.
pub(crate) fn judge(rule: Rule, published: &[Cell], tolerance: f64, obtained: &[f64]) -> Judged {
    let cell = |i: usize| if published.len() == 1 { published.first() } else { published.get(i) };
    let mut holds = !obtained.is_empty() && (published.len() == 1 || published.len() == obtained.len());
    let mut deviation = Vec::new();
    for (i, &value) in obtained.iter().enumerate() {
        let Some(cell) = cell(i) else { break };
        let (off, ok) = compare(rule, cell, tolerance, value);
        deviation.push(off);
        holds &= ok;
    }
    Judged { deviation, holds: (rule != Rule::Input).then_some(holds) }
}

/// The deviation of one value and whether it is allowed.
fn compare(rule: Rule, cell: &Cell, tolerance: f64, value: f64) -> (f64, bool) {
    // `clamp` keeps NaN, and every comparison with NaN is false.
    let nearest = cell.nearest(value);
    match rule {
        Rule::Ratio => {
            let off = value / nearest - 1.0;
            (off, off.abs() <= tolerance)
        }
        Rule::Points => (value - nearest, (value - nearest).abs() <= tolerance),
        Rule::Factor => (value / nearest, value >= cell.lo / tolerance && value <= cell.hi * tolerance),
        Rule::Octave => {
            let off = (value / nearest).log2();
            let power = value >= 1.0 && value.fract() == 0.0 && (value as u64).is_power_of_two();
            (off, power && off.abs() <= tolerance)
        }
        Rule::Range => (value - nearest, value >= cell.lo && value <= cell.hi),
        Rule::AtMost => (value - cell.hi, value <= cell.hi || value <= tolerance),
        Rule::Exact | Rule::Input => (value - nearest, value == nearest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(rule: Rule, published: &str, tolerance: f64, obtained: &[f64]) -> bool {
        judge(rule, &cells(published).unwrap(), tolerance, obtained).holds.unwrap()
    }

    #[test]
    fn each_rule_at_its_edges() {
        assert!(holds(Rule::Ratio, "0.8", 0.12, &[0.896 - 1e-12]));
        assert!(holds(Rule::Ratio, "0.8", 0.12, &[0.705]));
        assert!(!holds(Rule::Ratio, "0.8", 0.12, &[0.703]));
        assert!(!holds(Rule::Ratio, "0.8", 0.12, &[0.897]));
        assert!(holds(Rule::Points, "20", 6.0, &[26.0]));
        assert!(!holds(Rule::Points, "20", 6.0, &[13.9]));
        assert!(holds(Rule::Factor, "37", 2.0, &[74.0]));
        assert!(holds(Rule::Factor, "37", 2.0, &[18.5]));
        assert!(!holds(Rule::Factor, "37", 2.0, &[18.4]));
        assert!(holds(Rule::Range, "1.7-2.4", 0.0, &[2.4]));
        assert!(!holds(Rule::Range, "1.7-2.4", 0.0, &[1.69]));
        assert!(holds(Rule::Exact, "yes", 0.0, &[1.0]));
        assert!(!holds(Rule::Exact, "no", 0.0, &[1.0]));
    }

    #[test]
    fn octave_wants_a_power_of_two() {
        assert!(holds(Rule::Octave, "128", 1.0, &[64.0]));
        assert!(holds(Rule::Octave, "128", 1.0, &[256.0]));
        assert!(!holds(Rule::Octave, "128", 1.0, &[512.0]));
        assert!(!holds(Rule::Octave, "128", 1.0, &[192.0]));
        assert!(!holds(Rule::Octave, "128", 1.0, &[0.0]));
    }

    #[test]
    fn at_most_with_and_without_a_tolerance_of_its_own() {
        assert!(holds(Rule::AtMost, "22", 0.0, &[22.0]));
        assert!(!holds(Rule::AtMost, "22", 0.0, &[22.1]));
        assert!(holds(Rule::AtMost, "0.71925 0.93945 0.9981", 1.0, &[0.9, 0.99, 1.0]));
        assert!(!holds(Rule::AtMost, "0.71925 0.93945 0.9981", 1.0, &[0.9, 0.99, 1.01]));
    }

    #[test]
    fn several_values_are_compared_one_by_one() {
        assert!(holds(Rule::Points, "97.9 80.1 39.3", 10.0, &[97.9, 85.0, 30.0]));
        assert!(!holds(Rule::Points, "97.9 80.1 39.3", 10.0, &[97.9, 85.0, 29.0]));
        assert!(!holds(Rule::Points, "97.9 80.1 39.3", 10.0, &[97.9, 85.0]));
        assert!(!holds(Rule::Points, "97.9", 10.0, &[]));
        assert!(holds(Rule::Factor, "100-119", 2.0, &[50.0, 238.0]));
        assert!(!holds(Rule::Factor, "100-119", 2.0, &[50.0, 239.0]));
    }

    #[test]
    fn what_was_not_obtained_never_holds() {
        for rule in
            [Rule::Ratio, Rule::Points, Rule::Factor, Rule::Octave, Rule::Range, Rule::AtMost, Rule::Exact]
        {
            assert!(!holds(rule, "1", 1.0, &[f64::NAN]), "{rule:?}");
        }
        assert_eq!(judge(Rule::Input, &cells("3.25").unwrap(), 0.0, &[3.25]).holds, None);
    }

    #[test]
    fn published_cells() {
        let one = |v| Cell { lo: v, hi: v };
        assert_eq!(cells("88 -> 1").unwrap(), [one(88.0), one(1.0)]);
        assert_eq!(cells("1 + 1/4").unwrap(), [one(1.0), one(0.25)]);
        assert_eq!(cells("1 read + 2 RFO").unwrap(), [one(1.0), one(2.0)]);
        assert_eq!(cells("100-119").unwrap(), [Cell { lo: 100.0, hi: 119.0 }]);
        assert_eq!(cells("theory").unwrap(), [one(1.0)]);
        assert!(cells("hearsay").is_err());
        assert!(cells("1e999").is_err());
        assert!(cells("5-1").is_err());
    }

    #[test]
    fn deviations_tell_how_far() {
        assert_eq!(judge(Rule::Octave, &cells("128").unwrap(), 1.0, &[512.0]).deviation, [2.0]);
        assert_eq!(judge(Rule::Points, &cells("1 3").unwrap(), 1.0, &[2.0, 3.0]).deviation, [1.0, 0.0]);
    }
}
