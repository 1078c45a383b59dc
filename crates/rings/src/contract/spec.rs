//! What an interface tells of itself: everything that the rest of the project knows of it.
//!
//! Each interface implements [`Parameters`] and [`Spec`] for its sizes, in its own file. The table of `interface` makes
//! one of them out of a name; nothing else knows any by name.

use memory::{Memory, Ps, Space};

use super::param::Param;
use super::{Host, Nic, TxHost, TxNic, TxSizes};
use crate::sizes::{MOST_QUEUES, SizeError};

/// What gives an interface today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Today {
    /// Cards and drivers that one can buy and install.
    Yes,
    /// Cards that one can buy, with a driver that must be changed for it.
    Driver,
    /// Nothing: prototypes and papers; in software, on a core of its own, the DPDK driver.
    No,
}

impl Today {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            Today::Yes => "yes",
            Today::Driver => "driver",
            Today::No => "no",
        }
    }
}

/// What holds for an interface whatever its sizes are.
#[derive(Debug)]
pub struct About {
    /// The name in every table, on the command line and in arguments of the driver.
    pub name: &'static str,
    /// What it is, for lists of all.
    pub essence: &'static str,
    /// Whether one can have it.
    pub today: Today,
    /// The parameter that is a queue's descriptors to a driver: its program asks for them when it sets the queue up.
    pub descriptors: &'static str,
    /// What a host half counts, in the order of [`Host::counter`].
    pub counters: &'static [&'static str],
    /// What of a NIC half's counters says how much of something is in use, or was at the most.
    pub levels: &'static [&'static str],
    /// Whether several cores may poll one ring, and receive each other's frames ([`Parameters::pollers`]).
    pub many_pollers: bool,
    /// Whether one poller receives a queue's frames in the order in which the NIC half got them; else those of each flow alone.
    pub queue_order: bool,
    /// Whether its NIC half may pass a frame by pointer ([`crate::Rest::Buffer`]), as an emulated NIC does.
    pub pointers: bool,
    /// Whether its NIC takes part in the host's cache coherence: a core that plays it does, a card behind PCIe does not.
    pub coherent: bool,
    /// Why no core can play its card, where none can; follows "cannot be emulated: ".
    pub not_emulated: Option<&'static str>,
}

impl About {
    /// Counter `i` with its name, of `values` in the order of the names; `None` beyond the last.
    pub(crate) fn counter(&self, i: usize, values: &[u64]) -> Option<(&'static str, u64)> {
        Some((self.counters.get(i)?, *values.get(i)?))
    }
}

/// Where an interface is to stand: what parameters depend on that nobody says.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Queues of the port.
    pub queues: u32,
    /// Cores that are there to poll one ring, of an interface that lets several.
    pub pollers: u32,
    /// Descriptors of a queue that the program of a driver asks for; `None` where there is no such program.
    pub descriptors: Option<u32>,
    /// Buffers of the port that the cache's share for I/O holds; `None` where that is not known.
    pub cached: Option<u32>,
}

/// The parameters that somebody has said, by name.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a>(pub(crate) &'a [&'static str]);

impl Said<'_> {
    /// Sets a parameter unless its value was said.
    pub(crate) fn or<T>(self, name: &str, value: T, slot: &mut T) {
        if !self.0.contains(&name) {
            *slot = value;
        }
    }
}

/// What all can ask of the sizes of an interface, whichever it is.
pub trait Parameters {
    /// All parameters.
    fn params(&mut self) -> Vec<Param<'_>>;

    /// Gives the parameters that nobody has said the values that suit `place` and what was said. Before it,
    /// [`About::descriptors`] has what the program of a driver asks for.
    fn fit(&mut self, _place: &Place, _said: Said<'_>) {}

    /// Checks them for a port of `queues`.
    ///
    /// # Errors
    /// Names what is wrong and what is allowed.
    fn validate(&self, queues: u32) -> Result<(), SizeError>;

    /// Buffers that the rings of a port can hold posted.
    fn posted_buffers(&self, queues: u32) -> u64;

    /// Buffers that a port's receive rings hold at the most, posted and delivered: a pool that has no more
    /// runs dry when all cores fall behind (rxbisect §4.3). Usually a descriptor is posted anew only when its frame
    /// has been received.
    fn held_buffers(&self, queues: u32) -> u64 {
        self.posted_buffers(queues)
    }

    /// Buffers that are posted for one queue alone; `None` where queues take each other's.
    fn own_buffers(&self) -> Option<u32> {
        None
    }

    /// Bytes of a card's own memory that hold frames, beside those of the rings.
    fn card_bytes(&self) -> u64 {
        0
    }

    /// Host halves of a port: one for each queue, and the dedicated allocators if any.
    fn hosts(&self, queues: u32) -> u32 {
        queues
    }

    /// Cores that poll one ring and receive each other's frames; 1 where each core receives its own.
    fn pollers(&self) -> u32 {
        1
    }

    /// Lets at most so many cores share a ring, where they do.
    fn share(&mut self, _most: u32) {}

    /// The shortest time after which it may change its ways, zero if it never does.
    fn round(&self) -> Ps {
        Ps::ZERO
    }

    /// The parameters that are numbers, to print. Choices are told in the textual form.
    fn numbers(&mut self) -> Vec<(&'static str, u64)> {
        self.params().iter().filter_map(|p| Some((p.name, p.number()?))).collect()
    }

    /// The lowest queue whose core may receive the frames of `queue`.
    fn ring_of(&self, queue: u16) -> u16 {
        queue - queue % self.pollers().clamp(1, MOST_QUEUES) as u16
    }
}

/// An interface: its halves over any memory, built of its sizes.
pub trait Spec: Parameters + Default {
    /// What holds whatever the sizes are.
    const ABOUT: About;
    /// A queue's host half.
    type Host<M: Memory>: Host<M>;
    /// A port's NIC half.
    type Nic<M: Memory>: Nic<M>;
    /// Binds what receives, of one port of `queues`.
    ///
    /// # Errors
    /// A size is not allowed, or the space has no room.
    fn build<S: Space>(
        &self,
        space: &mut S,
        queues: u32,
        buffers: <S::Mem as Memory>::Buffers,
    ) -> Result<Halves<Self, S::Mem>, SizeError>;
}

/// An interface with a way of its own to send. All others send by the ring of [`tx`](crate::tx).
pub trait Sends: Parameters + Sized {
    /// A queue's host half.
    type TxHost<M: Memory>: TxHost<M>;
    /// A port's NIC half.
    type TxNic<M: Memory>: TxNic<M>;

    /// Binds what sends, of one port of `queues`.
    ///
    /// # Errors
    /// A size is not allowed, or the space has no room.
    fn transmit<S: Space>(
        &self,
        space: &mut S,
        sizes: TxSizes,
        queues: u32,
    ) -> Result<TxHalves<Self, S::Mem>, SizeError>;
}

/// Both halves of what sends.
pub type TxHalves<I, M> = (Vec<<I as Sends>::TxHost<M>>, <I as Sends>::TxNic<M>);

/// Both halves of what receives.
pub type Halves<I, M> = (Vec<<I as Spec>::Host<M>>, <I as Spec>::Nic<M>);
