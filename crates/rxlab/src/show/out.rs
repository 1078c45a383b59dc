//! Where output goes: results to stdout, progress to stderr where that is a terminal.

use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use serde::Serialize;

use crate::fail::Fail;
use crate::show::schema::Versioned;

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

/// Writes `value`, an object, as JSON with the version of its schema.
///
/// # Errors
/// As `print`.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Fail> {
    plain_json(&Versioned::new(value))
}

/// Writes `rows`, objects, as a JSON array; each has the version, so that the array stays one.
///
/// # Errors
/// As `print`.
pub(crate) fn json_rows(rows: &[impl Serialize]) -> Result<(), Fail> {
    plain_json(&rows.iter().map(Versioned::new).collect::<Vec<_>>())
}

/// Writes `value` as JSON, as it is.
///
/// # Errors
/// As `print`.
pub(crate) fn plain_json(value: &impl Serialize) -> Result<(), Fail> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Fail::new(format!("json: {e}")))?;
    print(&(text + "\n"))
}

/// Writes `value` as a line of JSON, for another program that waits for it.
///
/// # Errors
/// As `print`.
pub(crate) fn line(value: &impl Serialize) -> Result<(), Fail> {
    let text = serde_json::to_string(value).map_err(|e| Fail::new(format!("json: {e}")))?;
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

/// A bar over `n` runs of the model or the like; as all bars hidden where stderr is no terminal, and gone when dropped.
pub(crate) fn progress(n: u64, what: &'static str) -> ProgressBar {
    alive(bar(Some(n), what, "{msg} {wide_bar} {pos}/{len} {elapsed}"), Duration::from_millis(200))
}

/// A bar over `n` measurements of this machine, with no thread of its own that would take time from them.
pub(crate) fn rounds(n: u64, what: &'static str) -> ProgressBar {
    bar(Some(n), what, "{msg} {wide_bar} {pos}/{len} {elapsed}")
}

/// A bar over `n` runs of threads on this machine, which a tick a second does not hold up.
pub(crate) fn live(n: u64, what: &'static str) -> ProgressBar {
    alive(rounds(n, what), Duration::from_secs(1))
}

/// A bar over so many bytes.
pub(crate) fn bytes(n: u64, what: &'static str) -> ProgressBar {
    bar(Some(n), what, "{msg} {wide_bar} {bytes}/{total_bytes} {elapsed}")
}

/// The time since the start of something whose length is not known.
pub(crate) fn working(what: &'static str) -> ProgressBar {
    alive(bar(None, what, "{spinner} {msg} {elapsed}"), Duration::from_millis(200))
}

fn bar(n: Option<u64>, what: &'static str, template: &str) -> ProgressBar {
    // What fails midway leaves no half of a bar before its error.
    let bar =
        ProgressBar::with_draw_target(n, ProgressDrawTarget::stderr()).with_finish(ProgressFinish::AndClear);
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar.tick();
    bar
}

/// The bar with its time going on between steps.
fn alive(bar: ProgressBar, every: Duration) -> ProgressBar {
    if !bar.is_hidden() {
        bar.enable_steady_tick(every);
    }
    bar
}
