//! The rings between real threads on this machine: a software NIC on one thread, a worker on each of
//! some others, native memory between them.
//!
//! [`run`] moves a number of frames and checks every one of them: none lost that was not counted as
//! dropped, none twice, none torn, none overtaken by a later one of its flow; and every buffer comes
//! back. Where several workers poll one ring, frames may overtake: then it tells by how much. There may be
//! more threads than cores: whoever waits yields.

mod antagonist;
mod asking;
mod back;
mod calling;
mod card;
mod check;
mod client;
mod config;
mod core;
mod flows;
mod ledger;
mod report;
mod run;
mod seen;
mod shared;
mod stamp;
pub mod tables;
mod threads;
mod tunnel;
mod watch;

pub use antagonist::Pressed;
pub use config::{Config, Work};
pub use ledger::Faults;
pub use report::{Calls, LiveReport};
pub use run::run;

/// Bytes of frame that a buffer holds.
const ROOM: u16 = 2048;

/// Why a live run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The configuration is not possible.
    #[error("{0}")]
    Config(String),
    /// The system refused memory or a thread.
    #[error("cannot set up the run: {0}")]
    System(#[from] std::io::Error),
    /// Nothing moved for as long as the run was told to wait. The text says what each thread did.
    #[error("nothing moved for {seconds} s\n{dump}")]
    Stalled {
        /// The patience.
        seconds: u64,
        /// What each thread had done.
        dump: String,
    },
    /// A thread died.
    #[error("thread {0} died")]
    Died(String),
    /// A frame or a buffer was lost, repeated or torn.
    #[error("{what}")]
    Broken {
        /// The rule that does not hold.
        what: String,
        /// All that was found.
        report: Box<LiveReport>,
    },
}
