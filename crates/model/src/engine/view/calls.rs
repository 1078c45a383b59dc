//! The calls of [`Memory`] and what each costs.

use memory::{Buf, Class, Fault, Memory, Ps, Touch};

use super::{META, View};
use crate::engine::schedule::PARKED;
use crate::machine::layout::{PoolId, Table, Words};
use crate::machine::prices::Access;
use crate::profile::NicKind;

/// Where an entry's signal lies.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub word: u32,
    pub signal: u32,
    pub line: u32,
}

#[inline(always)]
fn place<const W: usize>(w: Words<W>, i: u64) -> Place {
    let i = i as u32 & w.mask;
    let word = w.base + i * W as u32 + W as u32 - 1;
    Place { word, signal: w.signal + i, line: word / 8 }
}

impl Memory for View {
    type Words<const W: usize> = Words<W>;
    type Buffers = PoolId;
    type Table = Table;

    #[inline(always)]
    fn acquire<const W: usize>(&mut self, w: Words<W>, i: u64) -> u64 {
        let p = place(w, i);
        match w.class {
            Class::Contended => {
                self.look(p.line);
                return self.sim().words[p.word as usize];
            }
            // A register of the card.
            Class::Doorbell if self.core.is_none() => {}
            _ => {
                self.load((p.line, w.nic));
            }
        }
        self.polls(p.line);
        self.visible(p)
    }

    #[inline(always)]
    fn relaxed<const W: usize>(&mut self, w: Words<W>, i: u64) -> u64 {
        self.acquire(w, i)
    }

    #[inline(always)]
    fn release<const W: usize>(&mut self, w: Words<W>, i: u64, signal: u64) {
        debug_assert!(self.agent.may_write(w), "{:?} may not write this field", self.agent);
        let p = place(w, i);
        let visible = match self.core {
            Some(core) if w.class == Class::Contended => self.post(core, p.line),
            _ => self.stored(p.line, 8),
        };
        self.store(p, signal, visible);
    }

    #[inline(always)]
    fn publish<const W: usize>(&mut self, w: Words<W>, i: u64, entry: [u64; W]) {
        debug_assert!(self.agent.may_write(w), "{:?} may not write this field", self.agent);
        let p = place(w, i);
        let visible = self.stored(p.line, W as u64 * 8);
        let first = p.word as usize + 1 - W;
        self.sim().words[first..first + W - 1].copy_from_slice(&entry[..W - 1]);
        self.store(p, entry[W - 1], visible);
    }

    #[inline(always)]
    fn read<const W: usize>(&mut self, w: Words<W>, i: u64) -> [u64; W] {
        let p = place(w, i);
        self.load((p.line, w.nic));
        let first = p.word as usize + 1 - W;
        let mut entry = [0; W];
        entry.copy_from_slice(&self.sim().words[first..=p.word as usize]);
        entry
    }

    #[inline(always)]
    fn body<const W: usize, const N: usize>(&mut self, w: Words<W>, i: u64) -> [u64; N] {
        const { assert!(N <= W, "an entry has no such word") };
        let p = place(w, i);
        self.load((p.line, w.nic));
        let first = p.word as usize + 1 - W;
        let mut body = [0; N];
        body.copy_from_slice(&self.sim().words[first..first + N]);
        body
    }

    #[inline(always)]
    fn write<const W: usize>(&mut self, w: Words<W>, i: u64, entry: [u64; W]) {
        debug_assert!(self.agent.may_write(w), "{:?} may not write this field", self.agent);
        let p = place(w, i);
        self.stored(p.line, W as u64 * 8);
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
        // It still polls what it read before.
        let kept = (self.reads[0], self.read_count, self.pending);
        self.look(p.line);
        if self.sim().words[p.word as usize] != seen || self.yielder.is_null() {
            return;
        }
        self.forget();
        self.remember(p.line);
        self.reads[0].into = None;
        let spin = self.sim().costs.spin;
        self.parks(PARKED, spin);
        self.look(p.line); // the store took its copy away
        (self.reads[0], self.read_count, self.pending) = kept;
    }

    fn idle(&mut self) {
        if std::mem::take(&mut self.busy) {
            // The first poll after work: it does not tell what an empty one costs.
            self.forget();
            self.chain();
            return self.poll_begins();
        }
        let (began, period) = (self.polled, self.elapsed());
        if self.yielder.is_null() {
            self.forget();
        } else {
            self.parks(PARKED, period);
        }
        self.poll_begins();
        self.rested(began);
    }

    fn pause(&mut self, until: Ps, early: bool) {
        if until.0 <= self.clock {
            self.forget();
            return self.chain();
        }
        let began = self.clock;
        // What another agent would wake it for inside its window shows late.
        if early && (self.is_far(until.0) || self.pending < until.0) {
            self.parks(until.0, 1);
        } else {
            self.forget();
            if self.is_far(until.0) {
                self.suspend(until.0);
            }
            self.clock = self.clock.max(until.0);
        }
        self.rested(began);
        self.poll_begins();
    }

