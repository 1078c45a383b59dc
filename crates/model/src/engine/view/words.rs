//! Loads and stores of words of rings that one agent writes.

use super::{Me, View};
use crate::engine::agent::Agent;
use crate::machine::Machine;
use crate::machine::coherence::word_line::Claim;
use crate::machine::layout::{Path, Place};
use crate::machine::level::Level;
use crate::machine::prices::{Access, Cost};

impl View {
    /// The agent loads words of `line`: a core waits for a line that others had.
    #[inline(always)]
    pub(super) fn load(&mut self, (line, path): (u32, Path)) {
        let at = self.clock;
        // A load returns what shows at its end.
        if self.me.core.is_some() {
            self.clock += self.machine().costs.op;
        }
        let (me, end) = (self.me.who, self.clock);
        if self.line(line).load(me, end) {
            self.fetch(line, path, at);
        }
    }

    /// A line that others had comes, from `at` on.
    #[inline(never)]
    fn fetch(&mut self, line: u32, path: Path, at: u64) {
        if path == Path::Mmio {
            return self.read_register(line); // no cache has it: each load comes here
        }
        if self.machine().nodes.apart {
            return self.fetch_apart(line, path, at);
        }
        if let Some(cost) = self.asks(line, path, at) {
            self.misses(cost.wait);
        }
    }

    /// The same where there are two nodes.
    #[cold]
    fn fetch_apart(&mut self, line: u32, path: Path, at: u64) {
        let moves = self.machine().nodes.words_move();
        if moves && self.comes(line) {
            return;
        }
        let crosses = self.crosses(line, false, self.clock);
        let Some(cost) = self.asks(line, path, at) else { return };
        if crosses && moves {
            self.moves(line, cost.miss);
        }
        self.misses(cost.wait);
    }

    /// What a line that others had costs a core. None of it a card: descriptors come by the line, ahead of use.
    #[inline(always)]
    fn asks(&mut self, line: u32, path: Path, at: u64) -> Option<Cost> {
        let machine = self.machine();
        let Some(core) = self.me.core else {
            machine.dma_read(line, 1, at);
            machine.links[self.me.port as usize].fetch(64);
            machine.expect_frames(line);
            return None;
        };
        let mut cost = machine.core_access(core, line, false, Access::Word, at);
        // An idle core has waited for the first line that changed; the next ones come meanwhile.
        let others = self.poll.busy || self.poll.missed > 0;
        cost.wait = match path {
            _ if !others => cost.miss,
            Path::Dma if self.me.agent.is_core() => match self.machine().costs.far_share {
                // It was asked for together with the line before it.
                Some(share) if line == self.crossed + 1 && cost.miss > self.machine().costs.snoop => {
                    self.crossed = line;
                    (cost.miss as f64 * share) as u64
                }
                _ => {
                    self.crossed = line;
                    cost.wait
                }
            },
            _ => match self.machine().costs.between_share {
                Some(share) => (cost.miss as f64 * share) as u64,
                None => cost.wait,
            },
        };
        Some(cost)
    }

    /// The core waits for a line of words.
    #[inline(always)]
    fn misses(&mut self, wait: u64) {
        self.poll.missed += wait;
        self.clock += wait;
    }

    /// The agent stores `bytes` of words into `line`; when they become visible to the other side. A `BARRIER` publishes
    /// what was written before; a card's store shows no sooner than `behind`. None of a register: its words go another way.
    #[inline(always)]
    pub(super) fn stored<const BARRIER: bool>(
        &mut self,
        path: Path,
        line: u32,
        bytes: u64,
        behind: u64,
    ) -> Option<u64> {
        let (end, visible);
        if let Some(core) = self.me.core {
            let before = if BARRIER { self.barrier() } else { 0 };
            let (me, at) = (self.me.who, self.clock);
            end = at + self.machine().costs.op;
            self.clock = end;
            let claim = self.line(line).claim(me, end);
            if claim != Claim::Free {
                // No core ever has a register to itself.
                if path == Path::Mmio {
                    return None;
                }
                self.take(core, line, at, claim);
            }
            let done = if self.machine().soft { self.clock.max(self.stores.drained) } else { self.clock };
            visible = done.max(before);
        } else {
            if path == Path::Mmio {
                return None;
            }
            end = self.clock;
            visible = if self.engines.moved.is_some() {
                self.write_behind_moved(line, bytes, behind)
            } else {
                self.write_line(line, bytes, false);
                (self.clock + self.machine().costs.write).max(behind)
            };
        }
        let me = self.me.who;
        self.line(line).wrote(me, end, visible);
        Some(visible)
    }

    /// A store takes a line from others, from `at` on; the clock is at the store's end.
    #[inline(never)]
    fn take(&mut self, core: u32, line: u32, at: u64, claim: Claim) {
        if self.machine().nodes.apart {
            return self.take_apart(core, line, at, claim);
        }
        let cost = self.claims(core, line, at, claim);
        self.takes(cost);
    }

    /// The same where there are two nodes.
    #[cold]
    fn take_apart(&mut self, core: u32, line: u32, at: u64, claim: Claim) {
        if self.machine().nodes.words_move() && self.merges(line) {
            return self.joins(line);
        }
        let crosses = self.crosses(line, true, self.clock);
        let held = if crosses { self.arrival(line) - self.clock } else { 0 };
        let mut cost = self.claims(core, line, at, claim);
        cost.miss += held;
        self.takes(cost);
    }

