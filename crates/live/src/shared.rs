//! What the threads tell each other beside the rings: how far the run is, and that they live.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// A counter on a line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Count(AtomicU64);

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The card has stored its last frame.
    ended: AtomicBool,
    /// Workers that have sent all that they received.
    flushed: AtomicU32,
    /// The card has stopped: host halves may drain.
    stopped: AtomicBool,
    /// Something is wrong: every thread leaves its loop.
    aborted: AtomicBool,
    /// What each thread has done; the last one is the card.
    progress: Box<[Count]>,
}

impl Shared {
    /// For so many threads.
    pub(crate) fn new(threads: usize) -> Shared {
        Shared {
            ended: AtomicBool::new(false),
            flushed: AtomicU32::new(0),
            stopped: AtomicBool::new(false),
            aborted: AtomicBool::new(false),
            progress: (0..threads).map(|_| Count::default()).collect(),
        }
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Release); // pairs with `ended`: an empty ring seen after it stays empty
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Acquire) // pairs with `end`
    }

    pub(crate) fn flush(&self) {
        self.flushed.fetch_add(1, Release); // pairs with `flushed`: what was sent before is in the rings
    }

    pub(crate) fn flushed(&self) -> u32 {
        self.flushed.load(Acquire) // pairs with `flush`
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Release); // pairs with `stopped`: the card's last stores come before
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Acquire) // pairs with `stop`
    }

    pub(crate) fn abort(&self) {
        self.aborted.store(true, Relaxed); // orders nothing: results of an aborted run are only printed
    }

    pub(crate) fn aborted(&self) -> bool {
        self.aborted.load(Relaxed) // as `abort`
    }

    /// Thread `who` has done `what` so far.
    #[inline]
    pub(crate) fn report(&self, who: usize, what: u64) {
        if let Some(count) = self.progress.get(who) {
            count.0.store(what, Relaxed); // a statistic: orders nothing
        }
    }

    /// What all threads but the card have done.
    pub(crate) fn received(&self) -> u64 {
        let cores = self.progress.len().saturating_sub(1);
        self.progress.iter().take(cores).map(|c| c.0.load(Relaxed)).sum()
    }

    /// What each thread has done.
    pub(crate) fn progress(&self) -> Vec<u64> {
        self.progress.iter().map(|c| c.0.load(Relaxed)).collect()
    }
}
