//! Whose turn it is: when each agent goes on, what it is parked on, and how far it may run ahead of the others.

use super::agent::Agent;
use super::schedule::{PARKED, Schedule};
use crate::machine::coherence::agents::{Who, is_large};
use crate::machine::host::expect;

/// A line of words that an agent has read in a poll.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Read {
    pub line: u32,
    /// How far into the poll, misses left out, ps. None for an agent that waits for one word and does not poll.
    pub into: Option<u64>,
    /// What the line's count of stores was.
    pub stores: u32,
}

/// An agent's place in the schedule.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub agent: Agent,
    /// Where a parked agent's polling grid starts, and its step.
    pub parked_at: u64,
    pub period: u64,
    /// The word lines it is parked on.
    pub reads: Vec<Read>,
}

impl Slot {
    /// How far into its poll the agent reads a line; none if it does not read it, or waits for one word of it.
    fn reads_at(&self, line: u32) -> Option<u64> {
        self.reads.iter().find(|read| read.line == line)?.into
    }
}

/// Where an agent's view lies and where its stack ends while it does not run: what the host is asked for ahead of its
/// turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warm {
    pub view: *const u8,
    pub stack: *const u8,
}

/// Lines of a view, and of a stack, that an agent touches at once when its turn comes.
const VIEW: usize = 3;
const STACK: usize = 7;

impl Warm {
    const NOWHERE: Warm = Warm { view: std::ptr::null(), stack: std::ptr::null() };

    /// Asks the host for what the agent touches first.
    #[inline(always)]
    pub(crate) fn expect(self) {
        (0..VIEW).for_each(|line| expect(self.view.wrapping_add(line * 64)));
        (0..STACK).for_each(|line| expect(self.stack.wrapping_add(line * 64)));
    }
}

/// How much further than the window a core may run that is behind its traffic, ps.
pub(crate) const BEHIND: u64 = 1_500_000;

/// How far ahead of the slowest an agent may run, ps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lead {
    pub window: u64,
    /// How much further a core may run while it is behind its traffic, and a card while all cores are (A27).
    pub core: u64,
    pub card: u64,
    /// Cores that are not behind their traffic.
    pub keeping_up: u32,
}

/// The turns of all agents.
#[derive(Default)]
pub(crate) struct Turns {
    /// The earliest time at which an agent other than the running one acts, and when the window behind that ends.
    pub floor: u64,
    pub until: u64,
    pub lead: Lead,
    pub slots: Vec<Slot>,
    /// Of each agent, close together: every switch looks at two of them.
    pub warm: Vec<Warm>,
    /// When each agent goes on.
    pub schedule: Schedule,
}

impl Turns {
    /// One more agent, which goes on at 0.
    pub(crate) fn add(&mut self, agent: Agent) {
        self.slots.push(Slot { agent, parked_at: 0, period: 1, reads: Vec::new() });
        self.warm.push(Warm::NOWHERE);
        self.schedule.add();
    }

    /// No agent but the running one acts before `floor`.
    #[inline(always)]
    pub(crate) fn set_floor(&mut self, floor: u64) {
        self.floor = floor;
        self.until = floor.saturating_add(self.lead.window);
    }

    /// A parked agent wakes on the first point of its polling grid from `at` on.
    pub(crate) fn wake_at(&mut self, a: usize, at: u64) {
        let s = &self.slots[a];
        let past = at.saturating_sub(s.parked_at);
        let t = s.parked_at + past.div_ceil(s.period) * s.period;
        if self.schedule.sooner(a, t) {
            self.set_floor(self.floor.min(t));
        }
    }

    /// A line that a parked agent has read changes at `at`: it goes on with the poll that sees it.
    pub(crate) fn changed(&mut self, a: usize, line: u32, at: u64) {
        let into = self.slots[a].reads_at(line).unwrap_or(0);
        self.wake_at(a, at.saturating_sub(into));
    }

    /// Agent `by` takes a contended line at `at` from a parked agent. If that polls the line, its next load must fetch it
    /// again, and it wakes for that. If it waits for a word to change, it does not care.
    pub(crate) fn loses(&mut self, a: usize, line: u32, at: u64, by: usize) {
        if let Some(into) = self.slots[a].reads_at(line) {
            // Of two at one time, the agent with the smaller number is first (A18).
            self.wake_at(a, (at + u64::from(a < by)).saturating_sub(into));
        }
    }

    /// What agent `number` is among those who wait for a line.
    pub(crate) fn watcher(&self, number: usize) -> Who {
        Who::agent(number, self.is_large())
    }

    /// Whether there are so many agents that sets of them take more than a word.
    pub(crate) fn is_large(&self) -> bool {
        is_large(self.slots.len())
    }

    /// When each parked core parked, by its number.
    pub(crate) fn parked_cores(&self) -> impl Iterator<Item = (u32, u64)> {
        let slots = self.slots.iter().enumerate();
        slots
            .filter(|(i, _)| self.schedule.at(*i) == PARKED)
            .filter_map(|(_, slot)| Some((slot.agent.caches()?, slot.parked_at)))
    }
}
