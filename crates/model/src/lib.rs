//! The modelled server: the same rings, with every access going through caches, DDIO, DRAM and PCIe
//! of a described machine, and costing time.
//!
//! Reading order: [`Scenario`] (what is asked), [`run`] (how a run goes), `engine` (agents in order of
//! time), `view` (an agent's `Memory` with a price), `hierarchy` (the caches), [`Report`].
//! docs/model.md explains engine and visibility on one page.

mod account;
mod agent;
mod antagonist;
mod app;
mod book;
pub mod cache;
mod card;
mod costs;
mod course;
mod divisor;
mod dram;
mod emulator;
mod engine;
mod error;
mod frames;
pub mod hierarchy;
mod host;
mod layout;
mod level;
mod lines;
mod meter;
mod mix;
mod model_app;
mod nic_core;
mod pcie;
mod physical;
mod plug;
mod pool;
pub mod profile;
mod report;
mod run;
mod sampling;
mod scenario;
mod schedule;
mod sim;
mod snapshot;
mod space;
mod tables;
mod transfer;
mod validate;
mod view;
mod who;
mod worker;

pub use agent::Agent;
pub use app::App;
pub use engine::{Engine, EngineError, LONGEST};
pub use error::Error;
pub use layout::{PoolId, Table, Words};
pub use pcie::tlp_bytes;
pub use profile::{Pause, WINDOW};
pub use report::{Conservation, CoreReport, Counted, Dram, Latency, PartReport, PortReport, Report};
pub use run::run;
pub use scenario::{BURST, SAMPLING, Scenario, Span, Start, TX_RING};
pub use sim::{Gauge, Sim};
pub use space::ModelSpace;
pub use transfer::transfer;
pub use view::View;
