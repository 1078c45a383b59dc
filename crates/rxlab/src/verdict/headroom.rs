//! How far rows carry that nothing tells apart at the load asked for.

use model::profile::NicKind;

use crate::fail::Fail;
use crate::lab::jobs::Job;
use crate::lab::search::{self, Search};
use crate::lab::setup::Ready;
use crate::show::bar;
use crate::verdict::decide::{Carries, Verdict};

/// The load that leaves no room, of line rate.
const CLOSE: f64 = 0.97;

/// How much more those carry that nothing tells apart at the load asked for: none where somebody wins, nobody carries
/// it, or line rate leaves no room.
///
/// # Errors
/// A trial that the model refuses.
pub(crate) fn headroom(ready: &Ready, jobs: &[Job], verdict: &Verdict) -> Result<Vec<(String, f64)>, Fail> {
    let Some(asked) = ready.search() else { return Ok(Vec::new()) };
    let line = match ready.server.nic.kind {
        NicKind::Card => ready.ports.most_gbps(ready.server.nic.port_gbps),
        // It has none, and a search over what it never reaches has coarse steps.
        NicKind::Core => 2.0 * asked.full,
    };
    let level: Vec<&Job> = verdict
        .carries
        .iter()
        .zip(jobs)
        .filter(|(s, _)| !s.left_out && s.carries == Carries::Yes)
        .map(|(_, job)| job)
        .collect();
    if verdict.winner.is_some() || level.len() < 2 || asked.full > CLOSE * line {
        return Ok(Vec::new());
    }
    let search = Search { full: line, ..asked };
    let bar = bar::progress(level.len() as u64 * search.trials(), "looking for more load");
    let found = level.iter().map(|job| {
        let Some(point) = job.full.first() else { return Ok((job.label.clone(), 0.0)) };
        Ok((job.label.clone(), search::edge(point, &search, || bar.inc(1))?.no_drop_gbps))
    });
    let found = found.collect();
    bar.finish_and_clear();
    found
}
