//! What would end a loss: the smallest change of a setting with which the model loses nothing.

use serde::Serialize;

use crate::fail::Fail;
use crate::lab::interfaces;
use crate::lab::jobs::{self, Job, Pair};
use crate::lab::search;
use crate::lab::setup::Ready;
use crate::verdict::decide::{Carries, Verdict};
use crate::verdict::probe;

/// Share of the cores' time that the load asks for, beyond which no setting of a ring can help.
const BEYOND: f64 = 1.1;

/// What to set.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Remedy {
    /// The row's label.
    pub label: String,
    /// What ends the loss, as options; none where nothing that was tried does.
    pub set: Option<String>,
    /// Changes that were tried, in the order of their size, up to the one that helps.
    pub tried: Vec<String>,
    /// What is sent with it, Gbps of frames.
    pub throughput_gbps: Option<f64>,
    /// Its 99th percentile of latency, us.
    pub latency_p99_us: Option<f64>,
    /// The load without loss as things are, Gbps of frames.
    pub no_drop_now_gbps: Option<f64>,
}

/// A change: its options, and the setup and the interface with it.
struct Change {
    options: String,
    ready: Ready,
    written: String,
}

/// Looks for what would end the loss of each row that has one.
///
/// # Errors
/// A run that the model refuses.
pub(crate) fn find(ready: &Ready, pairs: &[Pair], verdict: &Verdict) -> Result<Vec<Remedy>, Fail> {
    let lossy = pairs.iter().zip(&verdict.carries).filter(|(_, s)| s.carries != Carries::Yes);
    let cycles = |p: &Pair| p.full.report.cycles_per_packet;
    let least_cycles = pairs.iter().map(cycles).fold(f64::INFINITY, f64::min);
    lossy.map(|(p, _)| one(ready, p, least_cycles)).collect()
}

/// Share of the cores' time that the load asks for at `cycles` a frame, the fewest of any row.
fn asked(ready: &Ready, p: &Pair, cycles: f64) -> f64 {
    let r = &p.full.report;
    let frames = r.counted.offered as f64 / r.measured_s.max(1e-12);
    frames * cycles / (ready.server.ghz * 1e9 * f64::from(ready.ports.all_cores()))
}

fn one(ready: &Ready, p: &Pair, least_cycles: f64) -> Result<Remedy, Fail> {
    let written = p.full.written.as_str();
    let ring = p.full.params.get("ring").copied().unwrap_or(u64::from(ready.ring())) as u32;
    let ready = ready.resized(|s| s.ring = ring);
    let mut remedy = Remedy {
        label: p.full.label.clone(),
        set: None,
        tried: Vec::new(),
        throughput_gbps: None,
        latency_p99_us: None,
        no_drop_now_gbps: p.full.no_drop_gbps,
    };
    let mut changes = Vec::new();
    if asked(&ready, p, least_cycles) < BEYOND {
        changes.extend(settings(&ready, written)?);
    }
    changes.extend(more_cores(&ready, written));
    // A few at a time, on all CPUs: the first that helps ends it.
    for few in changes.chunks(4) {
        let setups: Vec<(&Ready, &str)> = few.iter().map(|c| (&c.ready, c.written.as_str())).collect();
        for (change, found) in few.iter().zip(probe::all(&setups, "trying settings")?) {
            remedy.tried.push(change.options.clone());
            if found.carries {
                // How well, behind a warm-up: a short run is still draining what filled its rings.
                let job = change.ready.resized(|s| s.placements = 1).job(&change.written, false)?;
                let settled = jobs::run([&Job { span: None, ..job }], "checking")?;
                if settled.iter().all(|p| search::clean(&p.full.report)) {
                    let effect = settled.first().map(|p| &p.full.report);
                    remedy.set = Some(change.options.clone());
                    remedy.throughput_gbps = effect.map(|r| r.throughput_gbps);
                    remedy.latency_p99_us = effect.map(|r| r.latency_us.p99);
                    return Ok(remedy);
                }
            }
        }
    }
    Ok(remedy)
}

/// Changes of rings, bursts, pool and cache ways, the smallest first.
fn settings(ready: &Ready, written: &str) -> Result<Vec<Change>, Fail> {
    let (least, most) = (ready.server.nic.min_ring, ready.server.nic.max_ring);
    let rings = interfaces::rings(&ready.interface(written)?);
    let mut changes = Vec::new();
    for times in [2.0, 0.5, 4.0, 0.25, 8.0, 0.125] {
        for &(name, now) in &rings {
            let size = (f64::from(now) * times) as u32;
            if !(least..=most).contains(&size) {
                continue;
            }
            let (ready, written, options) = ready.with_ring(written, name, size)?;
            changes.push(Change { options, ready, written });
        }
    }
    let with = |options: String, ready: Ready| Change { options, ready, written: written.into() };
    if ready.pool().is_some() {
        changes.push(with("without --pool".into(), ready.resized(|s| s.pool = None)));
    }
    if ready.burst() < 64 {
        changes.push(with("--burst 64".into(), ready.resized(|s| s.burst = 64)));
    }
    let (now, all) = (ready.server.caches.ddio_ways, ready.server.caches.ways);
    let mut ways: Vec<u32> = [now * 2, now * 4, all].into_iter().filter(|w| *w > now && *w <= all).collect();
    ways.dedup();
    changes.extend(ways.into_iter().map(|ways| {
        let mut ready = ready.resized(|s| s.ddio_ways = Some(ways));
        ready.server.caches.ddio_ways = ways;
        with(format!("--ddio-ways {ways}"), ready)
    }));
    Ok(changes)
}

/// More of the server's cores.
fn more_cores(ready: &Ready, written: &str) -> Vec<Change> {
    let (now, all) = (ready.ports.all_cores(), ready.server.cores);
    let mut counts: Vec<u32> = [now + ready.ports.count(), now * 3 / 2, now * 2, all].into();
    counts.retain(|n| *n > now && *n <= all);
    counts.sort_unstable();
    counts.dedup();
    let with = |cores: u32| {
        let ready = ready.again(|s| s.cores = Some(cores)).ok()?; // not every number suits the ports
        Some(Change { options: format!("--cores {cores}"), ready, written: written.into() })
    };
    counts.into_iter().filter_map(with).collect()
}
