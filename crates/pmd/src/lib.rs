//! The software card behind the DPDK driver `net_rxlab`: ports whose queues are the rings of crate `rings`,
//! served by a NIC core of the process.
//!
//! The driver is C (`dpdk/driver/`); [`ffi`] is all that it calls. Control calls and the NIC core meet at one lock
//! per port (module `port`), which the NIC core never waits for; a burst of the application takes no lock.

mod args;
mod card;
mod checksums;
mod counters;
mod engine;
pub mod ffi;
mod filter;
mod lower;
mod port;
mod queue;
mod source;

use memory::native::{Foreign, NativeView};

/// What every agent sees: words in EAL memory, packets in mbufs.
type View = NativeView<'static, Foreign>;

/// The most Rx and the most Tx queues of a port.
pub const QUEUES: usize = 64;
/// The most threads that may poll one queue.
pub const THREADS: u32 = 128;
/// The most host halves of a port's Rx queues together: a half for each thread that may poll one.
pub const HALVES: u32 = 4096;
const _: () = assert!(HALVES == rings::MOST_QUEUES);
/// Frames that the NIC core takes at a time.
const BURST: usize = 64;
/// Wire time that the NIC core makes up for when it comes late: it may share its CPU, and a time slice of
/// another thread takes milliseconds.
const SLACK: memory::Ps = memory::Ps::from_us(10_000);

/// Why a call of the driver failed.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// A value that is not allowed: what was given, where, and what is allowed.
    #[error("{0}")]
    Invalid(String),
    /// The NIC core did not let go of the port in time.
    #[error("the NIC core does not answer: it has been in one turn for longer than {} s", port::PATIENCE_S)]
    Busy,
}

impl From<rings::SizeError> for Error {
    fn from(e: rings::SizeError) -> Error {
        Error::Invalid(e.to_string())
    }
}
