//! Why a call of the driver failed.

use crate::limits::PATIENCE_S;

/// Why a call of the driver failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A value that is not allowed: what was given, where, and what is allowed.
    #[error("{0}")]
    Invalid(String),
    /// The NIC core did not let go of the port in time.
    #[error("the NIC core does not answer: it has been in one turn for longer than {PATIENCE_S} s")]
    Busy,
}

impl From<rings::SizeError> for Error {
    fn from(e: rings::SizeError) -> Error {
        Error::Invalid(e.to_string())
    }
}
