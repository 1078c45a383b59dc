//! Who goes on next: agents sorted by (time, number).
//!
//! A run has some twenty agents. A core that just ran is ahead of most others, a card still behind them: a
//! sorted array that both ends reach beats a heap.

/// Time of an agent that waits for others.
pub(crate) const PARKED: u64 = u64::MAX;

/// Bits of a key that hold the agent.
const AGENT: u32 = 6;
/// The most agents of a simulation.
const AGENTS: usize = 1 << AGENT;

/// The order of resumption.
pub(crate) struct Schedule {
    /// `time << AGENT | agent`, sorted: `len` of them from `head` on, round the end; parked agents are not
    /// here.
    queue: [u64; AGENTS],
    head: usize,
    len: usize,
    /// Time of each agent; of a running one, when it was resumed.
    times: Vec<u64>,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { queue: [0; AGENTS], head: 0, len: 0, times: Vec::new() }
    }
}

impl Schedule {
    /// A new agent that goes on at 0; at most [`AGENTS`].
    pub(crate) fn add(&mut self) {
        assert!(self.times.len() < AGENTS, "a run has at most {AGENTS} agents");
        self.times.push(PARKED);
        self.set(self.times.len() - 1, 0);
    }

    /// When an agent goes on, or was resumed.
    #[inline(always)]
    pub(crate) fn at(&self, agent: usize) -> u64 {
        self.times.get(agent).copied().unwrap_or(0)
    }

    /// Takes the next agent out if it goes on by `until`.
    #[inline(always)]
    pub(crate) fn pop(&mut self, until: u64) -> Option<usize> {
        let next = self.queue[self.head % AGENTS];
        if self.len == 0 || next >> AGENT > until {
            return None;
        }
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(next as usize % AGENTS)
    }

    /// The earliest time of an agent that is not running.
    #[inline(always)]
    pub(crate) fn floor(&self) -> u64 {
        if self.len == 0 { PARKED } else { self.queue[self.head % AGENTS] >> AGENT }
    }

    /// The earliest of the agents that are not running, and its time.
    #[inline(always)]
    pub(crate) fn next(&self) -> (u64, usize) {
        (self.floor(), self.queue[self.head % AGENTS] as usize % AGENTS)
    }

    /// An agent that is not queued goes on at `time`, or waits for others.
    #[inline(always)]
    pub(crate) fn set(&mut self, agent: usize, time: u64) {
        let Some(slot) = self.times.get_mut(agent) else { return };
        *slot = time;
        if time == PARKED {
            return;
        }
        // 2^58 ps are three days: no run comes near.
        let key = (time << AGENT) | agent as u64;
        self.len += 1;
        if self.len > 2 && key < self.queue[self.head.wrapping_add(self.len / 2) % AGENTS] {
            self.head = self.head.wrapping_sub(1);
            let mut i = self.head;
            while self.queue[i.wrapping_add(1) % AGENTS] < key {
                self.queue[i % AGENTS] = self.queue[i.wrapping_add(1) % AGENTS];
                i = i.wrapping_add(1);
            }
            self.queue[i % AGENTS] = key;
        } else {
            let mut i = self.head.wrapping_add(self.len - 1);
            while i != self.head && self.queue[i.wrapping_sub(1) % AGENTS] > key {
                self.queue[i % AGENTS] = self.queue[i.wrapping_sub(1) % AGENTS];
                i = i.wrapping_sub(1);
            }
            self.queue[i % AGENTS] = key;
        }
    }

    /// A queued or parked agent goes on at `time` if that is sooner; whether it is.
    pub(crate) fn sooner(&mut self, agent: usize, time: u64) -> bool {
        let old = self.at(agent);
        if old <= time {
            return false;
        }
        if old != PARKED {
            self.remove(agent);
        }
        self.set(agent, time);
        true
    }

    fn remove(&mut self, agent: usize) {
        let mut kept = 0;
        for i in 0..self.len {
            let key = self.queue[self.head.wrapping_add(i) % AGENTS];
            if key as usize % AGENTS != agent {
                self.queue[self.head.wrapping_add(kept) % AGENTS] = key;
                kept += 1;
            }
        }
        self.len = kept;
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
        assert_eq!(s.pop(0), Some(0));
        s.set(0, 0);
        assert_eq!(s.pop(0), Some(0), "agent 0 is before agents 1 and 2 again");
        s.set(0, 5);
        assert_eq!(s.pop(9), Some(1));
        s.set(1, PARKED);
        assert_eq!(s.pop(9), Some(2));
        assert_eq!(s.floor(), 5);
        assert!(s.sooner(1, 3) && !s.sooner(1, 4));
        assert_eq!(s.pop(2), None, "not before its time");
        assert_eq!(s.pop(3), Some(1));
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
            assert_eq!(s.pop(now), Some(agent));
            assert_eq!(s.floor(), list[0].0);
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
