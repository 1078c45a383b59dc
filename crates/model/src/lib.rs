//! The modelled server: the same rings, with every access going through caches, DDIO, DRAM and PCIe
//! of a described machine, and costing time.
//!
//! Rooms, each of which knows only those before it: [`profile`] (a server as data), [`classifier`] (what tables of a card
//! cost), `scenario` (what is asked), `machine` (caches, memory and links), `engine` (agents in order of time, and their views), `agents` (what cards and
//! cores do), `run` (from a scenario to its report), and beside both [`mod@bench`] (microbenchmarks).
//!
//! Reading order: [`Scenario`], [`run()`], `engine`, `engine::view` (an agent's `Memory` with a price), `machine`,
//! [`Report`]. docs/model.md explains engine and visibility on one page.

mod agents;
pub mod bench;
mod caller;
pub mod classifier;
mod engine;
mod machine;
mod mix;
pub mod profile;
mod run;
mod scenario;

pub use caller::Caller;
pub use engine::agent::Agent;
pub use engine::sim::Sim;
pub use engine::space::ModelSpace;
pub use engine::view::View;
pub use engine::{Engine, EngineError, LONGEST};
pub use machine::coherence::link::Crossed;
pub use machine::layout::{PoolId, Table, Words};
pub use machine::pcie::tlp_bytes;
pub use machine::{cache, hierarchy};
pub use profile::{Pause, WINDOW};
pub use run::confidence::Confidence;
pub use run::error::Error;
pub use run::report::{Conservation, CoreReport, Counted, Dram, Latency, PartReport, PortReport, Report};
pub use run::run;
pub use run::transfer::{serve, transfer};
pub use scenario::app::App;
pub use scenario::bypass::{Bypass, Placed};
pub use scenario::rules::{RuleCore, Rules, Updates};
pub use scenario::{BURST, SAMPLING, Scenario, Setting, Span, Start, TX_RING};
