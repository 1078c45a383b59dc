//! One agent's view of the modelled server: [`Memory`] with a price.
//!
//! Every call advances the agent's own clock. Plain accesses of one agent run on without a switch;
//! the agent hands over where another could act first: at contended words, waits, idle polls, and at
//! [`Memory::chain`] once it is further ahead than the window allows.

use std::cell::UnsafeCell;
use std::rc::Rc;

use corosensei::Yielder;
use memory::{Buf, Class, Fault, Memory, Ps, Touch};

use crate::sampling::Kind;
use crate::schedule::PARKED;
use crate::sim::{Agent, Sim, lines_of, may_write};
use crate::space::{KEPT, PoolId, Table, Words};

/// The world, shared by the views of one simulation on one thread.
pub(crate) type World = Rc<UnsafeCell<Sim>>;

/// Word lines that an agent remembers having read since it was last idle.
const READS: usize = 64;
/// Lines that a core has asked for ahead of use.
const PREFETCHES: usize = 64;
/// Stores retire into the store buffer and their lines come in parallel: so many at a time.
const STORES: u64 = 8;
/// Lines between a buffer's start and its metadata (the mempool's own header).
const META: u32 = 1;

/// An agent's view.
pub struct View {
    world: World,
    yielder: *const Yielder<(), ()>,
    pub(crate) slot: usize,
    agent: Agent,
    clock: u64,
    reads: [u32; READS],
    read_count: usize,
    /// The earliest time at which a value that was stored but not yet visible will be.
    pending: u64,
    /// When the last idle poll ended: where this one began.
    polled: u64,
    /// Whether the agent has done something else than polling since.
    busy: bool,
    prefetched: [(u32, u64); PREFETCHES],
    stamp: u64,
}

impl View {
    pub(crate) fn new(world: World, slot: usize, agent: Agent) -> View {
        View {
            world,
            yielder: std::ptr::null(),
            slot,
            agent,
            clock: 0,
            reads: [0; READS],
            read_count: 0,
            pending: u64::MAX,
            polled: 0,
            busy: true,
            prefetched: [(u32::MAX, 0); PREFETCHES],
            stamp: 0,
        }
    }

    pub(crate) fn enter(&mut self, yielder: &Yielder<(), ()>) {
        self.yielder = yielder;
        self.clock = self.sim().schedule.at(self.slot);
    }

    /// The world, for the length of one call.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "one thread, and no reference lives across a switch")]
    pub(crate) fn sim(&self) -> &mut Sim {
        // SAFETY: a simulation lives on one thread, and every borrow made here ends before the next
        // call of `suspend`, the only place where another view can run.
        unsafe { &mut *self.world.get() }
    }

    /// Hands over until `until`, or until an earlier wake-up.
    fn suspend(&mut self, until: u64) {
        self.sim().schedule.set(self.slot, until);
        self.hand_over();
    }

    /// Hands over; the schedule knows when to go on.
    fn hand_over(&mut self) {
        if !self.yielder.is_null() {
            self.sim().switches += 1;
            // SAFETY: `enter` stored the yielder of the fibre that owns this view and runs it now; it
            // lives until the fibre's closure returns.
            unsafe { (*self.yielder).suspend(()) };
        }
        let t = self.sim().schedule.at(self.slot);
        if t != PARKED {
            self.clock = self.clock.max(t);
        }
        self.stalled();
    }

    /// A core inside the stall does nothing until its end.
    fn stalled(&mut self) {
        let (from, to) = self.sim().stall;
        if self.agent.is_core() && self.clock >= from && self.clock < to {
            self.clock = to;
        }
    }

    /// Lets every agent that could act before this one's clock do so.
    #[inline]
    fn order(&mut self) {
        if self.clock > self.sim().floor {
            self.suspend(self.clock);
        }
    }

