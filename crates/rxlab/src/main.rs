//! rxlab: which receive interface, which ring sizes, how many buffers, and why do I drop?
//!
//! One file for each subcommand; `setup` and `point` say what is run, `lab` runs it, `verdict`, `diagnosis` and
//! `judge` say what it means, `table`, `plot` and `html` show it.

mod advise;
mod bench;
mod calibrate;
mod compare;
mod cpus;
mod experiment;
mod fail;
mod lab;
mod live;
mod paper;
mod profile;
mod queue;
mod schema;
mod show;
mod tcp;
mod trace;
mod verdict;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use fail::Fail;
use show::out;
use verdict::fail_if::Outcome;

/// Which receive interface, which ring sizes, how many buffers, and why do I drop?
#[derive(Parser, Debug)]
#[command(
    name = "rxlab",
    version,
    after_help = "\
Examples:
  rxlab compare --pcap capture.pcap --html report.html
  rxlab advise --server rxbisect-testbed --ports 2 --cores 16 --app nat
  rxlab trace capture.pcap
  rxlab experiment run rxbisect/fig2
Errors are one line on stderr, with exit code 2; a condition of --fail-if that is met is one, with exit code 1."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Compare receive interfaces on a described server under a traffic
    Compare(compare::Compare),
    /// Size the rings of a server by the guidelines, checked in the model
    Advise(advise::Advise),
    /// Show what is in a capture
    Trace(trace::Options),
    /// Run a published figure again and judge its claims
    Experiment(experiment::Experiment),
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
    /// Show the described servers
    Profile(profile::Profile),
    /// Show the JSON Schema of what a command writes with --json
    Schema(schema::Schema),
}

fn main() -> ExitCode {
    let done = match parse() {
        Ok(cli) => run(cli.command),
        Err(error) => refused(&error).map(|()| Outcome::Done),
    };
    match done {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Met(what)) => {
            out::note(&format!("rxlab: --fail-if: {what}"));
            ExitCode::from(1)
        }
        Err(fail) => {
            out::note(&format!("rxlab: {fail}"));
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<Outcome, Fail> {
    match command {
        Command::Compare(options) => return compare::run(options),
        Command::Experiment(options) => return experiment::run(options),
        Command::Advise(options) => advise::run(options),
        Command::Trace(options) => trace::run(&options),
        Command::Live(options) => live::run(options),
        Command::Bench(options) => bench::run(options),
        Command::Calibrate(options) => calibrate::run(options),
        Command::Tcp(options) => tcp::run(&options),
        Command::Queue(options) => queue::run(&options),
        Command::Profile(options) => profile::run(options),
        Command::Schema(options) => schema::run(&options),
    }?;
    Ok(Outcome::Done)
}

/// The command line. A negative number is a value, to be refused by the option that it is given to.
fn parse() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&numbers(Cli::command()).try_get_matches()?)
}

/// The same command, and its subcommands, that take what looks like a negative number as a value.
fn numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(numbers)
}

/// What clap refuses: help and version as they are, everything else in one line.
fn refused(error: &clap::Error) -> Result<(), Fail> {
    let text = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            out::print(&if out::colour() { text.ansi().to_string() } else { text.to_string() })
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Fail::new("a command is missing; see rxlab --help"))
        }
        _ => Err(Fail::usage(error)),
    }
}
