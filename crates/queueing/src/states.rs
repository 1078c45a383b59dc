//! How many customers an M/D/c system holds, and from that how long they wait.

/// What is left out of the distribution's tail.
const LEFT_OUT: f64 = 1e-15;

/// State probabilities of an M/D/c system whose services take 1.
pub(crate) struct States {
    servers: usize,
    /// Arrivals in a service time.
    rate: f64,
    /// Probability of so many customers.
    p: Vec<f64>,
    /// Probability of at most so many.
    at_most: Vec<f64>,
}

impl States {
    /// Crommelin's equations: a service time later those who are in service now have left, and those who came
    /// since are here. So the number in the system, a service time apart, is a Markov chain.
    pub(crate) fn new(servers: u32, load: f64) -> States {
        let (servers, rate) = (servers as usize, f64::from(servers) * load);
        let size = servers + 1 + tail(load);
        let arrivals = poisson(rate, size);
        let mut chain = vec![vec![0.0; size]; size];
        for (i, row) in chain.iter_mut().enumerate() {
            let stay = i.saturating_sub(servers);
            row[stay..].copy_from_slice(&arrivals[..size - stay]);
        }
        let p = stationary(chain, servers);
        let at_most = p.iter().scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        });
        States { servers, rate, at_most: at_most.collect(), p }
    }

    /// Mean number of waiting customers.
    pub(crate) fn waiting(&self) -> f64 {
        self.p.iter().skip(self.servers).enumerate().map(|(n, p)| n as f64 * p).sum()
    }

    /// The probability of a wait of at most `x` (Franx). Every term is positive: nothing cancels, as it does
    /// in Crommelin's own formula.
    pub(crate) fn waits_at_most(&self, x: f64) -> f64 {
        let services = libm::floor(x.max(0.0)) + 1.0;
        let last = services as usize * self.servers - 1;
        let mean = self.rate * (services - x);
        let mut arrivals = libm::exp(-mean);
        let mut sum = 0.0;
        for j in 0..=last {
            sum += self.at_most[(self.servers + last - j).min(self.p.len() - 1)] * arrivals;
            arrivals *= mean / (j + 1) as f64;
        }
        sum
    }
}

/// States behind the servers until [`LEFT_OUT`]: probabilities fall by a factor z from one to the next, where
/// `load * (z - 1) = ln z`.
fn tail(load: f64) -> usize {
    let (mut lo, mut hi) = (1.0 / load, 2.0 / load);
    while load * (hi - 1.0) < libm::log(hi) {
        (lo, hi) = (hi, hi * 2.0);
    }
    for _ in 0..60 {
        let z = f64::midpoint(lo, hi);
        if load * (z - 1.0) < libm::log(z) { lo = z } else { hi = z }
    }
    libm::ceil(-libm::log(LEFT_OUT) / libm::log(hi)) as usize
}

/// Probabilities of 0, 1, .. arrivals.
fn poisson(mean: f64, size: usize) -> Vec<f64> {
    let mut found = vec![libm::exp(-mean)];
    for n in 1..size {
        found.push(found[n - 1] * mean / n as f64);
    }
    found
}

/// The stationary distribution of a chain that goes down by at most `down`, by the elimination of Grassmann,
/// Taksar and Heyman (1985): no subtraction, so nothing cancels.
fn stationary(mut chain: Vec<Vec<f64>>, down: usize) -> Vec<f64> {
    let size = chain.len();
    for n in (1..size).rev() {
        let first = n.saturating_sub(down);
        let (above, rest) = chain.split_at_mut(n);
        let row = &rest[0][first..n];
        let leaves: f64 = row.iter().sum();
        for other in above {
            // What came here from `other` goes on to where this state leads.
            let share = other[n] / leaves;
            other[n] = share;
            other[first..n].iter_mut().zip(row).for_each(|(to, p)| *to += share * p);
        }
    }
    let mut p = vec![1.0; size];
    for n in 1..size {
        p[n] = (0..n).map(|i| p[i] * chain[i][n]).sum();
    }
    let all: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= all);
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_waits_as_pollaczek_and_khinchine_say() {
        for load in [0.01, 0.1, 0.5, 0.9, 0.98] {
            let s = States::new(1, load);
            let mean = s.waiting() / load;
            assert!((mean / (load / (2.0 * (1.0 - load))) - 1.0).abs() < 1e-9, "{load}: {mean}");
            assert!((s.p[0] - (1.0 - load)).abs() < 1e-12);
        }
    }

    #[test]
    fn one_server_waits_as_erlang_says() {
        let load = 0.8;
        let s = States::new(1, load);
        for x in [0.0, 0.3, 1.0, 2.5, 4.0] {
            let term = |k: i32| {
                let y = load * (f64::from(k) - x);
                y.powi(k) * (-y).exp() / (1..=k).map(f64::from).product::<f64>()
            };
            let expected = (1.0 - load) * (0..=x as i32).map(term).sum::<f64>();
            assert!((s.waits_at_most(x) - expected).abs() < 1e-12, "{x}: {}", s.waits_at_most(x));
        }
    }

    #[test]
    fn the_states_solve_their_equations() {
        for (servers, load) in [(1, 0.9), (4, 0.5), (8, 0.95)] {
            let s = States::new(servers, load);
            let arrivals = poisson(s.rate, s.p.len());
            for j in 0..s.p.len() / 2 {
                let came: f64 = (0..s.p.len())
                    .filter(|i| i.saturating_sub(s.servers) <= j)
                    .map(|i| s.p[i] * arrivals[j - i.saturating_sub(s.servers)])
                    .sum();
                assert!((came - s.p[j]).abs() < 1e-13, "{servers} servers at {load}, state {j}");
            }
            // Servers are busy for their share of time.
            let busy: f64 = s.p.iter().enumerate().map(|(n, p)| p * n.min(s.servers) as f64).sum();
            assert!((busy - s.rate).abs() < 1e-9, "{busy}");
        }
    }

    #[test]
    fn waits_grow_to_certainty() {
        let s = States::new(8, 0.95);
        let values: Vec<f64> = (0..400).map(|i| s.waits_at_most(f64::from(i) * 0.25)).collect();
        assert!(values.windows(2).all(|w| w[1] > w[0] - 1e-13));
        assert!((values[399] - 1.0).abs() < 1e-9);
    }
}
