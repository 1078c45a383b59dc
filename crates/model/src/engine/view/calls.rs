//! The calls of [`Memory`] and what each costs.

use memory::{Buf, Fault, Memory, Ps, Touch};

use super::View;
use crate::engine::schedule::PARKED;
use crate::machine::layout::{Kind, Path, PoolId, Table, Words};
use crate::machine::prices::Access;

/// Lines between a buffer's start and its metadata (the mempool's own header).
const META: u32 = 1;

impl Memory for View {
    type Words<const W: usize> = Words<W>;
    type Buffers = PoolId;
    type Table = Table;

    #[inline(always)]
    fn acquire<const W: usize>(&mut self, w: Words<W>, i: u64) -> u64 {
        let p = w.place(i);
        match w.kind {
            Kind::Signal => self.load((p.line, w.path)),
            Kind::Shared => return self.load_shared(p, w.path),
            // The card's own, or a core's way to it.
            Kind::Register if self.me.core.is_none() => {}
            Kind::Register => return self.load_register(p.word),
            Kind::Contended => {
                self.look(p.line);
                return self.machine().words.values[p.word as usize];
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
        debug_assert!(self.me.agent.may_write(w), "{:?} may not write this field", self.me.agent);
        let p = w.place(i);
        let visible = match self.me.core {
            Some(core) if w.kind == Kind::Contended => {
                self.barrier();
                self.post(core, p.line)
            }
            _ => match self.stored::<true>(w.path, p.line, 8, self.engines.shown) {
                Some(visible) => visible,
                None => return self.publish_register(p.word, [signal]),
            },
        };
        self.store(p, signal, visible);
        if w.kind == Kind::Shared {
            self.note_store(p);
        }
    }

    #[inline(always)]
    fn publish<const W: usize>(&mut self, w: Words<W>, i: u64, entry: [u64; W]) {
        debug_assert!(self.me.agent.may_write(w), "{:?} may not write this field", self.me.agent);
        let p = w.place(i);
        let Some(visible) = self.stored::<true>(w.path, p.line, W as u64 * 8, 0) else {
            return self.publish_register(p.word, entry);
        };
        let first = p.word as usize + 1 - W;
        self.machine().words.values[first..first + W - 1].copy_from_slice(&entry[..W - 1]);
        self.store(p, entry[W - 1], visible);
        if w.kind == Kind::Shared {
            self.note_store(p);
        }
    }

    #[inline(always)]
    fn read<const W: usize>(&mut self, w: Words<W>, i: u64) -> [u64; W] {
        let p = w.place(i);
        self.load((p.line, w.path));
        let first = p.word as usize + 1 - W;
        let mut entry = [0; W];
        entry.copy_from_slice(&self.machine().words.values[first..=p.word as usize]);
        entry
    }

    #[inline(always)]
    fn body<const W: usize, const N: usize>(&mut self, w: Words<W>, i: u64) -> [u64; N] {
        const { assert!(N <= W, "an entry has no such word") };
        let p = w.place(i);
        self.load((p.line, w.path));
        let first = p.word as usize + 1 - W;
        let mut body = [0; N];
        body.copy_from_slice(&self.machine().words.values[first..first + N]);
        body
    }

    #[inline(always)]
    fn write<const W: usize>(&mut self, w: Words<W>, i: u64, entry: [u64; W]) {
        debug_assert!(self.me.agent.may_write(w), "{:?} may not write this field", self.me.agent);
        let p = w.place(i);
        if self.stored::<false>(w.path, p.line, W as u64 * 8, 0).is_none() {
            return self.write_register(p.word, entry);
        }
        let first = p.word as usize + 1 - W;
        self.machine().words.values[first..=p.word as usize].copy_from_slice(&entry);
    }

    fn swap_if<const W: usize>(&mut self, w: Words<W>, i: u64, old: u64, new: u64) -> Result<(), u64> {
        let p = w.place(i);
        self.atomic(p.line);
        let seen = self.machine().words.values[p.word as usize];
        if seen != old {
            return Err(seen);
        }
        let now = self.clock;
        self.store(p, new, now);
        Ok(())
    }

    fn or<const W: usize>(&mut self, w: Words<W>, i: u64, bits: u64) -> u64 {
        let p = w.place(i);
        self.atomic(p.line);
        let (seen, now) = (self.machine().words.values[p.word as usize], self.clock);
        self.store(p, seen | bits, now);
        seen
    }

    fn clear<const W: usize>(&mut self, w: Words<W>, i: u64, bits: u64) -> u64 {
        let p = w.place(i);
        self.atomic(p.line);
        let (seen, now) = (self.machine().words.values[p.word as usize], self.clock);
        self.store(p, seen & !bits, now);
        seen
    }

    fn add<const W: usize>(&mut self, w: Words<W>, i: u64, n: u64) -> u64 {
        let p = w.place(i);
        self.atomic(p.line);
        let (seen, now) = (self.machine().words.values[p.word as usize], self.clock);
        self.store(p, seen.wrapping_add(n), now);
        seen
    }

    fn wait<const W: usize>(&mut self, w: Words<W>, i: u64, seen: u64) {
        let p = w.place(i);
        if w.path == Path::Mmio {
            return self.wait_for_register(p.word, seen);
        }
        // It still polls what it read before.
        let kept = (self.reads.first(), self.poll.pending);
        self.look(p.line);
        if self.machine().words.values[p.word as usize] != seen || self.turn.yielder.is_null() {
            return;
        }
        self.forget();
        self.reads.wait_for(p.line, self.line(p.line).stores);
        let spin = self.machine().costs.spin;
        self.parks(PARKED, spin);
        self.look(p.line); // the store took its copy away
        self.reads.put_back(kept.0);
        self.poll.pending = kept.1;
    }

    fn idle(&mut self) {
        self.idles(PARKED);
    }

    fn pause(&mut self, until: Ps, early: bool) {
        if until.0 <= self.clock {
            self.forget();
            return self.chain();
        }
        let began = self.clock;
        // For a time inside the window it does not park: what another agent would wake it for then shows late.
        if early && (self.is_ahead(until.0) || self.poll.pending < until.0) {
            self.parks(until.0, 1);
        } else {
            self.forget();
            if self.is_ahead(until.0) {
                self.suspend(until.0);
            }
            self.clock = self.clock.max(until.0);
        }
        self.rested(began);
        self.poll_begins();
    }

    fn ring(&mut self, bell: Words<1>, value: u64) {
        let p = bell.place(0);
        let costs = self.machine().costs;
        if bell.path == Path::Mmio {
            self.barrier();
            self.clock += costs.op;
            self.posted();
            let visible = self.mmio.show(self.clock + costs.doorbell);
            return self.store(p, value, visible);
        }
        self.clock += costs.mmio;
        if let Some(visible) = self.stored::<true>(bell.path, p.line, 8, 0) {
            self.posted();
            self.store(p, value, visible); // a plain word
        }
    }

    #[inline(always)]
    fn check(&self, b: PoolId, raw: u64, len: u32) -> Result<Buf, Fault> {
        if raw >= u64::from(b.count) || len > b.room {
            return Err(Fault { raw });
        }
        self.machine().buffers.of(b).kept[raw as usize].expect();
        Ok(Buf(raw))
    }

    #[inline(always)]
    fn put(&mut self, b: PoolId, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        let (first, lines) = b.lines(buf, off, len);
        let at = self.clock;
        self.machine().buffers.of_mut(b).put(buf.0 as usize, off, bytes, len);
        if b.card.is_some() {
            return self.put_on_card(b, buf, lines, len);
        }
        if self.me.agent.is_core() {
            return self.put_frame(b, buf, (off, len), (first, lines));
        }
        if self.engines.carried.is_some() {
            return self.put_carried(b, buf, (off, len), (first, lines));
        }
        let machine = self.machine();
        machine.buffers.arrived(b, buf, self.stamp, &self.origin);
        if self.me.core.is_some() {
            self.clock += u64::from(lines) * machine.costs.copy_line;
            return self.put_frame(b, buf, (off, len), (first, lines));
        }
        let partial = !(off + len).is_multiple_of(64);
        machine.dma_write(first, lines, partial, at);
        self.clock = machine.links[self.me.port as usize].write(at, u64::from(len));
    }

    #[inline(always)]
    fn get(&mut self, b: PoolId, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        let (first, lines) = b.lines(buf, off, len);
        let at = self.clock;
        let machine = self.machine();
        if !out.is_empty() {
            machine.buffers.of(b).get(buf.0 as usize, off, out);
        }
        if b.card.is_some() {
            return self.get_on_card(b, buf, lines, len);
        }
        if self.me.core.is_some() {
            self.clock += u64::from(lines) * machine.costs.read_line;
            return self.frame(first, lines, off, false);
        }
        machine.dma_read(first, lines, at);
        self.clock = machine.links[self.me.port as usize].read(at, u64::from(len));
    }

    #[inline(always)]
    fn meta(&mut self, b: PoolId, buf: Buf, line: u32, how: Touch) {
        if line == 0
            && let Some(frame) = self.machine().buffers.of(b).kept.get(buf.0 as usize)
        {
            frame.expect(); // its headers are read next
        }
        if b.card.is_some() {
            return self.get_on_card(b, buf, 1, 64);
        }
        self.access(b.line(buf, META + line), how == Touch::Write, Access::Meta);
    }

    fn prefetch(&mut self, b: PoolId, buf: Buf, off: u32) {
        let (line, _) = b.lines(buf, off, 1);
        self.ask(line, false, Access::Header);
    }

    #[inline(always)]
    fn entry_ahead<const W: usize>(&mut self, w: Words<W>, i: u64) {
        if self.machine().ahead {
            self.own(w.place(i).line);
        }
    }

    #[inline(always)]
    fn put_ahead<const W: usize>(&mut self, b: PoolId, w: Words<W>, i: u64) {
        if self.machine().ahead {
            let raw = self.machine().words.values[w.place(i).word as usize + 1 - W];
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
        if self.recent.has(line) {
            self.clock += self.machine().costs.op;
        } else {
            self.ask(line, false, Access::Table);
        }
    }

    #[inline(always)]
    fn now(&mut self) -> Ps {
        Ps(self.clock)
    }

    #[inline(always)]
    fn gone(&mut self) -> Ps {
        Ps(self.clock.max(self.engines.written))
    }

    #[inline(always)]
    fn work(&mut self, cycles: u32) {
        self.poll.busy = true;
        self.clock += (f64::from(cycles) * self.machine().costs.cycle) as i64 as u64; // signed: one instruction
    }

    #[inline(always)]
    fn chain(&mut self) {
        if self.is_ahead(self.clock) {
            self.suspend(self.clock);
        }
    }
}
