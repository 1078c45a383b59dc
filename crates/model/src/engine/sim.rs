//! The world that all agents share: words, buffers, caches, links, and who waits for what.

use memory::Ps;

use super::agent::Agent;
use super::schedule::{PARKED, Schedule};
use crate::machine::costs::{Costs, shares};
use crate::machine::dram::Dram;
use crate::machine::frames::Pool;
use crate::machine::hierarchy::Hierarchy;
use crate::machine::host::expect;
use crate::machine::layout::Layout;
use crate::machine::level::Level;
use crate::machine::lines::WordLine;
use crate::machine::pcie::Link;
use crate::machine::prices::{Access, Cost, Prices};
use crate::machine::sample::Sample;
use crate::machine::who::{Who, is_large, ones};
use crate::profile::{Pause, Server};

/// A signal whose newest value is not visible before `at`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pending {
    pub old: u64,
    pub at: u64,
    /// What showed before `old`, and until when: doorbells follow each other within their way.
    pub older: (u64, u64),
}

/// Per-core gauges that an observer reads between steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauge {
    /// Frames received by the core.
    pub received: u64,
    /// Filled transmit entries.
    pub tx_filled: u64,
    /// Frames dropped because the transmit ring had no room.
    pub tx_full: u64,
    /// Frames dropped by the application.
    pub app_drops: u64,
    /// Time spent taking buffers from the shared pool, and giving them back, ps.
    pub taking: u64,
    /// See `taking`.
    pub giving: u64,
    /// Time spent finding nothing, ps.
    pub idle: u64,
    /// The core's clock, ps.
    pub clock: u64,
}

/// A line of words that an agent has read in a poll.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Read {
    pub line: u32,
    /// How far into the poll, misses left out, ps; nothing for who waits for one word and does not poll.
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
    /// The word lines it is parked on.
    pub reads: Vec<Read>,
    pub period: u64,
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

/// How much further than the window a core may run that is behind its traffic, ps.
pub(crate) const BEHIND: u64 = 1_500_000;

impl Slot {
    pub(crate) fn new(agent: Agent) -> Slot {
        Slot { agent, parked_at: 0, reads: Vec::new(), period: 1 }
    }
}

impl Warm {
    pub(crate) const NOWHERE: Warm = Warm { view: std::ptr::null(), stack: std::ptr::null() };

    /// Asks the host for what the agent touches first.
    #[inline(always)]
    pub(crate) fn expect(self) {
        (0..VIEW).for_each(|line| expect(self.view.wrapping_add(line * 64)));
        (0..STACK).for_each(|line| expect(self.stack.wrapping_add(line * 64)));
    }
}

/// Everything.
pub struct Sim {
    pub(crate) slots: Vec<Slot>,
    /// Of each agent, close together: every switch looks at two of them.
    pub(crate) warm: Vec<Warm>,
    /// When each agent goes on.
    pub(crate) schedule: Schedule,
    /// The earliest time at which an agent other than the running one acts.
    pub(crate) floor: u64,
    /// How far ahead of `floor` an agent may run, ps, and when that is.
    pub(crate) window: u64,
    pub(crate) until: u64,
    /// How much further while they are behind their traffic: a core, and a card while all cores are (A27).
    pub(crate) core_ahead: u64,
    pub(crate) card_ahead: u64,
    /// Cores that are not.
    pub(crate) keeping_up: u32,
    /// Cores do nothing in this span.
    pub(crate) stall: (u64, u64),
    /// Pauses of all cores.
    pub(crate) pause: Option<Pause>,
    /// Bytes that antagonists have moved.
    pub(crate) pressed: u64,
    pub(crate) stop: bool,
    pub(crate) costs: Costs,
    /// A core plays the NIC: others see a core's stores when their lines have come (A28).
    pub(crate) soft: bool,
    /// Whether the one that plays it fetches lines before it writes them, as our driver does: a card needs none of
    /// its own, and the published emulator is another program.
    pub(crate) ahead: bool,
    pub(crate) words: Vec<u64>,
    pub(crate) pending: Vec<Pending>,
    pub(crate) lines: Vec<WordLine>,
    pub(crate) pools: Vec<Pool>,
    pub(crate) links: Vec<Link>,
    pub(crate) dram: Dram,
    /// Of the node that the memory belongs to, and of the far one.
    pub(crate) prices: [Prices; 2],
    /// The caches, public for their counters.
    pub hierarchy: Hierarchy,
    /// Gauges by core; a core that plays the card comes last.
    pub gauges: Vec<Gauge>,
    /// Frames that DMA has written, all ports; the clock of reuse distances.
    pub(crate) puts: u64,
    /// Sum and number of reuse distances, in frames.
    pub(crate) reuse: (u64, u64),
}

