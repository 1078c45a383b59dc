//! From the guideline's sizes to better ones: a coarse grid, then a walk over neighbouring powers of two, each
//! tried in the model.

use std::collections::{BTreeMap, BTreeSet};

use super::guideline::Sizes;
use crate::fail::Fail;

/// A lead below this is not worth leaving the guideline for: the resolution of the no-drop search (1%).
const NOISE: f64 = 0.01;

/// What a setting reached in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Score {
    /// Largest load without a drop, Gbps; the throughput where it was not searched.
    pub no_drop: f64,
    /// Throughput under the full load from full rings, Gbps.
    pub sent: f64,
}

impl Score {
    /// The worse of its two shares of what `best` reached; 1 is level with it in both.
    pub(crate) fn share(self, best: Score) -> f64 {
        let share = |a: f64, b: f64| if b > 0.0 { a / b } else { 1.0 };
        share(self.no_drop, best.no_drop).min(share(self.sent, best.sent))
    }
}

/// The best of each measure, by whichever setting.
pub(crate) fn best<'a>(scores: impl IntoIterator<Item = &'a Score>) -> Score {
    let none = Score { no_drop: 0.0, sent: 0.0 };
    scores
        .into_iter()
        .fold(none, |b, s| Score { no_drop: b.no_drop.max(s.no_drop), sent: b.sent.max(s.sent) })
}

/// The setting among `tried` with the largest share of the best of each measure, of level ones the smallest;
/// `home` where none leads it by more than noise.
pub(crate) fn choose<K: Copy + Ord>(tried: &BTreeMap<K, Score>, home: K) -> K {
    let best = best(tried.values());
    let share = |k: &K| tried.get(k).map_or(0.0, |s| s.share(best));
    let lead = tried.keys().map(share).fold(0.0, f64::max);
    if lead - share(&home) <= NOISE {
        return home;
    }
    tried.keys().copied().find(|k| share(k) >= lead).unwrap_or(home)
}

/// Tries `start`, what lies around it and a coarse grid, and walks to the best setting seen until that lies amid
/// what was tried, within `limits` of the device. `measure` gives the scores of many settings in their order.
/// Returns the last setting and all that were tried.
///
/// # Errors
/// As `measure`.
pub(crate) fn refine(
    start: Sizes,
    limits: (u32, u32),
    mut measure: impl FnMut(&[Sizes]) -> Result<Vec<Score>, Fail>,
) -> Result<(Sizes, BTreeMap<Sizes, Score>), Fail> {
    let (mut at, mut tried) = (start, BTreeMap::new());
    let mut look = coarse(limits);
    loop {
        look.extend(around(at, limits));
        let new: BTreeSet<Sizes> = look.drain(..).filter(|s| !tried.contains_key(s)).collect();
        let new: Vec<Sizes> = new.into_iter().collect();
        tried.extend(new.iter().copied().zip(measure(&new)?));
        let next = choose(&tried, start);
        if next == at {
            return Ok((at, tried));
        }
        at = next;
    }
}

/// All sizes four times apart, and the largest: from a valley's edge the walk alone does not see the other side, and
/// what is best at an end of the range is seen only there.
fn coarse(limits: (u32, u32)) -> Vec<Sizes> {
    let all = powers(limits);
    let sizes: BTreeSet<u32> = all.iter().copied().step_by(2).chain(all.last().copied()).collect();
    sizes.iter().flat_map(|&ax| sizes.iter().map(move |&bx| Sizes { ax, bx })).collect()
}

/// Powers of two from `limits.0` to `limits.1`.
pub(crate) fn powers(limits: (u32, u32)) -> Vec<u32> {
    (0..u32::BITS).map(|bit| 1 << bit).filter(|n| (limits.0..=limits.1).contains(n)).collect()
}

/// `at` and what lies around it: half and twice of either size.
fn around(at: Sizes, limits: (u32, u32)) -> Vec<Sizes> {
    let near = |n: u32| powers((limits.0.max(n / 2), limits.1.min(n.saturating_mul(2))));
    near(at.ax).into_iter().flat_map(|ax| near(at.bx).into_iter().map(move |bx| Sizes { ax, bx })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: (u32, u32) = (64, 8192);

    /// Rises towards `peak` by 10% a step of either size.
    fn hill(peak: Sizes) -> impl Fn(&[Sizes]) -> Result<Vec<Score>, Fail> {
        move |all| {
            let steps = |a: u32, b: u32| a.ilog2().abs_diff(b.ilog2()) as f64;
            Ok(all
                .iter()
                .map(|s| 100.0 - 10.0 * (steps(s.ax, peak.ax) + steps(s.bx, peak.bx)))
                .map(|v| Score { no_drop: v / 2.0, sent: v })
                .collect())
        }
    }

    #[test]
    fn walks_to_the_top_and_no_setting_is_run_twice() {
        let peak = Sizes { ax: 1024, bx: 256 };
        let mut runs = Vec::new();
        let (found, tried) = refine(Sizes { ax: 64, bx: 1024 }, LIMITS, |s| {
            runs.extend_from_slice(s);
            hill(peak)(s)
        })
        .unwrap();
        assert_eq!(found, peak);
        assert_eq!(runs.len(), tried.len());
        assert!(runs.iter().all(|s| s.ax >= 64), "{runs:?}");
    }

    #[test]
    fn stays_where_nothing_leads_by_more_than_noise() {
        let start = Sizes { ax: 128, bx: 1024 };
        let level = |s: &[Sizes]| {
            Ok(s.iter().map(|s| Score { no_drop: 50.0, sent: 100.0 + f64::from(s.ax) / 10_000.0 }).collect())
        };
        let (found, tried) = refine(start, LIMITS, level).unwrap();
        assert_eq!(found, start);
        // Nine around it and 25 of the grid, of which two are the same.
        assert_eq!(tried.len(), 32);
    }

    #[test]
    fn sees_what_is_best_at_an_end_of_the_range() {
        // Small rings send the most; those that carry the most without a drop have the largest Bx rings.
        let (small, end) = (Sizes { ax: 128, bx: 128 }, Sizes { ax: 256, bx: 8192 });
        let score = |s: &Sizes| match () {
            () if *s == small => Score { no_drop: 95.0, sent: 100.0 },
            () if *s == end => Score { no_drop: 100.0, sent: 97.5 },
            () => Score { no_drop: 94.0, sent: 97.5 },
        };
        let start = Sizes { ax: 128, bx: 512 };
        let (found, _) = refine(start, LIMITS, |all| Ok(all.iter().map(score).collect())).unwrap();
        assert_eq!(found, end);
    }

    #[test]
    fn crosses_a_valley() {
        let top = Sizes { ax: 256, bx: 256 };
        let score = |s: &Sizes| if *s == top { 100.0 } else { 90.0 - f64::from(s.bx.abs_diff(1024)) / 100.0 };
        let valley =
            |all: &[Sizes]| Ok(all.iter().map(score).map(|v| Score { no_drop: v, sent: v }).collect());
        let (found, tried) = refine(Sizes { ax: 256, bx: 1024 }, LIMITS, valley).unwrap();
        assert_eq!(found, top);
        assert!(tried.len() < 48, "{}", tried.len());
    }

    #[test]
    fn a_share_is_of_the_best_in_each_measure() {
        let all = [Score { no_drop: 50.0, sent: 100.0 }, Score { no_drop: 100.0, sent: 90.0 }];
        let best = best(&all);
        assert_eq!(all.map(|s| s.share(best)), [0.5, 0.9]);
    }
}
