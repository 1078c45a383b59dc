//! One agent's view of the modelled server: [`memory::Memory`] with a price. The calls are in `calls`.
//!
//! Every call advances the agent's own clock. Plain accesses of one agent run on without a switch;
//! the agent hands over where another could act first: at contended words, waits, idle polls, and at
//! [`memory::Memory::chain`] once it is further ahead than its window allows.

mod calls;
mod contended;

use std::cell::UnsafeCell;
use std::rc::Rc;

use corosensei::Yielder;
use memory::{Buf, Ps};

use super::agent::Agent;
use super::schedule::PARKED;
use super::sim::{BEHIND, Pending, Read, Sim};
use crate::machine::costs::STORES;
use crate::machine::frames::Origin;
use crate::machine::layout::{PoolId, Table};
use crate::machine::level::Level;
use crate::machine::lines::Claim;
use crate::machine::prices::{Access, Cost};
use crate::machine::who::Who;
use crate::profile::NicKind;
use calls::Place;

/// The world, shared by the views of one simulation on one thread.
pub(crate) type World = Rc<UnsafeCell<Sim>>;

/// A burst that takes so long, ps, is long beside [`BEHIND`].
const LONG: u64 = 10 * BEHIND;
/// Word lines that an agent remembers having read since it was last idle.
const READS: usize = 64;
/// Lines that a core has asked for ahead of use.
const PREFETCHES: usize = 256;
/// Table lines that a core remembers having looked up: an L2 holds many times as many.
const RECENT: usize = 256;

/// The place of a line among them.
fn recent(line: u32) -> usize {
    (line ^ line >> 8) as usize % RECENT
}

/// Lines between a buffer's start and its metadata (the mempool's own header).
const META: u32 = 1;

/// An agent's view. What every access and every switch looks at comes first, in few lines of the host: between two
/// turns of an agent, some twenty others push them out of its caches.
#[repr(C, align(64))]
pub struct View {
    world: World,
    clock: u64,
    /// When all stores made so far have their lines: atomics wait for that, and other cores see them then.
    drained: u64,
    /// What the agent is, at hand for every access: its place in the sets of a line of words, its caches if it has some,
    /// its port.
    me: Who,
    core: Option<u32>,
    /// How much further than the window it may run on (A27).
    ahead: u64,
    /// Whether the last burst was full, and long: a core that is not counts as keeping up.
    behind: bool,
    /// Whether the core is on the far node.
    far: bool,
    agent: Agent,
    pub(crate) slot: usize,
    yielder: *const Yielder<(), ()>,
    /// Whether the agent has done something else than polling since it was last idle.
    busy: bool,
    /// Whether it ever has asked for lines ahead of use: most applications do not.
    prefetches: bool,
    /// The line of words that a core has fetched last.
    crossed: u32,
    port: usize,
    read_count: usize,
    /// The earliest start of a poll that would see a value that was stored but not yet visible.
    pending: u64,
    /// When the last idle poll ended: where this one began.
    polled: u64,
    /// What this poll has waited for lines that others had: the next one does not.
    missed: u64,
    /// When it last took a line from another core to store into it (A61).
    taken: u64,
    /// When each of the last stores has its line and leaves the store buffer (A19), round.
    leaves: [u64; STORES],
    stores: usize,
    stamp: u64,
    origin: Origin,
    reads: [Read; READS],
    /// Lines of tables that it has looked up last.
    recent: [u32; RECENT],
    prefetched: [(u32, u64); PREFETCHES],
}

