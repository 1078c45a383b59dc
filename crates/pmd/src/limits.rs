//! Numbers that several modules count with, and most of which the driver knows too.

use memory::Ps;

/// The most Rx and the most Tx queues of a port.
pub const QUEUES: usize = 64;
/// The most threads that may poll one queue.
pub const THREADS: u32 = 128;
/// The most host halves of a port's Rx queues together: a half for each thread that may poll one.
pub const HALVES: u32 = 4096;
const _: () = assert!(HALVES == rings::MOST_QUEUES);
/// Bytes of a tag: number and flow.
pub const TAG: u32 = 16;
/// The most mbufs of a received frame, as many as a sent one may have: `RXLAB_MAX_SEGS` of the driver.
pub(crate) const MOST_PIECES: u32 = 32;
/// Frames that the NIC core takes at a time.
pub(crate) const BURST: usize = 64;
/// Wire time that the NIC core makes up for when it comes late: it may share its CPU, and a time slice of
/// another thread takes milliseconds.
pub(crate) const SLACK: Ps = Ps::from_us(10_000);
/// Seconds that a control call waits for the NIC core, or for its burst to end.
pub(crate) const PATIENCE_S: u64 = 2;
