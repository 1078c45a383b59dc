//! The engine: fibres in order of time.
//!
//! An agent is straight-line code on a fibre of its own with its own clock. The engine resumes the
//! one with the smallest (time, number); the numbers give the order of spawning, so a run is the same
//! on every machine. How far an agent runs on is its view's business.

pub(crate) mod agent;
pub(crate) mod gauge;
mod schedule;
pub(crate) mod sim;
pub(crate) mod space;
mod standstill;
mod turns;
pub(crate) mod view;

use std::cell::UnsafeCell;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use memory::Ps;

use agent::Agent;
use schedule::PARKED;
use sim::Sim;
use turns::Turns;
use view::{Shared, View};

/// Stack of a fibre, bytes.
const STACK: usize = 256 << 10;
/// Rounds in which every agent must have returned once it was told to.
const STOP_ROUNDS: u32 = 10_000;

/// The longest run, some ten hours of simulated time: the schedule has 56 bits for a time in ps, and an agent may wait
/// for what comes behind the end.
pub const LONGEST: Ps = Ps(1 << 55);

/// Why a run ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Every agent waits for another.
    #[error("nothing can happen any more at {0:.3} us:\n{1}")]
    Stuck(f64, String),
    /// The end is behind what the schedule can tell.
    #[error("a run of {0:.0} s of simulated time; allowed: up to {1:.0} s")]
    Late(f64, f64),
    /// A fibre's stack could not be had.
    #[error("no memory for a fibre: {0}")]
    Memory(#[from] std::io::Error),
}

/// A simulation: the world and its agents.
pub struct Engine {
    shared: Shared,
    fibres: Vec<Option<Coroutine<(), (), (), DefaultStack>>>,
}

impl Engine {
    /// No agents yet. An agent may run ahead of the others by `window`.
    pub fn new(mut sim: Sim, window: Ps) -> Engine {
        sim.set_window(window.0);
        Engine { shared: Rc::new(UnsafeCell::new(sim)), fibres: Vec::new() }
    }

    /// A view outside any fibre, for set-up: it never hands over.
    pub fn set_up(&mut self, agent: Agent) -> View {
        View::new(self.shared.clone(), usize::MAX, agent)
    }

    /// Adds an agent that starts at time 0.
    ///
    /// # Errors
    /// No memory for its stack.
    pub fn spawn(&mut self, agent: Agent, body: impl FnOnce(&mut View) + 'static) -> Result<(), EngineError> {
        let slot = self.fibres.len();
        self.sim().turns.add(agent);
        let shared = self.shared.clone();
        // A fibre takes its closure over on its own stack, and a small one only.
        let body = Box::new(body);
        let stack = DefaultStack::new(STACK)?;
        self.fibres.push(Some(Coroutine::with_stack(stack, move |yielder, ()| {
            let mut view = View::new(shared, slot, agent);
            view.enter(yielder);
            body(&mut view);
        })));
        Ok(())
    }

    /// The world, between steps.
    pub fn sim(&mut self) -> &mut Sim {
        // SAFETY: no fibre runs while the engine is not in `run_until`, which borrows it exclusively,
        // and views only touch the world from their fibres or through `&mut` of the caller's thread.
        unsafe { &mut *self.shared.get() }
    }

    fn turns(&mut self) -> &mut Turns {
        &mut self.sim().turns
    }

    /// Runs every agent up to `end`.
    ///
    /// # Errors
    /// All agents wait for each other, or `end` is behind [`LONGEST`].
    pub fn run_until(&mut self, end: Ps) -> Result<(), EngineError> {
        if end > LONGEST {
            return Err(EngineError::Late(end.0 as f64 / 1e12, LONGEST.0 as f64 / 1e12));
        }
        while let Some(next) = self.turns().schedule.next(end.0) {
            let turns = self.turns();
            let (floor, then) = turns.schedule.beside(next);
            turns.set_floor(floor.min(end.0));
            // Most often it is the one after this: others have pushed its lines out of the host's nearest cache.
            if let Some(warm) = turns.warm.get(then) {
                warm.expect();
            }
            if self.resume(next) {
                self.returned(next);
            }
        }
        if self.turns().schedule.floor() == PARKED && self.fibres.iter().any(Option::is_some) {
            let last = self.turns().slots.iter().map(|s| s.parked_at).max().unwrap_or(0);
            return Err(EngineError::Stuck(last as f64 / 1e6, self.sim().dump()));
        }
        Ok(())
    }

    /// An agent has returned before the end.
    #[cold]
    fn returned(&mut self, i: usize) {
        self.turns().schedule.set(i, PARKED);
    }

    /// Tells every agent to return and runs them until they have.
    ///
    /// # Errors
    /// All agents wait for each other.
    pub fn stop(&mut self) -> Result<(), EngineError> {
        self.sim().stop = true;
        let now = self.turns().schedule.floor();
        // Nobody is ahead of anybody now; a few rounds let whoever holds a lock give it up.
        for _ in 0..STOP_ROUNDS {
            self.turns().schedule.round();
            self.turns().set_floor(u64::MAX);
            for i in 0..self.fibres.len() {
                self.resume(i);
            }
            if self.fibres.iter().all(Option::is_none) {
                return Ok(());
            }
        }
        Err(EngineError::Stuck(now as f64 / 1e6, self.sim().dump()))
    }

    /// An agent goes on; whether it has returned.
    fn resume(&mut self, i: usize) -> bool {
        let Some(fibre) = &mut self.fibres[i] else { return true };
        let returned = matches!(fibre.resume(()), CoroutineResult::Return(()));
        if returned {
            self.fibres[i] = None;
        }
        returned
    }
}
