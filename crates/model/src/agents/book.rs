//! What the agents of a run write down together.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use nic::reorder::Order;

use super::meter::Meter;

/// Handles of it, for one agent.
#[derive(Clone)]
pub(crate) struct Book {
    pub meter: Rc<RefCell<Meter>>,
    /// Judges of the order of frames, port by port; none where cores have rings of their own.
    pub orders: Rc<RefCell<Vec<Order>>>,
    /// Named counters of rings and pools, summed when an agent ends.
    pub counters: Rc<RefCell<BTreeMap<&'static str, u64>>>,
}

impl Book {
    pub(crate) fn add(&self, named: Vec<(&'static str, u64)>) {
        let mut counters = self.counters.borrow_mut();
        for (name, n) in named {
            *counters.entry(name).or_default() += n;
        }
    }
}
