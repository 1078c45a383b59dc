//! The modelled server: the same rings, with every access going through caches, DDIO, DRAM and PCIe
//! of a described machine, and costing time.
//!
//! Reading order: [`Scenario`] (what is asked), [`run`] (how a run goes), `engine` (agents in order of
//! time), `view` (an agent's `Memory` with a price), `hierarchy` (the caches), [`Report`].
//! docs/model.md explains engine and visibility on one page.

mod account;
mod agents;
mod antagonist;
mod app;
pub mod cache;
mod costs;
mod course;
mod divisor;
mod dram;
mod emulator;
mod engine;
pub mod hierarchy;
mod lines;
mod meter;
mod nic_core;
mod pcie;
mod peer;
mod pool;
pub mod profile;
mod report;
mod run;
mod sampling;
mod scenario;
mod schedule;
mod sim;
mod space;
mod tables;
mod validate;
mod view;
mod who;

pub use app::App;
pub use engine::{Engine, EngineError, LONGEST};
pub use pcie::tlp_bytes;
pub use peer::transfer;
pub use profile::{Pause, WINDOW};
pub use report::{Conservation, CoreReport, Counted, Dram, Latency, PartReport, PortReport, Report};
pub use run::{Error, run};
pub use scenario::{BURST, SAMPLING, Scenario, Span, Start, TX_RING};
pub use sim::{Agent, Gauge, Sim};
pub use space::{ModelSpace, PoolId, Table, Words};
pub use view::View;
