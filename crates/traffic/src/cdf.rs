//! Empirical distributions: points of a cumulative distribution, linear in between.

use crate::SpecError;
use std::sync::Arc;

/// Object sizes in bytes by cumulative probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// What the user called it: a built-in name or a file.
    pub(crate) name: String,
    /// (bytes, probability), rising; the first probability is 0 and the last is 1.
    points: Arc<[(f64, f64)]>,
}

/// Web search (Alizadeh et al., DCTCP, SIGCOMM 2010), data mining (Greenberg et al., VL2, SIGCOMM
/// 2009) and Hadoop (Roy et al., SIGCOMM 2015), as commonly encoded for simulators.
const BUILT_IN: [(&str, &[(f64, f64)]); 3] = [
    (
        "websearch",
        &[
            (0.0, 0.0),
            (1e4, 0.15),
            (2e4, 0.20),
            (3e4, 0.30),
            (5e4, 0.40),
            (8e4, 0.53),
            (2e5, 0.60),
            (1e6, 0.70),
            (2e6, 0.80),
            (5e6, 0.90),
            (1e7, 0.97),
            (3e7, 1.0),
        ],
    ),
    (
        "datamining",
        &[
            (0.0, 0.0),
            (180.0, 0.1),
            (216.0, 0.2),
            (560.0, 0.3),
            (900.0, 0.4),
            (1100.0, 0.5),
            (1870.0, 0.6),
            (3160.0, 0.7),
            (1e4, 0.8),
            (4e5, 0.9),
            (3.16e6, 0.95),
            (1e8, 0.98),
            (1e9, 1.0),
        ],
    ),
    (
        "fb_hadoop",
        &[
            (0.0, 0.0),
            (100.0, 0.01),
            (200.0, 0.02),
            (300.0, 0.05),
            (350.0, 0.15),
            (400.0, 0.20),
            (500.0, 0.30),
            (600.0, 0.40),
            (700.0, 0.50),
            (1e3, 0.60),
            (2e3, 0.67),
            (7e3, 0.70),
            (3e4, 0.72),
            (5e4, 0.82),
            (8e4, 0.87),
            (1.2e5, 0.90),
            (3e5, 0.95),
            (1e6, 0.975),
            (2e6, 0.99),
            (1e7, 1.0),
        ],
    ),
];

const ALLOWED: &str = "websearch, datamining, fb_hadoop, or a readable file of lines `bytes probability`, \
                       both rising, the probability from 0 to 1 or 100";

impl Cdf {
    /// A built-in distribution (`websearch`, `datamining`, `fb_hadoop`), or one from a file.
    ///
    /// # Errors
    /// There is no such name or file, or the file holds no distribution.
    pub fn load(name: &str) -> Result<Self, SpecError> {
        let error = || SpecError::new("distribution", name, ALLOWED);
        let points = match BUILT_IN.iter().find(|(n, _)| *n == name) {
            Some((_, points)) => Arc::from(*points),
            None => parse(&std::fs::read_to_string(name).map_err(|_| error())?).ok_or_else(error)?,
        };
        Ok(Self { name: name.into(), points })
    }

    /// The size at probability `p` (0 to 1), at least one byte.
    pub(crate) fn at(&self, p: f64) -> u64 {
        let next = self.points.partition_point(|(_, q)| *q <= p).clamp(1, self.points.len() - 1);
        let ((x0, p0), (x1, p1)) = (self.points[next - 1], self.points[next]);
        let part = if p1 > p0 { (p - p0) / (p1 - p0) } else { 1.0 };
        (libm::round(x0 + (x1 - x0) * part) as u64).max(1)
    }
}

/// Points from text; `#` starts a comment. `None` when they are no distribution.
fn parse(text: &str) -> Option<Arc<[(f64, f64)]>> {
    let mut points = Vec::new();
    for line in text.lines().map(|l| l.split('#').next().unwrap_or_default().trim()) {
        if line.is_empty() {
            continue;
        }
        let mut fields = line.split_whitespace();
        let (bytes, p): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        if fields.next().is_some() {
            return None;
        }
        points.push((bytes, p));
    }
    let (first, last) = (*points.first()?, *points.last()?);
    let rising = points.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1);
    let whole = (last.1 == 1.0 || last.1 == 100.0) && first.1 == 0.0 && first.0 >= 0.0 && last.0.is_finite();
    if points.len() < 2 || !rising || !whole {
        return None;
    }
    Some(points.into_iter().map(|(bytes, p)| (bytes, p / last.1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_points() {
        let cdf = Cdf::load("websearch").unwrap();
        assert_eq!(cdf.at(0.0), 1);
        assert_eq!(cdf.at(0.075), 5000);
        assert_eq!(cdf.at(0.15), 10_000);
        assert_eq!(cdf.at(0.85), 3_500_000);
        assert_eq!(cdf.at(1.0), 30_000_000);
    }

    #[test]
    fn built_ins_are_distributions() {
        for (name, points) in BUILT_IN {
            let text: String = points.iter().map(|(b, p)| format!("{b} {p}\n")).collect();
            assert_eq!(parse(&text).unwrap(), Cdf::load(name).unwrap().points, "{name}");
        }
    }

    #[test]
    fn percent_and_comments_are_read_and_nonsense_is_not() {
        assert_eq!(
            *parse("# x\n0 0\n100 50 # half\n\n200 100").unwrap(),
            [(0.0, 0.0), (100.0, 0.5), (200.0, 1.0)]
        );
        for bad in [
            "",
            "0 0",
            "0 0\n5 0.5",
            "0 0\n9 0.7\n5 1",
            "0 0.1\n5 1",
            "a b\n1 1",
            "0 0 0\n1 1 1",
            "0 NaN\n1 1",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
