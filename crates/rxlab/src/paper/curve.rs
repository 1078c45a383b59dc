//! Published curves: every point is compared, and the middle of all deviations is judged.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::paper::metric::{self, Samples};

/// How a deviation is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Axis {
    /// Obtained / published - 1.
    Linear,
    /// The larger of the two / the smaller, less 1: as far up as down on a logarithmic axis.
    Log,
    /// The difference / the largest published value: for curves that touch 0.
    Full,
}

/// A published curve and the series that it is compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// Its name.
    pub id: String,
    /// What it shows.
    pub what: String,
    /// Unit of its values.
    pub unit: String,
    /// How deviations are told: by the axis of the figure.
    pub axis: Axis,
    /// How far the median of them may be from 0.
    pub tolerance: f64,
    /// An expression over the series that has points, see `metric.rs`.
    pub metric: String,
    /// Where the published points are, in ascending order.
    pub x: Vec<f64>,
    /// Their values.
    pub y: Vec<f64>,
}

/// How far a curve was met.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Met {
    pub id: String,
    pub what: String,
    pub unit: String,
    axis: Axis,
    pub tolerance: f64,
    /// Points that are compared.
    pub points: usize,
    /// Median of the deviations without their sign; null where a point could not be obtained.
    pub median: Value,
    /// The largest of them, without its sign, and where that is.
    pub worst: Value,
    pub worst_x: f64,
    /// Whether the median is within the tolerance.
    pub holds: bool,
    x: Vec<f64>,
    published: Vec<f64>,
    obtained: Vec<f64>,
}

impl Published {
    /// # Errors
    /// What is wrong with its points.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.x.is_empty() || self.x.len() != self.y.len() || !self.x.is_sorted() {
            return Err(format!(
                "curve {}: allowed: as many x in ascending order as y, one at least",
                self.id
            ));
        }
        if self.axis != Axis::Full && self.y.iter().any(|y| *y <= 0.0) {
            return Err(format!("curve {}: values of 0 and less: allowed with axis = \"full\"", self.id));
        }
        Ok(())
    }

    /// Compares it with what was obtained.
    ///
    /// # Errors
    /// A metric that cannot be read.
    pub(crate) fn judge(&self, samples: &[Samples]) -> Result<Met, String> {
        let found = metric::points(&self.metric, samples)?;
        let at = |x: f64| {
            let near = |p: &&(f64, f64)| (p.0 - x).abs() <= 1e-9 * x.abs().max(1.0);
            found.iter().find(near).map_or(f64::NAN, |p| p.1)
        };
        let obtained: Vec<f64> = self.x.iter().map(|x| at(*x)).collect();
        let full = self.y.iter().copied().fold(0.0, f64::max);
        let off = |(published, obtained): (&f64, &f64)| self.axis.off(*published, *obtained, full);
        let offs: Vec<f64> = self.y.iter().zip(&obtained).map(off).collect();
        let median = median(&offs);
        let (worst_x, worst) =
            self.x.iter().zip(&offs).max_by(|a, b| a.1.total_cmp(b.1)).unwrap_or((&0.0, &f64::NAN));
        Ok(Met {
            id: self.id.clone(),
            what: self.what.clone(),
            unit: self.unit.clone(),
            axis: self.axis,
            tolerance: self.tolerance,
            points: offs.len(),
            median: json!(median),
            worst: json!(worst),
            worst_x: *worst_x,
            holds: median <= self.tolerance,
            x: self.x.clone(),
            published: self.y.clone(),
            obtained,
        })
    }
}

/// The middle of `offs`, or the mean of the two that are. What is missing, NaN, counts as the farthest.
fn median(offs: &[f64]) -> f64 {
    let mut sorted = offs.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.get(sorted.len().saturating_sub(1) / 2), sorted.get(sorted.len() / 2)) {
        (Some(below), Some(above)) => f64::midpoint(*below, *above),
        _ => f64::NAN,
    }
}

impl Axis {
    /// How far `obtained` is off, without a sign; NaN stays, and sorts behind all.
    fn off(self, published: f64, obtained: f64, full: f64) -> f64 {
        let ratio = obtained / published;
        let off = match self {
            Axis::Linear => ratio - 1.0,
            Axis::Log if ratio > 0.0 => ratio.max(1.0 / ratio) - 1.0,
            Axis::Log => f64::NAN,
            Axis::Full => (obtained - published) / full,
        };
        off.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::metric::Sample;

    fn curve(axis: Axis, y: &[f64]) -> Published {
        let x = (1..=y.len()).map(|x| x as f64).collect();
        let [id, what, unit] = ["c", "a curve", "Gbps"].map(String::from);
        Published { id, what, unit, axis, tolerance: 0.1, metric: "s.gbps".into(), x, y: y.to_vec() }
    }

    fn samples(y: &[f64]) -> Vec<Samples> {
        let points =
            y.iter().enumerate().map(|(i, y)| Sample { x: i as f64 + 1.0, fields: vec![("gbps", *y)] });
        vec![Samples { id: "s".into(), points: points.collect() }]
    }

    #[test]
    fn the_middle_deviation_is_judged_and_the_largest_is_told() {
        let met = curve(Axis::Linear, &[100.0, 100.0, 100.0]).judge(&samples(&[105.0, 100.0, 50.0])).unwrap();
        assert!((met.median.as_f64().unwrap() - 0.05).abs() < 1e-12);
        assert_eq!((met.worst.as_f64(), met.worst_x, met.holds), (Some(0.5), 3.0, true));
        let met = curve(Axis::Log, &[100.0]).judge(&samples(&[50.0])).unwrap();
        assert_eq!((met.median.as_f64(), met.holds), (Some(1.0), false));
        let met = curve(Axis::Full, &[100.0, 0.0]).judge(&samples(&[100.0, 4.0])).unwrap();
        assert_eq!((met.worst.as_f64(), met.holds), (Some(0.04), true));
        assert_eq!(met.median.as_f64(), Some(0.02), "between the two in the middle");
    }

    #[test]
    fn a_point_that_is_missing_is_the_farthest() {
        let met = curve(Axis::Linear, &[1.0, 1.0]).judge(&samples(&[1.0])).unwrap();
        assert!(!met.holds && met.median.is_null() && met.worst_x == 2.0);
    }

    #[test]
    fn curves_that_cannot_be_compared_are_refused() {
        assert!(curve(Axis::Log, &[0.0]).check().unwrap_err().contains("full"));
        assert!(curve(Axis::Full, &[0.0]).check().is_ok());
        assert!(Published { x: vec![2.0, 1.0], ..curve(Axis::Full, &[1.0, 1.0]) }.check().is_err());
        assert!(Published { x: vec![], ..curve(Axis::Full, &[1.0]) }.check().is_err());
    }
}