    fn parks(&mut self, until: u64, period: u64) {
        let slot = self.slot;
        let reads = self.read_count.min(READS);
        {
            let sim = self.sim();
            sim.slots[slot].parked_at = self.clock;
            sim.slots[slot].period = period.max(1);
            sim.schedule.set(slot, until);
            for l in &self.reads[..reads] {
                sim.lines[*l as usize].watch |= 1 << slot;
            }
            if self.pending != u64::MAX {
                sim.wake_at(slot, self.pending);
            }
        }
        self.hand_over();
        let sim = self.sim();
        for l in &self.reads[..reads] {
            sim.lines[*l as usize].watch &= !(1 << slot);
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.read_count = 0;
        self.pending = u64::MAX;
    }

    #[inline]
    fn remember(&mut self, line: u32) {
        let n = self.read_count;
        if n > 0 && self.reads[(n - 1) % READS] == line {
            return;
        }
        self.reads[n % READS] = line;
        self.read_count = if n + 1 == 2 * READS { READS } else { n + 1 };
    }

    fn port(&self) -> usize {
        match self.agent {
            Agent::NicRx(p) | Agent::NicTx(p) => p as usize,
            Agent::Core(_) => 0,
        }
    }

    /// The agent reads or writes words of `bytes` in `line`; what it costs goes to the clock. When a
    /// store made now becomes visible to the other side.
    #[inline]
    fn word(&mut self, line: u32, write: bool, bytes: u64) -> u64 {
        let me = self.slot as u8 + 1;
        let at = self.clock;
        let sim = self.sim();
        let fresh = sim.lines[line as usize].last != me;
        sim.lines[line as usize].last = me;
        match self.agent {
            Agent::Core(core) => {
                let mut cost = sim.costs.op;
                if fresh {
                    cost +=
                        sim.core_access(core, line, write, Kind::Word, at) / if write { STORES } else { 1 };
                }
                self.clock = at + cost;
                self.clock
            }
            _ if write => {
                let port = self.port();
                sim.dma_write(line, 1, bytes < 64, at);
                if matches!(self.agent, Agent::NicRx(_)) {
                    self.clock = sim.links[port].write(at, bytes);
                } else {
                    sim.links[port].note(bytes);
                }
                self.clock + self.sim().costs.write
            }
            _ if fresh => {
                // Descriptors come by the line, ahead of use.
                let port = self.port();
                sim.dma_read(line, 1, at);
                sim.links[port].fetch(64);
                self.clock
            }
            _ => self.clock,
        }
    }

    /// An atomic on a contended line: waits for the line, then holds it.
    fn atomic(&mut self, line: u32) {
        self.order();
        let me = self.slot as u8 + 1;
        let at = self.clock;
        let sim = self.sim();
        let l = &mut sim.lines[line as usize];
        let transfer = if l.last == me { 0 } else { sim.costs.snoop };
        l.free_at = at.max(l.free_at) + transfer + sim.costs.atomic;
        l.last = me;
        self.clock = l.free_at;
    }

    #[inline]
    fn store(&mut self, w: Place, value: u64, visible: u64) {
        let sim = self.sim();
        let word = &mut sim.words[w.word as usize];
        sim.pending[w.signal as usize] = crate::sim::Pending { old: *word, at: visible };
        *word = value;
        sim.written(w.line, visible);
    }

    /// What this agent can see of a signal.
    #[inline]
    fn visible(&mut self, w: Place) -> u64 {
        let clock = self.clock;
        let p = self.sim().pending[w.signal as usize];
        if p.at > clock {
            self.pending = self.pending.min(p.at);
            return p.old;
        }
        self.sim().words[w.word as usize]
    }

    #[inline]
    fn access(&mut self, line: u32, write: bool, kind: Kind) {
        let Agent::Core(core) = self.agent else { return };
        self.busy = true;
        let at = self.clock;
        let ready = self.prefetched[line as usize % PREFETCHES];
        let cost = if ready.0 == line {
            self.prefetched[line as usize % PREFETCHES].0 = u32::MAX;
            // Already on its way: wait for it, then it is an L2 hit.
            self.sim().costs.l2.max(ready.1.saturating_sub(at))
        } else {
            self.sim().core_access(core, line, write, kind, at)
        };
        self.clock = at + if write { cost / STORES } else { cost };
    }

    fn frame_lines(&self, b: PoolId, buf: Buf, off: u32, len: u32) -> (u32, u32) {
        let pool = &self.sim().pools[b.index as usize];
        lines_of(pool.first, &pool.geometry, buf.0, off, len)
    }

    /// Whether the run is over: agents return to let their rings be drained.
    pub fn stopped(&self) -> bool {
        self.sim().stop
    }

    /// The arrival time that the next DMA-written frames carry.
    pub fn set_stamp(&mut self, at: Ps) {
        self.stamp = at.0;
    }

    /// When the frame in `buf` arrived.
    pub fn stamp(&self, b: PoolId, buf: Buf) -> Ps {
        Ps(self.sim().pools[b.index as usize].stamps[buf.0 as usize].0)
    }
}

/// Where an entry's signal lies.
#[derive(Clone, Copy)]
struct Place {
    word: u32,
    signal: u32,
    line: u32,
}

#[inline]
fn place<const W: usize>(w: Words<W>, i: u64) -> Place {
    let i = i as u32 & w.mask;
    let word = w.base + i * W as u32 + W as u32 - 1;
    Place { word, signal: w.signal + i, line: word / 8 }
}

impl Memory for View {
    type Words<const W: usize> = Words<W>;
    type Buffers = PoolId;
    type Table = Table;

