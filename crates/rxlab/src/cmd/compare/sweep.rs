//! The same interfaces over loads up to the one asked for.

use serde::Serialize;

use crate::fail::Fail;
use crate::lab::jobs::{self, Job};
use crate::lab::point::Point;
use crate::lab::setup::Ready;
use crate::show::palette::Colour;
use crate::show::plot::{self, Curve, Scale};
use crate::show::table::{Table, num, number, words};
use traffic::Rate;

/// Loads, in parts of the one asked for.
const LOADS: [f64; 8] = [0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1.0];

/// What each interface does at each load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Sweep {
    /// Labels of the rows, in their order.
    pub labels: Vec<String>,
    /// Load by load.
    pub loads: Vec<Load>,
}

/// One load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Load {
    /// Gbps of frames.
    pub gbps: f64,
    /// Of each interface, from full rings, frames lost in percent.
    pub lost_pct: Vec<f64>,
    /// Of each interface, its 99th percentile of latency, us.
    pub latency_p99_us: Vec<f64>,
}

/// Whether `--sweep` is there.
///
/// # Errors
/// Names what can be swept.
pub(super) fn asked(text: Option<&str>) -> Result<bool, Fail> {
    match text {
        None => Ok(false),
        Some("rate") => Ok(true),
        Some(other) => Err(Fail::new(format!("--sweep {other}: allowed: rate"))),
    }
}

/// Runs one placement of each job at each load.
///
/// # Errors
/// As [`jobs::compare`]; a capture at its own timing has one load.
pub(super) fn run(ready: &Ready, jobs: &[Job]) -> Result<Sweep, Fail> {
    let Rate::Gbps(full) = ready.rate else {
        return Err(Fail::new("--sweep rate: allowed: with a rate in Gbps, not with --rate own"));
    };
    let mut loads = Vec::new();
    for part in LOADS {
        let single = |points: &[Point]| -> Vec<Point> {
            points.iter().take(1).map(|p| Point { rate: Rate::Gbps(full * part), ..p.clone() }).collect()
        };
        let at = |job: &Job| Job {
            empty: single(&job.empty),
            full: single(&job.full),
            others: Vec::new(),
            search: None,
            span: None,
            label: job.label.clone(),
            written: job.written.clone(),
            reproduce: String::new(),
        };
        let pairs = jobs::compare(&jobs.iter().map(at).collect::<Vec<_>>(), "sweeping loads")?;
        loads.push(Load {
            gbps: pairs.first().map_or(0.0, |p| p.full.report.offered_gbps),
            lost_pct: pairs.iter().map(|p| p.full.value("lost_pct")).collect(),
            latency_p99_us: pairs.iter().map(|p| p.full.report.latency_us.p99).collect(),
        });
    }
    Ok(Sweep { labels: jobs.iter().map(|job| job.label.clone()).collect(), loads })
}

impl Sweep {
    /// Loss and latency over the load.
    ///
    /// # Errors
    /// A plot cannot be drawn.
    pub(super) fn plots(&self) -> Result<Vec<String>, Fail> {
        let curves = |of: fn(&Load) -> &[f64]| -> Vec<Curve> {
            let curve = |(i, label): (usize, &String)| Curve {
                label: Some(label.clone()),
                colour: Colour::interface(label),
                points: self.loads.iter().map(|load| (load.gbps, of(load)[i])).collect(),
            };
            self.labels.iter().enumerate().map(curve).collect()
        };
        let axis = ("load, Gbps", Scale::Linear);
        Ok(vec![
            plot::lines("frames lost", "%", axis, &curves(|l| &l.lost_pct), "")?,
            plot::lines("p99 latency", "us", axis, &curves(|l| &l.latency_p99_us), "")?,
        ])
    }

    /// A row for each load and interface.
    pub(super) fn table(&self) -> Table {
        let columns = [number("load", "Gbps"), words("interface"), number("lost", "%"), number("p99", "us")];
        let mut table = Table::new(&columns);
        for load in &self.loads {
            for (i, label) in self.labels.iter().enumerate() {
                let lost = num(load.lost_pct[i]);
                table.rows.push(vec![num(load.gbps), label.clone(), lost, num(load.latency_p99_us[i])]);
            }
        }
        table
    }
}
