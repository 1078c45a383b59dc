//! `rxlab calibrate`: the primitives of this machine, measured, as a profile for the model. No ring and
//! no driver takes part.

mod bed;
mod copy;
mod latency;
mod lines;
mod machine;
mod measure;
mod pass;
mod predict;
mod values;
mod work;

use std::path::PathBuf;

use clap::Args;
use model::profile::Server;

use crate::fail::Fail;
use crate::show::file::Target;
use crate::show::out;
use crate::show::stamp;
use bed::Cpus;
use measure::{Measured, counts, measure, report};
use pass::Pool;

/// Options of `calibrate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab calibrate --out here.toml --predict
  rxlab calibrate --from here.toml --predict --json
  rxlab profile show here.toml

Run nothing else meanwhile. A virtual machine's CPUs move: before, between and after the measurements of a round
lines that go from one to the other place it. A line that the other wrote comes to a sibling within 10 ns; cores
under one LLC take up to 280 ns (AMD: 130) for a round trip, those far apart more. Rounds of the most frequent placement
count, and values are their medians; a prediction holds for that placement. Work in L1 is timed while both CPUs
do it: siblings share a core's units. What only one of them does live counts as that one does it: a guest's CPU may share
its core with another guest. dpdk/bench/predictions.py compares with the driver, point by point.")]
pub(crate) struct Options {
    /// The CPU that receives and the one that plays the NIC [default: the first two]
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    cpus: Vec<usize>,
    /// Rounds, each of all measurements
    #[arg(long, value_name = "N", default_value_t = 11)]
    rounds: u32,
    /// Frames in buffers in no order, as in programs that have run for long; a new pool has them one behind the other
    #[arg(long, conflicts_with = "from")]
    mixed: bool,
    /// Write the profile to this file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    out: Option<PathBuf>,
    /// Measure nothing: take this profile
    #[arg(long, value_name = "FILE", requires = "predict")]
    from: Option<String>,
    /// What the model predicts for each interface: a NIC on one core, a receiver on the other
    #[arg(long)]
    predict: bool,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, or a system that does not let us measure.
pub(crate) fn run(options: Options) -> Result<(), Fail> {
    if let Some(name) = &options.from {
        let server = Server::by_name(name).map_err(|e| Fail::new(format!("--from: {e}")))?;
        let predictions = predict::all(&server)?;
        return if options.json {
            out::json(&serde_json::json!({"profile": server.name, "predictions": predictions}))
        } else {
            out::print(&predict::table(&predictions).text(out::colour()))
        };
    }
    let target = Target::asked("--out", options.out.as_deref(), &[])?;
    if !(1..=1000).contains(&options.rounds) {
        return Err(Fail::new(format!("--rounds {}: allowed: 1 to 1000", options.rounds)));
    }
    let cpus = Cpus::new(&options.cpus)?;
    let sizes = machine::Sizes::of(cpus.here);
    let pool = if options.mixed { Pool::Mixed } else { Pool::New };
    let measured = measure(cpus, sizes, pool, options.rounds)?;
    let mixed = if options.mixed { ", a mixed pool" } else { "" };
    let origin = format!("{}, {}, {}{mixed}", stamp::now().date(), machine::class(), measured.placed.name());
    let server = machine::server(&measured.values, sizes, measured.placed, &origin)?;
    let text = server.text().map_err(Fail::new)?;
    let predictions = if options.predict { predict::all(&server) } else { Ok(Vec::new()) };
    let shown = predictions.and_then(|predictions| show(&options, &measured, &server, &predictions, &text));
    shown.and(target.map_or(Ok(()), |target| target.write(&text)))
}

fn show(
    options: &Options,
    measured: &Measured,
    server: &Server,
    predictions: &[predict::Prediction],
    text: &str,
) -> Result<(), Fail> {
    if options.json {
        return out::json(&serde_json::json!({
            "placement": measured.placed,
            "rounds": counts(measured),
            "mixed": options.mixed,
            "large_pages": measured.large_pages,
            "values": measured.values,
            "profile": server,
            "predictions": predictions,
        }));
    }
    let mut lines = report(measured);
    if options.predict {
        lines += &format!("\n{}", predict::table(predictions).text(out::colour()));
    }
    if options.out.is_none() && !options.predict {
        lines += &format!("\n{text}");
    }
    out::print(&lines)
}
