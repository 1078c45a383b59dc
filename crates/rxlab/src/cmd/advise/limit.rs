//! What breaks first: the smallest load at which a frame drops, and why.

use crate::fail::Fail;
use crate::lab::jobs::Pair;
use crate::lab::search::{self, Search};
use crate::lab::setup::Ready;
use crate::show::bar;
use crate::verdict::diagnosis::{Contender, Diagnosis, Machine, diagnose, dram};

/// The first drops.
pub(crate) struct Limit {
    /// Load of frames at which they come, Gbps; `None` where line rate passes.
    pub breaks_gbps: Option<f64>,
    /// The trial at that load (at line rate) explained.
    pub diagnosis: Diagnosis,
    /// What it used of the machine.
    pub used: Vec<Resource>,
}

/// A resource of the machine.
pub(crate) struct Resource {
    /// Its name.
    pub name: &'static str,
    /// How much is in use, and of how much.
    pub used: f64,
    /// The whole.
    pub whole: f64,
    /// Of both.
    pub unit: &'static str,
}

/// Searches up to line rate with the sizes of `ready`, of which `pair` is a run at the asked rate. `None`
/// where a capture has its own timing.
///
/// # Errors
/// As [`crate::lab::point::Point::run`].
pub(crate) fn find(ready: &Ready, pair: &Pair) -> Result<Option<Limit>, Fail> {
    let Some(asked) = ready.search() else { return Ok(None) };
    let line = Search { full: ready.ports.most_gbps(ready.server.nic.port_gbps), ..asked };
    let points = ready.points("rxbisect", model::Start::Empty)?;
    let Some(point) = points.first() else { return Ok(None) };
    let wire = asked.full.min(line.full) / pair.full.report.offered_gbps.max(1e-9);
    let no_drop = match pair.full.no_drop_gbps {
        // The search at the asked rate ended below it: it has found the limit already.
        Some(gbps) if gbps < 0.99 * pair.full.report.offered_gbps => gbps,
        _ => {
            let bar = bar::progress(line.trials(), "looking for what breaks");
            search::edge(point, &line, || bar.inc(1))?.no_drop_gbps
        }
    };
    let step = line.full * line.resolution_pct / 100.0;
    let rate = (no_drop * wire + step).min(line.full);
    let report = search::trial(point, rate, &line)?;
    let machine = Machine::of(&ready.server, ready.tx_ring());
    let contender =
        Contender { interface: "rxbisect", report: &report, pauses: true, posted: pair.full.posted_buffers };
    let busiest = report.per_core.iter().map(|c| c.busy_pct).fold(0.0, f64::max);
    let resource = |name, used, whole, unit| Resource { name, used, whole, unit };
    let used = vec![
        resource("busiest core", busiest, 100.0, "% of time"),
        resource("I/O working set, of DDIO", report.io_working_set_mib, machine.ddio_mib, "MiB"),
        resource("DRAM", dram(&report), machine.dram_peak_gbps, "Gbps"),
        resource("transmit ring", report.tx_ring_mean, machine.tx_ring, "entries"),
    ];
    let breaks_gbps = (!search::clean(&report)).then_some(report.offered_gbps);
    Ok(Some(Limit { breaks_gbps, diagnosis: diagnose(&machine, &contender, &contender), used }))
}
