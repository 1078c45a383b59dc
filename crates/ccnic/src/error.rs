//! What can go wrong, each in one line.

use std::io;

use memory::LayoutError;
use rings::SizeError;

/// What went wrong with a link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The other side has closed the link, or has died.
    #[error("the other side is gone")]
    Gone,
    /// A size that is not allowed, or a call that the configuration leaves no way for.
    #[error("{0}")]
    Config(String),
    /// The two sides were not configured alike.
    #[error("{0}")]
    Mismatch(String),
    /// The other side keeps to no protocol.
    #[error("{0}")]
    Protocol(String),
    /// The path cannot be listened at.
    #[error("{0}")]
    Path(String),
    /// Bytes that lie outside a buffer, or in none.
    #[error("{len} B at {off} of buffer {buf}; allowed: up to {bytes} B of buffers below {buffers}")]
    Bounds {
        /// The buffer.
        buf: u64,
        /// First byte.
        off: u32,
        /// Bytes.
        len: usize,
        /// Bytes of a buffer.
        bytes: u32,
        /// Buffers of the link.
        buffers: u32,
    },
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<rustix::io::Errno> for Error {
    fn from(e: rustix::io::Errno) -> Error {
        Error::Io(e.into())
    }
}

impl From<SizeError> for Error {
    fn from(e: SizeError) -> Error {
        Error::Config(e.to_string())
    }
}

impl From<LayoutError> for Error {
    fn from(e: LayoutError) -> Error {
        Error::Config(e.to_string())
    }
}
