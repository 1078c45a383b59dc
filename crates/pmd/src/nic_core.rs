//! The NIC core: one thread, or a DPDK service, that serves the engines of ports in turn.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::engine::shared::SharedEngine;
use crate::error::Error;

/// What the NIC core does when no port has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Idle {
    /// Looks again at once: it has the CPU to itself.
    Spin,
    /// Lets others on its CPU run.
    Yield,
    /// Sleeps for 50 us.
    Sleep,
}

/// Sleep of an idle NIC core.
const NAP: Duration = Duration::from_micros(50);
/// A core that yields lets others run after so many turns, even with work: one of them may have to poll its queues.
const TURNS: u32 = 16;

/// A NIC core. It knows engines, not the ports that they are of.
#[derive(Default)]
pub(crate) struct NicCore {
    engines: Mutex<Vec<Arc<SharedEngine>>>,
    /// Counts changes of `engines`.
    version: AtomicU32,
    stop: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The list as [`turn`](Self::turn) goes through it.
    served: Mutex<Served>,
}

/// The NIC core's own copy of the list.
#[derive(Default)]
struct Served {
    engines: Vec<Arc<SharedEngine>>,
    version: u32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

impl NicCore {
    pub(crate) fn add(&self, engine: Arc<SharedEngine>) {
        lock(&self.engines).push(engine);
        self.version.fetch_add(1, Ordering::Release); // partner: the load in `turn`
    }

    /// A turn that is under way may still reach the engine.
    pub(crate) fn remove(&self, engine: &Arc<SharedEngine>) {
        lock(&self.engines).retain(|e| !Arc::ptr_eq(e, engine));
        self.version.fetch_add(1, Ordering::Release); // partner: the load in `turn`
    }

    /// Serves every engine once; whether any had work.
    pub(crate) fn turn(&self) -> bool {
        let Ok(mut served) = self.served.try_lock() else { return false };
        let version = self.version.load(Ordering::Acquire); // partner: `add` and `remove`
        if version != served.version {
            *served = Served { engines: lock(&self.engines).clone(), version };
        }
        let mut worked = false;
        for shared in &served.engines {
            if let Some(mut engine) = shared.claim() {
                worked |= engine.turn();
            }
        }
        worked
    }

    /// Starts a thread on `cpu`.
    ///
    /// # Errors
    /// There is no such CPU for this process, or no thread.
    pub(crate) fn start(self: &Arc<NicCore>, cpu: u32, idle: Idle) -> Result<(), Error> {
        let mut thread = lock(&self.thread);
        if thread.is_some() {
            return Err(Error::Invalid("the NIC core has a thread already".into()));
        }
        let (nic_core, (said, heard)) = (self.clone(), std::sync::mpsc::channel());
        let run = move || {
            let pinned = pin(cpu);
            let goes_on = pinned.is_ok();
            if said.send(pinned).is_ok() && goes_on {
                nic_core.serve(idle);
            }
        };
        let handle = thread::Builder::new().name("rxlab-nic".into()).spawn(run);
        let handle = handle.map_err(|e| Error::Invalid(format!("no thread for the NIC core: {e}")))?;
        match heard.recv() {
            Ok(Ok(())) => {
                *thread = Some(handle);
                Ok(())
            }
            Ok(Err(e)) => Err(Error::Invalid(format!("nic_cpu={cpu}: {e}"))),
            Err(_) => Err(Error::Invalid("the NIC core's thread died".into())),
        }
    }

    /// Ends the thread, if there is one.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed); // the join below orders what matters
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join(); // a thread that died has nothing left to end
        }
        *lock(&self.served) = Served::default();
    }

    #[allow(clippy::disallowed_methods, reason = "a nap of real time is what nic_idle=sleep asks for")]
    fn serve(&self, idle: Idle) {
        let mut turns = 0_u32;
        // Partner: the store in `end`; a late look costs a turn.
        while !self.stop.load(Ordering::Relaxed) {
            let worked = self.turn();
            turns = turns.wrapping_add(1);
            match idle {
                Idle::Spin if worked => {}
                Idle::Spin => core::hint::spin_loop(),
                Idle::Sleep if !worked => thread::sleep(NAP),
                Idle::Yield | Idle::Sleep if !worked || turns.is_multiple_of(TURNS) => thread::yield_now(),
                Idle::Yield | Idle::Sleep => {}
            }
        }
    }
}

/// Binds the calling thread to `cpu`.
fn pin(cpu: u32) -> std::io::Result<()> {
    let cpu = cpu as usize;
    if cpu >= CpuSet::MAX_CPU {
        return Err(Errno::INVAL.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?) // the calling thread
}
