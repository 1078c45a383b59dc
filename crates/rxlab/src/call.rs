//! The two ways in: a command line, and a call from another program.

mod cli;

use std::any::Any;
use std::ffi::OsString;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rayon::ThreadPoolBuilder;

use crate::cmd::words;
use crate::fail::Fail;
use crate::lab::kept;
use crate::show::caller::{self, Caller, Heard};
use crate::show::{out, schema as schemas};
use crate::verdict::fail_if::Outcome;

/// Stack of a thread that runs commands: that of a program's first thread.
const STACK: usize = 8 << 20;

/// The program: its command line, its output, its exit code.
pub fn main() -> ExitCode {
    let done = match cli::parse(std::env::args_os()) {
        Ok(cli) => {
            if !cli.no_cache {
                kept::keep();
            }
            cli.command.run(&cli::command())
        }
        Err(error) => cli::refused(&error).map(|()| Outcome::Done),
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

/// What a program asks for.
pub struct Asked {
    /// The command line behind the program's name.
    pub words: Vec<OsString>,
    /// Threads that it may take; all CPUs' without. Results do not depend on it.
    pub threads: Option<usize>,
    /// Hears how far the command is, from any of those threads.
    pub heard: Heard,
    /// Set to end the command: it ends after the runs of the model that are under way.
    pub stop: Arc<AtomicBool>,
    /// The file that this code was loaded from: its bytes name the version to which kept runs belong.
    pub program: Option<PathBuf>,
}

/// What a command said.
pub struct Answer {
    /// What it printed: with `--json` a JSON document.
    pub printed: String,
    /// What it noted beside that.
    pub notes: Vec<String>,
    /// The condition of `--fail-if` that is met, if one is.
    pub met: Option<String>,
}

/// Why a command has no answer.
#[derive(Debug)]
pub enum Ended {
    /// What was wrong, where, and what is allowed, in one line.
    Refused(String),
    /// The caller wanted it to end.
    Stopped,
    /// A fault of this program.
    Died(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Refused(what) => f.write_str(what),
            Ended::Stopped => f.write_str("stopped"),
            Ended::Died(what) => write!(f, "a fault of rxlab itself: {what}"),
        }
    }
}

impl std::error::Error for Ended {}

/// Runs a command.
///
/// # Errors
/// As [`Ended`] tells.
pub fn call(asked: Asked) -> Result<Answer, Ended> {
    let Asked { words, threads, heard, stop, program } = asked;
    let cli = cli::parse(std::iter::once(OsString::from("rxlab")).chain(words));
    let cli = cli.map_err(|error| Ended::Refused(Fail::usage(&error).to_string()))?;
    let caller = Arc::new(Caller::new(heard, stop, program, !cli.no_cache));
    let served = Arc::clone(&caller);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or_default())
        .stack_size(STACK)
        .thread_name(|i| format!("rxlab-{i}"))
        .start_handler(move |_| caller::serve(Arc::clone(&served)))
        .build()
        .map_err(|e| Ended::Refused(format!("threads: {e}")))?;
    let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| cli.command.run(&cli::command()))));
    let (printed, notes) = caller.said();
    match done {
        Err(fault) => Err(Ended::Died(told(fault.as_ref()))),
        Ok(Err(_)) if caller.stops() => Err(Ended::Stopped),
        Ok(Err(fail)) => Err(Ended::Refused(fail.to_string())),
        Ok(Ok(Outcome::Done)) => Ok(Answer { printed, notes, met: None }),
        Ok(Ok(Outcome::Met(what))) => Ok(Answer { printed, notes, met: Some(what) }),
    }
}

/// Every command with its options, as JSON: what a program needs to write command lines.
pub fn words() -> String {
    words::all(&cli::command())
}

/// The JSON Schema of what `command` writes with `--json`.
///
/// # Errors
/// It writes none.
pub fn schema(command: &str) -> Result<String, Ended> {
    schemas::of(command).map(|schema| schema.to_string()).map_err(|fail| Ended::Refused(fail.to_string()))
}

#[cfg(test)]
pub(crate) use cli::command;

/// The version, and the commit that it was built from.
pub fn version() -> &'static str {
    cli::VERSION
}

/// What a panic said.
fn told(fault: &(dyn Any + Send)) -> String {
    let text = fault.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| fault.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it does not say what".into())
}
