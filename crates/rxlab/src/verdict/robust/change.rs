//! What tells the draws that end otherwise from the rest: one constant beyond a value.

use model::profile::Spread;
use serde::Serialize;

use crate::lab::draws::Values;

/// How well one constant has to tell them apart: the mean of the shares of either kind that are on their side.
const TELLS: f64 = 0.75;
/// How many constants are named.
const NAMED: usize = 3;

/// A constant beyond a value, and what is on both sides.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Change {
    /// The constant.
    pub constant: &'static str,
    /// Whether it is above the value where draws end otherwise.
    pub above: bool,
    /// The value, amid those of two draws.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Draws beyond it.
    pub beyond: u32,
    /// Those of them that end otherwise.
    pub beyond_other: u32,
    /// Draws that end otherwise and are not beyond it.
    pub rest_other: u32,
}

/// The constants that tell `other` draws from the rest, the clearest first; none where nothing does, or all end alike.
pub(super) fn changes(spreads: &[Spread], draws: &[Values], other: &[bool]) -> Vec<Change> {
    let all = |wanted: bool| other.iter().filter(|o| **o == wanted).count() as f64;
    let (others, rest) = (all(true), all(false));
    if others == 0.0 || rest == 0.0 {
        return Vec::new();
    }
    let mut found: Vec<(f64, Change)> = Vec::new();
    for (i, spread) in spreads.iter().enumerate() {
        let mut values: Vec<(f64, bool)> = draws.iter().zip(other).map(|(d, o)| (d[i].1, *o)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<(f64, Change)> = None;
        let mut below = [0.0; 2]; // the rest, and those that end otherwise
        for pair in values.windows(2) {
            below[usize::from(pair[0].1)] += 1.0;
            if pair[0].0 == pair[1].0 {
                continue;
            }
            for above in [false, true] {
                let [beyond_rest, beyond_other] =
                    if above { [rest - below[0], others - below[1]] } else { below };
                let tells = (beyond_other / others + 1.0 - beyond_rest / rest) / 2.0;
                if best.as_ref().is_none_or(|(most, _)| tells > *most) {
                    let change = Change {
                        constant: spread.name,
                        above,
                        value: f64::midpoint(pair[0].0, pair[1].0),
                        unit: spread.unit,
                        beyond: (beyond_rest + beyond_other) as u32,
                        beyond_other: beyond_other as u32,
                        rest_other: (others - beyond_other) as u32,
                    };
                    best = Some((tells, change));
                }
            }
        }
        found.extend(best.filter(|(tells, _)| *tells >= TELLS));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, change)| change).take(NAMED).collect()
}

#[cfg(test)]
mod tests {
    use model::profile::Server;

    use super::*;
    use crate::lab::draws::hypercube;

    #[test]
    fn the_constant_that_decides_is_named_with_its_value() {
        let spreads = Server::by_name("rxbisect-testbed").unwrap().spreads().unwrap();
        let draws = hypercube(&spreads, 32, 3);
        let idle = spreads.iter().position(|s| s.name == "dram_idle_ns").unwrap();
        let other: Vec<bool> = draws.iter().map(|d| d[idle].1 > 90.0).collect();
        let first = changes(&spreads, &draws, &other).remove(0);
        assert_eq!((first.constant, first.above, first.rest_other), ("dram_idle_ns", true, 0));
        assert_eq!(first.beyond, first.beyond_other);
        assert!((first.value - 90.0).abs() < 1.0, "{first:?}");
        let low: Vec<bool> = draws.iter().map(|d| d[idle].1 < 80.0).collect();
        assert!(!changes(&spreads, &draws, &low)[0].above);
    }

    #[test]
    fn nothing_is_named_where_all_end_alike() {
        let spreads = Server::by_name("rxbisect-testbed").unwrap().spreads().unwrap();
        let draws = hypercube(&spreads, 8, 3);
        assert!(changes(&spreads, &draws, &[false; 8]).is_empty());
        assert!(changes(&spreads, &draws, &[true; 8]).is_empty());
    }
}
