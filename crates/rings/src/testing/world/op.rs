//! The steps of a schedule.

/// One step of a schedule. Numbers that are out of range wrap, so any sequence is a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Frames arrive.
    Arrive {
        /// Their queue.
        queue: u16,
        /// How many.
        n: u16,
        /// Bytes of each.
        len: u16,
    },
    /// A core receives.
    Poll {
        /// The core.
        core: u16,
        /// At most so many.
        burst: u16,
    },
    /// A core posts frames that it holds to be sent.
    Send {
        /// The core.
        core: u16,
        /// At most so many.
        n: u16,
    },
    /// A core frees buffers that it holds.
    Free {
        /// The core.
        core: u16,
        /// At most so many.
        n: u16,
    },
    /// The NIC sends.
    NicTx {
        /// At most so many frames.
        n: u16,
    },
    /// Time passes and the NIC looks at its deadlines.
    Tick {
        /// Nanoseconds.
        ns: u32,
    },
    /// A core asks for the other kind of ring (`dynamic`).
    Ask {
        /// The core.
        core: u16,
        /// Which kind.
        private: bool,
    },
    /// A core stops (or starts again) to do anything.
    Stall {
        /// The core.
        core: u16,
    },
    /// The NIC half stops the queue of a core, or the rings of a dedicated allocator.
    StopQueue {
        /// The core.
        core: u16,
    },
    /// A core whose queue is stopped drains it.
    DrainQueue {
        /// The core.
        core: u16,
    },
    /// A core's queue starts again, drained before if need be, and is filled.
    StartQueue {
        /// The core.
        core: u16,
    },
    /// The NIC half stops the transmit queue of a core, whose frames then find no way out.
    StopTx {
        /// The core.
        core: u16,
        /// Whether the core takes back what it had posted.
        drain: bool,
    },
    /// The transmit queue of a core starts again.
    StartTx {
        /// The core.
        core: u16,
    },
}