impl View {
    pub(crate) fn new(world: World, slot: usize, agent: Agent) -> View {
        // SAFETY: no other reference to the world lives while a view is made: on its fibre, or for set-up.
        let (hierarchy, large) = unsafe { (&(*world.get()).hierarchy, (*world.get()).is_large()) };
        View {
            far: agent.caches().is_some_and(|core| hierarchy.is_far(core as usize)),
            world,
            yielder: std::ptr::null(),
            slot,
            agent,
            me: agent.copier(slot, large),
            core: agent.caches(),
            ahead: 0,
            behind: true,
            port: agent.port() as usize,
            clock: 0,
            reads: [Read::default(); READS],
            read_count: 0,
            pending: u64::MAX,
            polled: 0,
            missed: 0,
            busy: true,
            taken: 0,
            crossed: u32::MAX - 1,
            prefetched: [(u32::MAX, 0); PREFETCHES],
            prefetches: false,
            recent: [u32::MAX; RECENT],
            drained: 0,
            leaves: [0; STORES],
            stores: 0,
            stamp: 0,
            origin: Origin::default(),
        }
    }

    pub(crate) fn enter(&mut self, yielder: &Yielder<(), ()>) {
        self.yielder = yielder;
        self.sim().warm[self.slot].view = std::ptr::from_ref(self).cast();
        self.clock = self.sim().schedule.at(self.slot);
    }

    /// The world, for the length of one call.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "one thread, and no reference lives across a switch")]
    pub(crate) fn sim(&self) -> &mut Sim {
        // SAFETY: a simulation lives on one thread, and every borrow made here ends before the next
        // call of `suspend`, the only place where another view can run.
        unsafe { &mut *self.world.get() }
    }

    /// How far an agent may run ahead of the slowest.
    pub(crate) fn window(&self) -> Ps {
        Ps(self.sim().window)
    }

    /// The core has dealt with a burst. After a full one it is behind its traffic: what it looks for next is there,
    /// however far the others have come. If the burst took many times as long as it may then run ahead, what
    /// they have freed meanwhile shows hardly later either.
    pub(crate) fn received(&mut self, full: bool, took: Ps) {
        let behind = full && took.0 >= LONG;
        if behind == self.behind {
            return;
        }
        self.behind = behind;
        let sim = self.sim();
        let (others, ahead) =
            if behind { (sim.keeping_up - 1, sim.core_ahead) } else { (sim.keeping_up + 1, 0) };
        sim.keeping_up = others;
        self.ahead = ahead;
    }

    /// The card goes on to its next frame. It waits for cores that keep up with it.
    #[inline(always)]
    pub(crate) fn next_frame(&mut self) {
        let sim = self.sim();
        let ahead = if sim.keeping_up == 0 { sim.card_ahead } else { 0 };
        self.ahead = ahead;
    }

    /// Whether an agent at `at` hands over.
    #[inline(always)]
    fn is_far(&self, at: u64) -> bool {
        at.saturating_sub(self.ahead) > self.sim().until
    }

    /// Hands over until `until`, or until an earlier wake-up.
    #[inline(always)]
    fn suspend(&mut self, until: u64) {
        self.next_at(until);
        self.hand_over();
    }

    /// The agent goes on at `until`, or at an earlier wake-up.
    #[inline(never)]
    fn next_at(&mut self, until: u64) {
        self.sim().schedule.set(self.slot, until);
        self.leaves_at();
    }

    /// Hands over; the schedule knows when to go on. The switch itself is compiled into its caller: a host foresees
    /// where a function returns to only if it was called on the same stack.
    #[inline(always)]
    fn hand_over(&mut self) {
        if !self.yielder.is_null() {
            // SAFETY: `enter` stored the yielder of the fibre that owns this view and runs it now; it
            // lives until the fibre's closure returns.
            unsafe { (*self.yielder).suspend(()) };
        }
        self.goes_on();
    }

    /// The agent is about to hand over: its stack ends about where this is called.
    #[inline(always)]
    fn leaves_at(&mut self) {
        let end = 0u8;
        let slot = self.slot;
        if let Some(warm) = self.sim().warm.get_mut(slot) {
            warm.stack = &raw const end;
        }
    }

    /// The agent goes on at the time that the schedule has for it.
    #[inline(never)]
    fn goes_on(&mut self) {
        let t = self.sim().schedule.at(self.slot);
        if t != PARKED {
            self.clock = self.clock.max(t);
        }
        self.stalled();
    }

