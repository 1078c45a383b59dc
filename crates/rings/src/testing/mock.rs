//! The other side of each interface, to test one side against: a NIC that makes frames and keeps the
//! books, and a core that receives, checks, sends or frees. Two of them on two threads are a test; all
//! of a port's on one thread are a [`World`](super::world::World).

mod host;
mod nic;

pub use host::MockHost;
pub use nic::MockNic;

/// Frames or completions of one call.
const BURST: usize = 32;
