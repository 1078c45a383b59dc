//! Packet headers: where they are, what they hash to, and how their checksums change.
//!
//! [`parse`] walks the headers of an Ethernet frame once and keeps offsets; [`Rss`] turns them into a
//! hash and a queue as a card does; [`checksum`] has the Internet checksum and its incremental form.
//! Nothing here allocates per packet, and no bytes make any of it panic.

pub mod checksum;
pub mod fuzz;
pub mod kind;
pub mod kv;
mod parse;
mod rss;
mod steer;
pub mod vxlan;

pub use parse::{Fault, Parsed, Tuple, parse, parse_carried, usual};
pub use rss::{DEFAULT_KEY, Fields, Rss, RssError, SYMMETRIC_KEY};
pub use steer::{ByPort, PARTITION_PORT, Steer, SteerBy, Steering};

/// Bytes of an Ethernet header without tags.
pub const ETHERNET: usize = 14;

/// Big-endian 16-bit word at `at`, if the bytes hold it.
fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk::<2>().map(|b| u16::from_be_bytes(*b))
}
