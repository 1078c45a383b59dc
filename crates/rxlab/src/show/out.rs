//! Where output goes: results to stdout and notes to stderr, or both to a caller.

use std::io::{ErrorKind, IsTerminal, Write, stdout};

use serde::Serialize;

use crate::fail::Fail;
use crate::show::caller;
use crate::show::schema::Versioned;

/// Writes results; a reader that went away is no error.
///
/// # Errors
/// stdout cannot be written.
pub(crate) fn print(text: &str) -> Result<(), Fail> {
    if let Some(caller) = caller::current() {
        caller.print(text);
        return Ok(());
    }
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
    if let Some(caller) = caller::current() {
        return caller.note(text);
    }
    // Nothing is left to tell if even stderr is gone.
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
}

/// Whether stdout may be coloured: a terminal, and NO_COLOR not set.
pub(crate) fn colour() -> bool {
    caller::current().is_none() && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