impl Sim {
    /// The world of `server` with what `layout` allocated. `one_in` cache sets are simulated.
    pub fn new(server: &Server, layout: Layout, one_in: u32, seed: u64) -> Sim {
        let lines = layout.lines();
        let links = || (0..server.nic.ports).map(|_| Link::new(&server.constants)).collect();
        let costs = Costs::new(server);
        let dram = Dram::new(&server.constants);
        let (remote, dram_now) = (costs.remote, dram.latency());
        let near = [costs.l2, costs.llc, costs.snoop, costs.snoop, dram_now, costs.far_line(dram_now)];
        let snoop = costs.snoop + remote;
        let far = [costs.l2, costs.llc + remote, snoop, snoop, dram_now + remote, costs.llc];
        let shares = |level| shares(server.nic.kind, &server.constants, level);
        Sim {
            slots: Vec::new(),
            warm: Vec::new(),
            schedule: Schedule::default(),
            floor: 0,
            window: 0,
            until: 0,
            core_ahead: 0,
            card_ahead: 0,
            keeping_up: 0,
            stall: (u64::MAX, u64::MAX),
            pause: None,
            pressed: 0,
            stop: false,
            costs,
            words: vec![0; layout.words as usize],
            pending: vec![Pending::default(); layout.signals as usize],
            lines: vec![WordLine::default(); layout.words.div_ceil(8) as usize],
            pools: layout.pools,
            links: if server.nic_core().is_some() { Vec::new() } else { links() },
            dram,
            prices: [near, far].map(|levels| Prices::new(levels, shares)),
            hierarchy: Hierarchy::sampled(server, &lines, Sample::new(one_in, seed), seed),
            soft: server.nic_core().is_some(),
            ahead: server.nic_core().is_some(),
            gauges: vec![Gauge::default(); server.all_cores() as usize],
            puts: 0,
            reuse: (0, 0),
        }
    }

    /// The same with `cores` more on the far node, behind all others, that play the NIC.
    #[must_use]
    pub fn emulated(mut self, server: &Server, cores: u32) -> Sim {
        self.hierarchy.add_far(server, cores);
        self.gauges.extend((0..cores).map(|_| Gauge::default()));
        self.soft = true;
        self
    }

    /// DRAM traffic that happened since `before` (lines), at `at`.
    #[inline(always)]
    fn charge(&mut self, before: u64, at: u64) {
        let lines = self.dram_lines() - before;
        if lines > 0 && self.dram.add(at, lines as f64 * 64.0 * f64::from(self.hierarchy.sample().one_in())) {
            self.price_dram();
        }
    }

    fn price_dram(&mut self) {
        let [near, far] = &mut self.prices;
        let dram = self.dram.latency();
        near.set([(Level::Dram, dram), (Level::Far, self.costs.far_line(dram))]);
        if self.hierarchy.has_far() {
            far.set([(Level::Dram, dram + self.costs.remote)]);
        }
    }

    #[inline]
    fn dram_lines(&self) -> u64 {
        self.hierarchy.dram_lines()
    }

    /// Prices for `core`.
    #[inline(always)]
    pub(crate) fn prices_of(&mut self, core: u32) -> &mut Prices {
        &mut self.prices[usize::from(self.hierarchy.is_far(core as usize))]
    }

