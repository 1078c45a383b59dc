//! A core's thread: the worker loop of crate `apps`, or a dedicated allocator.

use std::sync::Arc;

use apps::{App, Worker, WorkerCounters};
use memory::Memory;
use rings::pool::CoreCache;
use rings::{AnyHost, Host};

use crate::shared::Shared;

/// What a core's thread leaves behind.
pub(crate) struct Core<M: Memory, A> {
    pub(crate) pool: CoreCache<M>,
    pub(crate) counters: WorkerCounters,
    /// The interface's and the pool's.
    pub(crate) named: Vec<(&'static str, u64)>,
    pub(crate) app: Option<A>,
}

/// Receives, processes and sends until the card has stopped.
pub(crate) fn work<M: Memory, A: App<M>>(
    mut m: M,
    mut worker: Worker<M, AnyHost<M>, CoreCache<M>, A>,
    who: usize,
    shared: &Arc<Shared>,
) -> Core<M, A> {
    worker.fill(&mut m);
    let mut flushed = false;
    while !shared.stopped() && !shared.aborted() {
        // In this order: a burst that is empty after the end was seen is the last one.
        let ended = shared.ended();
        if worker.poll(&mut m) > 0 {
            shared.report(who, worker.counters().received);
        } else {
            if ended && !flushed && worker.flushed(&mut m) {
                flushed = true;
                shared.flush();
            }
            m.idle();
        }
    }
    if !shared.aborted() {
        worker.stop(&mut m);
        worker.pool_mut().flush(&mut m);
    }
    let counters = worker.counters();
    let (host, pool, app) = worker.into_parts();
    let named = host.counters().into_iter().chain(pool.counters()).collect();
    Core { pool, counters, named, app: Some(app) }
}

/// Keeps the rings of an allocation core filled until the card has stopped (rxbisect §4.2).
pub(crate) fn allocate<M: Memory, A>(
    mut m: M,
    mut host: AnyHost<M>,
    mut pool: CoreCache<M>,
    shared: &Arc<Shared>,
) -> Core<M, A> {
    host.fill(&mut m, &mut pool);
    while !shared.stopped() && !shared.aborted() {
        host.rx_burst(&mut m, &mut pool, &mut []);
        m.idle();
    }
    if !shared.aborted() {
        host.drain(&mut m, &mut pool);
        pool.flush(&mut m);
    }
    let named = host.counters().into_iter().chain(pool.counters()).collect();
    Core { pool, counters: WorkerCounters::default(), named, app: None }
}
