//! An engine between its two sides: the driver's control calls and the NIC core's turns.
//!
//! Both want it, so it lies behind a lock. The NIC core only tries it, and not at all while a control call wants it; it
//! holds it for one turn, a burst in each direction. A control call therefore waits for one turn at most. That holds
//! where the NIC core is a service of the calling lcore as well: then nobody has the lock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::Engine;
use crate::error::Error;
use crate::limits::PATIENCE_S;

/// An engine that control calls and the NIC core share.
pub(crate) struct SharedEngine {
    /// Control calls that want the engine.
    wanted: AtomicU32,
    engine: Mutex<Engine>,
}

impl SharedEngine {
    pub(crate) fn new(engine: Engine) -> SharedEngine {
        SharedEngine { wanted: AtomicU32::new(0), engine: Mutex::new(engine) }
    }

    /// The engine for a turn; `None` while a control call wants it.
    pub(crate) fn claim(&self) -> Option<MutexGuard<'_, Engine>> {
        // Relaxed: only a hint, the lock orders.
        if self.wanted.load(Ordering::Relaxed) > 0 {
            return None;
        }
        self.engine.try_lock().ok()
    }

    /// The engine for a control call.
    ///
    /// # Errors
    /// The NIC core does not let go of it in time.
    #[allow(clippy::disallowed_methods, reason = "real time bounds the wait for a thread")]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Engine) -> R) -> Result<R, Error> {
        self.wanted.fetch_add(1, Ordering::Relaxed); // a hint, as in `claim`
        let start = Instant::now();
        let done = loop {
            match self.engine.try_lock() {
                Ok(mut engine) => break Ok(f(&mut engine)),
                Err(TryLockError::Poisoned(broken)) => break Ok(f(&mut broken.into_inner())),
                Err(TryLockError::WouldBlock) if start.elapsed() > Duration::from_secs(PATIENCE_S) => {
                    break Err(Error::Busy);
                }
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        };
        self.wanted.fetch_sub(1, Ordering::Relaxed); // as above
        done
    }
}

#[cfg(test)]
impl SharedEngine {
    /// The engine, as a NIC core has it that does not end its turn.
    pub(crate) fn held(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().expect("no panic while it was held")
    }

    /// Control calls that want the engine.
    pub(crate) fn wanted(&self) -> u32 {
        self.wanted.load(Ordering::Relaxed) // a test waits for it
    }
}