    /// A core's access to a line: when the line is there, and how long the core waits. A line outside the
    /// sample costs what lines of its kind cost inside.
    #[inline(always)]
    pub(crate) fn core_access(&mut self, core: u32, line: u32, write: bool, kind: Access, at: u64) -> Cost {
        if self.hierarchy.sample().has(line) {
            self.simulate(core, line, write, kind, at)
        } else {
            self.prices_of(core).mean_of(kind, write)
        }
    }

    /// The same of a line in the sample.
    #[inline(never)]
    pub(crate) fn simulate(&mut self, core: u32, line: u32, write: bool, kind: Access, at: u64) -> Cost {
        let before = self.dram_lines();
        let level = self.hierarchy.core(core as usize, line, write);
        self.charge(before, at);
        let prices = self.prices_of(core);
        let miss = prices.learn(kind, write, level);
        prices.cost(kind, write, miss, level)
    }

    /// A core stores into a line that it has prefetched.
    pub(crate) fn dirty(&mut self, core: u32, line: u32) {
        if self.hierarchy.sample().has(line) {
            self.hierarchy.core(core as usize, line, true);
        }
    }

    /// A run of lines written by DMA; `partial` tells whether the last one is not whole.
    #[inline(always)]
    pub(crate) fn dma_write(&mut self, first: u32, lines: u32, partial: bool, at: u64) {
        let last = first + lines - 1;
        if self.hierarchy.sample().may_have(first, last) {
            self.simulate_dma(first, last, at, |caches, line| {
                caches.dma_write(line, !(partial && line == last));
            });
        }
    }

    /// A run of lines read by DMA.
    #[inline(always)]
    pub(crate) fn dma_read(&mut self, first: u32, lines: u32, at: u64) {
        let last = first + lines - 1;
        if self.hierarchy.sample().may_have(first, last) {
            self.simulate_dma(first, last, at, |caches, line| {
                caches.dma_read(line);
            });
        }
    }

    /// `access` for each line from `first` to `last` that is in the sample.
    #[inline(never)]
    fn simulate_dma(&mut self, first: u32, last: u32, at: u64, access: impl Fn(&mut Hierarchy, u32)) {
        let before = self.dram_lines();
        let mut from = first;
        while from <= last {
            let mut sampled = self.hierarchy.sample().among(from, last);
            while sampled != 0 {
                access(&mut self.hierarchy, from + sampled.trailing_zeros());
                sampled &= sampled - 1;
            }
            from += 64;
        }
        self.charge(before, at);
    }

    /// Asks the host for what is kept of the frames that a line of descriptors may name.
    #[inline(always)]
    pub(crate) fn expect_frames(&self, line: u32) {
        let Some(pool) = self.pools.first() else { return };
        let Some(last) = pool.frames.len().checked_sub(1) else { return };
        let first = line as usize * 8;
        for raw in self.words.get(first..first + 8).unwrap_or_default() {
            // The host could not guess which of them are frames.
            pool.frames[last.min(*raw as usize)].expect();
        }
    }

    /// The word line `line` changes at `at`: agents parked on it go on.
    #[inline(always)]
    pub(crate) fn written(&mut self, line: u32, at: u64) {
        let l = &mut self.lines[line as usize];
        l.stores = l.stores.wrapping_add(1);
        if !l.watch.is_empty() {
            self.wake_watchers(line, at);
        }
    }

    #[inline(never)]
    fn wake_watchers(&mut self, line: u32, at: u64) {
        self.watchers(line, |sim, a| {
            let reads = &sim.slots[a].reads;
            let into = reads.iter().find(|r| r.line == line).and_then(|r| r.into).unwrap_or(0);
            sim.wake_at(a, at.saturating_sub(into));
        });
    }

    /// What agent `number` is among those who wait for a line.
    pub(crate) fn watcher(&self, number: usize) -> Who {
        Who::agent(number, self.is_large())
    }

    /// Whether there are so many agents that sets of them take more than a word.
    pub(crate) fn is_large(&self) -> bool {
        is_large(self.slots.len())
    }

