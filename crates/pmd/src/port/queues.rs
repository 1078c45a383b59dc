//! The queues of a started port as the driver gets them.

use memory::Region;
use rings::{AnyHost, AnyTxHost};

use super::start::Start;
use crate::View;
use crate::counters::HostCounters;
use crate::halves::RxHalves;
use crate::queue::{RxQueue, TxQueue};

/// The host halves of all rings.
pub(super) struct HostHalves {
    pub(super) rx: Vec<AnyHost<View>>,
    pub(super) tx: Vec<AnyTxHost<View>>,
}

/// The queues, and the region that their words lie in. They belong to the lcores that poll them; the port only frees
/// them.
#[derive(Default)]
pub(super) struct Queues {
    rx: Vec<*mut RxQueue>,
    /// Which of them is whose.
    halves: RxHalves,
    tx: Vec<*mut TxQueue>,
    region: Option<*mut Region>,
}

// SAFETY: the pointers are only handed out, and freed when the driver says that nobody uses them any more.
unsafe impl Send for Queues {}

impl Queues {
    /// The queues that `start` asks for: `halves` of Rx queues, which count in `counters`. Rings beyond them have no
    /// host.
    pub(super) fn made(
        hosts: HostHalves,
        m: &View,
        start: &Start,
        halves: RxHalves,
        counters: &'static [HostCounters],
    ) -> Queues {
        let mut queues = Queues { halves, ..Queues::default() };
        let mut rx_hosts = hosts.rx.into_iter();
        for (queue, told) in (0..halves.queues()).zip(counters) {
            for host in rx_hosts.by_ref().take(halves.of(queue).len()) {
                let half = RxQueue::new(m.clone(), host, start.rx_desc, &told.value);
                queues.rx.push(Box::into_raw(Box::new(half)));
            }
        }
        for host in hosts.tx.into_iter().take(usize::from(start.tx_queues)) {
            queues.tx.push(Box::into_raw(Box::new(TxQueue::new(m.clone(), host, start.tx_desc))));
        }
        queues
    }

    /// Keeps the region of the queues' words, which came from `Box::into_raw`.
    pub(super) fn keep(&mut self, region: *mut Region) {
        self.region = Some(region);
    }

    /// Whether the port has started.
    pub(super) fn are_made(&self) -> bool {
        self.region.is_some()
    }

    /// A half of an Rx queue.
    pub(super) fn rx(&self, queue: u16, half: u16) -> Option<*mut RxQueue> {
        self.rx.get(self.halves.number(queue, half)?).copied()
    }

    /// A Tx queue.
    pub(super) fn tx(&self, queue: u16) -> Option<*mut TxQueue> {
        self.tx.get(usize::from(queue)).copied()
    }

    /// Frees them.
    ///
    /// # Safety
    /// Nobody uses them, nor anything else with a handle into the region.
    pub(super) unsafe fn free(self) {
        // SAFETY: all came from `Box::into_raw`, once; the caller promises that nobody uses them. The region goes last:
        // nothing with a handle into it is left.
        unsafe {
            self.rx.into_iter().for_each(|q| drop(Box::from_raw(q)));
            self.tx.into_iter().for_each(|q| drop(Box::from_raw(q)));
            self.region.into_iter().for_each(|r| drop(Box::from_raw(r)));
        }
    }
}
