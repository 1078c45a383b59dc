//! What became of every frame: one counter per queue and [`Outcome`].

use rings::Outcome;

use crate::fate::Fate;

/// Number of outcomes.
const KINDS: usize = Outcome::ALL.len();

/// Frames that a port took from the wire, per queue and outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    offered: u64,
    queues: Vec<[u64; KINDS]>,
}

impl Counters {
    /// Zero for each of `queues` queues.
    pub fn new(queues: u16) -> Counters {
        Counters { offered: 0, queues: vec![[0; KINDS]; usize::from(queues)] }
    }

    /// `n` more frames reached the port.
    pub(crate) fn offer(&mut self, n: usize) {
        self.offered += n as u64;
    }

    /// One frame of `queue` met `outcome`.
    pub(crate) fn count(&mut self, queue: u16, outcome: Outcome) {
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            q[outcome as usize] += 1;
        }
    }

    /// Frames that reached the port.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// Frames of `queue` that met `outcome`; 0 for a queue that is not there.
    pub fn of(&self, queue: u16, outcome: Outcome) -> u64 {
        self.queues.get(usize::from(queue)).map_or(0, |q| q[outcome as usize])
    }

    /// Frames of all queues that met `outcome`.
    pub fn total(&self, outcome: Outcome) -> u64 {
        self.queues.iter().map(|q| q[outcome as usize]).sum()
    }

    /// Frames delivered.
    pub fn delivered(&self) -> u64 {
        self.total(Outcome::Delivered)
    }

    /// Frames dropped, all causes.
    pub fn dropped(&self) -> u64 {
        Outcome::ALL.into_iter().filter(|o| Fate::of(*o).is_some()).map(|o| self.total(o)).sum()
    }

    /// Conservation: offered = delivered + dropped + in flight.
    ///
    /// # Errors
    /// The three numbers that do not add up.
    pub fn conserve(&self, in_flight: u64) -> Result<(), Imbalance> {
        let seen = Imbalance {
            offered: self.offered,
            delivered: self.delivered(),
            dropped: self.dropped(),
            in_flight,
        };
        if seen.offered == seen.delivered + seen.dropped + in_flight { Ok(()) } else { Err(seen) }
    }
}

/// Frames that appeared or vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imbalance {
    /// Frames that reached the port.
    pub offered: u64,
    /// Frames delivered to a ring.
    pub delivered: u64,
    /// Frames dropped with a cause.
    pub dropped: u64,
    /// Frames that the card still holds.
    pub in_flight: u64,
}

impl core::fmt::Display for Imbalance {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Imbalance { offered, delivered, dropped, in_flight } = self;
        write!(
            f,
            "{offered} frames offered, but {delivered} delivered + {dropped} dropped + {in_flight} in flight"
        )
    }
}

impl std::error::Error for Imbalance {}