    /// `wake` for each agent that is parked on `line`.
    #[inline(always)]
    fn watchers(&mut self, line: u32, wake: impl Fn(&mut Sim, usize)) {
        let (near, aside) = self.lines[line as usize].watch.members();
        ones(near).for_each(|a| wake(self, a));
        for (i, word) in aside.iter().flatten().enumerate() {
            ones(*word).for_each(|bit| wake(self, i * 64 + bit));
        }
    }

    /// Agent `by` takes the contended line `line` from those who have copies, at `at`: whoever polls it must fetch
    /// it again, from its next load on. Who waits for its word to change does not care.
    pub(crate) fn taken(&mut self, line: u32, at: u64, by: usize) {
        self.watchers(line, |sim, a| {
            let read = sim.slots[a].reads.iter().find(|r| r.line == line && r.into.is_some());
            if let Some(into) = read.and_then(|r| r.into) {
                // Of two at one time, the agent with the smaller number is first (A18).
                sim.wake_at(a, (at + u64::from(a < by)).saturating_sub(into));
            }
        });
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

    /// Agents may run ahead by so much. By more while they are behind their traffic, but not where that is 0, nor where
    /// a core plays the card: there every word goes from core to core.
    pub(crate) fn set_window(&mut self, window: u64) {
        self.window = window;
        if window > 0 && !self.soft {
            self.core_ahead = BEHIND;
            self.card_ahead = self.costs.doorbell.saturating_sub(window);
        }
    }

    /// No agent but the running one acts before `floor`.
    #[inline(always)]
    pub(crate) fn set_floor(&mut self, floor: u64) {
        self.floor = floor;
        self.until = floor.saturating_add(self.window);
    }

    /// The gauges at `at`: a parked core has been idle since.
    pub(crate) fn gauges_at(&self, at: u64) -> Vec<Gauge> {
        let mut gauges = self.gauges.clone();
        for (i, slot) in self.slots.iter().enumerate() {
            if let Some(core) = slot.agent.caches()
                && self.schedule.at(i) == PARKED
            {
                gauges[core as usize].idle += at.saturating_sub(slot.parked_at);
            }
        }
        gauges
    }

    /// All cores stand still from `from` for `span`.
    pub fn stall_cores(&mut self, from: Ps, span: Ps) {
        self.stall = (from.0, from.0.saturating_add(span.0));
    }

    /// When a core goes on that would at `at`: behind the pause that it is in, and the stall if it `stalls`.
    pub(crate) fn standing(&self, at: u64, stalls: bool) -> u64 {
        let (from, to) = self.stall;
        let at = if stalls && at >= from && at < to { to } else { at };
        let Some(pause) = self.pause else { return at };
        at + pause.span.0.saturating_sub(at % pause.every.0.max(1))
    }

    /// An antagonist reads `reads` lines at `at` and has `writes` written back; what a read takes then, ps.
    pub(crate) fn press(&mut self, at: u64, reads: f64, writes: f64) -> u64 {
        let bytes = (reads + writes) * 64.0;
        self.pressed += bytes as u64;
        if self.dram.add(at, bytes) {
            self.price_dram();
        }
        self.dram.latency()
    }

    /// What a stalled run looks like: each agent, when it goes on, and what it waits for.
    pub fn dump(&self) -> String {
        use std::fmt::Write;
        let mut out = String::new();
        for (i, s) in self.slots.iter().enumerate() {
            let when = match self.schedule.at(i) {
                u64::MAX => "parked".to_owned(),
                t => format!("at {:.3} us", t as f64 / 1e6),
            };
            let waits: Vec<_> =
                (0..self.lines.len()).filter(|l| self.lines[*l].watch.has(self.watcher(i))).take(4).collect();
            let _ = writeln!(
                out,
                "{:?}: {when}, last at {:.3} us, waits for word lines {waits:?}",
                s.agent,
                s.parked_at as f64 / 1e6
            );
        }
        out
    }
}
