//! Hosts at the far ends of the wires: what one sends depends on what it gets from the other, through the server.

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Memory, Ps};
use nic::Port;
use rings::Nic;
use traffic::{Arrival, Peer};

use crate::agents::{self, Book};
use crate::report::Report;
use crate::run::{Error, Run};
use crate::scenario::Scenario;
use crate::view::View;

/// A host that both halves of its port's card talk to.
pub(crate) type Far = Rc<RefCell<dyn Peer>>;

/// Step of time after which a run looks whether its hosts are through.
const STEP: Ps = Ps::from_us(1_000);

/// Runs until the hosts are through, and their connections closed; whether they are: the scenario's limit may
/// come first. A server's pauses count: a transfer lasts through many. The report is of the whole run.
///
/// # Errors
/// A number of the scenario is not allowed, or nothing can happen any more (with a dump).
pub fn transfer(s: &mut Scenario) -> Result<(Report, bool), Error> {
    if s.peers.len() != 2 || !s.sources.is_empty() || s.emulated || s.server.nic_core().is_some() {
        return Err(Error::Scenario("a transfer is between two hosts, each on the wire of a card".into()));
    }
    if s.port_cores.windows(2).any(|ports| ports[0] != ports[1]) {
        return Err(Error::Scenario(format!(
            "{} cores; allowed for a transfer: as many for each port",
            s.cores()
        )));
    }
    let delay = s.peers.iter().map(|p| p.borrow().delay()).min().unwrap_or(0);
    if delay <= s.window.0 {
        let what =
            format!("a host answers after {delay} ps; allowed: more than the window, {} ps", s.window.0);
        return Err(Error::Scenario(what));
    }
    Run::watched(s, STEP, |s| s.peers.iter().all(|p| p.borrow().done()))
}

/// The receive half of a card whose wire leads to `peer`. `first` is the core of queue 0.
pub(crate) fn receive<R: Nic<View>>(m: &mut View, mut port: Port<R>, peer: &Far, first: usize, book: &Book) {
    let delay = peer.borrow().delay();
    let mut a = Arrival::EMPTY;
    while !m.stopped() {
        // No other agent is behind by more than the window: what has not been sent by then comes later, and
        // changes nothing here before the host has dealt with it.
        m.chain();
        let known = (m.now().0 + delay).saturating_sub(m.window().0);
        let sends = peer.borrow_mut().next(known, &mut a);
        if sends {
            agents::take(m, &mut port, &a, (first, false), book);
        } else {
            port.rest(m, Ps(known));
        }
    }
    agents::end(m, port, book);
}