    /// A core that stands still does nothing until the end of that.
    #[inline(always)]
    fn stalled(&mut self) {
        let behind = self.sim().standing(self.clock, self.agent.is_core());
        self.clock = if self.core.is_some() { behind } else { self.clock };
    }

    /// An antagonist's step: reads and written lines, so many of them at a time.
    pub(crate) fn press(&mut self, reads: f64, writes: f64, at_a_time: f64, way: u64) {
        let latency = self.sim().press(self.clock, reads, writes) + way;
        self.clock += (reads / at_a_time * latency as f64) as u64;
    }

    /// Lets every agent that could act before this one's clock do so; of two at one time, the one with the
    /// smaller number is first (A18). A core that comes back in a pause goes on behind it, and looks again.
    #[inline]
    fn order(&mut self) {
        while self.clock >= self.sim().floor
            && (self.clock, self.slot) > self.sim().schedule.beside(self.slot)
        {
            if self.yielder.is_null() {
                return; // set-up: nobody else runs
            }
            self.suspend(self.clock);
        }
    }

    fn parks(&mut self, until: u64, period: u64) {
        let slot = self.slot;
        let reads = self.read_count.min(READS);
        let me = self.sim().watcher(slot);
        {
            let sim = self.sim();
            sim.slots[slot].parked_at = self.clock;
            sim.slots[slot].period = period.max(1);
            sim.schedule.set(slot, until);
            sim.slots[slot].reads.clear();
            for read in &self.reads[..reads] {
                let line = &mut sim.lines[read.line as usize];
                line.watch.insert(me);
                let into = read.into.filter(|_| period > 1);
                sim.slots[slot].reads.push(Read { into, ..*read });
                if line.stores != read.stores {
                    sim.wake_at(slot, 0); // since it was read, while another agent ran
                }
            }
            if self.pending != u64::MAX {
                sim.wake_at(slot, self.pending);
            }
        }
        self.leaves_at();
        self.hand_over();
        let sim = self.sim();
        for read in &self.reads[..reads] {
            sim.lines[read.line as usize].watch.remove(me);
        }
        self.forget();
    }

    #[inline(always)]
    fn forget(&mut self) {
        self.read_count = 0;
        self.pending = u64::MAX;
    }

    /// The agent has read `line` in a poll. A core that has worked since it was last idle forgets that anyway.
    #[inline(always)]
    fn polls(&mut self, line: u32) {
        if !(self.busy && self.agent.is_core()) {
            self.remember(line);
        }
    }

    #[inline(always)]
    fn remember(&mut self, line: u32) {
        let n = self.read_count;
        if n > 0 && self.reads[(n - 1) % READS].line == line {
            return;
        }
        self.reads[n % READS] =
            Read { line, into: Some(self.elapsed()), stores: self.sim().lines[line as usize].stores };
        self.read_count = if n + 1 == 2 * READS { READS } else { n + 1 };
    }

    /// How far into an empty poll the agent is, misses left out.
    #[inline(always)]
    fn elapsed(&self) -> u64 {
        self.clock.saturating_sub(self.polled).saturating_sub(self.missed)
    }

    /// A core has done nothing since `began`.
    fn rested(&mut self, began: u64) {
        if let Some(core) = self.core {
            let idle = self.clock.saturating_sub(began);
            let g = &mut self.sim().gauges[core as usize];
            g.idle += idle;
            g.clock = self.clock;
        }
    }

    fn poll_begins(&mut self) {
        (self.polled, self.missed) = (self.clock, 0);
    }

    /// The agent loads words of `line`, of a field that such a NIC serves: a core waits for a line that others
    /// had.
    #[inline(always)]
    fn load(&mut self, (line, nic): (u32, NicKind)) {
        let at = self.clock;
        // A load returns what shows at its end.
        if self.core.is_some() {
            self.clock += self.sim().costs.op;
        }
        let (me, end) = (self.me, self.clock);
        if self.sim().lines[line as usize].load(me, end) {
            self.fetch(line, nic, at);
        }
    }

