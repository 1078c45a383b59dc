//! Who goes on next: agents by (time, number).
//!
//! A run has some twenty agents, and every switch changes the time of one. A tournament finds the smallest key. It does
//! the same work whichever agent that is, so the host has no branch to guess. The main tournament has places for 63
//! agents and one more place. Further agents are in tournaments of their own; the smallest of their keys takes that place.

use crate::machine::coherence::agents::AGENTS;

/// Time of an agent that waits for others.
pub(crate) const PARKED: u64 = u64::MAX;

/// Bits of a key that hold the agent.
const AGENT: u32 = 8;
/// The key of an agent that is not queued.
const NEVER: u64 = u64::MAX;

/// Players of a tournament.
const PLAYERS: usize = 64;
/// Agents of the main one, and its player that stands for all others.
const FEW: usize = PLAYERS - 1;
/// Where the nodes of a tournament begin that have four agents below them, and sixteen.
const FOURS: usize = PLAYERS;
const SIXTEENS: usize = FOURS + PLAYERS / 4;
const NODES: usize = SIXTEENS + PLAYERS / 16;

/// The smallest of keys.
struct Tournament {
    /// The key of each agent, then the smallest key of each four agents, then of each sixteen. A running agent keeps the
    /// key that it was resumed by until `set` changes it and the nodes above it.
    nodes: [u64; NODES],
}

/// The nodes from an agent up.
#[inline(always)]
fn path(agent: usize) -> [usize; 3] {
    let agent = agent % PLAYERS;
    [agent, FOURS + agent / 4, SIXTEENS + agent / 16]
}

impl Tournament {
    const EMPTY: Tournament = Tournament { nodes: [NEVER; NODES] };

    /// The smallest key.
    #[inline(always)]
    fn first(&self) -> u64 {
        self.nodes[SIXTEENS].min(self.others(SIXTEENS))
    }

    /// The smallest key of all other agents, and the key of this one.
    #[inline(always)]
    fn beside(&self, agent: usize) -> (u64, u64) {
        let [one, four, sixteen] = path(agent);
        (self.others(one).min(self.others(four)).min(self.others(sixteen)), self.nodes[one])
    }

    /// The smallest of the keys beside that of a node.
    #[inline(always)]
    fn others(&self, node: usize) -> u64 {
        self.nodes[node ^ 1].min(self.nodes[node ^ 2]).min(self.nodes[node ^ 3])
    }

    /// An agent's key changes, to the smaller of it and the old one if it `stays`.
    #[inline(always)]
    fn set(&mut self, agent: usize, mut key: u64, stays: bool) {
        let [one, four, sixteen] = path(agent);
        if stays {
            key = key.min(self.nodes[one]);
        }
        self.nodes[one] = key;
        key = key.min(self.others(one));
        self.nodes[four] = key;
        self.nodes[sixteen] = key.min(self.others(four));
    }
}

/// The order of resumption.
pub(crate) struct Schedule {
    main: Tournament,
    /// Tournaments of the agents that have no place in `main`.
    more: Vec<Tournament>,
    /// Time of each agent; of a running one, when it was resumed.
    times: [u64; 1 << AGENT],
    agents: usize,
    /// How many agents are in `main`.
    few: usize,
    /// Whether agents go on in rounds, as they do at the end of a run: all of them once, in no order of time. An agent
    /// that is woken in a round stays queued until the next one, even if it has gone on since.
    rounds: bool,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            main: Tournament::EMPTY,
            more: Vec::new(),
            times: [PARKED; 1 << AGENT],
            agents: 0,
            few: 0,
            rounds: false,
        }
    }
}

/// The time of a key.
#[inline(always)]
fn time(key: u64) -> u64 {
    if key == NEVER { PARKED } else { key >> AGENT }
}

/// The agent of a key.
#[inline(always)]
fn agent(key: u64) -> usize {
    key as usize % (1 << AGENT)
}

impl Schedule {
    /// A new agent that goes on at 0; at most [`AGENTS`].
    pub(crate) fn add(&mut self) {
        assert!(self.agents < AGENTS, "a run has at most {AGENTS} agents");
        self.agents += 1;
        self.few = self.agents.min(FEW);
        self.more.resize_with((self.agents - self.few).div_ceil(PLAYERS), || Tournament::EMPTY);
        self.set(self.agents - 1, 0);
    }

    /// When an agent goes on, or was resumed.
    #[inline(always)]
    pub(crate) fn at(&self, agent: usize) -> u64 {
        if agent < self.agents { self.times[agent % (1 << AGENT)] } else { 0 }
    }

