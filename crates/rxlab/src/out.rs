//! Where output goes: results to stdout, progress to stderr where that is a terminal.

use std::io::{ErrorKind, IsTerminal, Write, stdout};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::fail::Fail;

/// Writes results; a reader that went away is no error.
///
/// # Errors
/// stdout cannot be written.
pub(crate) fn print(text: &str) -> Result<(), Fail> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Fail::new(format!("stdout: {e}"))),
        _ => Ok(()),
    }
}

/// Writes `value` as JSON.
///
/// # Errors
/// As `print`.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Fail> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Fail::new(format!("json: {e}")))?;
    print(&(text + "\n"))
}

/// Writes an explanation to stderr, beside results.
pub(crate) fn note(text: &str) {
    // Nothing is left to tell if even stderr is gone.
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
}

/// Whether stdout may be coloured: a terminal, and NO_COLOR not set.
pub(crate) fn colour() -> bool {
    stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A bar over `n` runs; hidden where stderr is no terminal.
pub(crate) fn progress(n: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(n), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar
}
