//! `rxlab bench`: how fast this program itself is, and the interfaces beside others on this machine.

mod built;
mod child;
mod end;
mod flow;
mod live;
mod model;
mod peer;
mod sample;
mod tally;
mod threads;

use clap::{Args, Subcommand};

use crate::fail::Fail;

/// Options of `bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab bench model
  rxlab bench model --sampling 1 --repeats 3 --json
  rxlab bench threads --workers 3 --packets 20000000
  rxlab bench live --quick
  rxlab bench flow --rules 1000,1000000

Run nothing else meanwhile: figures are of the wall clock, the median of the repeats.")]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Packets that the model simulates per second of wall time, on one core
    Model(Box<model::ModelBench>),
    /// Frames per second of the rings between real threads, interfaces side by side
    Threads(threads::ThreadsBench),
    /// The DPDK driver's interfaces, other DPDK drivers and the machine's limits, side by side
    Live(live::LiveBench),
    /// One end of a ccnic link: what `live` starts on either CPU
    #[command(hide = true)]
    End(end::EndBench),
    /// Flow tables: look-ups beside DPDK's tables, changes, and forwarding beside changes
    Flow(flow::FlowBench),
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed.
pub(crate) fn run(options: Bench) -> Result<(), Fail> {
    match options.what {
        What::Model(options) => model::run(*options),
        What::Threads(options) => threads::run(&options),
        What::End(options) => end::run(&options),
        What::Live(options) => live::run(&options),
        What::Flow(options) => flow::run(&options),
    }
}

fn check_repeats(n: u32) -> Result<(), Fail> {
    if (1..=1000).contains(&n) {
        Ok(())
    } else {
        Err(Fail::new(format!("--repeats {n}: allowed: 1 to 1000")))
    }
}
