//! The best ring size of an interface under the load asked for, by a quick search.

use model::Start;
use rayon::prelude::*;
use rings::{Interface, Written};

use crate::fail::Fail;
use crate::lab::interfaces;
use crate::lab::search::{self, Search};
use crate::lab::setup::Ready;
use crate::verdict::probe::{self, Probe};

/// The parameter whose best value is searched, of interfaces with one ring size.
const RING: &str = "ring";
/// Larger rings are tried only where they are asked for: they are what falls out of the cache.
const LARGEST: u32 = 4096;
/// Latencies that are level with the least, and no-drop rates with the largest, in parts of it.
const LEVEL: f64 = 1.1;
/// Sizes whose no-drop rate is searched where none carries the load, and how finely, percent.
const SEARCHED: usize = 2;
const COARSE_PCT: f64 = 4.0;

/// What `--best` says.
///
/// # Errors
/// Names what is allowed.
pub(crate) fn asked(names: &[String]) -> Result<Vec<&str>, Fail> {
    let all = Interface::usual();
    let sized = all.iter().filter(|one| matches!(interfaces::rings(one)[..], [(RING, _)]));
    let sized: Vec<&str> = sized.map(Interface::name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|n| *n != "none").collect();
    match names.iter().find(|n| !sized.contains(n)) {
        Some(name) => Err(Fail::new(format!("--best {name}: allowed: {}, none", sized.join(", ")))),
        None => Ok(names),
    }
}

/// Whether the size of an interface is one that `--best`, as [`asked`], wants to see at its best. One that is said with
/// the interface is wanted as it is.
pub(crate) fn wanted(best: &[&str], written: &Written) -> bool {
    best.contains(&written.about().name) && !written.says(RING)
}

/// What the row of the best size is called, beside one of the size asked for that is called `label`.
pub(crate) fn label(label: &str, ring: u32) -> String {
    let mark = if label.contains(':') { ',' } else { ':' };
    format!("{label}{mark}{RING}={ring}")
}

/// The size with which `interface` does best; `None` where that is the size asked for.
///
/// # Errors
/// A run that the model refuses.
pub(crate) fn ring(ready: &Ready, interface: &str) -> Result<Option<u32>, Fail> {
    let now = ready.ring();
    let nic = &ready.server.nic;
    let (least, most) = (nic.min_ring, nic.max_ring.min(LARGEST.max(now)));
    let sizes: Vec<u32> = (0..u32::BITS).map(|bit| 1 << bit).filter(|n| (least..=most).contains(n)).collect();
    let setups: Vec<Ready> = sizes.iter().map(|&ring| ready.resized(|s| s.ring = ring)).collect();
    let probes = probe::all(&setups.iter().map(|s| (s, interface)).collect::<Vec<_>>(), "trying ring sizes")?;
    let able: Vec<(&u32, &Probe)> = sizes.iter().zip(&probes).filter(|(_, p)| p.carries).collect();
    let least = able.iter().map(|(_, p)| p.latency_p99_us).fold(f64::INFINITY, f64::min);
    let level: Vec<u32> =
        able.iter().filter(|(_, p)| p.latency_p99_us <= LEVEL * least).map(|(n, _)| **n).collect();
    // Of level ones the size asked for, otherwise the largest: it holds the longest bursts.
    if let Some(largest) = level.last() {
        return Ok(Some(*largest).filter(|_| !level.contains(&now)));
    }
    let mut most_sent: Vec<usize> = (0..sizes.len()).collect();
    most_sent.sort_by(|a, b| sent(&probes[*b]).total_cmp(&sent(&probes[*a])));
    // Large rings lose less to bursts and pauses, and send less: the one asked for and the largest are tried as well.
    most_sent.truncate(SEARCHED);
    let others = [sizes.iter().position(|n| *n == now), sizes.len().checked_sub(1)];
    most_sent.extend(others.into_iter().flatten());
    most_sent.sort_unstable();
    most_sent.dedup();
    let edges: Vec<Result<(f64, u32), Fail>> = most_sent
        .par_iter()
        .map(|&i| {
            let point = setups[i].points(interface, Start::Full)?.into_iter().next();
            let search = setups[i].search().map(|s| Search { resolution_pct: COARSE_PCT, ..s });
            let edge =
                point.zip(search).map(|(point, search)| search::edge(&point, &search, || ())).transpose()?;
            Ok((edge.map_or_else(|| sent(&probes[i]), |e| e.no_drop_gbps), sizes[i]))
        })
        .collect();
    let edges = edges.into_iter().collect::<Result<Vec<_>, _>>()?;
    let most = edges.iter().map(|e| e.0).fold(0.0, f64::max);
    let level: Vec<u32> = edges.iter().filter(|e| LEVEL * e.0 >= most).map(|e| e.1).collect();
    // Of level ones the size asked for, otherwise the smallest: it fits the cache best.
    Ok(level.first().copied().filter(|_| !level.contains(&now)))
}

fn sent(p: &Probe) -> f64 {
    p.report.throughput_gbps
}
