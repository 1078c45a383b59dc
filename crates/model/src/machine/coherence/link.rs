//! The link between the nodes, such as UPI or CXL: the lines that cross it each way, and what they wait for it.

use super::node::Node;

/// After so many ps the prices of lines that cross it follow its load.
const INTERVAL: u64 = 500_000;
/// Share of the newest interval in the wait that prices have.
const NEWEST: f64 = 0.25;
/// Bytes of a line. Requests and headers are left out: `link_gbytes` is what lines get.
const LINE: f64 = 64.0;

/// Lines that the agents of one node got over the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossed {
    /// For loads.
    pub reads: u64,
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

/// One direction: a queue with a fixed time for each line.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// What waits in it, ps of its time.
    backlog: f64,
    /// When that was looked at last.
    at: u64,
    /// When the interval began; what its lines waited, and how many they were.
    start: u64,
    waited: f64,
    lines: f64,
    /// What a line waits, smoothed over intervals, ps.
    wait: f64,
}

impl Lane {
    /// A line that stands for `share` lines of the sample comes; what it waits, ps, and whether an interval ended.
    fn take(&mut self, at: u64, ps: f64, share: f64, one_in: f64) -> (f64, bool) {
        // Agents' clocks differ: one that is behind the last one finds what that one left.
        self.backlog = (self.backlog - at.saturating_sub(self.at) as f64 / one_in).max(0.0);
        self.at = self.at.max(at);
        let wait = self.backlog;
        self.backlog += ps * share;
        self.waited += wait * share;
        self.lines += share;
        let ends = at >= self.start + INTERVAL;
        if ends {
            self.wait += NEWEST * (self.waited / self.lines - self.wait);
            (self.start, self.waited, self.lines) = (at, 0.0, 0.0);
        }
        (wait, ends)
    }
}

/// What a line waits that crosses the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Waits {
    /// More than what prices have, ps; less if it is negative.
    pub more: i64,
    /// Whether prices have to follow.
    pub follow: bool,
}

/// Both directions. Of buffers' lines it gets a sample; they come so much more seldom, and its queues drain so much
/// slower, that as many wait as if all came.
pub(crate) struct Link {
    /// A line's time; none where the profile does not limit it.
    ps: Option<f64>,
    one_in: f64,
    /// By the node that gets the lines.
    lanes: [Lane; 2],
}

impl Link {
    /// A link of `gbytes` GB/s each way, or without limit, that gets one in so many lines of buffers.
    pub(crate) fn new(gbytes: Option<f64>, one_in: u32) -> Link {
        Link {
            ps: gbytes.map(|gbytes| LINE * 1e3 / gbytes),
            one_in: one_in.into(),
            lanes: Default::default(),
        }
    }

    /// A line of a buffer goes to a node.
    #[inline]
    pub(crate) fn sampled(&mut self, to: Node, at: u64) -> Option<Waits> {
        self.take(to, at, 1.0)
    }

    /// A line of words goes to a node: all of them do, sampled or not.
    #[inline]
    pub(crate) fn exact(&mut self, to: Node, at: u64) -> Option<Waits> {
        self.take(to, at, 1.0 / self.one_in)
    }

    fn take(&mut self, to: Node, at: u64, share: f64) -> Option<Waits> {
        let ps = self.ps?;
        let lane = &mut self.lanes[to as usize];
        let known = lane.wait;
        let (wait, follow) = lane.take(at, ps, share, self.one_in);
        Some(Waits { more: (wait - known) as i64, follow })
    }

    /// What a line to a node waits that no sample tells more of, ps.
    #[inline]
    pub(crate) fn wait(&self, to: Node) -> u64 {
        self.lanes[to as usize].wait as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `gbps` of lines to the far node for a millisecond, one in `one_in` of them told; what a line waits then, ps.
    fn under(gbytes: f64, load: f64, one_in: u32) -> u64 {
        let mut link = Link::new(Some(gbytes), one_in);
        let apart = LINE * 1e3 / (gbytes * load) * f64::from(one_in);
        let mut chance = 1;
        let mut at = 0.0;
        while at < 1e9 {
            chance = crate::mix::mix(chance);
            let even = (chance >> 11) as f64 / (1u64 << 53) as f64;
            at -= apart * (1.0 - even).ln();
            link.sampled(Node::Far, at as u64);
        }
        assert_eq!(link.wait(Node::Near), 0, "the other way is free");
        link.wait(Node::Far)
    }

    #[test]
    fn a_line_waits_as_in_a_queue_of_fixed_service_however_many_are_told() {
        // Waiting time of M/D/1: ps * u / (2 * (1 - u)).
        for (load, want) in [(0.5, 500.0), (0.8, 2_000.0), (0.9, 4_500.0)] {
            for one_in in [1, 16] {
                let wait = under(64.0, load, one_in) as f64;
                assert!(
                    (0.5..1.7).contains(&(wait / want)),
                    "load {load}, one in {one_in}: {wait} for {want}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_limit_does_not_wait() {
        let mut link = Link::new(None, 1);
        assert!((0..1000).all(|_| link.sampled(Node::Far, 0).is_none()));
        assert_eq!(link.wait(Node::Far), 0);
    }

    #[test]
    fn words_take_their_part_whatever_is_sampled() {
        let mut link = Link::new(Some(64.0), 16);
        for _ in 0..32 {
            link.exact(Node::Near, 0);
        }
        let waits = link.exact(Node::Near, 0).unwrap_or(Waits { more: 0, follow: false });
        assert_eq!(waits.more, 2_000, "32 lines of 1 ns are two of the sample");
    }
}
