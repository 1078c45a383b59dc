//! `rxlab advise`: ring sizes for a server and a traffic, with reasons, checked in the model.
//!
//! `guideline` computes sizes from the server alone, `refine` walks from there in the model, `limit` finds what
//! breaks first, `show` prints all of it.

mod flows;
mod guideline;
mod limit;
mod refine;
mod show;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::fail::Fail;
use crate::lab::jobs::{self, Job, Pair};
use crate::lab::setup::{Ready, Setup};
use crate::lab::span;
use crate::show::file::Target;
use crate::show::html;
use crate::show::out;
use crate::verdict::confirm;
use crate::verdict::decide::{Order, Verdict};
use crate::verdict::diagnosis::Machine;
use crate::verdict::robust::{self, Asked, Robust};
use guideline::{Guideline, Sizes};
use limit::Limit;
use refine::{Score, choose, powers, refine};

/// Options of `advise`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab advise --server rxbisect-testbed --ports 2 --cores 16
  rxlab advise --cores 8 --ports 1 --app nat --pcap capture.pcap --html advice.html
  rxlab advise --cores 8 --ports 1 --app l3fwd --uncertainty
  rxlab advise flows --rules 1000000 --rate 36000
  rxlab advise --cores 4 --ports 1 --workload imix,flows=100k,arrivals=bursty:64 --rate 40 --json

The guidelines of the rxBisect paper (section 4.5) give |Bx| and |Ax|; the model then tries the sizes around
them and a grid of all, four times apart and up to the largest, under the traffic (one placement each), and goes
where one is better by more than 1%, in the worse of no-drop rate and throughput from full rings. The advice and
the best rings of privring and shring, of all sizes that the device takes, then run as in `compare`. --ring, --ax,
--bx, --pool and --emulated are not allowed.")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Advise {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    setup: Setup,
    /// Draw the assumed and fitted constants of the server N times within their spreads, as compare does: how often the
    /// advice stays ahead
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = robust::DRAWS)]
    uncertainty: Option<u32>,
    /// Write a report with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// What else there is advice on.
#[derive(Subcommand, Debug)]
enum What {
    /// Rules in a NIC's tables: does it pay, in which tables, changed by which core
    Flows(flows::Flows),
}

/// The rings of one entry size that are compared with the advice.
const OTHERS: [&str; 2] = ["privring", "shring"];

