//! The subcommands, a file or a folder each, named as they are called.

mod advise;
mod bench;
mod calibrate;
mod compare;
mod experiment;
mod fit;
mod flow;
mod link;
mod live;
mod loopback;
mod manual;
mod profile;
mod queue;
mod rules;
mod schema;
mod tcp;
mod trace;
mod why;
pub(crate) mod words;

use clap::Subcommand;

use crate::fail::Fail;
use crate::verdict::fail_if::Outcome;

/// What rxlab is asked for.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Compare receive interfaces on a described server under a traffic
    Compare(compare::Compare),
    /// Size the rings of a server by the guidelines, checked in the model
    Advise(advise::Advise),
    /// Show what is in a capture
    Trace(trace::Options),
    /// Run a capture through a file of flow rules, as testpmd takes them
    Flow(flow::Options),
    /// Run a published figure again and judge its claims
    Experiment(experiment::Experiment),
    /// Fit the assumed constants of servers to published claims, or predict claims that are left out
    Fit(fit::Options),
    /// Run the rings between real threads on this machine
    Live(live::Options),
    /// Measure this program itself
    Bench(bench::Bench),
    /// Measure this machine's primitives as a profile for the model
    Calibrate(calibrate::Options),
    /// TCP between two hosts through a modelled router
    Tcp(tcp::Tcp),
    /// One queue for all servers against one for each: simulated, and in exact theory
    Queue(queue::Queue),
    /// What operations on the rules of a NIC cost a core
    Rules(rules::Rules),
    /// What a coherent link costs in the model: accesses, ping-pong, streams, stores to a card
    Link(link::Link),
    /// Frames there and back over a coherent NIC or a card, in the model: rate, latency, what crosses the link
    Loopback(loopback::Loopback),
    /// Ask a running DPDK program why it drops frames
    Why(why::Options),
    /// Show the described servers
    Profile(profile::Profile),
    /// Show the JSON Schema of what a command writes with --json
    Schema(schema::Schema),
    /// Write the manual's pages and what shells complete commands by
    Manual(manual::Manual),
}

impl Command {
    /// Runs it; `program` is the command line that it is one of.
    ///
    /// # Errors
    /// What is told in one line, with exit code 2.
    pub(crate) fn run(self, program: &clap::Command) -> Result<Outcome, Fail> {
        match self {
            Command::Compare(options) => return compare::run(options),
            Command::Experiment(options) => return experiment::run(options),
            Command::Advise(options) => advise::run(options),
            Command::Trace(options) => trace::run(&options),
            Command::Flow(options) => flow::run(&options),
            Command::Fit(options) => fit::run(&options),
            Command::Live(options) => live::run(options),
            Command::Bench(options) => bench::run(options),
            Command::Calibrate(options) => calibrate::run(options),
            Command::Tcp(options) => tcp::run(&options),
            Command::Queue(options) => queue::run(&options),
            Command::Rules(options) => rules::run(&options),
            Command::Link(options) => link::run(&options),
            Command::Loopback(options) => loopback::run(&options),
            Command::Why(options) => why::run(&options),
            Command::Profile(options) => profile::run(options),
            Command::Manual(options) => manual::run(&options, program),
            Command::Schema(options) => schema::run(&options, program),
        }?;
        Ok(Outcome::Done)
    }
}
