//! When an agent hands over to others, and how far it may run on.

use corosensei::Yielder;
use memory::Ps;

use super::View;
use crate::engine::schedule::PARKED;
use crate::engine::turns::BEHIND;

/// A burst that takes so long, ps, is long beside [`BEHIND`].
const LONG: u64 = 10 * BEHIND;

/// An agent's turn.
pub(super) struct Turn {
    pub yielder: *const Yielder<(), ()>,
    /// How much further than the window it may run on (A27).
    pub ahead: u64,
    /// Whether the last burst was full, and long. A core that is not behind counts as keeping up.
    pub behind: bool,
}

impl Default for Turn {
    fn default() -> Turn {
        Turn { yielder: std::ptr::null(), ahead: 0, behind: true }
    }
}

impl View {
    /// The core has dealt with a burst. After a full one it is behind its traffic: the frames that it looks for next
    /// are there, however far the others have come. If the burst took many times as long as the core may then run
    /// ahead, it also sees hardly later what the others free meanwhile.
    pub(crate) fn received(&mut self, full: bool, took: Ps) {
        let behind = full && took.0 >= LONG;
        if behind == self.turn.behind {
            return;
        }
        self.turn.behind = behind;
        let lead = &mut self.turns().lead;
        let (others, ahead) =
            if behind { (lead.keeping_up - 1, lead.core) } else { (lead.keeping_up + 1, 0) };
        lead.keeping_up = others;
        self.turn.ahead = ahead;
    }

    /// The card goes on to its next frame. It waits for cores that keep up with it.
    #[inline(always)]
    pub(crate) fn next_frame(&mut self) {
        let lead = self.turns().lead;
        let ahead = if lead.keeping_up == 0 { lead.card } else { 0 };
        self.turn.ahead = ahead;
    }

    /// Whether an agent at `at` hands over.
    #[inline(always)]
    pub(super) fn is_ahead(&self, at: u64) -> bool {
        at.saturating_sub(self.turn.ahead) > self.turns().until
    }

    /// Hands over until `until`, or until an earlier wake-up.
    #[inline(always)]
    pub(super) fn suspend(&mut self, until: u64) {
        self.next_at(until);
        self.hand_over();
    }

    /// The agent goes on at `until`, or at an earlier wake-up.
    #[inline(never)]
    fn next_at(&mut self, until: u64) {
        self.turns().schedule.set(self.me.slot, until);
        self.leaves_at();
    }

    /// Hands over; the schedule knows when to go on. The switch itself is compiled into its caller: a host foresees
    /// where a function returns to only if it was called on the same stack.
    #[inline(always)]
    pub(super) fn hand_over(&mut self) {
        if !self.turn.yielder.is_null() {
            // SAFETY: `enter` stored the yielder of the fibre that owns this view and runs it now; it
            // lives until the fibre's closure returns.
            unsafe { (*self.turn.yielder).suspend(()) };
        }
        self.goes_on();
    }

    /// The agent is about to hand over: its stack ends about where this is called.
    #[inline(always)]
    pub(super) fn leaves_at(&mut self) {
        let end = 0u8;
        let slot = self.me.slot;
        if let Some(warm) = self.turns().warm.get_mut(slot) {
            warm.stack = &raw const end;
        }
    }

    /// The agent goes on at the time that the schedule has for it.
    #[inline(never)]
    fn goes_on(&mut self) {
        let t = self.turns().schedule.at(self.me.slot);
        if t != PARKED {
            self.clock = self.clock.max(t);
        }
        self.stalled();
    }

    /// A core that stands still does nothing until the end of that.
    #[inline(always)]
    fn stalled(&mut self) {
        let behind = self.sim().standstill.behind(self.clock, self.me.agent.is_core());
        self.clock = if self.me.core.is_some() { behind } else { self.clock };
    }

    /// Lets every agent that could act before this one's clock do so; of two at one time, the one with the
    /// smaller number is first (A18). A core that comes back in a pause goes on behind it, and looks again.
    #[inline]
    pub(super) fn order(&mut self) {
        while self.clock >= self.turns().floor
            && (self.clock, self.me.slot) > self.turns().schedule.beside(self.me.slot)
        {
            if self.turn.yielder.is_null() {
                return; // set-up: nobody else runs
            }
            self.suspend(self.clock);
        }
    }

    /// An antagonist's step: reads and written lines, so many of them at a time.
    pub(crate) fn press(&mut self, reads: f64, writes: f64, at_a_time: f64, way: u64) {
        let latency = self.machine().press(self.clock, reads, writes) + way;
        self.clock += (reads / at_a_time * latency as f64) as u64;
    }
}
