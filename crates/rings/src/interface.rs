//! Any interface: its name, its sizes, and one port of it. `table` has a line for each; `written` reads one from text.

mod table;
mod written;

use core::fmt;

use memory::{Memory, Ps, Space};

use crate::contract::{Param, TxSizes};
use crate::sizes::{self, SizeError};

pub use table::{AnyHost, AnyNic, AnyTxHost, AnyTxNic, Interface};
pub use written::Written;

impl Interface {
    /// The name in every table and on the command line.
    pub fn name(&self) -> &'static str {
        self.about().name
    }

    /// The names of all, as an error tells what is allowed.
    pub fn names() -> String {
        Interface::ALL.iter().map(|about| about.name).collect::<Vec<_>>().join(", ")
    }

    /// The same for a port of `queues`: no more cores share a ring than there are.
    pub fn over(&self, queues: u32) -> Interface {
        let mut port = self.clone();
        port.sizes_mut().share(queues);
        port
    }

    /// Checks the sizes for a port of `queues`.
    ///
    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::queue_count(queues)?;
        self.sizes().validate(queues)
    }

    /// Buffers that the rings of a port can hold posted.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        self.sizes().posted_buffers(queues)
    }

    /// Buffers that a port's receive rings hold at the most, posted and delivered: a pool that has no more
    /// runs dry when all cores fall behind (rxbisect §4.3).
    pub fn held_buffers(&self, queues: u32) -> u64 {
        self.sizes().held_buffers(queues)
    }

    /// Buffers that are posted for one queue alone; `None` where queues take each other's.
    pub fn own_buffers(&self) -> Option<u32> {
        self.sizes().own_buffers()
    }

    /// Bytes of a card's own memory that hold frames, beside those of the rings.
    pub fn card_bytes(&self) -> u64 {
        self.sizes().card_bytes()
    }

    /// Host halves that [`build`] makes: one for each queue, and the dedicated allocators if any.
    pub fn hosts(&self, queues: u32) -> u32 {
        self.sizes().hosts(queues)
    }

    /// Cores that poll one ring and receive each other's frames; 1 where each core receives its own.
    pub fn pollers(&self) -> u32 {
        self.sizes().pollers()
    }

    /// The lowest queue whose core may receive the frames of `queue`: cores that poll one ring
    /// (`corec`, `ddring` under its lock) receive each other's, all others their own.
    pub fn ring_of(&self, queue: u16) -> u16 {
        self.sizes().ring_of(queue)
    }

    /// Whether its NIC half may pass a frame by pointer ([`crate::Rest::Buffer`]), as an emulated NIC does.
    pub fn passes_pointers(&self) -> bool {
        self.about().pointers
    }

    /// The shortest time after which it may change its ways, zero if it never does.
    pub fn round(&self) -> Ps {
        self.sizes().round()
    }

    /// The sizes by name, to print.
    pub fn params(&self) -> Vec<(&'static str, u64)> {
        self.clone().sizes_mut().numbers()
    }

    /// What `look` finds in each parameter.
    pub fn each_param<T>(&self, look: impl FnMut(&Param<'_>) -> T) -> Vec<T> {
        self.clone().sizes_mut().params().iter().map(look).collect()
    }
}

/// The name, and every parameter in force: what [`Written`] reads.
impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        written::write(f, self, |_| true)
    }
}

/// What receives on one port: a host half for each queue (then one for each dedicated allocator of `rxbisect`), and
/// one NIC half.
pub type Receive<M> = (Vec<AnyHost<M>>, AnyNic<M>);

/// What sends on one port: a host half for each queue, and one NIC half.
pub type Transmit<M> = (Vec<AnyTxHost<M>>, AnyTxNic<M>);

/// One port, both directions.
pub struct Port<M: Memory> {
    /// Host halves that receive.
    pub hosts: Vec<AnyHost<M>>,
    /// The NIC half that receives.
    pub nic: AnyNic<M>,
    /// Host halves that send.
    pub tx_hosts: Vec<AnyTxHost<M>>,
    /// The NIC half that sends.
    pub tx_nic: AnyTxNic<M>,
}

/// Binds what receives on one port of `queues`. Every field gets its queue's or ring's number as its instance, so two
/// ports want two spaces, or one that tells them apart.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn receive<S: Space>(
    space: &mut S,
    interface: &Interface,
    queues: u32,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Receive<S::Mem>, SizeError> {
    interface.validate(queues)?;
    interface.receive(space, queues, buffers)
}

/// Binds what sends on one port of `queues`: apart from what receives where another card serves it, as below an
/// emulated one.
///
/// # Errors
/// As [`receive`].
pub fn transmit<S: Space>(
    space: &mut S,
    interface: &Interface,
    sizes: TxSizes,
    queues: u32,
) -> Result<Transmit<S::Mem>, SizeError> {
    sizes.validate(queues)?;
    interface.transmit(space, sizes, queues)
}

/// Binds one port that receives on `queues` and sends on as many as `tx` says, with its sizes.
///
/// # Errors
/// As [`receive`].
pub fn build<S: Space>(
    space: &mut S,
    interface: &Interface,
    queues: u32,
    (tx, tx_queues): (TxSizes, u32),
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Port<S::Mem>, SizeError> {
    let (hosts, nic) = receive(space, interface, queues, buffers)?;
    let (tx_hosts, tx_nic) = transmit(space, interface, tx, tx_queues)?;
    Ok(Port { hosts, nic, tx_hosts, tx_nic })
}
