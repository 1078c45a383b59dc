//! Who acts in a simulation.

use memory::Side;

use crate::machine::coherence::agents::Who;
use crate::machine::layout::{Path, Words};

/// Who an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// A core.
    Core(u32),
    /// The receive half of a port's card.
    NicRx(u32),
    /// The transmit half of a port's card.
    NicTx(u32),
    /// A core that plays the card of all ports ([`crate::profile::Server::nic_core`]), or, on the far node, the NIC of one
    /// port over its card ([`crate::Sim::emulated`]).
    NicCore(u32),
    /// A queue pair of a port's card that writes into host memory, beside the receive queues.
    Bypass(u32),
    /// A thread of the other socket that presses on the memory.
    Antagonist(u32),
    /// A core that writes rules of the cards' classifiers and does nothing else.
    Rules,
}

impl Agent {
    /// Whether it is a core that runs an application.
    pub const fn is_core(self) -> bool {
        matches!(self, Agent::Core(_))
    }

    /// The core whose caches it reads and writes through; none for a card.
    pub const fn caches(self) -> Option<u32> {
        match self {
            Agent::Core(core) | Agent::NicCore(core) => Some(core),
            Agent::NicRx(_) | Agent::NicTx(_) | Agent::Bypass(_) | Agent::Antagonist(_) | Agent::Rules => {
                None
            }
        }
    }

    /// The port of a card; 0 otherwise.
    pub(crate) const fn port(self) -> u32 {
        match self {
            Agent::NicRx(port) | Agent::NicTx(port) | Agent::Bypass(port) => port,
            Agent::Core(_) | Agent::NicCore(_) | Agent::Antagonist(_) | Agent::Rules => 0,
        }
    }

    /// Whether it may write a field: on the side of its writer. A core that plays the NIC is the host of the
    /// rings that the card serves.
    pub(crate) fn may_write<const W: usize>(self, w: Words<W>) -> bool {
        let host = match w.path {
            Path::Dma | Path::Mmio => self.caches().is_some(),
            Path::Cores => self.is_core(),
        };
        match w.writer {
            Side::Both => true,
            Side::Host => host,
            Side::Nic => !host,
        }
    }

    /// What agent `number`, this one, is among those who have copies of a line of words.
    pub(crate) fn copier(self, number: usize, large: bool) -> Who {
        if self.caches().is_none() { Who::cards(large) } else { Who::agent(number, large) }
    }
}
