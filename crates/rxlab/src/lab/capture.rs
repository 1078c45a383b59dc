//! Captures as commands read them: telling how far they are.

use std::fs::File;
use std::path::Path;

use traffic::{Trace, TraceError};

use crate::show::out;

/// Reads a capture, with a bar over its bytes.
///
/// # Errors
/// As [`Trace::open`].
pub(crate) fn open(path: &Path) -> Result<Trace, TraceError> {
    let failed = |source| TraceError::Open { path: path.into(), source };
    let file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    Trace::read(path, out::bytes(bytes, "reading").wrap_read(file))
}
