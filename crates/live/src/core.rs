//! A core's thread: the worker loop of crate `apps`, or a dedicated allocator.

use std::sync::Arc;

use apps::{App, Worker, WorkerCounters};
use memory::Memory;
use rings::pool::CoreCache;
use rings::{AnyHost, AnyTxHost, Host};

use crate::config::Config;
use crate::shared::Shared;

/// What a core's thread leaves behind.
pub(crate) struct Core<M: Memory, A> {
    pub(crate) pool: CoreCache<M>,
    pub(crate) counters: WorkerCounters,
    /// The interface's and the pool's.
    pub(crate) named: Vec<(&'static str, u64)>,
    pub(crate) app: Option<A>,
}

/// When a worker leaves a ring that others poll as well, and comes back.
pub(crate) struct Shift {
    /// Frames that it receives before it leaves, and that the others receive before it is back; 0: it stays.
    every: u64,
    /// The number of frames at which it leaves or comes back next: of its own while it is there, of the
    /// others' while it is away.
    next: u64,
    away: bool,
    left: u64,
}

impl Shift {
    /// Of worker `who`: the first of a ring stays.
    pub(crate) fn new(config: &Config, who: usize) -> Shift {
        let first = usize::from(config.interface.ring_of(who as u16)) == who;
        let every = if first { 0 } else { config.shift };
        Shift { every, next: every, away: false, left: 0 }
    }

    /// Whether the worker is away now; it leaves or comes back first, if it is time.
    fn away<M: Memory, A: App<M>>(
        &mut self,
        m: &mut M,
        worker: &mut Worker<M, AnyHost<M>, AnyTxHost<M>, CoreCache<M>, A>,
        who: usize,
        shared: &Shared,
    ) -> bool {
        let own = worker.counters().received;
        let others = || shared.received().saturating_sub(own);
        if self.every == 0 {
            return false;
        }
        if self.away && (shared.ended() || others() >= self.next) {
            worker.fill(m);
            (self.away, self.next) = (false, own + self.every);
        } else if !self.away && own >= self.next && !shared.ended() && worker.leave(m) {
            shared.report(who, own);
            (self.away, self.next) = (true, others() + self.every);
            self.left += 1;
        }
        self.away
    }
}

/// Receives, processes and sends until the card has stopped.
pub(crate) fn work<M: Memory, A: App<M>>(
    mut m: M,
    mut worker: Worker<M, AnyHost<M>, AnyTxHost<M>, CoreCache<M>, A>,
    who: usize,
    mut shift: Shift,
    shared: &Arc<Shared>,
) -> Core<M, A> {
    worker.fill(&mut m);
    let mut flushed = false;
    while !shared.stopped() && !shared.aborted() {
        if shift.away(&mut m, &mut worker, who, shared) {
            worker.flushed(&mut m);
            m.idle();
            continue;
        }
        // In this order: a ring that is empty after the end was seen stays empty.
        let ended = shared.ended();
        if worker.poll(&mut m) > 0 {
            shared.report(who, worker.counters().received);
        } else {
            // A burst may be empty because another worker was faster: that is not the end.
            let last = ended && !flushed && worker.host().waiting(&mut m) == 0;
            if last && worker.flushed(&mut m) {
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
    let left = (shift.every > 0).then_some(("left", shift.left));
    let named = host.counters().into_iter().chain(pool.counters()).chain(left).collect();
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
