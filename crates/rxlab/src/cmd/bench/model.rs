//! `rxlab bench model`: how fast the model simulates.

use std::time::Instant;

use clap::Args;
use memory::Ps;
use model::Start;
use serde::Serialize;

use crate::cmd::bench::check_repeats;
use crate::fail::Fail;
use crate::lab::setup::Setup;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Options of `bench model`.
#[derive(Args, Debug)]
pub(crate) struct ModelBench {
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
pub(crate) fn run(options: ModelBench) -> Result<(), Fail> {
    check_repeats(options.repeats)?;
    let sampling = options.setup.sampling;
    let ready = Setup { placements: 1, ..options.setup }.ready()?;
    let points = ready.points(&options.interface, Start::Full)?;
    let Some(point) = points.into_iter().next() else {
        return Err(Fail::new("--placements 0: allowed: at least 1"));
    };
    // However long that takes: `--limit-ms` bounds the warm-up.
    let point = point.with(|s| (s.frames, s.limit) = (options.packets, Ps(u64::MAX)));
    let bar = bar::rounds(u64::from(options.repeats), "simulating");
    let mut runs = Vec::new();
    for _ in 0..options.repeats {
        let (packets, wall_s) = timed(|| point.run_anew().map(|r| r.packets))?;
        runs.push((packets, wall_s));
        bar.inc(1);
    }
    bar.finish_and_clear();
    runs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (packets, wall_s) = runs[runs.len() / 2];
    let speed = Speed {
        scenario: ready.command(&point.interface),
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