    /// A line that others had comes, from `at` on.
    #[inline(never)]
    fn fetch(&mut self, line: u32, nic: NicKind, at: u64) {
        let sim = self.sim();
        let Some(core) = self.core else {
            // Descriptors come by the line, ahead of use.
            sim.dma_read(line, 1, at);
            sim.links[self.port].fetch(64);
            return sim.expect_frames(line);
        };
        let cost = sim.core_access(core, line, false, Access::Word, at);
        // An idle core has waited for the first line that changed; the next ones come meanwhile.
        let others = self.busy || self.missed > 0;
        let wait = match nic {
            _ if !others => cost.miss,
            NicKind::Card if self.agent.is_core() => match self.sim().costs.far_share {
                // It was asked for together with the line before it.
                Some(share) if line == self.crossed + 1 && cost.miss > self.sim().costs.snoop => {
                    self.crossed = line;
                    (cost.miss as f64 * share) as u64
                }
                _ => {
                    self.crossed = line;
                    cost.wait
                }
            },
            _ => match self.sim().costs.between_share {
                Some(share) => (cost.miss as f64 * share) as u64,
                None => cost.wait,
            },
        };
        self.missed += wait;
        self.clock += wait;
    }

    /// The agent stores `bytes` of words into `line`; when they become visible to the other side.
    #[inline(always)]
    fn stored(&mut self, line: u32, bytes: u64) -> u64 {
        let (me, at) = (self.me, self.clock);
        let (end, visible);
        if let Some(core) = self.core {
            end = at + self.sim().costs.op;
            self.clock = end;
            let claim = self.sim().lines[line as usize].claim(me, end);
            if claim != Claim::Free {
                self.take(core, line, at, claim);
            }
            visible = if self.sim().soft { self.clock.max(self.drained) } else { self.clock };
        } else {
            end = at;
            self.write_line(line, bytes);
            visible = self.clock + self.sim().costs.write;
        }
        self.sim().lines[line as usize].wrote(me, end, visible);
        visible
    }

    /// A store takes a line from others, from `at` on; the clock is at the store's end. Copies of other cores
    /// are recalled as a line is that one of them has.
    #[inline(never)]
    fn take(&mut self, core: u32, line: u32, at: u64, claim: Claim) {
        let sim = self.sim();
        let mut cost = sim.core_access(core, line, true, Access::Word, at);
        let snoop = sim.costs.snoop;
        if claim == Claim::Recall && cost.miss < snoop {
            cost = sim.prices_of(core).cost(Access::Word, true, snoop, Level::Snoop);
        }
        cost.wait = cost.wait.max(self.until_free());
        self.taken = self.clock + cost.wait;
        let before = self.clock;
        self.waits(before, cost);
        self.missed += self.clock - before;
    }

    /// How long a line that the core takes to store into it is held up by the one before (A61). What the core has
    /// done since went on beside that one's way.
    #[inline(always)]
    fn until_free(&mut self) -> u64 {
        let taken = self.taken;
        self.sim().costs.taken.map_or(0, |gap| (taken + gap).saturating_sub(self.clock))
    }

    /// The core asks for such a line.
    fn takes_ahead(&mut self) {
        self.clock += self.until_free();
        self.taken = self.clock;
    }

    /// A card writes `bytes` of words.
    #[inline(never)]
    fn write_line(&mut self, line: u32, bytes: u64) {
        let (at, port) = (self.clock, self.port);
        let sim = self.sim();
        sim.dma_write(line, 1, bytes < 64, at);
        if matches!(self.agent, Agent::NicRx(_)) {
            let sent = sim.links[port].write(at, bytes);
            self.clock = sent;
        } else {
            sim.links[port].note(bytes);
        }
    }

    /// A store at `at`; it is done when the line is there.
    #[inline(always)]
    fn waits(&mut self, at: u64, cost: Cost) {
        let asked = self.enters(at, cost.wait);
        self.leaves(asked + cost.miss);
    }

