//! Who goes on next: agents sorted by (time, number).
//!
//! A run has some twenty agents and the one that just ran comes back near the front, so a sorted array
//! beats a heap.

/// Time of an agent that waits for others.
pub(crate) const PARKED: u64 = u64::MAX;

/// Bits of a key that hold the agent.
const AGENT: u32 = 6;
/// The most agents of a simulation.
const AGENTS: usize = 1 << AGENT;

/// The order of resumption.
#[derive(Default)]
pub(crate) struct Schedule {
    /// `time << AGENT | agent`, the next one last; parked agents are not here.
    queue: Vec<u64>,
    /// Time of each agent; of a running one, when it was resumed.
    times: Vec<u64>,
}

impl Schedule {
    /// A new agent that goes on at 0.
    pub(crate) fn add(&mut self) {
        self.times.push(PARKED);
        self.set(self.times.len() - 1, 0);
    }

    /// When an agent goes on, or was resumed.
    #[inline]
    pub(crate) fn at(&self, agent: usize) -> u64 {
        self.times.get(agent).copied().unwrap_or(0)
    }

    /// Takes the next agent out if it goes on by `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: u64) -> Option<usize> {
        let next = self.queue.pop_if(|next| *next >> AGENT <= until)?;
        Some(next as usize & (AGENTS - 1))
    }

    /// The earliest time of an agent that is not running.
    #[inline]
    pub(crate) fn floor(&self) -> u64 {
        self.queue.last().map_or(PARKED, |next| next >> AGENT)
    }

    /// An agent that is not queued goes on at `time`, or waits for others.
    #[inline]
    pub(crate) fn set(&mut self, agent: usize, time: u64) {
        let Some(slot) = self.times.get_mut(agent) else { return };
        *slot = time;
        if time == PARKED {
            return;
        }
        // 2^58 ps are three days: no run comes near.
        let key = (time << AGENT) | agent as u64;
        self.queue.push(key);
        // It moves down from the end, and not far.
        let mut i = self.queue.len() - 1;
        while i > 0 && self.queue[i - 1] < key {
            self.queue[i] = self.queue[i - 1];
            i -= 1;
        }
        self.queue[i] = key;
    }

    /// A queued or parked agent goes on at `time` if that is sooner; whether it is.
    pub(crate) fn sooner(&mut self, agent: usize, time: u64) -> bool {
        if self.at(agent) <= time {
            return false;
        }
        self.queue.retain(|key| *key as usize & (AGENTS - 1) != agent);
        self.set(agent, time);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
