//! Errors, one line each: what was given and what is allowed.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a capture cannot be used or written.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened.
    #[error("{}: {source}; a capture must be a readable file", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file has no bytes.
    #[error("{}: empty file; expected {ALLOWED}", .0.display())]
    Empty(PathBuf),
    /// The file is something else.
    #[error("{}: not a capture; expected {ALLOWED}", .0.display())]
    NotACapture(PathBuf),
    /// The link type is not one of those that can be read.
    #[error("{}: link type {link}; allowed: {LINKS}", .path.display())]
    Link {
        /// The file.
        path: PathBuf,
        /// The link type's number.
        link: i32,
    },
    /// A capture without one usable frame.
    #[error("{}: no usable frame ({skipped} skipped); a replay needs at least one", .path.display())]
    NoFrames {
        /// The file.
        path: PathBuf,
        /// Frames that were malformed or of another link type.
        skipped: u64,
    },
    /// More distinct frames or flows than can be numbered.
    #[error("{}: more than 4294967295 frames; split the capture", .0.display())]
    TooLong(PathBuf),
    /// The file cannot be written.
    #[error("{}: {source}; cannot write the capture", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

const ALLOWED: &str = "a pcap or pcapng file, plain or compressed with gzip or zstd";
const LINKS: &str =
    "Ethernet (1), raw IP (12, 14, 101, 228, 229), Linux cooked (113, 276), null/loopback (0, 108)";

/// Why a workload's description cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} `{given}`; allowed: {allowed}")]
pub struct SpecError {
    what: String,
    given: String,
    allowed: String,
}

impl SpecError {
    pub(crate) fn new(what: &str, given: &str, allowed: &str) -> Self {
        // One line, whatever was given.
        let given = given.escape_debug().collect();
        Self { what: what.into(), given, allowed: allowed.into() }
    }
}
