//! The link between the nodes, such as UPI or CXL: the lines that cross it each way, and what they wait for it.

use super::node::Node;

/// After so many ps the price of a line that crosses follows the load.
const INTERVAL: u64 = 5_000_000;
/// Share of the newest interval in what a line waits behind more than the link carries.
const NEWEST: f64 = 0.25;
/// Intervals without a line after which nothing waits.
const QUIET: u64 = 64;
/// The highest utilisation that the formula of a queue sees.
const CEILING: f64 = 0.97;
/// Bytes of a line. Requests and headers are left out: `link_gbytes` is what lines get.
const LINE: f64 = 64.0;

/// Lines that the agents of one node got over the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossed {
    /// For loads.
    pub reads: u64,
    /// Those of them that are of words, not of buffers.
    pub words: u64,
    /// For stores (reads for ownership): lines that came, and copies that were taken away.
    pub rfos: u64,
}

impl Crossed {
    /// All of them.
    pub const fn lines(self) -> u64 {
        self.reads + self.rfos
    }

    pub(crate) fn count(&mut self, write: bool, lines: u64) {
        let count = if write { &mut self.rfos } else { &mut self.reads };
        *count += lines;
    }
}

/// One direction.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// When the interval began, and the lines of it. Agents' clocks differ, so its lines come in any order.
    start: u64,
    lines: f64,
    /// What a line waits, ps.
    wait: f64,
}

impl Lane {
    /// So many lines of `ps` each come; whether an interval ended, and with it what a line waits.
    #[inline]
    fn take(&mut self, at: u64, lines: f64, ps: f64, way: f64) -> bool {
        let ends = at >= self.start + INTERVAL;
        if ends {
            let passed = (at - self.start) / INTERVAL;
            self.wait = if passed > QUIET { 0.0 } else { self.next(ps, way, passed as f64) };
            self.start += passed * INTERVAL;
            self.lines = 0.0;
        }
        self.lines += lines;
        ends
    }

    /// What a line waits after an interval. Below what the link carries that is the wait of a queue with Poisson
    /// arrivals and a fixed service time (M/D/1). Those who ask for more wait for what they asked: if a line takes
    /// twice as long they ask half as often, so its time grows as the load is too high. It follows a part of the way:
    /// an interval has few lines, and their number varies.
    fn next(&self, ps: f64, way: f64, intervals: f64) -> f64 {
        let load = self.lines * ps / (INTERVAL as f64 * intervals);
        let u = load.min(CEILING);
        let queue = ps * u / (2.0 * (1.0 - u));
        queue.max(self.wait + NEWEST * (way + self.wait) * (load - 1.0))
    }
}

/// Both directions.
pub(crate) struct NodeLink {
    /// A line's time; none where the profile does not limit it.
    ps: Option<f64>,
    /// What a line takes that waits for nothing.
    way: f64,
    /// By the node that gets the lines.
    lanes: [Lane; 2],
}

impl NodeLink {
    /// A link that an idle line crosses in `way` ps, of `gbytes` GB/s each way, or without limit.
    pub(crate) fn new(gbytes: Option<f64>, way: u64) -> NodeLink {
        NodeLink { ps: gbytes.map(|gbytes| LINE * 1e3 / gbytes), way: way as f64, lanes: Default::default() }
    }

    /// So many lines go to a node at `at`; whether what a line waits is another one now.
    #[inline]
    pub(crate) fn take(&mut self, to: Node, at: u64, lines: u64) -> bool {
        let way = self.way;
        self.ps.is_some_and(|ps| self.lanes[to as usize].take(at, lines as f64, ps, way))
    }

    /// What a line to a node waits, ps.
    #[inline]
    pub(crate) fn wait(&self, to: Node) -> u64 {
        self.lanes[to as usize].wait as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: u64 = 100_000;

    #[test]
    fn a_line_waits_as_in_a_queue_of_fixed_service() {
        for (load, want) in [(0.0, 0), (0.5, 500), (0.8, 2_000), (0.9, 4_500)] {
            let mut link = NodeLink::new(Some(64.0), WAY);
            for n in 0..20_000 {
                link.take(Node::Far, (f64::from(n) * 1e3 / f64::max(load, 1e-9)) as u64, 1);
            }
            let wait = link.wait(Node::Far);
            assert!(wait.abs_diff(want) <= want / 50, "load {load}: {wait} ps for {want}");
            assert_eq!(link.wait(Node::Near), 0, "the other way is free");
        }
    }

    #[test]
    fn those_who_ask_for_more_get_what_it_carries() {
        // So many ask for a line, and for the next one once they have it.
        for askers in [50, 150, 1000] {
            let mut link = NodeLink::new(Some(64.0), WAY);
            let (mut at, mut taken) = (0, 0);
            while at < 1_000_000_000 {
                at += (WAY + link.wait(Node::Near)) / askers;
                link.take(Node::Near, at, 1);
                taken += u64::from(at >= 500_000_000);
            }
            let share = taken as f64 / 500_000.0;
            let want = f64::min(askers as f64 * 1e3 / WAY as f64, 1.0);
            assert!((share / want - 1.0).abs() < 0.05, "{askers} get {share} for {want}");
        }
    }

    #[test]
    fn what_has_no_limit_does_not_wait() {
        let mut link = NodeLink::new(None, WAY);
        assert!((0..1000).all(|_| !link.take(Node::Far, 0, 1_000_000)));
        assert_eq!(link.wait(Node::Far), 0);
    }

    #[test]
    fn an_old_load_is_forgotten() {
        let mut link = NodeLink::new(Some(64.0), WAY);
        link.take(Node::Far, 0, 50_000);
        assert!(link.take(Node::Far, INTERVAL, 1) && link.wait(Node::Far) > WAY);
        assert!(link.take(Node::Far, (QUIET + 3) * INTERVAL, 1));
        assert_eq!(link.wait(Node::Far), 0);
    }
}
