//! The choice of an interface: its name, its sizes, and one port of it.

mod any;

use memory::{Memory, Ps, Space};

use crate::contract::CHUNK;
use crate::sizes::{self, MOST_QUEUES, SizeError};
use crate::{corec, ddring, dynamic, privring, rxbisect, shring};

pub use any::{AnyHost, AnyNic};

/// A receive interface and its sizes, alike for all queues of a port.
#[derive(Clone, Debug, PartialEq)]
pub enum Interface {
    /// Private rings.
    PrivRing(privring::Sizes),
    /// Rings shared by several cores.
    ShRing(shring::Sizes),
    /// Allocation and bisected reception rings.
    RxBisect(rxbisect::Sizes),
    /// Shared or private rings, whichever loses less.
    Dynamic(dynamic::Sizes),
    /// Descriptors that come back in place: a ring for each core, or several cores under a lock.
    DdRing(ddring::Sizes),
    /// The same rings, received by several threads without a lock.
    Corec(corec::Sizes),
}

impl Interface {
    /// The name in every table and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Interface::PrivRing(_) => "privring",
            Interface::ShRing(_) => "shring",
            Interface::RxBisect(_) => "rxbisect",
            Interface::Dynamic(_) => "dynamic",
            Interface::DdRing(_) => "ddring",
            Interface::Corec(_) => "corec",
        }
    }

    /// The same for a port of `queues`: no more cores share a ring than there are.
    pub fn over(&self, queues: u32) -> Interface {
        let mut port = self.clone();
        if let Interface::ShRing(shring::Sizes { shared_by, .. })
        | Interface::Dynamic(dynamic::Sizes { shared_by, .. })
        | Interface::DdRing(ddring::Sizes { shared_by, .. })
        | Interface::Corec(corec::Sizes { shared_by, .. }) = &mut port
        {
            *shared_by = (*shared_by).min(queues);
        }
        port
    }

    /// Checks the sizes for a port of `queues`.
    ///
    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::queue_count(queues)?;
        match self {
            Interface::PrivRing(s) => s.validate(queues),
            Interface::ShRing(s) => s.validate(queues),
            Interface::RxBisect(s) => s.validate(queues),
            Interface::Dynamic(s) => s.validate(queues),
            Interface::DdRing(s) => s.validate(queues),
            Interface::Corec(s) => s.validate(queues),
        }
    }

    /// Buffers that the rings of a port can hold posted.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        match self {
            Interface::PrivRing(s) => s.posted_buffers(queues),
            Interface::ShRing(s) => s.posted_buffers(queues),
            Interface::RxBisect(s) => s.posted_buffers(queues),
            Interface::Dynamic(s) => s.posted_buffers(queues),
            Interface::DdRing(s) => s.posted_buffers(queues),
            Interface::Corec(s) => s.posted_buffers(queues),
        }
    }

    /// Buffers that a port's receive rings hold at the most, posted and delivered: a pool that has no more
    /// runs dry when all cores fall behind (rxbisect §4.3).
    pub fn held_buffers(&self, queues: u32) -> u64 {
        let waiting = match self {
            // A descriptor is posted anew only when its frame has been received.
            Interface::PrivRing(_) | Interface::ShRing(_) | Interface::Dynamic(_) | Interface::DdRing(_) => 0,
            Interface::RxBisect(s) => u64::from(s.bx) * u64::from(queues),
            // What a thread took for a claim that failed.
            Interface::Corec(_) => CHUNK as u64 * u64::from(queues),
        };
        self.posted_buffers(queues) + waiting
    }

    /// Host halves that [`build`] makes: one for each queue, and the dedicated allocators if any.
    pub fn hosts(&self, queues: u32) -> u32 {
        match self {
            Interface::RxBisect(s) => queues + s.alloc_queues,
            _ => queues,
        }
    }

    /// The lowest queue whose core may receive the frames of `queue`: cores that poll one ring
    /// (`corec`, `ddring` under its lock) receive each other's, all others their own.
    pub fn ring_of(&self, queue: u16) -> u16 {
        match self {
            Interface::DdRing(ddring::Sizes { shared_by, .. })
            | Interface::Corec(corec::Sizes { shared_by, .. }) => {
                queue - queue % (*shared_by).clamp(1, MOST_QUEUES) as u16
            }
            _ => queue,
        }
    }

    /// Whether its NIC half may pass a frame by pointer ([`crate::Rest::Buffer`]), as an emulated NIC does.
    pub fn passes_pointers(&self) -> bool {
        !matches!(self, Interface::DdRing(_) | Interface::Corec(_))
    }

    /// The shortest time after which it may change its ways, zero if it never does.
    pub fn round(&self) -> Ps {
        match self {
            Interface::Dynamic(s) => s.round,
            _ => Ps::ZERO,
        }
    }

    /// The sizes by name, to print.
    pub fn params(&self) -> Vec<(&'static str, u64)> {
        match self {
            Interface::PrivRing(s) => vec![("ring", u64::from(s.ring))],
            Interface::ShRing(s) => vec![
                ("ring", u64::from(s.ring)),
                ("shared_by", u64::from(s.shared_by)),
                ("completions", u64::from(s.completions)),
            ],
            Interface::RxBisect(s) => vec![
                ("ax", u64::from(s.ax)),
                ("bx", u64::from(s.bx)),
                ("group", u64::from(s.group)),
                ("batch", u64::from(s.batch)),
                ("timeout_ns", s.timeout.ns()),
                ("alloc_queues", u64::from(s.alloc_queues)),
            ],
            Interface::Dynamic(s) => vec![
                ("ring", u64::from(s.ring)),
                ("shared_by", u64::from(s.shared_by)),
                ("completions", u64::from(s.completions)),
                ("report", u64::from(s.report)),
                ("round_ns", s.round.ns()),
            ],
            Interface::DdRing(s) => vec![
                ("ring", u64::from(s.ring)),
                ("shared_by", u64::from(s.shared_by)),
                ("bulk", u64::from(s.refill == ddring::Refill::Bulk)),
            ],
            Interface::Corec(s) => {
                vec![("ring", u64::from(s.ring)), ("shared_by", u64::from(s.shared_by))]
            }
        }
    }
}