    /// A store at `at` enters the store buffer; when its line is asked for. The core waits only while the buffer is
    /// full, or for `share` where the profile says what a store waits.
    #[inline(always)]
    fn enters(&mut self, at: u64, share: u64) -> u64 {
        if !self.sim().costs.buffered {
            self.clock += share;
            return at;
        }
        let room = self.leaves[self.stores % STORES];
        self.clock = self.clock.max(room);
        at.max(room)
    }

    /// It leaves it once its line is there, behind those before it.
    #[inline(always)]
    fn leaves(&mut self, there: u64) {
        self.drained = self.drained.max(there);
        self.leaves[self.stores % STORES] = self.drained;
        self.stores += 1;
    }

    /// A posted MMIO store leaves the core behind the stores before it, and those behind it wait until the PCIe
    /// root has it (A64). The core itself goes on.
    fn posted(&mut self) {
        let Some(core) = self.core else { return };
        let sim = self.sim();
        let far = if sim.hierarchy.is_far(core as usize) { sim.costs.remote } else { 0 };
        if sim.costs.root > 0 {
            let there = self.drained.max(self.clock) + sim.costs.root + far;
            self.leaves(there);
        }
    }

    #[inline(always)]
    fn store(&mut self, w: Place, value: u64, visible: u64) {
        let sim = self.sim();
        let word = &mut sim.words[w.word as usize];
        let before = &mut sim.pending[w.signal as usize];
        *before = Pending { old: *word, at: visible, older: (before.old, before.at) };
        *word = value;
        sim.written(w.line, visible);
    }

    /// What this agent can see of a signal.
    #[inline(always)]
    fn visible(&mut self, w: Place) -> u64 {
        let clock = self.clock;
        let p = self.sim().pending[w.signal as usize];
        if p.at <= clock {
            return self.sim().words[w.word as usize];
        }
        let (older, at) = p.older;
        let (value, next) = if at > clock { (older, at) } else { (p.old, p.at) };
        self.pending = self.pending.min(next.saturating_sub(self.elapsed()));
        value
    }

    /// The core accesses a line that is not of words: what costs what its kind costs is short.
    #[inline(always)]
    fn access(&mut self, line: u32, write: bool, kind: Access) {
        let Some(core) = self.core else { return };
        self.busy = true;
        let at = self.clock;
        let sim = self.sim();
        let cost = if self.prefetches && self.prefetched[line as usize % PREFETCHES].0 == line {
            self.arrives(core, line, write, kind)
        } else if sim.hierarchy.sample().has(line) {
            sim.simulate(core, line, write, kind, at)
        } else {
            sim.prices[usize::from(self.far)].mean_of(kind, write)
        };
        if write { self.waits(at, cost) } else { self.clock += cost.wait }
    }

    /// A line that the core has prefetched is already on its way: it waits for it, then it is an L2 hit.
    #[inline(never)]
    fn arrives(&mut self, core: u32, line: u32, write: bool, kind: Access) -> Cost {
        let (asked, ready) = &mut self.prefetched[line as usize % PREFETCHES];
        *asked = u32::MAX;
        let left = ready.saturating_sub(self.clock);
        let sim = self.sim();
        if write {
            sim.dirty(core, line);
        }
        let l2 = sim.costs.l2;
        sim.prices_of(core).cost(kind, write, l2.max(left), Level::L2)
    }

    /// A table's line. Few lines may take most look-ups, and then a sample has them all or none: a line that
    /// was looked up among the last ones is in the L2, whether it is sampled or not.
    #[inline(always)]
    fn table(&mut self, line: u32, write: bool, follows: bool) {
        let again = self.looked_up(line);
        self.recent[recent(line)] = line;
        if again && !self.sim().hierarchy.sample().has(line) {
            self.busy = true;
            self.clock += self.sim().costs.l2;
        } else {
            let first = if again { Access::Again } else { Access::Table };
            self.access(line, write, if follows && !again { Access::Run } else { first });
        }
    }

    /// Whether a table's line is among those that were looked up last.
    #[inline(always)]
    fn looked_up(&self, line: u32) -> bool {
        self.recent[recent(line)] == line
    }

