//! Verdicts of made-up runs. What is made up is said here; what is decided, in the modules.

mod diagnoses;
mod ranking;
mod sentences;

use std::collections::BTreeMap;

use apps::Fate;
use model::{CoreReport, Counted, Dram, Latency, Report};
use rings::{Outcome, Today};

use super::*;
use crate::lab::interfaces;
use crate::lab::row::middle;
use crate::lab::search::Edge;

const RING_FULL: Fate = Fate::Card(Outcome::RingFull);
const NO_BUFFER: Fate = Fate::Card(Outcome::NoBuffer);
const NIC_BUFFER_FULL: Fate = Fate::Card(Outcome::NicBufferFull);
const BAD_FRAME: Fate = Fate::Card(Outcome::BadFrame);

const MACHINE: Machine = Machine {
    ddio_mib: 4.0,
    llc_mib: 22.0,
    dram_peak_gbps: 750.0,
    tx_ring: 1024.0,
    ghz: 2.0,
    cores: 16,
    pause_us: 55.0,
};

/// 16 cores that are asked for `busy_pct` of their time, nothing dropped, 1000 cycles per frame.
fn calm(throughput: f64, busy_pct: f64) -> Report {
    let core =
        |core| CoreReport { core, mpps: busy_pct / 50.0, busy_pct, ring_mean: 4.0, ..CoreReport::default() };
    let per_core: Vec<CoreReport> = (0..16).map(core).collect();
    let frames = per_core.iter().map(|c| (c.mpps * 1e3).round() as u64).sum();
    Report {
        offered_gbps: 197.0,
        throughput_gbps: throughput,
        latency_us: Latency { mean: 20.0, p99: 40.0, ..Latency::default() },
        ddio_hit_pct: 99.0,
        dram_gbps: Dram { read: 20.0, write: 10.0 },
        io_working_set_mib: 3.0,
        circulating_buffers: 1000.0,
        cycles_per_packet: 1000.0,
        counted: Counted { offered: frames, sent: frames, ..Counted::default() },
        per_core,
        measured_s: 0.001,
        ..Report::default()
    }
}

/// `r` and `n` frames more, which drop on the way to `cores`.
fn dropping(mut r: Report, cause: Fate, n: u64, cores: std::ops::Range<usize>) -> Report {
    r.drops.insert(cause, n);
    r.drop_pct = 20.0;
    (r.counted.offered, r.counted.dropped) = (r.counted.offered + n, r.counted.dropped + n);
    let each = n / cores.len() as u64;
    for core in &mut r.per_core[cores] {
        core.drops = each;
    }
    r
}

/// 1.6 M frames per second and core, and 0.1 M dropped: 1.36 of the time at 1600 cycles, 0.85 at 1000.
fn leaking() -> Report {
    let mut r = dropping(calm(160.0, 80.0), RING_FULL, 1600, 0..16);
    (r.ddio_hit_pct, r.io_working_set_mib, r.cycles_per_packet) = (35.0, 24.0, 1600.0);
    r.dram_gbps = Dram { read: 150.0, write: 100.0 };
    r
}

/// Cores that have too little time: `lost` of 25 600 frames drop.
fn overloaded(lost: u64) -> Report {
    dropping(calm(150.0, 100.0), RING_FULL, lost, 0..16)
}

/// Frames behind later ones of their flow, percent.
fn reordering(mut r: Report, pct: f64) -> Report {
    r.reordering = Some(BTreeMap::from([("flow_reordered_pct", pct)]));
    r
}

fn row(label: &str, start: &'static str, report: &Report) -> Row {
    let (report, range) = middle(vec![report.clone()], &[]).unwrap();
    let interface = label.split(':').next().unwrap().to_string();
    Row {
        today: interfaces::one(&interface).map_or(Today::No, |one| one.about().today),
        written: interface.clone(),
        interface,
        label: label.into(),
        params: BTreeMap::new(),
        start,
        no_drop_gbps: None,
        report,
        range,
        placements: 1,
        other_arrivals: 0,
        posted_buffers: 16 * 1024,
        reproduce: String::new(),
    }
}

/// One run from empty and one from full rings that found the same; nothing was searched.
fn pair(label: &str, report: &Report) -> Pair {
    Pair {
        empty: row(label, "empty", report),
        full: row(label, "full", report),
        runs: vec![report.clone()],
        edge: None,
        trials: Vec::new(),
    }
}

/// The same with a search that found `no_drop_gbps`, above which frames drop as in `refused`; a row that loses
/// nothing at the load asked for passed the trial there.
fn searched(p: Pair, no_drop_gbps: f64, refused: Option<Report>) -> Pair {
    let full = Row { no_drop_gbps: Some(no_drop_gbps), ..p.full };
    let trials = vec![refused.is_none()];
    let carried = (no_drop_gbps > 0.0).then(|| calm(no_drop_gbps, 50.0));
    Pair { full, edge: Some(Edge { no_drop_gbps, wire_gbps: no_drop_gbps, carried, refused }), trials, ..p }
}

/// The same with another range of `field` over placements and arrivals.
fn ranged(mut p: Pair, field: &'static str, range: [f64; 2]) -> Pair {
    p.full.range.insert(field, range);
    p
}

/// The same with a run under other arrivals that loses frames.
fn unsure(mut p: Pair) -> Pair {
    p.runs.push(overloaded(16));
    p
}

/// Decides with trials under other arrivals that end as `confirmed` says.
fn judged_as(pairs: &[Pair], order: Order, confirmed: bool) -> Verdict {
    decide(&MACHINE, pairs, order, 1.0, |_, _| Ok(confirmed)).unwrap().unwrap()
}

/// Decides where no trial under other arrivals is called for.
fn judged(pairs: &[Pair]) -> Verdict {
    let asked = |_: &Pair, _: &Pair| panic!("nobody needs to confirm this");
    decide(&MACHINE, pairs, Order::Strict, 1.0, asked).unwrap().unwrap()
}

fn winner(v: &Verdict) -> (Option<&str>, &str) {
    (v.winner.as_deref(), v.decided_by)
}
