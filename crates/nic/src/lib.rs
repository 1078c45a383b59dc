//! The device: a port that takes frames from the wire and hands them to a receive interface, and one
//! that takes frames from transmit rings to the wire.
//!
//! Receive: parse -> RSS -> admit ([`Port`]) -> deliver (a [`rings::Nic`]). Every frame ends in one
//! named [`rings::Outcome`], counted per queue. The pipeline is generic over [`memory::Memory`]: the
//! same lines run on real memory and in the modelled server. [`reorder`] judges the order in which frames
//! come out.

mod classify;
mod counters;
mod holding;
mod port;
pub mod reorder;
mod tx;
mod wire;

pub use classify::{Class, classify};
pub use counters::Counters;
pub use port::{Arrival, Config, Port};
pub use tx::{HEAD, Sent, TxConfig, TxPort};
pub use wire::{OVERHEAD, Pace};
