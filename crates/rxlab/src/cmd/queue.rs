//! `rxlab queue`: one queue for all servers against one for each, simulated and in exact theory.

use clap::Args;
use queueing::theory::Theory;

use crate::fail::Fail;
use crate::lab::queues::Options;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Options of `queue`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab queue --servers 8 --load 0.9
  rxlab queue --layout split --service deterministic --load 0.8 --json

Arrivals are Poisson, queues first come, first served; the unit of time is the mean service time.")]
pub(crate) struct Queue {
    #[command(flatten)]
    options: Options,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// A value that is not allowed.
pub(crate) fn run(queue: &Queue) -> Result<(), Fail> {
    let options = &queue.options;
    let system = options.system()?;
    let bar = bar::working("simulating");
    let found = options.measure()?;
    bar.finish_and_clear();
    let value = |name: &str| found.value(name);
    if queue.json {
        return out::json(&found.data());
    }
    let exact = Theory::new(&system);
    let mut table = Table::new(&[
        words("time in the system"),
        number("simulated", "service times"),
        number("95% interval", "+- %"),
        number("theory", "service times"),
        number("distance", "%"),
    ]);
    for (name, exact, what) in [("mean", exact.mean(), "mean"), ("p99", exact.percentile(0.99), "p99")] {
        let cells = [format!("sojourn_{name}"), format!("{name}_ci_pct"), format!("{name}_off_pct")];
        let [found, interval, off] = cells.map(|field| num(value(&field)));
        table.rows.push(vec![what.into(), found, interval, num(exact), off]);
    }
    out::print(&format!("{}\n{} customers, seed {}\n", table.text(false), value("customers"), options.seed))
}
