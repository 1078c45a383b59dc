//! A gate in an agent's way: it holds the agent's thread before one access, so that the others go on meanwhile.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What an agent is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The call of `Memory`.
    pub call: &'static str,
    /// The field; `buffers` for payload and metadata.
    pub field: &'static str,
}

/// Where the agent is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agent {
    Coming,
    Standing,
    Through,
    Gone,
}

type Stop = Box<dyn FnMut(Access) -> bool + Send>;

/// Holds one agent once.
pub struct Gate {
    inner: Mutex<(Agent, Stop)>,
    moved: Condvar,
}

impl Gate {
    /// A gate before the first access that `stop` accepts.
    pub fn new(stop: impl FnMut(Access) -> bool + Send + 'static) -> Arc<Gate> {
        Arc::new(Gate { inner: Mutex::new((Agent::Coming, Box::new(stop))), moved: Condvar::new() })
    }

    fn inner(&self) -> MutexGuard<'_, (Agent, Stop)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, agent: Agent) {
        self.inner().0 = agent;
        self.moved.notify_all();
    }

    /// The agent comes by: returns when it may go on; whether it was held.
    pub fn pass(&self, access: Access) -> bool {
        let mut inner = self.inner();
        let (agent, stop) = &mut *inner;
        if *agent != Agent::Coming || !stop(access) {
            return false;
        }
        *agent = Agent::Standing;
        self.moved.notify_all();
        drop(self.moved.wait_while(inner, |(agent, _)| *agent == Agent::Standing));
        true
    }

    /// Returns when the agent stands before the gate or is gone; whether it stands.
    pub fn arrival(&self) -> bool {
        let inner = self.moved.wait_while(self.inner(), |(agent, _)| *agent == Agent::Coming);
        inner.unwrap_or_else(PoisonError::into_inner).0 == Agent::Standing
    }

    /// Lets the agent through.
    pub fn open(&self) {
        self.set(Agent::Through);
    }

    /// The agent has done all that it had to do.
    pub fn leave(&self) {
        self.set(Agent::Gone);
    }
}
