//! Waits for the threads of a run, but not for ever.

use std::fmt::Write;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory::{Backing, Memory, Ps, Region};

use crate::LiveError;
use crate::card::Card;
use crate::core::Core;
use crate::threads::{Threads, View};

/// How often the threads are looked at.
const GLANCE: Duration = Duration::from_millis(10);
/// How long an aborted thread may take to answer.
const GRACE: Ps = Ps::from_us(2_000_000);

/// What the threads of a run left behind.
pub(crate) struct Ended<A> {
    pub(crate) cores: Vec<Core<View, A>>,
    pub(crate) card: Card<View>,
}

/// Joins all threads.
///
/// # Errors
/// A thread died, or none of them has done anything for `patience`.
pub(crate) fn join<A>(threads: Threads<A>, patience: Ps) -> Result<Ended<A>, LiveError> {
    let clock = Region::new(1, Backing::Heap)?; // only for its clock
    let mut clock = clock.view();
    let (mut last, mut since) = (Vec::new(), clock.now());
    while threads.running() > 0 {
        let progress = threads.shared.progress();
        if progress != last {
            (last, since) = (progress, clock.now());
        }
        let early = threads.running() < threads.count() && !threads.shared.stopped();
        if early || clock.now().saturating_sub(since) > patience {
            threads.shared.abort();
            let limit = clock.now() + GRACE;
            while threads.running() > 0 && clock.now() < limit {
                thread::park_timeout(GLANCE);
            }
            return Err(threads.post_mortem(patience));
        }
        thread::park_timeout(GLANCE);
    }
    let mut cores = Vec::new();
    for core in threads.cores {
        cores.push(ended(core)?);
    }
    Ok(Ended { cores, card: ended(threads.card)? })
}

fn ended<T>(handle: JoinHandle<T>) -> Result<T, LiveError> {
    let name = handle.thread().name().unwrap_or_default().to_owned();
    handle.join().map_err(|_| LiveError::Died(name))
}

impl<A> Threads<A> {
    fn count(&self) -> usize {
        self.cores.len() + 1
    }

    fn running(&self) -> usize {
        self.cores.iter().filter(|c| !c.is_finished()).count() + usize::from(!self.card.is_finished())
    }

    /// What each thread of an aborted run had done.
    fn post_mortem(self, patience: Ps) -> LiveError {
        let progress = self.shared.progress();
        let (ended_flag, flushed) = (self.shared.ended(), self.shared.flushed());
        let mut dump = format!("all frames stored: {ended_flag}, workers done: {flushed}\n");
        for (core, done) in self.cores.into_iter().zip(&progress) {
            let _ = write!(dump, "{}: {done} frames, ", core.thread().name().unwrap_or_default());
            let _ = match core.is_finished().then(|| ended(core)) {
                None => writeln!(dump, "does not answer"),
                Some(Err(died)) => return died,
                Some(Ok(core)) => writeln!(dump, "{:?}, {:?}", core.counters, core.named),
            };
        }
        let _ = match self.card.is_finished().then(|| ended(self.card)) {
            None => writeln!(dump, "card: does not answer"),
            Some(Err(died)) => return died,
            Some(Ok(card)) => {
                writeln!(dump, "card: {} frames offered, {:?}", card.offered, card.fates)
            }
        };
        LiveError::Stalled { seconds: patience.ns() / 1_000_000_000, dump }
    }
}
