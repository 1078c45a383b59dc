//! What an agent that polls has read since it was last idle, and how it parks on that.

use memory::Memory;

use super::View;
use crate::engine::sim::Sim;
use crate::engine::turns::Read;

/// Word lines that an agent remembers having read since it was last idle.
const READS: usize = 64;

/// A poll under way.
pub(super) struct Poll {
    /// When it began: when the last idle one ended.
    pub began: u64,
    /// What it has waited for lines that others had: the next one does not.
    pub missed: u64,
    /// The earliest start of a poll that would see a value that was stored but not yet visible.
    pub pending: u64,
    /// Whether the agent has done something else than polling since it was last idle.
    pub busy: bool,
}

impl Default for Poll {
    fn default() -> Poll {
        Poll { began: 0, missed: 0, pending: u64::MAX, busy: true }
    }
}

/// The lines that an agent has read, the last ones of them.
#[repr(C)]
pub(super) struct Reads {
    /// How many there are; further ones take the places of the first.
    count: usize,
    lines: [Read; READS],
}

impl Default for Reads {
    fn default() -> Reads {
        Reads { count: 0, lines: [Read::default(); READS] }
    }
}

impl Reads {
    fn all(&self) -> &[Read] {
        &self.lines[..self.count.min(READS)]
    }

    /// The line that was read last.
    #[inline(always)]
    fn last(&self) -> Option<u32> {
        (self.count > 0).then(|| self.lines[(self.count - 1) % READS].line)
    }

    /// What one line takes the place of.
    pub(super) fn first(&self) -> First {
        First { read: self.lines[0], count: self.count }
    }

    /// One line takes the place of all: the agent waits for one word of it, and does not poll.
    pub(super) fn wait_for(&mut self, line: u32, stores: u32) {
        self.put_back(First { read: Read { line, into: None, stores }, count: 1 });
    }

    /// The wait is over: it polls again what it has read before.
    pub(super) fn put_back(&mut self, first: First) {
        (self.lines[0], self.count) = (first.read, first.count);
    }

    #[inline(always)]
    fn push(&mut self, read: Read) {
        self.lines[self.count % READS] = read;
        self.count = if self.count + 1 == 2 * READS { READS } else { self.count + 1 };
    }
}

/// The first of some lines, and how many they are.
pub(super) struct First {
    read: Read,
    count: usize,
}

impl View {
    /// The agent waits until `until`, or until a line that it has read changes: then it goes on with the poll that sees
    /// that, of one in each `period`.
    pub(super) fn parks(&mut self, until: u64, period: u64) {
        let slot = self.me.slot;
        let me = self.turns().watcher(slot);
        {
            let Sim { turns, machine, .. } = self.sim();
            turns.slots[slot].parked_at = self.clock;
            turns.slots[slot].period = period.max(1);
            turns.schedule.set(slot, until);
            turns.slots[slot].reads.clear();
            for read in self.reads.all() {
                let line = &mut machine.words.lines[read.line as usize];
                line.watch.insert(me);
                let into = read.into.filter(|_| period > 1);
                turns.slots[slot].reads.push(Read { into, ..*read });
                if line.stores != read.stores {
                    turns.wake_at(slot, 0); // since it was read, while another agent ran
                }
            }
            if self.poll.pending != u64::MAX {
                turns.wake_at(slot, self.poll.pending);
            }
        }
        self.leaves_at();
        self.hand_over();
        for read in self.reads.all() {
            self.line(read.line).watch.remove(me);
        }
        self.forget();
    }

    /// The agent found nothing. It goes on when what it polled changes, or at `until`, ps.
    #[inline(always)]
    pub(crate) fn idles(&mut self, until: u64) {
        if std::mem::take(&mut self.poll.busy) {
            // The first poll after work does not tell what an empty one costs.
            self.forget();
            self.chain();
            return self.poll_begins();
        }
        let (began, period) = (self.poll.began, self.elapsed());
        if self.turn.yielder.is_null() {
            self.forget();
        } else {
            self.parks(until.max(self.clock), period);
        }
        self.poll_begins();
        self.rested(began);
    }

    #[inline(always)]
    pub(super) fn forget(&mut self) {
        self.reads.count = 0;
        self.poll.pending = u64::MAX;
    }

    /// The agent has read `line` in a poll. A core that has worked since it was last idle forgets that anyway.
    #[inline(always)]
    pub(super) fn polls(&mut self, line: u32) {
        if !(self.poll.busy && self.me.agent.is_core()) {
            self.remember(line);
        }
    }

    #[inline(always)]
    pub(super) fn remember(&mut self, line: u32) {
        if self.reads.last() != Some(line) {
            let (into, stores) = (Some(self.elapsed()), self.line(line).stores);
            self.reads.push(Read { line, into, stores });
        }
    }

    /// How far into an empty poll the agent is, misses left out.
    #[inline(always)]
    pub(super) fn elapsed(&self) -> u64 {
        self.clock.saturating_sub(self.poll.began).saturating_sub(self.poll.missed)
    }

    /// A core has done nothing since `began`.
    pub(super) fn rested(&mut self, began: u64) {
        if let Some(core) = self.me.core {
            let idle = self.clock.saturating_sub(began);
            self.sim().gauges[core as usize].idle += idle;
        }
    }

    pub(super) fn poll_begins(&mut self) {
        (self.poll.began, self.poll.missed) = (self.clock, 0);
    }
}