    /// The next agent, to run now, if it goes on by `until`. It is queued until it is set again.
    #[inline(always)]
    pub(crate) fn next(&self, until: u64) -> Option<usize> {
        let first = self.main.first();
        (first != NEVER && first >> AGENT <= until).then_some(agent(first))
    }

    /// The earliest time of all agents, none of which is running.
    pub(crate) fn floor(&self) -> u64 {
        time(self.main.first())
    }

    /// The earliest of the agents beside the running one, and its time.
    #[inline(always)]
    pub(crate) fn beside(&self, running: usize) -> (u64, usize) {
        let (mut first, own) =
            if running < FEW { self.main.beside(running) } else { self.beside_in_more(running) };
        if self.rounds {
            first = first.min(own);
        }
        (time(first), agent(first))
    }

    /// The same for one that is not in the main tournament.
    #[cold]
    fn beside_in_more(&self, running: usize) -> (u64, u64) {
        let (mut first, mut own) = (self.main.beside(FEW).0, NEVER);
        for (i, more) in self.more.iter().enumerate() {
            if i == (running - FEW) / PLAYERS {
                let others;
                (others, own) = more.beside(running - FEW);
                first = first.min(others);
            } else {
                first = first.min(more.first());
            }
        }
        (first, own)
    }

    /// An agent goes on at `time`, or waits for others.
    #[inline(always)]
    pub(crate) fn set(&mut self, agent: usize, time: u64) {
        self.queue(agent, time, self.rounds);
    }

    /// The same; no later than it is queued if it `stays`.
    #[inline(always)]
    fn queue(&mut self, agent: usize, time: u64, stays: bool) {
        if agent >= self.few {
            return self.queue_in_more(agent, time, stays);
        }
        self.times[agent % (1 << AGENT)] = time;
        self.main.set(agent, key(agent, time), stays);
    }

    #[cold]
    fn queue_in_more(&mut self, agent: usize, time: u64, stays: bool) {
        let other = agent - self.few;
        let Some(more) = self.more.get_mut(other / PLAYERS) else { return };
        self.times[agent] = time;
        more.set(other, key(agent, time), stays);
        let first = self.more.iter().map(Tournament::first).min().unwrap_or(NEVER);
        self.main.set(FEW, first, false);
    }

    /// A queued or parked agent goes on at `time` if that is sooner; whether it is.
    pub(crate) fn sooner(&mut self, agent: usize, time: u64) -> bool {
        let old = self.at(agent);
        if old <= time {
            return false;
        }
        self.queue(agent, time, self.rounds && old == PARKED);
        true
    }

    /// Another round begins, with nobody queued.
    pub(crate) fn round(&mut self) {
        self.main = Tournament::EMPTY;
        self.more.fill_with(|| Tournament::EMPTY);
        self.rounds = true;
    }
}

/// 2^56 ps are twenty hours: no run comes near.
#[inline(always)]
fn key(agent: usize, time: u64) -> u64 {
    if time == PARKED { NEVER } else { (time << AGENT) | agent as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

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
        for agents in [24, FEW, FEW + 1, FEW + PLAYERS + 1, AGENTS] {
            order_of(agents);
        }
    }

    fn order_of(agents: usize) {
        let mut s = Schedule::default();
        (0..agents).for_each(|_| s.add());
        let mut list: Vec<(u64, usize)> = (0..agents).map(|agent| (0, agent)).collect();
        let mut chance = 1;
        for _ in 0..20_000 {
            list.sort_unstable();
            let (now, agent) = list.remove(0);
            assert_eq!((s.floor(), s.next(now)), (now, Some(agent)));
            assert_eq!(s.beside(agent), list[0]);
            chance = mix(chance);
            let ahead = chance % [1, 10, 1000][(chance >> 60) as usize % 3];
            s.set(agent, now + ahead);
            list.push((now + ahead, agent));
            let (sooner, other) = (now + ahead / 2, (chance >> 40) as usize % agents);
            let entry = list.iter_mut().find(|(_, agent)| *agent == other);
            if let Some((time, _)) = entry {
                assert_eq!(s.sooner(other, sooner), *time > sooner);
                *time = sooner.min(*time);
            }
        }
    }

    #[test]
    fn a_round_keeps_who_was_woken_in_it() {
        for woken in [1, FEW - 1, FEW, AGENTS - 1] {
            let mut s = Schedule::default();
            (0..AGENTS).for_each(|_| s.add());
            (0..AGENTS).for_each(|agent| s.set(agent, PARKED));
            s.round();
            assert!(s.sooner(woken, 7));
            s.set(woken, 9);
            assert_eq!((s.next(7), s.at(woken), s.beside(woken)), (Some(woken), 9, (7, woken)));
            s.round();
            assert_eq!(s.next(u64::MAX), None);
        }
    }
}
