//! What became of every frame: one counter per queue and [`Outcome`].

use rings::Outcome;

/// Number of outcomes.
const KINDS: usize = Outcome::ALL.len();

/// Frames that cards have decided on, per queue and outcome. Who hands a frame to a [`Port`](crate::Port) counts it, once
/// its outcome is known: in an emulated NIC that is later than the port's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    queues: Vec<[u64; KINDS]>,
}

impl Counters {
    /// Zero for each of `queues` queues, of one port or of several that follow each other.
    pub fn new(queues: usize) -> Counters {
        Counters { queues: vec![[0; KINDS]; queues] }
    }

    /// One frame of `queue`, which is one of [`queues`](Self::queues), met `outcome`.
    #[inline(always)]
    pub fn count(&mut self, queue: usize, outcome: Outcome) {
        self.queues[queue][outcome as usize] += 1;
    }

    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Frames of `queue` that met `outcome`; 0 for a queue that is not there.
    pub fn of(&self, queue: usize, outcome: Outcome) -> u64 {
        self.queues.get(queue).map_or(0, |q| q[outcome as usize])
    }

    /// Frames of `queue`, all outcomes; 0 for a queue that is not there.
    pub fn decided_of(&self, queue: usize) -> u64 {
        self.queues.get(queue).map_or(0, |q| q.iter().sum())
    }

    /// Frames of all queues that met `outcome`.
    pub fn total(&self, outcome: Outcome) -> u64 {
        self.queues.iter().map(|q| q[outcome as usize]).sum()
    }

    /// Frames of all queues, all outcomes.
    pub fn decided(&self) -> u64 {
        self.queues.iter().flatten().sum()
    }

    /// Frames delivered.
    pub fn delivered(&self) -> u64 {
        self.total(Outcome::Delivered)
    }

    /// Frames dropped, all causes.
    pub fn dropped(&self) -> u64 {
        Outcome::ALL.into_iter().filter(|o| o.is_drop()).map(|o| self.total(o)).sum()
    }
}
