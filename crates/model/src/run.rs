//! One run: build, warm up until rates have settled, measure, drain, account.

mod account;
mod allocated;
mod build;
mod cards;
pub(crate) mod confidence;
mod course;
pub(crate) mod error;
pub(crate) mod report;
mod snapshot;
mod tables;
pub(crate) mod transfer;
mod validate;

use core::ops::Range;

use memory::Ps;
use nic::reorder::Found;
use rings::pool::CoreCache;

use crate::agents::book::Book;
use crate::engine::Engine;
use crate::engine::agent::Agent;
use crate::engine::view::View;
use crate::scenario::Scenario;
use account::Measured;
use error::Error;
use report::{Conservation, Report};
use snapshot::Snapshot;

/// Runs a scenario to its end. The sources are used up.
///
/// # Errors
/// A number of the scenario is not allowed, or nothing can happen any more (with a dump).
pub fn run(s: &mut Scenario) -> Result<Report, Error> {
    validate::scenario(s)?;
    if s.peers.iter().any(|peer| !peer.borrow().is_endless()) {
        return Err(Error::Scenario("hosts at the far ends of wires end by themselves: a transfer".into()));
    }
    transfer::answers_late(s)?;
    let mut run = Run::build(s)?;
    let (settled, window) = match s.span {
        Some(span) => run.laid_down(s, &span)?,
        None => run.until_settled(s)?,
    };
    run.report(s, &window, settled)
}

/// A run under way.
struct Run {
    engine: Engine,
    book: Book,
    auditor: CoreCache<View>,
    buffers: u64,
    now: Ps,
    warmup: Ps,
    /// Buffers that full rings hold.
    posted: u64,
    /// The cores that play the NIC.
    nic_cores: Range<u32>,
}

impl Run {
    fn advance(&mut self, span: Ps) -> Result<(), Error> {
        self.now += span;
        Ok(self.engine.run_until(self.now)?)
    }

    fn snapshot(&mut self) -> Snapshot {
        Snapshot::take(self.now.0, &self.book.meter.borrow(), self.engine.sim())
    }

    /// The order in which frames left, of all ports; none where cores have rings of their own.
    fn reordering(&self) -> Option<Found> {
        let mut all: Option<Found> = None;
        for order in self.book.orders.borrow().iter() {
            all.get_or_insert_default().add(order.found());
        }
        all
    }

    fn report(mut self, s: &Scenario, window: &Measured, settled: bool) -> Result<Report, Error> {
        let conservation = self.finish()?;
        let counters = self.book.counters.borrow().clone();
        let meter = self.book.meter.borrow();
        Ok(account::report(s, window, &meter, conservation, counters, settled))
    }

    fn finish(&mut self) -> Result<Conservation, Error> {
        self.engine.stop()?;
        let mut view = self.engine.set_up(Agent::Core(0));
        let buffers_free = self.auditor.available(&mut view);
        let meter = self.book.meter.borrow();
        let in_nic = meter.in_nic + meter.passing;
        Ok(Conservation {
            offered: meter.fates.decided() + in_nic,
            delivered: meter.fates.delivered(),
            dropped: meter.fates.dropped(),
            in_nic,
            buffers: self.buffers,
            buffers_free,
        })
    }
}
