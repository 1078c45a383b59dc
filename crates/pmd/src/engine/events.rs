//! Rx interrupts: an event for a queue whose core sleeps.
//!
//! A core that finds its queue empty arms the queue's event and sleeps. The NIC core raises an armed event once, as soon as
//! it has delivered more than when it raised the last one. What came between that and the arming is more, too: so no frame
//! waits for the next one, and a core that has polled those already is woken in vain once.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use std::os::fd::BorrowedFd;

use rings::Outcome;

use crate::counters::{Counters, RxCounters};

/// An Rx queue's event.
#[repr(C)]
pub struct Event {
    /// An eventfd.
    pub fd: c_int,
    /// 1 while somebody waits for it: set by the core that polls the queue, cleared by whoever raises it.
    pub armed: AtomicU32,
}

/// The events of a port's queues.
pub(crate) struct Events {
    /// Each with the frames that had been delivered when it was last raised.
    queues: Vec<(&'static Event, u64)>,
}

impl Events {
    /// Those of the first queues that `counters` count for.
    pub(crate) fn new(events: &'static [Event], counters: &Counters) -> Events {
        Events { queues: events.iter().zip(counters.rx.iter().map(delivered)).collect() }
    }

    /// A turn has passed. `held` says that the card may keep delivered frames of some queue (`ceio`): then they count again, so that a
    /// core which finds nothing is woken once they are there.
    #[cold]
    pub(super) fn raise(&mut self, counters: &Counters, held: bool) {
        for ((event, told), counters) in self.queues.iter_mut().zip(&counters.rx) {
            // Acquire: pairs with the release of the core that arms. It has taken the last event before.
            if event.armed.load(Ordering::Acquire) == 0 {
                continue;
            }
            let delivered = delivered(counters);
            if delivered == *told {
                continue;
            }
            if !held {
                *told = delivered;
            }
            event.armed.store(0, Ordering::Relaxed); // the event itself orders what the core does then
            // SAFETY: the driver keeps the eventfd open until the port is reset.
            let fd = unsafe { BorrowedFd::borrow_raw(event.fd) };
            // It fails where so many events are not taken yet that no more can be told of: the core has been told.
            rustix::io::write(fd, &1_u64.to_ne_bytes()).ok();
        }
    }
}

fn delivered(counters: &RxCounters) -> u64 {
    counters.outcome[Outcome::Delivered as usize].load(Ordering::Relaxed) // the NIC core's own
}
