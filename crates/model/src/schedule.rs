//! Who goes on next: agents by (time, number).
//!
//! A run has some twenty agents, and every switch changes the time of one: a tournament, whose work is the same
//! whoever comes next, so that the host has no branch to guess.

/// Time of an agent that waits for others.
pub(crate) const PARKED: u64 = u64::MAX;

/// Bits of a key that hold the agent.
const AGENT: u32 = 6;
/// The most agents of a simulation.
const AGENTS: usize = 1 << AGENT;
/// The key of who is not queued.
const NEVER: u64 = u64::MAX;

/// Where the nodes of a tournament begin that have four agents below them, and sixteen.
const FOURS: usize = AGENTS;
const SIXTEENS: usize = FOURS + AGENTS / 4;
const NODES: usize = SIXTEENS + AGENTS / 16;

/// The order of resumption.
pub(crate) struct Schedule {
    /// `time << AGENT | agent` of each agent, then the smallest key of each four, then of each sixteen. A running
    /// agent's is the one that it was resumed by: nodes above it are right again once it has been set.
    nodes: [u64; NODES],
    /// Time of each agent; of a running one, when it was resumed.
    times: [u64; AGENTS],
    agents: usize,
    /// At the end agents go on in rounds, and none of them is first: one that is woken in a round stays queued for
    /// the rest of it, wherever it has come to.
    rounds: bool,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { nodes: [NEVER; NODES], times: [PARKED; AGENTS], agents: 0, rounds: false }
    }
}

/// The nodes from an agent up.
#[inline(always)]
fn path(agent: usize) -> [usize; 3] {
    let agent = agent % AGENTS;
    [agent, FOURS + agent / 4, SIXTEENS + agent / 16]
}

/// The time of a key.
#[inline(always)]
fn time(key: u64) -> u64 {
    if key == NEVER { PARKED } else { key >> AGENT }
}

impl Schedule {
    /// A new agent that goes on at 0; at most [`AGENTS`].
    pub(crate) fn add(&mut self) {
        assert!(self.agents < AGENTS, "a run has at most {AGENTS} agents");
        self.agents += 1;
        self.set(self.agents - 1, 0);
    }

    /// When an agent goes on, or was resumed.
    #[inline(always)]
    pub(crate) fn at(&self, agent: usize) -> u64 {
        if agent < self.agents { self.times[agent % AGENTS] } else { 0 }
    }

    /// The next agent, to run now, if it goes on by `until`. It is queued until it is set again.
    #[inline(always)]
    pub(crate) fn next(&self, until: u64) -> Option<usize> {
        let first = self.nodes[SIXTEENS].min(self.others(SIXTEENS));
        (first != NEVER && first >> AGENT <= until).then_some(first as usize % AGENTS)
    }

    /// The earliest time of all agents, none of which is running.
    pub(crate) fn floor(&self) -> u64 {
        time(self.nodes[SIXTEENS].min(self.others(SIXTEENS)))
    }

    /// The earliest of the agents beside the running one, and its time.
    #[inline(always)]
    pub(crate) fn beside(&self, running: usize) -> (u64, usize) {
        let [one, four, sixteen] = path(running);
        let mut first = self.others(one).min(self.others(four)).min(self.others(sixteen));
        if self.rounds {
            first = first.min(self.nodes[one]);
        }
        (time(first), first as usize % AGENTS)
    }

    /// The smallest of the keys beside that of a node.
    #[inline(always)]
    fn others(&self, node: usize) -> u64 {
        self.nodes[node ^ 1].min(self.nodes[node ^ 2]).min(self.nodes[node ^ 3])
    }

    /// An agent goes on at `time`, or waits for others.
    #[inline(always)]
    pub(crate) fn set(&mut self, agent: usize, time: u64) {
        if agent >= self.agents {
            return;
        }
        self.times[agent % AGENTS] = time;
        // 2^58 ps are three days: no run comes near.
        let mut key = if time == PARKED { NEVER } else { (time << AGENT) | agent as u64 };
        let [one, four, sixteen] = path(agent);
        if self.rounds {
            key = key.min(self.nodes[one]);
        }
        self.nodes[one] = key;
        key = key.min(self.others(one));
        self.nodes[four] = key;
        self.nodes[sixteen] = key.min(self.others(four));
    }

    /// A queued or parked agent goes on at `time` if that is sooner; whether it is.
    pub(crate) fn sooner(&mut self, agent: usize, time: u64) -> bool {
        let old = self.at(agent);
        if old <= time {
            return false;
        }
        if old != PARKED {
            self.nodes[agent % AGENTS] = NEVER;
        }
        self.set(agent, time);
        true
    }

    /// Another round begins, with nobody queued.
    pub(crate) fn round(&mut self) {
        self.nodes = [NEVER; NODES];
        self.rounds = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::mix;

    #[test]
    fn equal_times_go_by_number() {
        let mut s = Schedule::default();
        for _ in 0..3 {
            s.add();
        }
        assert_eq!(s.next(0), Some(0));
        s.set(0, 0);
        assert_eq!(s.next(0), Some(0), "agent 0 is before agents 1 and 2 again");
        s.set(0, 5);
        assert_eq!(s.next(9), Some(1));
        s.set(1, PARKED);
        assert_eq!(s.next(9), Some(2));
        assert_eq!(s.beside(2), (5, 0));
        assert!(s.sooner(1, 3) && !s.sooner(1, 4));
        assert_eq!(s.beside(2), (3, 1));
        s.set(2, PARKED);
        assert_eq!((s.next(2), s.floor()), (None, 3), "not before its time");
        assert_eq!(s.next(3), Some(1));
        s.round();
        assert_eq!((s.next(u64::MAX), s.floor(), s.at(1)), (None, PARKED, 3));
    }

    #[test]
    fn the_order_is_that_of_a_sorted_list() {
        let mut s = Schedule::default();
        (0..24).for_each(|_| s.add());
        let mut list: Vec<(u64, usize)> = (0..24).map(|agent| (0, agent)).collect();
        let mut chance = 1;
        for _ in 0..20_000 {
            list.sort_unstable();
            let (now, agent) = list.remove(0);
            assert_eq!(s.next(now), Some(agent));
            assert_eq!(s.beside(agent), list[0]);
            chance = mix(chance);
            let ahead = chance % [1, 10, 1000][(chance >> 60) as usize % 3];
            s.set(agent, now + ahead);
            list.push((now + ahead, agent));
            let (sooner, other) = (now + ahead / 2, (chance >> 40) as usize % 24);
            let entry = list.iter_mut().find(|(_, agent)| *agent == other);
            if let Some((time, _)) = entry {
                assert_eq!(s.sooner(other, sooner), *time > sooner);
                *time = sooner.min(*time);
            }
        }
    }
}
