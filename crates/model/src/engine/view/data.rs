//! Accesses of cores to lines that are not of words: frames, what lies beside them, tables.

use core::ops::Range;

use memory::Buf;

use super::View;
use crate::machine::layout::{PoolId, Table};
use crate::machine::level::Level;
use crate::machine::prices::{Access, Cost};

/// Lines that a core has asked for ahead of use.
const ASKED: usize = 256;
/// Table lines that a core remembers having looked up: an L2 holds many times as many.
const RECENT: usize = 256;

/// Lines that a core has asked for ahead of use, each with when it is there.
#[repr(C)]
pub(super) struct Asked {
    /// Whether there ever was one, or some buffers are stored to past the caches. Most applications have neither: then
    /// nothing else is looked at.
    any: bool,
    lines: [(u32, u64); ASKED],
}

impl Asked {
    /// None; `streams` tells of such buffers.
    pub(super) fn new(streams: bool) -> Asked {
        Asked { any: streams, lines: [(u32::MAX, 0); ASKED] }
    }

    #[inline(always)]
    fn has(&self, line: u32) -> bool {
        self.any && self.lines[line as usize % ASKED].0 == line
    }

    #[inline(always)]
    fn add(&mut self, line: u32, there: u64) {
        self.lines[line as usize % ASKED] = (line, there);
        self.any = true;
    }

    /// When a line that it has is there; it has it no longer.
    #[inline(always)]
    fn take(&mut self, line: u32) -> u64 {
        let (asked, there) = &mut self.lines[line as usize % ASKED];
        *asked = u32::MAX;
        *there
    }
}

/// Lines of tables that a core has looked up last.
pub(super) struct Recent([u32; RECENT]);

impl Default for Recent {
    fn default() -> Recent {
        Recent([u32::MAX; RECENT])
    }
}

impl Recent {
    /// The place of a line among them.
    #[inline(always)]
    fn place(line: u32) -> usize {
        (line ^ line >> 8) as usize % RECENT
    }

    #[inline(always)]
    pub(super) fn has(&self, line: u32) -> bool {
        self.0[Recent::place(line)] == line
    }

    #[inline(always)]
    fn add(&mut self, line: u32) {
        self.0[Recent::place(line)] = line;
    }
}

impl View {
    /// The core accesses a line of a frame, a table or an mbuf. Most lines are outside the sample and take the mean cost
    /// of their kind: that case is inlined here, the others are calls.
    #[inline(always)]
    pub(super) fn access(&mut self, line: u32, write: bool, kind: Access) {
        let Some(core) = self.me.core else { return };
        self.poll.busy = true;
        let at = self.clock;
        let machine = self.machine();
        let cost = if self.asked.has(line) {
            self.arrives(core, line, write, kind)
        } else if machine.hierarchy.sample().has(line) {
            machine.simulate(core, line, write, kind, at)
        } else {
            machine.mean_of(self.me.node, kind, write)
        };
        if write { self.waits(at, cost) } else { self.clock += cost.wait }
    }

    /// A line that the core has prefetched is already on its way: it waits for it, then it is an L2 hit.
    #[inline(never)]
    fn arrives(&mut self, core: u32, line: u32, write: bool, kind: Access) -> Cost {
        let left = self.asked.take(line).saturating_sub(self.clock);
        let machine = self.machine();
        if write {
            machine.dirty(core, line);
        }
        let l2 = machine.costs.l2;
        machine.prices_of(core).cost(kind, write, l2.max(left), Level::L2)
    }

    /// A table's line. Few lines may take most look-ups, and then a sample has them all or none: a line that
    /// was looked up among the last ones is in the L2, whether it is sampled or not.
    #[inline(always)]
    pub(super) fn table(&mut self, line: u32, write: bool, follows: bool) {
        let again = self.recent.has(line);
        self.recent.add(line);
        if again && !self.machine().hierarchy.sample().has(line) {
            self.poll.busy = true;
            self.clock += self.machine().costs.l2;
        } else {
            let first = if again { Access::Again } else { Access::Table };
            self.access(line, write, if follows && !again { Access::Run } else { first });
        }
    }

    /// The core asks for a line, to read or to write it, and does not wait.
    pub(super) fn ask(&mut self, line: u32, write: bool, kind: Access) {
        let Some(core) = self.me.core else { return };
        let mut at = self.clock;
        let machine = self.machine();
        let cost = machine.core_access(core, line, write, kind, at).miss;
        let (op, l2) = (machine.costs.op, machine.costs.l2);
        if write && cost > l2 {
            self.takes_ahead();
            at = self.clock;
        }
        self.clock += op;
        self.asked.add(line, at + cost);
    }

    /// The core writes `len` bytes at `off` of a frame, that is `lines` from `first` on.
    #[inline(always)]
    pub(super) fn put_frame(
        &mut self,
        b: PoolId,
        buf: Buf,
        (off, len): (u32, u32),
        (first, lines): (u32, u32),
    ) {
        if self.asked.any && b.streamed {
            return self.stream_out(b.whole_lines(buf, off, len), first..first + lines);
        }
        self.frame(first, lines, off, true);
    }

    /// The core stores past its caches (A72); `whole` are the lines that it fills.
    #[inline(never)]
    fn stream_out(&mut self, whole: Range<u32>, lines: Range<u32>) {
        let Some(core) = self.me.core else { return };
        self.poll.busy = true;
        for line in lines {
            if self.asked.has(line) {
                self.asked.take(line);
            }
            self.has_fill_buffer();
            let at = self.clock;
            let cost = self.machine().stream_out(core, line, whole.contains(&line), at);
            if self.machine().costs.fill_buffers > 0 {
                self.fills(at + cost.miss)
            } else {
                self.waits(at, cost)
            }
        }
    }

    /// The core reads or writes `lines` of a frame from byte `off` on.
    #[inline(always)]
    pub(super) fn frame(&mut self, first: u32, lines: u32, off: u32, write: bool) {
        // Headers lie in two lines, and where a parser looks next depends on what it found.
        let [one, two] =
            if off < 64 { [Access::Header, Access::Payload] } else { [Access::Payload, Access::Run] };
        if self.asked.any || self.machine().hierarchy.sample().may_have(first, first + lines - 1) {
            for l in 0..lines {
                self.access(first + l, write, [one, two, Access::Run][l.min(2) as usize]);
            }
            return;
        }
        // None of them is simulated.
        self.poll.busy = true;
        self.average(one, write);
        if lines > 1 {
            self.average(two, write);
        }
        for _ in 2..lines {
            self.average(Access::Run, write);
        }
    }

    /// The core accesses a line outside the sample, for the mean cost of its kind.
    #[inline(always)]
    fn average(&mut self, kind: Access, write: bool) {
        let cost = self.machine().mean_of(self.me.node, kind, write);
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
        let machine = self.machine();
        machine.dma_write(t.first, 1, false, at);
        machine.links[port as usize].note(64);
        self.clock += machine.costs.mmio;
        self.posted();
    }
}
