//! Exact mean and percentiles of the time in the system.
//!
//! M/M/c by Erlang's formula; M/D/c by its state probabilities, with the waiting time after G. J. Franx, "A
//! simple solution for the M/D/c waiting time distribution", Operations Research Letters 29 (2001). A split
//! system is as many systems of one server each, since a Poisson stream that is dealt at random becomes
//! Poisson streams.

use crate::states::States;
use crate::{Layout, Service, System};

/// The exact distribution of the time in the system, waiting and service together.
pub struct Theory {
    servers: f64,
    load: f64,
    queue: Queue,
}

enum Queue {
    /// The probability that a customer waits.
    Markov(f64),
    /// Customers in the system at any time.
    Deterministic(States),
}

impl Theory {
    /// The theory of `system`.
    pub fn new(system: &System) -> Theory {
        let servers = match system.layout {
            Layout::Shared => system.servers,
            Layout::Split => 1,
        };
        let queue = match system.service {
            Service::Exponential => Queue::Markov(erlang_c(servers, system.load)),
            Service::Deterministic => Queue::Deterministic(States::new(servers, system.load)),
        };
        Theory { servers: f64::from(servers), load: system.load, queue }
    }

    /// Mean time in the system.
    pub fn mean(&self) -> f64 {
        1.0 + match &self.queue {
            Queue::Markov(waits) => waits / (self.servers * (1.0 - self.load)),
            // Little's law over the waiting room.
            Queue::Deterministic(states) => states.waiting() / (self.servers * self.load),
        }
    }

    /// The probability of a time in the system above `t`.
    pub fn tail(&self, t: f64) -> f64 {
        match &self.queue {
            Queue::Markov(waits) => {
                // With probability `waits` an exponential wait of this rate comes before the service.
                let rate = self.servers * (1.0 - self.load);
                let alone = libm::exp(-t);
                let both = if (rate - 1.0).abs() < 1e-9 {
                    (1.0 + t) * alone
                } else {
                    (rate * alone - libm::exp(-rate * t)) / (rate - 1.0)
                };
                (1.0 - waits) * alone + waits * both
            }
            Queue::Deterministic(_) if t < 1.0 => 1.0,
            Queue::Deterministic(states) => 1.0 - states.waits_at_most(t - 1.0),
        }
    }

    /// The time that a share `q` (0 to 1) of all customers does not exceed.
    pub fn percentile(&self, q: f64) -> f64 {
        let beyond = |t: f64| self.tail(t) > 1.0 - q;
        let (mut lo, mut hi) = (0.0, 1.0);
        while beyond(hi) {
            (lo, hi) = (hi, hi * 2.0);
        }
        // As far as doubles can tell.
        while hi - lo > 1e-12 * hi {
            let middle = f64::midpoint(lo, hi);
            if middle <= lo || middle >= hi {
                break;
            }
            if beyond(middle) { lo = middle } else { hi = middle }
        }
        hi
    }
}

/// Erlang's C formula: the probability that an arrival finds all `servers` busy, from his B formula's recursion.
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let offered = load * f64::from(servers);
    let blocked = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    blocked / (1.0 - load * (1.0 - blocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theory(servers: u32, layout: Layout, service: Service, load: f64) -> Theory {
        Theory::new(&System { servers, layout, service, load })
    }

    #[test]
    fn erlang_c_is_that_of_published_tables() {
        // One server: the load itself. Two: 2 r^2 / (1 + r).
        for load in [0.1, 0.5, 0.9] {
            assert!((erlang_c(1, load) - load).abs() < 1e-15);
            assert!((erlang_c(2, load) - 2.0 * load * load / (1.0 + load)).abs() < 1e-14);
        }
        // By the definition with factorials, for 8 servers at 0.9.
        let (a, c) = (7.2_f64, 8);
        let term = |n: i32| a.powi(n) / (1..=n).map(f64::from).product::<f64>();
        let last = term(c) / (1.0 - 0.9);
        let expected = last / ((0..c).map(term).sum::<f64>() + last);
        assert!((erlang_c(8, 0.9) - expected).abs() < 1e-12);
    }

    #[test]
    fn one_markov_server_has_an_exponential_time() {
        for layout in Layout::ALL {
            let t = theory(1, layout, Service::Exponential, 0.8);
            assert!((t.mean() - 5.0).abs() < 1e-12);
            assert!((t.percentile(0.99) - 5.0 * 100f64.ln()).abs() < 1e-9);
        }
        let (split, one) = (
            theory(8, Layout::Split, Service::Exponential, 0.8),
            theory(1, Layout::Shared, Service::Exponential, 0.8),
        );
        assert_eq!((split.mean(), split.percentile(0.9)), (one.mean(), one.percentile(0.9)));
    }

    #[test]
    fn the_mean_is_the_area_below_the_tail() {
        for service in Service::ALL {
            for servers in [1, 2, 4, 5, 8] {
                // 0.75 of 4 and 0.8 of 5 servers: waits and services of the same rate.
                for load in [0.3, 0.75, 0.8, 0.9] {
                    let t = theory(servers, Layout::Shared, service, load);
                    let step = 1.0 / 512.0;
                    let area: f64 = (0..150_000).map(|i| t.tail((f64::from(i) + 0.5) * step) * step).sum();
                    let off = area / t.mean() - 1.0;
                    assert!(off.abs() < 2e-5, "{service:?}, {servers} servers at {load}: {off}");
                }
            }
        }
    }

    #[test]
    fn a_percentile_is_where_the_tail_is() {
        for (service, q) in
            [(Service::Exponential, 0.5), (Service::Exponential, 0.99), (Service::Deterministic, 0.99)]
        {
            let t = theory(4, Layout::Shared, service, 0.9);
            assert!((t.tail(t.percentile(q)) - (1.0 - q)).abs() < 1e-9, "{service:?} {q}");
        }
        // Hardly anybody waits: the shortest time is the percentile.
        assert_eq!(theory(8, Layout::Shared, Service::Deterministic, 0.1).percentile(0.99), 1.0);
    }
}
