//! Words that several agents write. Their lines cost what the interconnect takes, wherever caches have them.
//!
//! Readers share a line until it is written. Whoever writes it has it to itself, from when it has come
//! until it is done; others queue behind that in order of time (A18).

use super::View;
use crate::machine::layout::Path;
use crate::machine::level::Level;
use crate::machine::prices::Access;
use crate::mix::mix;

/// All readers that wait for a line get it within so many ps of each other: less than a cycle.
const TURNS: u64 = 256;

impl View {
    /// A load: a core without a copy waits for one.
    pub(super) fn look(&mut self, line: u32) {
        self.order();
        if self.me.core.is_none() {
            self.load((line, Path::Dma));
            return self.polls(line);
        }
        let (me, at, costs) = (self.me.who, self.clock, self.machine().costs);
        self.polls(line);
        self.clock += costs.op;
        let l = &mut self.line(line);
        if !l.has.has(me) {
            let held = l.changed.saturating_sub(at);
            // Those who wait for one line get it one by one, in an order that nothing fixes (A18).
            let turn = if held > 0 { mix(at << 6 ^ self.me.slot as u64) % TURNS } else { 0 };
            let (transfer, crosses) = self.transfer(line, false);
            let wait = held + turn + transfer;
            self.poll.missed += wait;
            self.clock += wait;
            let there = self.clock;
            if crosses && self.machine().nodes.words_move() && self.line(line).moves() {
                self.line(line).hold(me, there);
            } else {
                self.line(line).has.insert(me);
            }
        }
    }

    /// What it takes to get the line from who has it last, ps, and whether it comes over the link: writers queue.
    fn transfer(&mut self, line: u32, write: bool) -> (u64, bool) {
        let crosses = self.crossing(line, write, u64::MAX);
        let over = if crosses { self.machine().over_link(self.me.node) } else { 0 };
        (self.machine().costs.snoop + over, crosses)
    }

    /// A store; when it shows. The core goes on while the line comes, as behind any other store (A19); what
    /// it stored before shows before (A28).
    pub(super) fn post(&mut self, core: u32, line: u32) -> u64 {
        self.order();
        let (me, at, costs) = (self.me.who, self.clock, self.machine().costs);
        let l = &self.line(line);
        let (mine, changed) = (l.has.is(me), l.changed);
        let mut shows = changed.max(at + costs.op).max(self.stores.drained);
        if !mine {
            self.sim().taken(line, at, self.me.slot);
            let (transfer, _) = self.transfer(line, true);
            let cost = self.machine().prices_of(core).cost(Access::Word, true, transfer, Level::Snoop);
            let asked = self.enters(at, cost.wait);
            shows = shows.max(changed.max(asked) + cost.miss);
            self.stores.leaves(shows);
        }
        self.poll.missed += self.clock - at;
        self.clock += costs.op;
        shows = shows.max(self.clock);
        self.line(line).hold(me, shows);
        shows
    }

    /// An atomic: waits for the line, then holds it. Stores before it come first.
    pub(super) fn atomic(&mut self, line: u32) {
        self.barrier();
        self.order();
        let (me, at, costs) = (self.me.who, self.clock, self.machine().costs);
        let l = &self.line(line);
        let (mine, changed) = (l.has.is(me), l.changed);
        let mut done = at.max(self.stores.drained).max(changed) + costs.atomic;
        if !mine {
            self.sim().taken(line, at, self.me.slot);
            done += self.transfer(line, true).0;
        }
        self.line(line).hold(me, done);
        self.clock = done;
    }
}
