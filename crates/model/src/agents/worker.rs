//! A core that receives: its worker, until the run is over.

use apps::{App, Worker};
use memory::{Memory, Ps};
use rings::{AnyHost, AnyTxHost, TxHost};

use super::app::ModelApp;
use super::book::Book;
use super::pool::Priced;
use super::rules::Beside;
use crate::engine::view::View;

/// A core's worker over the modelled memory.
pub(crate) type ModelWorker = Worker<View, AnyHost<View>, AnyTxHost<View>, Priced, ModelApp>;

/// A core: polls until the run is over, with `beside` between polls, then drains its rings.
pub(crate) fn work(m: &mut View, core: usize, mut worker: ModelWorker, mut beside: impl Beside, book: &Book) {
    worker.fill(m);
    m.received(false, Ps::ZERO); // from now on it is one of those who keep up
    while !m.stopped() {
        beside.turn(m);
        let began = m.now();
        let n = worker.poll(m);
        let took = m.now().saturating_sub(began);
        m.received(n == worker.burst(), took);
        let done = worker.counters();
        let spent = worker.pool_mut().spent;
        let g = &mut m.sim().gauges[core];
        (g.taking, g.giving) = (spent.taking, spent.giving);
        g.received = done.received;
        g.tx_filled = u64::from(worker.tx().filled());
        g.tx_full = done.tx_full;
        g.app = done.app;
        if n == 0 {
            beside.idle(m);
        }
    }
    beside.end(book);
    worker.stop(m);
    worker.pool_mut().pool.flush(m);
    book.add(rings::Host::counters(worker.host()));
    book.add(worker.pool_mut().pool.counters());
    if worker.app().own_buffers() != u64::MAX {
        book.add(vec![("values_kept", worker.app().kept())]);
    }
}