    #[inline]
    fn acquire<const W: usize>(&mut self, w: Words<W>, i: u64) -> u64 {
        let p = place(w, i);
        match w.class {
            Class::Contended => {
                self.order();
                self.word(p.line, false, 8);
                self.remember(p.line);
                return self.sim().words[p.word as usize];
            }
            // A register of the card.
            Class::Doorbell if !self.agent.is_core() => {}
            _ => {
                self.word(p.line, false, W as u64 * 8);
            }
        }
        self.remember(p.line);
        self.visible(p)
    }

    #[inline]
    fn relaxed<const W: usize>(&mut self, w: Words<W>, i: u64) -> u64 {
        self.acquire(w, i)
    }

    #[inline]
    fn release<const W: usize>(&mut self, w: Words<W>, i: u64, signal: u64) {
        debug_assert!(may_write(self.agent, w.writer, w.class), "{:?} may not write this field", self.agent);
        let p = place(w, i);
        if w.class == Class::Contended {
            self.order();
        }
        let visible = self.word(p.line, true, 8);
        let now = self.clock;
        self.store(p, signal, if w.class == Class::Contended { now } else { visible });
    }

    #[inline]
    fn publish<const W: usize>(&mut self, w: Words<W>, i: u64, entry: [u64; W]) {
        debug_assert!(may_write(self.agent, w.writer, w.class), "{:?} may not write this field", self.agent);
        let p = place(w, i);
        let visible = self.word(p.line, true, W as u64 * 8);
        let first = p.word as usize + 1 - W;
        self.sim().words[first..first + W - 1].copy_from_slice(&entry[..W - 1]);
        self.store(p, entry[W - 1], visible);
    }

    #[inline]
    fn read<const W: usize>(&mut self, w: Words<W>, i: u64) -> [u64; W] {
        let p = place(w, i);
        self.word(p.line, false, W as u64 * 8);
        let first = p.word as usize + 1 - W;
        let mut entry = [0; W];
        entry.copy_from_slice(&self.sim().words[first..=p.word as usize]);
        entry
    }

    #[inline]
    fn write<const W: usize>(&mut self, w: Words<W>, i: u64, entry: [u64; W]) {
        debug_assert!(may_write(self.agent, w.writer, w.class), "{:?} may not write this field", self.agent);
        let p = place(w, i);
        self.word(p.line, true, W as u64 * 8);
        let first = p.word as usize + 1 - W;
        self.sim().words[first..=p.word as usize].copy_from_slice(&entry);
    }

    fn swap_if<const W: usize>(&mut self, w: Words<W>, i: u64, old: u64, new: u64) -> Result<(), u64> {
        let p = place(w, i);
        self.atomic(p.line);
        let seen = self.sim().words[p.word as usize];
        if seen != old {
            return Err(seen);
        }
        let now = self.clock;
        self.store(p, new, now);
        Ok(())
    }

    fn or<const W: usize>(&mut self, w: Words<W>, i: u64, bits: u64) -> u64 {
        let p = place(w, i);
        self.atomic(p.line);
        let (seen, now) = (self.sim().words[p.word as usize], self.clock);
        self.store(p, seen | bits, now);
        seen
    }

    fn clear<const W: usize>(&mut self, w: Words<W>, i: u64, bits: u64) -> u64 {
        let p = place(w, i);
        self.atomic(p.line);
        let (seen, now) = (self.sim().words[p.word as usize], self.clock);
        self.store(p, seen & !bits, now);
        seen
    }

    fn add<const W: usize>(&mut self, w: Words<W>, i: u64, n: u64) -> u64 {
        let p = place(w, i);
        self.atomic(p.line);
        let (seen, now) = (self.sim().words[p.word as usize], self.clock);
        self.store(p, seen.wrapping_add(n), now);
        seen
    }

    fn wait<const W: usize>(&mut self, w: Words<W>, i: u64, seen: u64) {
        let p = place(w, i);
        self.order();
        if self.sim().words[p.word as usize] != seen || self.yielder.is_null() {
            return;
        }
        self.forget();
        self.remember(p.line);
        self.parks(PARKED, 1);
    }

    fn idle(&mut self) {
        if std::mem::take(&mut self.busy) {
            // The first poll after work: it does not tell what an empty one costs.
            self.polled = self.clock;
            self.forget();
            return self.chain();
        }
        let period = self.clock.saturating_sub(self.polled);
        let from = self.clock;
        if self.yielder.is_null() {
            self.forget();
        } else {
            self.parks(PARKED, period);
        }
        self.polled = self.clock;
        if let Agent::Core(core) = self.agent {
            let idle = self.clock - from + period;
            let g = &mut self.sim().gauges[core as usize];
            g.idle += idle;
            g.clock = self.clock;
        }
    }

