//! `rxlab bench`: how fast this program itself is.

use std::time::Instant;

use clap::{Args, Subcommand};
use model::Start;
use serde::Serialize;

use crate::fail::Fail;
use crate::live;
use crate::out;
use crate::point::Point;
use crate::setup::{INTERFACES, Setup};
use crate::table::{Table, num, number, words};

/// Options of `bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab bench model
  rxlab bench model --sampling 1 --repeats 3 --json
  rxlab bench live --workers 3 --packets 20000000

Run nothing else meanwhile: figures are of the wall clock, the median of the repeats.")]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Packets that the model simulates per second of wall time, on one core
    Model(ModelBench),
    /// Frames per second of the rings between real threads, interfaces side by side
    Live(LiveBench),
}

/// Options of `bench live`.
#[derive(Args, Debug)]
struct LiveBench {
    #[command(flatten)]
    what: live::What,
    /// Rounds, each of all interfaces in turn; the median of each counts
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: u32,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What `bench live` found of one interface.
#[derive(Serialize)]
struct LiveSpeed {
    interface: &'static str,
    workers: u16,
    packets: u64,
    mpps: f64,
    range: [f64; 2],
    /// Against privring in the same rounds: the median of the ratios.
    against_privring: f64,
}

/// Options of `bench model`.
#[derive(Args, Debug)]
struct ModelBench {
    #[command(flatten)]
    setup: Setup,
    /// Interface
    #[arg(long, value_name = "NAME", default_value = "privring")]
    interface: String,
    /// Frames to simulate in a run, at least
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    packets: u64,
    /// Runs, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: u32,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What `bench model` found: the run of median speed.
#[derive(Serialize)]
struct Speed {
    scenario: String,
    mode: &'static str,
    sampling: u32,
    packets: u64,
    wall_s: f64,
    packets_per_wall_s: f64,
    peak_rss_mib: f64,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed.
pub(crate) fn run(options: Bench) -> Result<(), Fail> {
    match options.what {
        What::Model(options) => model(options),
        What::Live(options) => live(&options),
    }
}

fn check_repeats(n: u32) -> Result<(), Fail> {
    if (1..=1000).contains(&n) {
        Ok(())
    } else {
        Err(Fail::new(format!("--repeats {n}: allowed: 1 to 1000")))
    }
}

fn model(options: ModelBench) -> Result<(), Fail> {
    check_repeats(options.repeats)?;
    let sampling = options.setup.sampling;
    let ready = Setup { placements: 1, ..options.setup }.ready()?;
    let points = ready.points(&options.interface, Start::Full)?;
    let Some(point) = points.into_iter().next() else {
        return Err(Fail::new("--placements 0: allowed: at least 1"));
    };
    let point = Point { frames: options.packets, ..point };
    let bar = out::progress(u64::from(options.repeats), "simulating");
    let mut runs = Vec::new();
    for _ in 0..options.repeats {
        let (packets, wall_s) = timed(|| point.run().map(|r| r.packets))?;
        runs.push((packets, wall_s));
        bar.inc(1);
    }
    bar.finish_and_clear();
    runs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (packets, wall_s) = runs[runs.len() / 2];
    let speed = Speed {
        scenario: ready.command(&options.interface),
        mode: if sampling == 1 { "exact" } else { "sampled" },
        sampling,
        packets,
        wall_s,
        packets_per_wall_s: packets as f64 / wall_s,
        peak_rss_mib: peak_rss_mib()?,
    };
    if options.json { out::json(&speed) } else { out::print(&text(&speed)) }
}

fn text(s: &Speed) -> String {
    let mut table = Table::new(&[
        words("mode"),
        number("one set in", ""),
        number("packets", ""),
        number("wall", "s"),
        number("speed", "M packets/s"),
        number("peak memory", "MiB"),
    ]);
    table.rows.push(vec![
        s.mode.into(),
        s.sampling.to_string(),
        s.packets.to_string(),
        format!("{:.3}", s.wall_s),
        num(s.packets_per_wall_s / 1e6),
        num(s.peak_rss_mib),
    ]);
    format!("{}\n{}\n", table.text(out::colour()), s.scenario)
}

/// Rounds of all interfaces in turn, so that what disturbs one disturbs its neighbours too.
fn live(options: &LiveBench) -> Result<(), Fail> {
    check_repeats(options.repeats)?;
    let configs = INTERFACES.iter().map(|i| options.what.config(i)).collect::<Result<Vec<_>, _>>()?;
    let bar = out::progress(u64::from(options.repeats) * configs.len() as u64, "running live");
    let mut rates: Vec<Vec<f64>> = configs.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.repeats {
        for (rates, config) in rates.iter_mut().zip(&configs) {
            rates.push(live::one(config)?.mpps);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let first = rates.first().cloned().unwrap_or_default();
    let speeds: Vec<LiveSpeed> = configs
        .iter()
        .zip(&rates)
        .map(|(config, rates)| LiveSpeed {
            interface: config.interface.name(),
            workers: config.workers,
            packets: config.packets,
            mpps: median(rates.clone()),
            range: rates.iter().fold([f64::INFINITY, 0.0], |[lo, hi], &r| [lo.min(r), hi.max(r)]),
            against_privring: median(rates.iter().zip(&first).map(|(r, p)| r / p).collect()),
        })
        .collect();
    if options.json {
        return out::json(&speeds);
    }
    let mut table = Table::new(&[
        words("interface"),
        number("workers", ""),
        number("rate", "Mpps"),
        number("lowest..highest", "Mpps"),
        number("against privring", ""),
    ]);
    for s in &speeds {
        let range = format!("{}..{}", num(s.range[0]), num(s.range[1]));
        table.rows.push(vec![
            s.interface.into(),
            s.workers.to_string(),
            num(s.mpps),
            range,
            num(s.against_privring),
        ]);
    }
    out::print(&table.text(out::colour()))
}

/// The middle value; NaN of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A result and the seconds of wall time that it took.
fn timed<T>(work: impl FnOnce() -> Result<T, Fail>) -> Result<(T, f64), Fail> {
    #[allow(clippy::disallowed_methods)] // A benchmark is about the wall clock.
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64()))
}

/// The most memory that this process ever held.
fn peak_rss_mib() -> Result<f64, Fail> {
    let path = "/proc/self/status";
    let text = std::fs::read_to_string(path)
        .map_err(|e| Fail::new(format!("{path}: {e}; the bench needs Linux")))?;
    let kib =
        text.lines().find_map(|l| l.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<f64>().ok());
    kib.map(|k| k / 1024.0).ok_or_else(|| Fail::new(format!("{path}: no VmHWM; the bench needs Linux")))
}
