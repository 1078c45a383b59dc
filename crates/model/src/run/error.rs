//! Why there is no result.

use crate::engine::EngineError;
use crate::profile::ProfileError;

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A number of the scenario.
    #[error("{0}")]
    Scenario(String),
    /// A ring or pool size.
    #[error("{0}")]
    Size(#[from] rings::SizeError),
    /// The model's memory.
    #[error("{0}")]
    Layout(#[from] memory::LayoutError),
    /// A constant of the profile.
    #[error("{0}")]
    Profile(#[from] ProfileError),
    /// The run itself.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// The histogram.
    #[error("histogram: {0}")]
    Histogram(#[from] hdrhistogram::CreationError),
}
