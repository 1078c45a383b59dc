//! How a run's load lies on cores and ports.

use model::{CoreReport, PortReport, Report};

/// Share of a core's time that its offered frames ask for, from which on it has none left.
pub(super) const OVERLOADED: f64 = 0.97;
/// The share below which it has time to spare.
const SPARE: f64 = 0.75;
/// A core that works for less of its time while frames for it drop is starved by others, percent.
const STARVED_PCT: f64 = 90.0;

/// How the load lies on the cores.
pub(super) struct Load {
    /// Share of its time that each core's offered frames ask for; above 1 some must drop.
    pub demand: Vec<f64>,
    /// The same with the winner's cycles per frame.
    at_best: Vec<f64>,
    /// Frames dropped on the way to cores that have time for them.
    pub innocent: u64,
    /// Cores that are offered more than they can do and yet stand idle at times.
    pub starved: usize,
    /// Cores of each port and their mean demand; none where ports are not told apart.
    pub ports: Vec<(u32, f64)>,
}

impl Load {
    /// Of `r` on cores of `ghz`; `best` is the winner's run.
    pub(super) fn new(ghz: f64, r: &Report, best: &Report) -> Load {
        let offered = |c: &CoreReport| c.mpps * 1e6 + c.drops as f64 / r.measured_s.max(1e-9);
        let demand = |cycles: f64| -> Vec<f64> {
            r.per_core.iter().map(|c| offered(c) * cycles / (ghz * 1e9)).collect()
        };
        let own = demand(r.cycles_per_packet);
        let innocent =
            r.per_core.iter().zip(&own).filter(|(_, d)| **d < OVERLOADED).map(|(c, _)| c.drops).sum();
        let starving = |(c, d): &(&CoreReport, &f64)| **d >= OVERLOADED && c.busy_pct < STARVED_PCT;
        let starved = r.per_core.iter().zip(&own).filter(starving).count();
        let port = |p: &PortReport| {
            let mine = own.iter().skip(p.first_core as usize).take(p.cores as usize);
            (p.cores, mine.sum::<f64>() / f64::from(p.cores.max(1)))
        };
        let ports = r.per_port.iter().map(port).collect();
        Load { demand: own, at_best: demand(best.cycles_per_packet), innocent, starved, ports }
    }

    /// The port that is asked for most and the one that is asked for least, where the one is overloaded and the
    /// other has time to spare.
    pub(super) fn ports_apart(&self) -> Option<[usize; 2]> {
        let by_demand = |a: &usize, b: &usize| self.ports[*a].1.total_cmp(&self.ports[*b].1);
        let (most, least) =
            ((0..self.ports.len()).max_by(by_demand)?, (0..self.ports.len()).min_by(by_demand)?);
        (self.ports[most].1 >= OVERLOADED && self.ports[least].1 < SPARE).then_some([most, least])
    }

    /// Cores that lack time.
    pub(super) fn overloaded(&self) -> usize {
        self.demand.iter().filter(|d| **d >= OVERLOADED).count()
    }

    /// Cores that have time to spare.
    pub(super) fn spare(&self) -> usize {
        self.demand.iter().filter(|d| **d < SPARE).count()
    }

    /// Whether most cores lack time.
    pub(super) fn most(&self) -> bool {
        self.overloaded() * 2 > self.demand.len()
    }

    /// Whether fewer cores would lack time with the winner's cycles per frame.
    pub(super) fn saved_by_best(&self) -> bool {
        self.at_best.iter().filter(|d| **d >= OVERLOADED).count() < self.overloaded()
    }

    /// The core that is offered most, and its share of all frames, percent.
    pub(super) fn heaviest(&self) -> (usize, f64) {
        let all = self.demand.iter().sum::<f64>().max(1e-9);
        let most = self
            .demand
            .iter()
            .enumerate()
            .fold((0, 0.0), |top, (i, &d)| if d > top.1 { (i, d) } else { top });
        (most.0, most.1 / all * 100.0)
    }

    /// Share of its time that the busiest core is asked for, percent.
    pub(super) fn busiest_pct(&self) -> f64 {
        self.demand.iter().copied().fold(0.0, f64::max) * 100.0
    }

    /// Share of the time of all cores that is asked for, percent.
    pub(super) fn mean_pct(&self) -> f64 {
        self.demand.iter().sum::<f64>() / self.demand.len().max(1) as f64 * 100.0
    }
}
