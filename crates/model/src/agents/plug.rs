//! A port of the server as its agents see it.

use crate::machine::layout::PoolId;

/// Where a card is plugged in.
#[derive(Clone, Copy)]
pub(crate) struct Plug {
    pub port: u32,
    pub queues: u16,
    /// Core of queue 0.
    pub first: usize,
    pub buffers: PoolId,
}
