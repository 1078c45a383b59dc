//! The device: a port that takes frames from the wire and hands them to a receive interface, and one
//! that takes frames from transmit rings to the wire.
//!
//! Receive: filter -> parse -> flow tables, steer ([`Pipeline`]) -> admit ([`Port`]) -> deliver (a [`rings::Nic`]). Every
//! frame ends in one named [`rings::Outcome`], counted per queue. A port is generic over [`memory::Memory`]: the
//! same lines run on real memory and in the modelled server. [`reorder`] judges the order in which frames
//! come out.

mod counters;
pub mod group;
mod holding;
mod pipeline;
mod port;
pub mod reorder;
mod tx;
mod wire;

pub use counters::Counters;
pub use pipeline::{
    Admitted, CHECKSUMS, CONTEXTS, Checks, Choose, Class, Contexts, FOLLOWS, Filter, GROUPS, HASHED, IP_BAD,
    IP_GOOD, Incoming, L4_BAD, L4_GOOD, MACS, META, MORE, Pipeline, Tables,
};
pub use port::{Arrival, Config, Port};
pub use tx::{HEAD, Sent, TxConfig, TxPort};
pub use wire::{OVERHEAD, Pace};
