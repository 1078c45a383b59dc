//! Captures as commands read them: telling how far they are.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use traffic::{Left, Trace, TraceError};

use crate::show::bar;

/// Reads a capture, with a bar over its bytes.
///
/// # Errors
/// As [`Trace::open`].
pub(crate) fn open(path: &Path) -> Result<Trace, TraceError> {
    Trace::read(path, file(path)?)
}

/// Hands on the frames of a capture, as [`traffic::frames`] does, with a bar over its bytes.
///
/// # Errors
/// The file cannot be opened, is empty or no capture.
pub(crate) fn frames(path: &Path, each: impl FnMut(&[u8], usize) -> bool) -> Result<Left, TraceError> {
    traffic::frames(path, file(path)?, each)
}

fn file(path: &Path) -> Result<impl Read + Send, TraceError> {
    let failed = |source| TraceError::Open { path: path.into(), source };
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    Ok(bar::bytes(bytes, "reading").over(file))
}
