//! rxlab: which receive interface, which ring sizes, how many buffers, and why do I drop?
//!
//! `cmd` has a file for each subcommand. Below it are the rooms that commands share, from the top floor down: `paper`
//! (published figures), `verdict` (what results mean), `lab` (what is run, and what it finds), `detect` (a machine's files
//! as a profile), `cpus` (two CPUs of this machine), `show` (text, JSON, pages, files). A room knows only rooms below it.

mod cmd;
mod cpus;
mod detect;
mod fail;
mod lab;
mod paper;
mod show;
mod verdict;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};
use cmd::Command;
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
    /// Run all anew. Otherwise what this program has run before is read from ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
    #[arg(long, global = true)]
    no_cache: bool,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let done = match parse() {
        Ok(cli) => {
            if !cli.no_cache {
                lab::kept::keep();
            }
            cli.command.run()
        }
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
