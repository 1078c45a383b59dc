//! When cores stand still, whatever runs on them.

use memory::Ps;

use crate::profile::Pause;

/// Times in which cores do nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standstill {
    /// A stall of those that run applications, from when to when, ps.
    stall: (u64, u64),
    /// Pauses of all cores.
    pub pause: Option<Pause>,
}

impl Standstill {
    /// Cores never stand still.
    pub(crate) const NEVER: Standstill = Standstill { stall: (u64::MAX, u64::MAX), pause: None };

    /// All cores stall from `from` for `span`.
    pub(crate) fn stall(&mut self, from: Ps, span: Ps) {
        self.stall = (from.0, from.0.saturating_add(span.0));
    }

    /// When a core goes on that would at `at`: behind the pause that it is in, and the stall if it `stalls`.
    pub(crate) fn behind(&self, at: u64, stalls: bool) -> u64 {
        let (from, to) = self.stall;
        let at = if stalls && at >= from && at < to { to } else { at };
        let Some(pause) = self.pause else { return at };
        at + pause.span.0.saturating_sub(at % pause.every.0.max(1))
    }
}