/// Everything that `advise` found.
struct Advice {
    ready: Ready,
    guideline: Guideline,
    sizes: Sizes,
    /// What the walk tried.
    tried: BTreeMap<Sizes, Score>,
    /// The same for the rings of each of [`OTHERS`].
    swept: Vec<BTreeMap<u32, Score>>,
    /// `rxbisect` as advised, then the others with their best rings.
    pairs: Vec<Pair>,
    verdict: Verdict,
    /// What breaks first; `None` where a capture has its own timing.
    limit: Option<Limit>,
    /// What becomes of the verdict where constants are others.
    robust: Option<Robust>,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, a file that cannot be used.
pub(crate) fn run(options: Advise) -> Result<(), Fail> {
    if let Some(What::Flows(flows)) = &options.what {
        return flows::run(flows);
    }
    let target = Target::asked("--html", options.html.as_deref(), &options.setup.inputs())?;
    chosen_here(&options.setup)?;
    let ready = options.setup.ready()?;
    if ready.server.caches.ddio_ways == 0 {
        let name = &ready.server.name;
        return Err(Fail::new(format!(
            "--server {name}: its cards write to DRAM, and the guidelines are those of DDIO; allowed: a server with ways for DDIO, --ddio-ways N"
        )));
    }
    let advice = advise(&ready, options.uncertainty)?;
    let shown = if options.json { out::json(&show::data(&advice)) } else { out::print(&show::text(&advice)) };
    html::deliver(shown, target.as_ref(), || show::report(&advice))
}

/// Refuses options for what is found here.
fn chosen_here(asked: &Setup) -> Result<(), Fail> {
    let plain = Setup::parse(&[])?;
    let sizes = [
        ("--ring", asked.ring, plain.ring),
        ("--ax", asked.ax, plain.ax),
        ("--bx", asked.bx, plain.bx),
        ("--pool", asked.pool.unwrap_or(0), 0),
    ];
    if let Some((flag, n, _)) = sizes.into_iter().find(|(_, asked, plain)| asked != plain) {
        return Err(Fail::new(format!("{flag} {n}: allowed: nothing, advise finds it")));
    }
    if asked.emulated {
        return Err(Fail::new("--emulated: allowed: with compare; the guidelines are those of a card"));
    }
    Ok(())
}

fn advise(ready: &Ready, draws: Option<u32>) -> Result<Advice, Fail> {
    let guideline = Guideline::new(&ready.server, &ready.ports.cores);
    let (sizes, tried) = refine(guideline.sizes, guideline.device, |all| measure(ready, all))?;
    let mut best = vec![("rxbisect", sized(ready, sizes))];
    let mut swept = Vec::new();
    for name in OTHERS {
        let scores = sweep(ready, name, guideline.device)?;
        let ring = choose(&scores, guideline.device.0);
        best.push((name, ready.resized(|s| s.ring = ring)));
        swept.push(scores);
    }
    let jobs: Vec<_> = best.iter().map(|(name, ready)| ready.job(name, true)).collect::<Result<_, _>>()?;
    let pairs = jobs::compare(&jobs, "checking")?;
    let verdict = confirm::verdict(ready, &pairs, &jobs, Order::Strict)?;
    let asked = Asked {
        jobs: &jobs,
        order: Order::Strict,
        machine: Machine::of(&ready.server, ready.tx_ring()),
        winner: verdict.winner.as_deref(),
        seed: ready.seed(),
    };
    let robust = draws.map(|draws| robust::robust(&asked, draws)).transpose()?;
    let (_, ready) = best.swap_remove(0);
    let limit = limit::find(&ready, &pairs[0])?;
    Ok(Advice { ready, guideline, sizes, tried, swept, pairs, verdict, limit, robust })
}

/// `ready` with rings of these sizes.
fn sized(ready: &Ready, sizes: Sizes) -> Ready {
    ready.resized(|s| (s.ax, s.bx) = (sizes.ax, sizes.bx))
}

/// The scores of `rxbisect` with each of these sizes.
fn measure(ready: &Ready, all: &[Sizes]) -> Result<Vec<Score>, Fail> {
    scores("rxbisect", all.iter().map(|sizes| sized(ready, *sizes)))
}

/// The scores of all rings of `interface` that the device takes.
fn sweep(ready: &Ready, interface: &str, device: (u32, u32)) -> Result<BTreeMap<u32, Score>, Fail> {
    let rings = powers(device);
    let found = scores(interface, rings.iter().map(|&ring| ready.resized(|s| s.ring = ring)))?;
    Ok(rings.into_iter().zip(found).collect())
}

/// One placement of each setup tells sizes apart; the advice runs on all of them later.
fn scores(interface: &str, setups: impl Iterator<Item = Ready>) -> Result<Vec<Score>, Fail> {
    // A short run each: how rings of these sizes lose shows early, and the search asks the rest.
    let single = |ready: Ready| -> Result<Job, Fail> {
        let job = ready.resized(|s| s.placements = 1).job(interface, true)?;
        Ok(Job { span: job.full.first().map(span::quick), ..job })
    };
    let jobs = setups.map(single).collect::<Result<Vec<_>, _>>()?;
    Ok(jobs::run(&jobs, "trying sizes")?.iter().map(score).collect())
}

fn score(pair: &Pair) -> Score {
    // What is still draining is no rate.
    let sent = pair.full.report.throughput_gbps.min(pair.full.report.offered_gbps);
    Score { no_drop: pair.full.no_drop_gbps.unwrap_or(sent), sent }
}
