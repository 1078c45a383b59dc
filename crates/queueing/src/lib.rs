//! Queueing theory of scale-up against scale-out (corec §3.2): N servers behind one queue, or N queues
//! with a server each.
//!
//! [`simulate`](simulate::simulate) runs a system customer by customer, [`theory`] computes the same
//! numbers. The unit of time is the mean service time.

pub mod simulate;
mod states;
pub mod theory;

/// How long a customer is served: 1 in the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Exponentially distributed (the second M of M/M/N).
    Exponential,
    /// Always 1 (the D of M/D/N).
    Deterministic,
}

/// Where customers wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In one queue that all servers take from: scale-up.
    Shared,
    /// In a queue for each server, drawn at random: scale-out.
    Split,
}

/// A queueing system under Poisson arrivals; each queue is first come, first served, and has no end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct System {
    /// Number of servers, at least 1.
    pub servers: u32,
    /// Where customers wait.
    pub layout: Layout,
    /// How long they are served.
    pub service: Service,
    /// Share of its time that a server is busy: above 0, below 1.
    pub load: f64,
}

impl Service {
    /// Both.
    pub const ALL: [Service; 2] = [Service::Exponential, Service::Deterministic];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Service::Exponential => "exponential",
            Service::Deterministic => "deterministic",
        }
    }
}

impl Layout {
    /// Both.
    pub const ALL: [Layout; 2] = [Layout::Shared, Layout::Split];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Shared => "shared",
            Layout::Split => "split",
        }
    }
}
