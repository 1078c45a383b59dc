//! The software card behind the DPDK driver `net_rxlab`: ports whose queues are the rings of crate `rings`,
//! served by a NIC core of the process.
//!
//! The driver is C (`dpdk/driver/`); [`ffi`] is all that it calls. Control calls and the NIC core meet at one lock
//! per port (`engine::shared`), which the NIC core never waits for; a burst of the application takes no lock. Flow rules
//! (`flows`) change beside both.

mod args;
mod channel;
mod counters;
mod engine;
mod error;
pub mod ffi;
mod flows;
mod halves;
mod limits;
mod lower;
mod nic_core;
mod port;
mod queue;
mod rss;
mod stock;

use memory::native::{Foreign, NativeView};

pub use limits::{HALVES, QUEUES, THREADS};

/// What every agent sees: words in EAL memory, packets in mbufs.
type View = NativeView<'static, Foreign>;
