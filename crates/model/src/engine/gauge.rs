//! What cores tell of themselves.

/// Per-core gauges that an observer reads between steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauge {
    /// Frames received by the core.
    pub received: u64,
    /// Filled transmit entries.
    pub tx_filled: u64,
    /// Frames dropped because the transmit ring had no room.
    pub tx_full: u64,
    /// What the application did.
    pub app: apps::Counters,
    /// Time spent taking buffers from the shared pool, and giving them back, ps.
    pub taking: u64,
    /// See `taking`.
    pub giving: u64,
    /// Time spent finding nothing, ps.
    pub idle: u64,
}
