//! Constants fitted to claims by an ensemble: a square-root Kalman filter that takes one claim's value after the other.
//!
//! Whitaker and Hamill (2002). It needs no derivative and no matrix: covariances between members stand for both, so that
//! each value moves each constant by a number that can be told. Chance correlations of few members are shrunk as Furrer and
//! Bengtsson (2007) say. An optimiser of the usual kind would need hundreds of runs of all experiments; this needs one for
//! each member, and any claims can be left out of it without another run.

/// Something that a fit moves or predicts: its value in each member.
pub(crate) type Members = Vec<f64>;

/// A value that is known to be 0, with its error, and what it is in each member.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// In each member.
    pub members: Members,
    /// Standard deviation of the error.
    pub error: f64,
}

/// What a fit found.
pub(crate) struct Fitted {
    /// Each constant's members.
    pub constants: Vec<Members>,
    /// Each value's members, whether it was used or not.
    pub values: Vec<Members>,
    /// How far each used value moved the mean of each constant: by value, then by constant.
    pub pulls: Vec<Vec<f64>>,
}

/// Moves constants so that the values that are `used` come nearer to 0; values that are not come along as they depend on
/// the constants.
pub(crate) fn fit(constants: &[Members], known: &[Known], used: &[bool]) -> Fitted {
    let mut constants = constants.to_vec();
    let mut values: Vec<Members> = known.iter().map(|k| k.members.clone()).collect();
    let mut pulls = vec![vec![0.0; constants.len()]; known.len()];
    for (j, (k, used)) in known.iter().zip(used).enumerate() {
        if !used {
            continue;
        }
        let seen = values[j].clone();
        for (x, pull) in constants.iter_mut().zip(&mut pulls[j]) {
            *pull = step(x, &seen, k.error);
        }
        values.iter_mut().for_each(|x| {
            step(x, &seen, k.error);
        });
    }
    Fitted { constants, values, pulls }
}

/// Moves one thing by one value, `seen` in each member and 0 in truth; gives what its mean moved.
fn step(x: &mut [f64], seen: &[f64], error: f64) -> f64 {
    let n = seen.len() as f64;
    let (mean_x, mean_seen) = (mean(x), mean(seen));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        x.iter().zip(seen).map(|(x, s)| of(x - mean_x, s - mean_seen)).sum::<f64>() / (n - 1.0)
    };
    let (variance, of_x, both) = (sum(&|_, s| s * s), sum(&|x, _| x * x), sum(&|x, s| x * s));
    // A sum of equal numbers is rounded: what differs by no more than that is the same in all members.
    let same = |variance: f64, of: f64| variance <= 1e-20 * (of * of + error * error);
    if same(variance, mean_seen) || same(of_x, mean_x) {
        return 0.0;
    }
    let r2 = both * both / (variance * of_x);
    let shrunk = r2 / (r2 + (1.0 + r2) / n);
    let gain = shrunk * both / (variance + error * error);
    let moved = -gain * mean_seen;
    // Members come together by less than the mean moves: their spread is then that of the constant behind this value.
    let narrow = gain / (1.0 + (error * error / (variance + error * error)).sqrt());
    x.iter_mut().zip(seen).for_each(|(x, s)| *x += moved - narrow * (s - mean_seen));
    moved
}

/// The mean.
pub(crate) fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// The standard deviation.
pub(crate) fn deviation(all: &[f64]) -> f64 {
    let mean = mean(all);
    (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (all.len().max(2) - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::seq::SliceRandom;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::SeedableRng;

    use super::*;

    /// So many constants that do not depend on each other, of mean 0.
    fn prior(constants: usize, members: usize) -> Vec<Members> {
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        let one = |_| {
            let mut all: Vec<f64> =
                (0..members).map(|i| i as f64 / (members - 1) as f64 * 3.4 - 1.7).collect();
            all.shuffle(&mut rng);
            all
        };
        (0..constants).map(one).collect()
    }

    fn known(of: impl Fn(usize) -> f64, members: usize, error: f64) -> Known {
        Known { members: (0..members).map(of).collect(), error }
    }

    #[test]
    fn a_constant_comes_to_the_value_that_a_claim_needs() {
        let (n, x) = (64, prior(4, 64));
        // 2 a - 1.6 is 0 where a is 0.8.
        let claim = known(|m| 2.0 * x[0][m] - 1.6, n, 0.05);
        let found = fit(&x, &[claim], &[true]);
        assert!((mean(&found.constants[0]) - 0.8).abs() < 0.05, "{}", mean(&found.constants[0]));
        assert!(deviation(&found.constants[0]) < 0.25 * deviation(&x[0]));
        assert!((found.pulls[0][0] - (mean(&found.constants[0]) - mean(&x[0]))).abs() < 1e-9);
        assert!(mean(&found.values[0]).abs() < 0.1);
        // The others have nothing to do with it: chance correlations of 64 members are an eighth, seldom twice that.
        for ((before, after), pull) in x.iter().zip(&found.constants).zip(&found.pulls[0]).skip(1) {
            assert!(pull.abs() < 0.25 * 0.8, "{:?}", found.pulls[0]);
            assert!(deviation(after) > 0.9 * deviation(before));
        }
    }

    #[test]
    fn what_is_not_used_pulls_nothing_and_is_predicted() {
        let (n, x) = (64, prior(2, 64));
        let all = [known(|m| x[0][m] - 1.0, n, 0.05), known(|m| 3.0 * x[0][m] - 2.0, n, 0.05)];
        let found = fit(&x, &all, &[true, false]);
        assert_eq!(found.pulls[1], [0.0, 0.0]);
        assert!((mean(&found.values[1]) - 1.0).abs() < 0.2, "3 * 1 - 2, not 0");
    }

    #[test]
    fn claims_that_contradict_each_other_meet_amid() {
        let (n, x) = (64, prior(1, 64));
        let all = [known(|m| x[0][m] - 1.0, n, 0.1), known(|m| x[0][m] + 1.0, n, 0.1)];
        let found = fit(&x, &all, &[true, true]);
        assert!(mean(&found.constants[0]).abs() < 0.3 && found.pulls[0][0] > 0.5 && found.pulls[1][0] < -0.5);
    }

    #[test]
    fn a_value_that_no_constant_moves_changes_nothing() {
        let x = prior(2, 16);
        let found = fit(&x, &[known(|_| 0.7, 16, 0.1)], &[true]);
        assert_eq!((found.constants, found.pulls), (x, vec![vec![0.0, 0.0]]));
    }
}