    /// The core asks for a line, to read or to write it, and does not wait.
    fn ask(&mut self, line: u32, write: bool, kind: Access) {
        let Some(core) = self.core else { return };
        let mut at = self.clock;
        let sim = self.sim();
        let cost = sim.core_access(core, line, write, kind, at).miss;
        let (op, l2) = (sim.costs.op, sim.costs.l2);
        if write && cost > l2 {
            self.takes_ahead();
            at = self.clock;
        }
        self.clock += op;
        self.prefetched[line as usize % PREFETCHES] = (line, at + cost);
        self.prefetches = true;
    }

    /// The core asks for a line of words, for itself alone, and does not wait.
    fn own(&mut self, line: u32) {
        let Some(core) = self.core else { return };
        let me = self.me;
        let before = self.clock;
        let lines = &mut self.sim().lines[line as usize];
        let free = lines.comes(me, before) || lines.claim(me, before) == Claim::Free;
        if !free {
            self.takes_ahead();
        }
        let at = self.clock;
        self.clock += self.sim().costs.op;
        let sim = self.sim();
        if !free {
            let there = at + sim.core_access(core, line, true, Access::Word, at).miss.max(sim.costs.snoop);
            sim.lines[line as usize].wrote(me, at, there);
        }
    }

    /// The core reads or writes `lines` of a frame from byte `off` on.
    #[inline(always)]
    fn frame(&mut self, first: u32, lines: u32, off: u32, write: bool) {
        // Headers lie in two lines, and where a parser looks next depends on what it found.
        let [one, two] =
            if off < 64 { [Access::Header, Access::Payload] } else { [Access::Payload, Access::Run] };
        if self.prefetches || self.sim().hierarchy.sample().may_have(first, first + lines - 1) {
            for l in 0..lines {
                self.access(first + l, write, [one, two, Access::Run][l.min(2) as usize]);
            }
            return;
        }
        // None of them is simulated.
        self.busy = true;
        self.average(one, write);
        if lines > 1 {
            self.average(two, write);
        }
        for _ in 2..lines {
            self.average(Access::Run, write);
        }
    }

    /// A line that is not simulated costs what its kind costs.
    #[inline(always)]
    fn average(&mut self, kind: Access, write: bool) {
        let cost = self.sim().prices[usize::from(self.far)].mean_of(kind, write);
        if write { self.waits(self.clock, cost) } else { self.clock += cost.wait }
    }

    /// The core reads `len` bytes of `t` at `off`, one line after the other.
    pub(crate) fn stream(&mut self, t: Table, off: u64, len: u64) {
        for line in 0..len.div_ceil(64) {
            let line = t.first + ((off + line * 64) % t.bytes.max(1) / 64) as u32;
            self.access(line, false, Access::Payload);
        }
    }

    /// The core has the card of `port` write a line of `t`, with one posted MMIO write; it does not wait.
    pub(crate) fn loop_write(&mut self, port: u32, t: Table) {
        let at = self.clock;
        let sim = self.sim();
        sim.dma_write(t.first, 1, false, at);
        sim.links[port as usize].note(64);
        self.clock += sim.costs.mmio;
        self.posted();
    }

    /// Whether the run is over: agents return to let their rings be drained.
    pub fn stopped(&self) -> bool {
        self.sim().stop
    }

    /// The arrival time that the next DMA-written frames carry.
    pub fn set_stamp(&mut self, at: Ps) {
        self.stamp = at.0;
    }

    /// The next frame that this port takes is of `flow`, and has the next number.
    pub(crate) fn number_next(&mut self, flow: Option<u64>) {
        self.origin = Origin { number: self.origin.number + 1, flow };
    }

    /// Where the frame in `buf` comes from, if that is kept.
    pub(crate) fn origin(&self, b: PoolId, buf: Buf) -> Option<Origin> {
        self.sim().pools[b.index as usize].origins.get(buf.0 as usize).copied()
    }

    /// When the frame in `buf` arrived.
    pub fn stamp(&self, b: PoolId, buf: Buf) -> Ps {
        Ps(self.sim().pools[b.index as usize].frames[buf.0 as usize].stamp)
    }
}