/// One port: a host half for each queue (then one for each dedicated allocator of `rxbisect`), and one
/// NIC half.
pub type Port<M> = (Vec<AnyHost<M>>, AnyNic<M>);

/// Binds one port of `queues`. Every field gets its queue's or ring's number as its instance, so two
/// ports want two spaces, or one that tells them apart.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn build<S: Space>(
    space: &mut S,
    interface: &Interface,
    queues: u32,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Port<S::Mem>, SizeError> {
    interface.validate(queues)?;
    Ok(match interface {
        Interface::PrivRing(s) => {
            let (hosts, nic) = privring::build(space, s, queues, buffers)?;
            (hosts.into_iter().map(AnyHost::PrivRing).collect(), AnyNic::PrivRing(nic))
        }
        Interface::ShRing(s) => {
            let (hosts, nic) = shring::build(space, s, queues, buffers)?;
            (hosts.into_iter().map(AnyHost::ShRing).collect(), AnyNic::ShRing(nic))
        }
        Interface::RxBisect(s) => {
            let (hosts, nic) = rxbisect::build(space, s, queues, buffers)?;
            (hosts.into_iter().map(AnyHost::RxBisect).collect(), AnyNic::RxBisect(nic))
        }
        Interface::Dynamic(s) => {
            let (hosts, nic) = dynamic::build(space, s, queues, buffers)?;
            (hosts.into_iter().map(|half| AnyHost::Dynamic(Box::new(half))).collect(), AnyNic::Dynamic(nic))
        }
        Interface::DdRing(s) => {
            let (hosts, nic) = ddring::build(space, s, queues, buffers)?;
            (hosts.into_iter().map(AnyHost::DdRing).collect(), AnyNic::DdRing(nic))
        }
        Interface::Corec(s) => {
            let (hosts, nic) = corec::build(space, s, queues, buffers)?;
            (hosts.into_iter().map(AnyHost::Corec).collect(), AnyNic::DdRing(nic))
        }
    })
}
