//! The command line as clap reads it.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::cmd::Command;
use crate::fail::Fail;
use crate::show::out;

/// The version, and the commit that a release build is of.
pub(super) const VERSION: &str = env!("RXLAB_VERSION");

/// Which receive interface, which ring sizes, how many buffers, and why do I drop?
#[derive(Parser, Debug)]
#[command(
    name = "rxlab",
    version = VERSION,
    after_help = "\
Examples:
  rxlab compare --pcap capture.pcap --html report.html
  rxlab advise --server rxbisect-testbed --ports 2 --cores 16 --app nat
  rxlab trace capture.pcap
  rxlab experiment run rxbisect/fig2
Errors are one line on stderr, with exit code 2; a condition of --fail-if that is met is one, with exit code 1."
)]
pub(crate) struct Cli {
    /// Run all anew. Otherwise what this program has run before is read from ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
    #[arg(long, global = true)]
    pub(super) no_cache: bool,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Reads a command line, the program's name first. A negative number is a value, to be refused by the option that it is
/// given to.
pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from(words)?)
}

/// The whole command line.
pub(crate) fn command() -> clap::Command {
    numbers(Cli::command())
}

/// The same command, and its subcommands, that take what looks like a negative number as a value.
fn numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(numbers)
}

/// What clap refuses: help and version as they are, everything else in one line.
pub(super) fn refused(error: &clap::Error) -> Result<(), Fail> {
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