    fn pause(&mut self, until: Ps, early: bool) {
        if until.0 <= self.clock {
            self.forget();
            return self.chain();
        }
        if early {
            self.parks(until.0, 1);
        } else {
            self.forget();
            if until.0 > self.sim().floor.saturating_add(self.sim().window) {
                self.suspend(until.0);
            }
            self.clock = self.clock.max(until.0);
        }
        self.polled = self.clock;
    }

    fn ring(&mut self, bell: Words<1>, value: u64) {
        let p = place(bell, 0);
        let costs = self.sim().costs;
        self.clock += costs.op;
        let visible = self.clock + costs.doorbell;
        self.store(p, value, visible);
    }

    #[inline]
    fn check(&self, b: PoolId, raw: u64, len: u32) -> Result<Buf, Fault> {
        if raw < u64::from(b.count) && len <= b.room { Ok(Buf(raw)) } else { Err(Fault { raw }) }
    }

    fn put(&mut self, b: PoolId, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        let (first, lines) = self.frame_lines(b, buf, off, len);
        let at = self.clock;
        let sim = self.sim();
        let pool = &mut sim.pools[b.index as usize];
        let head = &mut pool.heads[buf.0 as usize];
        let start = (off as usize).min(KEPT);
        let kept = bytes.len().min(KEPT - start);
        head[start..start + kept].copy_from_slice(&bytes[..kept]);
        let zeros = (len as usize).min(KEPT - start);
        if zeros > kept {
            head[start + kept..start + zeros].fill(0);
        }
        if self.agent.is_core() {
            for l in first..first + lines {
                self.access(l, true, if l == first && off < 64 { Kind::Header } else { Kind::Payload });
            }
            return;
        }
        let before = std::mem::replace(&mut pool.stamps[buf.0 as usize], (self.stamp, sim.puts)).1;
        sim.reuse.0 += sim.puts - before;
        sim.reuse.1 += 1;
        sim.puts += 1;
        let partial = !(off + len).is_multiple_of(64);
        sim.dma_write(first, lines, partial, at);
        let port = self.port();
        self.clock = self.sim().links[port].write(at, u64::from(len));
    }

    fn get(&mut self, b: PoolId, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        let (first, lines) = self.frame_lines(b, buf, off, len);
        let at = self.clock;
        let sim = self.sim();
        let head = &sim.pools[b.index as usize].heads[buf.0 as usize];
        let start = (off as usize).min(KEPT);
        let kept = out.len().min(KEPT - start);
        out[..kept].copy_from_slice(&head[start..start + kept]);
        out[kept..].fill(0);
        if self.agent.is_core() {
            for l in first..first + lines {
                self.access(l, false, if l == first && off < 64 { Kind::Header } else { Kind::Payload });
            }
            return;
        }
        sim.dma_read(first, lines, at);
        let port = self.port();
        self.clock = self.sim().links[port].read(at, u64::from(len));
    }

    fn meta(&mut self, b: PoolId, buf: Buf, line: u32, how: Touch) {
        let pool = &self.sim().pools[b.index as usize];
        let l = pool.first + buf.0 as u32 * (pool.geometry.stride / 64) + META + line;
        self.access(l, how == Touch::Write, Kind::Meta);
    }

    fn prefetch(&mut self, b: PoolId, buf: Buf, off: u32) {
        let Agent::Core(core) = self.agent else { return };
        let (line, _) = self.frame_lines(b, buf, off, 1);
        let at = self.clock;
        let sim = self.sim();
        let cost = sim.core_access(core, line, false, Kind::Header, at);
        self.clock += sim.costs.op;
        self.prefetched[line as usize % PREFETCHES] = (line, at + cost);
    }

    fn touch(&mut self, t: Table, off: u64, how: Touch) {
        let line = t.first + (off % t.bytes.max(1) / 64) as u32;
        self.access(line, how == Touch::Write, Kind::Table);
    }

    fn now(&mut self) -> Ps {
        Ps(self.clock)
    }

    #[inline]
    fn work(&mut self, cycles: u32) {
        self.busy = true;
        self.clock += (f64::from(cycles) * self.sim().costs.cycle) as u64;
    }

    #[inline]
    fn chain(&mut self) {
        let sim = self.sim();
        if self.clock > sim.floor.saturating_add(sim.window) {
            self.suspend(self.clock);
        }
    }
}
