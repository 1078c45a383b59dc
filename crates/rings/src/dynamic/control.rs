//! Who decides in `dynamic`: the core that finds the lock free judges for all that share a ring.

use memory::{Memory, Ps};

use super::MASK;
use super::judge::{COUNTER, Change, Judge, Mode, Round, Sample};
use crate::parts::lock::Locked;

// ## Host half

/// Looks of a core at the lock in the time of a round, and at the clock while the NIC counts for a report.
pub(super) const LOOKS: u32 = 4;

/// What the cores that share a ring decide with.
pub(super) struct Control<M: Memory> {
    /// The changes of mode so far.
    pub(super) lock: Locked<M>,
    pub(super) judge: M::Words<8>,
    pub(super) asked: M::Words<1>,
    /// `tally` and `received` of each queue.
    pub(super) counters: Vec<(M::Words<1>, M::Words<1>)>,
    pub(super) round: Round,
    /// Bursts between two looks at the clock.
    pub(super) bursts: u32,
}

impl<M: Memory> Control<M> {
    /// Judges, if nobody else does so now and a round may be over.
    #[cold]
    pub(super) fn look(&mut self, m: &mut M, now: Ps) -> Option<Change> {
        let changes = self.lock.try_lock(m)?;
        let mut judge = Judge::unpack(m.read(self.judge, 0));
        let mut change = None;
        if judge.due(now, &self.round) {
            let sample = self.sample(m, now);
            change = judge.observe(Mode::after(changes), sample, &self.round);
            m.write(self.judge, 0, judge.pack());
        }
        self.leave(m, changes, change.is_some());
        change
    }

    /// Changes the mode to `mode` by hand, and judges anew from there; whether it was another.
    pub(super) fn ask(&mut self, m: &mut M, mode: Mode) -> bool {
        let changes = self.lock.lock(m);
        m.write(self.judge, 0, Judge::default().pack());
        let change = Mode::after(changes) != mode;
        self.leave(m, changes, change);
        change
    }

    /// Frees the lock.
    fn leave(&mut self, m: &mut M, changes: u64, change: bool) {
        let changes = changes.wrapping_add(u64::from(change));
        if change {
            m.ring(self.asked, changes);
        }
        self.lock.unlock(m, changes);
    }

    fn sample(&self, m: &mut M, at: Ps) -> Sample {
        let mut all = Sample { at, ..Sample::default() };
        for &(tally, received) in &self.counters {
            let tally = m.relaxed(tally, 0);
            all.offered += tally & MASK;
            all.dropped += tally >> COUNTER & MASK;
            all.received += m.relaxed(received, 0) & MASK;
        }
        all
    }
}
