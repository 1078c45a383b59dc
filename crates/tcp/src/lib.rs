//! TCP as a pure, deterministic state machine: what the hosts at both ends of a router run.
//!
//! A [`Connection`] takes segments and times and says what to send and when to be called again; it has no
//! clock and no network of its own. [`Host`] puts many connections behind one wire. Inside: [`Cubic`]
//! (RFC 9438, slow start from 10 segments), the sender's scoreboard with SACK (RFC 2018, 2883, 6675) and
//! RACK-TLP (RFC 8985), the retransmission timer (RFC 6298), timestamps (RFC 7323), delayed ACKs.
//!
//! Bytes are numbered from the SYN, which is byte 0; the FIN is the last. Times are picoseconds, as those of
//! `traffic`.

mod connection;
mod cubic;
mod host;
mod rack;
mod receiver;
mod rtt;
mod segment;
mod sender;

pub use connection::Connection;
pub use cubic::Cubic;
pub use host::{Host, Job, Totals};
pub use segment::{Flow, Segment, Syn};

/// A microsecond.
pub const US: u64 = 1_000_000;
/// A millisecond.
pub const MS: u64 = 1000 * US;
/// A second.
pub const SECOND: u64 = 1000 * MS;

/// Payload of a full segment: 1500 B less the headers of IPv4 and TCP and the timestamps' 12 B.
pub const MSS: u16 = 1448;
/// What a receiver takes beyond the last byte in order: half of Linux's largest receive buffer of 6 MiB, whose
/// other half is overhead.
pub const WINDOW: u32 = 3 << 20;
/// An ACK of less than two segments waits so long, as in Linux.
pub const DELAYED_ACK: u64 = 40 * MS;
