//! What becomes of a frame, by one name everywhere.

/// What became of a frame at the card: delivered, or dropped and why. The same name is the CLI's column, the
/// report's row and the driver's xstat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// In a buffer, and its completion published.
    Delivered,
    /// The ring through which this queue learns of frames has no room: its core is behind.
    RingFull,
    /// No empty buffer was posted where this queue may take one.
    NoBuffer,
    /// The card's own buffer overflowed before the host took the frame.
    NicBufferFull,
    /// The memory in which the card keeps frames for their cores is full.
    NicMemoryFull,
    /// A credit scheme had none left.
    NoCredit,
    /// It is no Ethernet frame, or longer than a buffer.
    BadFrame,
    /// Its queue is stopped.
    QueueStopped,
    /// The port's address filters do not let it in.
    Filtered,
    /// The port's link is down.
    LinkDown,
    /// A flow rule drops it.
    FlowDrop,
    /// No flow rule decides about it: the port is isolated, or the rules led it through too many groups.
    FlowMiss,
}

impl Outcome {
    /// All outcomes, in order.
    pub const ALL: [Outcome; 12] = [
        Outcome::Delivered,
        Outcome::RingFull,
        Outcome::NoBuffer,
        Outcome::NicBufferFull,
        Outcome::NicMemoryFull,
        Outcome::NoCredit,
        Outcome::BadFrame,
        Outcome::QueueStopped,
        Outcome::Filtered,
        Outcome::LinkDown,
        Outcome::FlowDrop,
        Outcome::FlowMiss,
    ];

    /// Whether the frame is lost; otherwise somebody has it.
    pub const fn is_drop(self) -> bool {
        match self {
            Outcome::Delivered => false,
            Outcome::RingFull
            | Outcome::NoBuffer
            | Outcome::NicBufferFull
            | Outcome::NicMemoryFull
            | Outcome::NoCredit
            | Outcome::BadFrame
            | Outcome::QueueStopped
            | Outcome::Filtered
            | Outcome::LinkDown
            | Outcome::FlowDrop
            | Outcome::FlowMiss => true,
        }
    }

    /// The name in every table and counter.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Delivered => "delivered",
            Outcome::RingFull => "ring_full",
            Outcome::NoBuffer => "no_buffer",
            Outcome::NicBufferFull => "nic_buffer_full",
            Outcome::NicMemoryFull => "nic_memory_full",
            Outcome::NoCredit => "no_credit",
            Outcome::BadFrame => "bad_frame",
            Outcome::QueueStopped => "queue_stopped",
            Outcome::Filtered => "filtered",
            Outcome::LinkDown => "link_down",
            Outcome::FlowDrop => "flow_drop",
            Outcome::FlowMiss => "flow_miss",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn outcomes_have_names_of_their_own_and_stand_in_order() {
        let names: BTreeSet<_> = Outcome::ALL.iter().map(|o| o.name()).collect();
        assert_eq!(names.len(), Outcome::ALL.len());
        assert!(Outcome::ALL.iter().enumerate().all(|(i, o)| *o as usize == i));
    }
}
