//! Counters in EAL memory: whoever maps it, a secondary process too, reads them.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rings::Outcome;

use crate::limits::QUEUES;

/// Outcomes of a received frame.
pub const OUTCOMES: usize = 12;
/// Named counters of a host half.
pub const HOST_COUNTERS: usize = 8;
/// Named levels of a NIC half.
pub const LEVELS: usize = 4;

/// Counters of an Rx queue, written by the NIC core.
#[repr(C)]
pub struct RxCounters {
    /// Frames by outcome.
    pub outcome: [AtomicU64; OUTCOMES],
    /// Bytes of the delivered ones.
    pub bytes: AtomicU64,
}

/// Counters of a Tx queue, written by the NIC core.
#[repr(C)]
pub struct TxCounters {
    /// Frames sent.
    pub packets: AtomicU64,
    /// Their bytes.
    pub bytes: AtomicU64,
    /// Frames that could not be sent: none of those above.
    pub faults: AtomicU64,
    /// Frames that left after a later one of their flow, where that is judged.
    pub reordered: AtomicU64,
}

/// Counters of the host halves of an Rx queue; the lcores that poll it add to them.
#[repr(C)]
pub struct HostCounters {
    /// By number; the names depend on the interface.
    pub value: [AtomicU64; HOST_COUNTERS],
}

/// All counters of a port. They begin at zero. The NIC core alone writes those of `rx`, `tx` and `levels`.
#[repr(C)]
pub struct Counters {
    /// Rx queues.
    pub rx: [RxCounters; QUEUES],
    /// Tx queues.
    pub tx: [TxCounters; QUEUES],
    /// Host halves.
    pub host: [HostCounters; QUEUES],
    /// How much of something the NIC half uses, by number; the names depend on the interface. No counts: they go up and
    /// down, and begin anew with each start.
    pub levels: [AtomicU64; LEVELS],
}

const _: () = assert!(OUTCOMES == Outcome::ALL.len());

/// Adds to a counter whose only writer is the caller.
#[inline(always)]
pub(crate) fn add(counter: &AtomicU64, n: u64) {
    if n != 0 {
        counter.store(counter.load(Relaxed).wrapping_add(n), Relaxed); // a statistic: orders nothing
    }
}