    fn ring(&mut self, bell: Words<1>, value: u64) {
        let p = place(bell, 0);
        let costs = self.sim().costs;
        if bell.nic == NicKind::Core {
            self.clock += costs.mmio;
            let visible = self.stored(p.line, 8); // a plain word
            self.posted();
            return self.store(p, value, visible);
        }
        self.clock += costs.op;
        self.posted();
        let visible = self.clock + costs.doorbell;
        self.store(p, value, visible);
    }

    #[inline(always)]
    fn check(&self, b: PoolId, raw: u64, len: u32) -> Result<Buf, Fault> {
        if raw >= u64::from(b.count) || len > b.room {
            return Err(Fault { raw });
        }
        self.sim().pools[b.index as usize].frames[raw as usize].expect();
        Ok(Buf(raw))
    }

    #[inline(always)]
    fn put(&mut self, b: PoolId, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        let (first, lines) = b.lines(buf, off, len);
        let at = self.clock;
        let sim = self.sim();
        let pool = &mut sim.pools[b.index as usize];
        pool.put(buf.0 as usize, off, bytes, len);
        let frame = &mut pool.frames[buf.0 as usize];
        if self.agent.is_core() {
            return self.frame(first, lines, off, true);
        }
        frame.stamp = self.stamp;
        if let Some(origin) = pool.origins.get_mut(buf.0 as usize) {
            *origin = self.origin;
        }
        let before = std::mem::replace(&mut frame.puts, sim.puts as u32);
        sim.reuse.0 += u64::from((sim.puts as u32).wrapping_sub(before));
        sim.reuse.1 += 1;
        sim.puts += 1;
        if self.core.is_some() {
            self.clock += u64::from(lines) * sim.costs.copy_line;
            return self.frame(first, lines, off, true);
        }
        let partial = !(off + len).is_multiple_of(64);
        sim.dma_write(first, lines, partial, at);
        let port = self.port;
        self.clock = self.sim().links[port].write(at, u64::from(len));
    }

    #[inline(always)]
    fn get(&mut self, b: PoolId, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        let (first, lines) = b.lines(buf, off, len);
        let at = self.clock;
        let sim = self.sim();
        if !out.is_empty() {
            sim.pools[b.index as usize].get(buf.0 as usize, off, out);
        }
        if self.core.is_some() {
            self.clock += u64::from(lines) * sim.costs.read_line;
            return self.frame(first, lines, off, false);
        }
        sim.dma_read(first, lines, at);
        let port = self.port;
        self.clock = self.sim().links[port].read(at, u64::from(len));
    }

    #[inline(always)]
    fn meta(&mut self, b: PoolId, buf: Buf, line: u32, how: Touch) {
        if line == 0
            && let Some(frame) = self.sim().pools[b.index as usize].frames.get(buf.0 as usize)
        {
            frame.expect(); // its headers are read next
        }
        self.access(b.line(buf, META + line), how == Touch::Write, Access::Meta);
    }

    fn prefetch(&mut self, b: PoolId, buf: Buf, off: u32) {
        let (line, _) = b.lines(buf, off, 1);
        self.ask(line, false, Access::Header);
    }

    #[inline(always)]
    fn entry_ahead<const W: usize>(&mut self, w: Words<W>, i: u64) {
        if self.sim().ahead {
            self.own(place(w, i).line);
        }
    }

    #[inline(always)]
    fn put_ahead<const W: usize>(&mut self, b: PoolId, w: Words<W>, i: u64) {
        if self.sim().ahead {
            let raw = self.sim().words[place(w, i).word as usize + 1 - W];
            if let Ok(buf) = self.check(b, raw, 0) {
                let (line, _) = b.lines(buf, 0, 1);
                self.ask(line, true, Access::Header);
            }
        }
    }

    #[inline(always)]
    fn touch(&mut self, t: Table, off: u64, how: Touch) {
        // A frame may take as many look-ups as its application likes: nobody runs that far ahead.
        self.chain();
        self.table(t.line(off), how == Touch::Write, false);
    }

    fn touch_run(&mut self, t: Table, off: u64, len: u64, how: Touch) {
        self.chain();
        let first = off / 64;
        for line in first..(off + len).div_ceil(64) {
            self.table(t.line(line * 64), how == Touch::Write, line > first);
        }
    }

    fn touch_ahead(&mut self, t: Table, off: u64) {
        let line = t.line(off);
        if self.looked_up(line) {
            self.clock += self.sim().costs.op;
        } else {
            self.ask(line, false, Access::Table);
        }
    }

    #[inline(always)]
    fn now(&mut self) -> Ps {
        Ps(self.clock)
    }

    #[inline(always)]
    fn work(&mut self, cycles: u32) {
        self.busy = true;
        self.clock += (f64::from(cycles) * self.sim().costs.cycle) as i64 as u64; // signed: one instruction
    }

    #[inline(always)]
    fn chain(&mut self) {
        if self.is_far(self.clock) {
            self.suspend(self.clock);
        }
    }
}
