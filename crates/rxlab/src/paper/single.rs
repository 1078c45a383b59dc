//! A point that is run once, from empty rings, or each part of whose window is a point.

use model::{PartReport, Report, Start};

use crate::fail::Fail;
use crate::lab::fields::{self, FIELDS};
use crate::lab::measured::Measured;
use crate::lab::point::Point;
use crate::lab::setup::Ready;
use crate::lab::span;

/// A run of one placement.
pub(super) struct Single {
    point: Point,
    reproduce: String,
    /// Whether the parts of its window are its points.
    parts: bool,
}

impl Single {
    /// Of `interface`, over the window that the options state, or the model's own.
    ///
    /// # Errors
    /// An interface that cannot be run, or parts of no stated window.
    pub(super) fn new(ready: &Ready, interface: &str, parts: bool) -> Result<Single, Fail> {
        let point = ready.points(interface, Start::Empty)?.into_iter().next();
        let point = point.ok_or_else(|| Fail::new("no placement; allowed: at least 1"))?;
        if parts && ready.span.is_none() {
            return Err(Fail::new("parts of a window: allowed with --window"));
        }
        let window = ready.span.map(|s| format!(" --window {}", span::text(&s))).unwrap_or_default();
        let reproduce = format!("{} --no-search{window}", ready.command(&point.interface));
        Ok(Single { point: point.with(|s| s.span = ready.span), reproduce, parts })
    }

    /// Runs it: its point at `x`, or those of its parts.
    ///
    /// # Errors
    /// What the model cannot run.
    pub(super) fn points(&self, x: f64) -> Result<Vec<(f64, Measured)>, Fail> {
        let report = self.point.run()?;
        Ok(match self.point.span {
            Some(span) if self.parts => {
                let end = |i: usize| (span.warm.0 + (i as u64 + 1) * span.part.0) as f64 / 1e12;
                report.parts.iter().enumerate().map(|(i, part)| (end(i), self.part(part))).collect()
            }
            _ => vec![(x, self.whole(&report))],
        })
    }

    fn whole(&self, report: &Report) -> Measured {
        let fields = FIELDS.iter().map(|f| (f.name, fields::value(report, f.name))).collect();
        Measured { fields, reproduce: self.reproduce.clone() }
    }

    fn part(&self, part: &PartReport) -> Measured {
        let fields = vec![
            ("throughput_gbps", part.throughput_gbps),
            ("drop_pct", part.drop_pct),
            ("latency_mean_us", part.latency_mean_us),
            ("latency_p99_us", part.latency_p99_us),
        ];
        Measured { fields, reproduce: self.reproduce.clone() }
    }
}
