//! The halves of any interface. They dispatch once per burst; inside a burst all calls are static.

use memory::{Memory, Ps};

use crate::contract::{Buffers, Completion, Frame, Host, Nic, Outcome};
use crate::{corec, ddring, dynamic, privring, rxbisect, shring};

/// A host half of any interface.
pub enum AnyHost<M: Memory> {
    /// Private rings.
    PrivRing(privring::HostHalf<M>),
    /// Rings shared by several cores.
    ShRing(shring::HostHalf<M>),
    /// Allocation and bisected reception rings.
    RxBisect(rxbisect::HostHalf<M>),
    /// Shared or private rings. Boxed, since it is as large as the two together.
    Dynamic(Box<dynamic::HostHalf<M>>),
    /// One consumer for each ring, or a lock.
    DdRing(ddring::HostHalf<M>),
    /// Several threads for each ring.
    Corec(corec::HostHalf<M>),
}

/// A NIC half of any interface.
pub enum AnyNic<M: Memory> {
    /// Private rings.
    PrivRing(privring::NicHalf<M>),
    /// Rings shared by several cores.
    ShRing(shring::NicHalf<M>),
    /// Allocation and bisected reception rings.
    RxBisect(rxbisect::NicHalf<M>),
    /// Shared or private rings.
    Dynamic(dynamic::NicHalf<M>),
    /// Descriptors that come back in place, whoever receives.
    DdRing(ddring::NicHalf<M>),
}

impl<M: Memory> AnyNic<M> {
    /// Where completions go into the descriptors, the card writes them back so. Others write each by itself.
    pub fn set_write_back(&mut self, how: ddring::WriteBack) {
        if let AnyNic::DdRing(half) = self {
            half.set_write_back(how);
        }
    }
}

/// Calls the same method on whichever half it is.
macro_rules! each {
    ($any:ident $(+ $more:ident)?, $self:expr, $half:ident => $call:expr) => {
        match $self {
            $any::PrivRing($half) => $call,
            $any::ShRing($half) => $call,
            $any::RxBisect($half) => $call,
            $any::Dynamic($half) => $call,
            $any::DdRing($half) => $call,
            $($any::$more($half) => $call,)?
        }
    };
}

impl<M: Memory> Host<M> for AnyHost<M> {
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        each!(AnyHost + Corec, self, half => half.rx_burst(m, bufs, out))
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        each!(AnyHost + Corec, self, half => half.fill(m, bufs))
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        each!(AnyHost + Corec, self, half => half.drain(m, bufs))
    }

    fn waiting(&self, m: &mut M) -> u64 {
        each!(AnyHost + Corec, self, half => half.waiting(m))
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        each!(AnyHost + Corec, self, half => half.counter(i))
    }
}

/// [`Nic::deliver`] in a function of its own. In one function with those of all rings, each would keep less in
/// registers.
#[inline(never)]
fn apart<M: Memory, N: Nic<M>>(
    nic: &mut N,
    m: &mut M,
    queue: u16,
    frames: &[Frame<'_>],
    out: &mut [Outcome],
) {
    nic.deliver(m, queue, frames, out);
}

impl<M: Memory> Nic<M> for AnyNic<M> {
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        each!(AnyNic, self, half => apart(half, m, queue, frames, out))
    }

    fn poll(&mut self, m: &mut M) -> Option<Ps> {
        each!(AnyNic, self, half => half.poll(m))
    }

    fn stop(&mut self, m: &mut M) {
        each!(AnyNic, self, half => half.stop(m))
    }

    fn stop_queue(&mut self, m: &mut M, queue: u16) {
        each!(AnyNic, self, half => half.stop_queue(m, queue))
    }

    fn start_queue(&mut self, m: &mut M, queue: u16) {
        each!(AnyNic, self, half => half.start_queue(m, queue))
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        each!(AnyNic, self, half => half.counter(i))
    }
}