    /// What a line costs a core that stores into it. To recall copies that other cores have takes as long as to get the
    /// line from one of them.
    #[inline(always)]
    fn claims(&mut self, core: u32, line: u32, at: u64, claim: Claim) -> Cost {
        let machine = self.machine();
        let cost = machine.core_access(core, line, true, Access::Word, at);
        let snoop = machine.costs.snoop;
        if claim == Claim::Recall && cost.miss < snoop {
            return machine.prices_of(core).cost(Access::Word, true, snoop, Level::Snoop);
        }
        cost
    }

    /// A line that costs so much comes for a store.
    #[inline(always)]
    fn takes(&mut self, mut cost: Cost) {
        cost.wait = cost.wait.max(self.until_free());
        self.stores.taken = self.clock + cost.wait;
        let before = self.clock;
        self.waits(before, cost);
        self.poll.missed += self.clock - before;
    }

    /// Whether the line is on its way to the core for a store before this one, which this one joins. Only where words
    /// move between nodes: elsewhere each store before the line is there asks for it again.
    fn merges(&mut self, line: u32) -> bool {
        let (me, at) = (self.me.who, self.clock);
        self.line(line).comes(me, at)
    }

    /// The same of a load, which waits until the line is there. Behind another load of the line it has waited.
    fn comes(&mut self, line: u32) -> bool {
        if !self.merges(line) {
            return false;
        }
        let there = if self.line(line).leaves() { self.clock } else { self.line(line).changed };
        self.poll.missed += there - self.clock;
        self.clock = there;
        true
    }

    /// The core has asked for a line of the other node, which takes `miss`. If it moves, it does so when the request is
    /// there, half of the way (A88): what its owner stores until then comes along. A line that is on its way to the
    /// owner gets there first.
    #[cold]
    fn moves(&mut self, line: u32, miss: u64) {
        let (me, at, there) = (self.me.who, self.clock, self.arrival(line));
        let machine = self.machine();
        if machine.words.lines[line as usize].moves() {
            let leaves = there + machine.costs.remote / 2;
            machine.words.lines[line as usize].moves_to(me, at, leaves);
        }
        machine.words.comes(line, there + miss);
        self.poll.missed += there - at;
        self.clock = there;
    }

    /// From when a line may go to the core: not while it is on its way to another one over the link.
    pub(super) fn arrival(&self, line: u32) -> u64 {
        self.clock.max(self.machine().words.there(line))
    }

    /// A core gets a line of words as its copies are at `shown`: whether it comes over the link, which counts it. What
    /// cards read is counted with all that they read.
    #[inline(always)]
    pub(super) fn crossing(&mut self, line: u32, write: bool, shown: u64) -> bool {
        self.machine().nodes.apart && self.crosses(line, write, shown)
    }

    #[cold]
    fn crosses(&mut self, line: u32, write: bool, shown: u64) -> bool {
        let Me { who, node, core: Some(_), .. } = self.me else { return false };
        let at = self.clock;
        let Machine { words, nodes, hierarchy, .. } = self.machine();
        let ends = [node, hierarchy.home_of(line)];
        let crosses = words.lines[line as usize].crosses(who, shown, write, &nodes.far, ends);
        if crosses {
            self.machine().cross(node, write, 1, at);
            self.machine().nodes.crossed[node as usize].words += u64::from(!write);
        }
        crosses
    }

    /// A card writes `bytes` of words, by an engine `beside` its pipeline or by itself.
    #[inline(never)]
    pub(super) fn write_line(&mut self, line: u32, bytes: u64, beside: bool) {
        let (at, port) = (self.clock, self.me.port as usize);
        let machine = self.machine();
        machine.dma_write(line, 1, bytes < 64, at);
        if matches!(self.me.agent, Agent::NicRx(_)) && !beside {
            let sent = machine.links[port].write(at, bytes);
            self.clock = sent;
        } else {
            machine.links[port].note(bytes);
        }
    }

    /// A signal becomes `value`, which shows at `visible`.
    #[inline(always)]
    pub(super) fn store(&mut self, w: Place, value: u64, visible: u64) {
        self.sim().store(w, value, visible);
    }

    /// This agent has stored a signal that both sides write.
    #[inline(never)]
    pub(super) fn note_store(&mut self, w: Place) {
        let slot = self.me.slot;
        self.machine().words.stored_by(w, slot);
    }

    /// What this agent can see of a signal.
    #[inline(always)]
    pub(super) fn visible(&mut self, w: Place) -> u64 {
        let (value, next) = self.machine().words.visible(w, self.clock);
        if let Some(next) = next {
            self.poll.pending = self.poll.pending.min(next.saturating_sub(self.elapsed()));
        }
        value
    }

    /// The agent loads a signal that both sides write. It need not wait until its own store shows.
    #[inline(never)]
    pub(super) fn load_shared(&mut self, w: Place, path: Path) -> u64 {
        self.load((w.line, path));
        self.polls(w.line);
        let slot = self.me.slot;
        self.machine().words.own(w, slot).unwrap_or_else(|| self.visible(w))
    }

    /// The core asks for a line of words, for itself alone, and does not wait.
    pub(super) fn own(&mut self, line: u32) {
        let Some(core) = self.me.core else { return };
        let me = self.me.who;
        let before = self.clock;
        let words = self.line(line);
        let free = words.comes(me, before) || words.claim(me, before) == Claim::Free;
        if !free {
            self.takes_ahead();
        }
        let at = self.clock;
        self.clock += self.machine().costs.op;
        if !free {
            self.crossing(line, true, before);
            let machine = self.machine();
            let cost = machine.core_access(core, line, true, Access::Word, at);
            let there = at + cost.miss.max(machine.costs.snoop);
            machine.words.lines[line as usize].wrote(me, at, there);
        }
    }
}
