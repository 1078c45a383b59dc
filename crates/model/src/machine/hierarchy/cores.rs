//! Loads and stores of cores.

use super::holders::Holder;
use super::{Hierarchy, Level};
use crate::machine::cache::{DIRTY, Entry};

/// The flag of a line that is dirty.
fn dirty_if(dirty: bool) -> u32 {
    if dirty { DIRTY } else { 0 }
}

impl Hierarchy {
    /// A load (or store) of `core`.
    #[inline]
    pub fn core(&mut self, core: usize, line: u32, write: bool) -> Level {
        if !self.l1.is_empty() {
            self.use_l1(core, line);
        }
        let set = self.index.l2_set(line);
        if self.l2[core].hit(set, line, write) {
            self.counts.l2_hits += 1;
            return Level::L2;
        }
        let level = self.miss(core, line, write);
        if level == Level::Dram && self.adjacent {
            self.pair(core, line ^ 1);
        }
        level
    }

    /// The line comes to the front of the core's L1. What falls out is in the L2 anyway.
    fn use_l1(&mut self, core: usize, line: u32) {
        let set = self.index.l1_set(line);
        if let Some(l1) = self.l1.get_mut(core)
            && !l1.hit(set, line, false)
        {
            l1.insert(set, Entry::new(line, 0));
        }
    }

    /// The line is not in the core's L2: it comes from where it is.
    fn miss(&mut self, core: usize, line: u32, write: bool) -> Level {
        if let Some(holder) = self.holder(line) {
            return self.fetch_held(core, line, write, holder);
        }
        if self.is_far(core) {
            self.mark();
        }
        let set = self.index.llc_set(line);
        if let Some(way) = self.llc.find(set, line) {
            self.fetch_llc(core, line, write, (set, way));
            return Level::Llc;
        }
        self.counts.llc_misses += 1;
        self.counts.dram_reads += 1;
        self.fill(core, Entry::new(line, dirty_if(write)));
        Level::Dram
    }

    /// A store takes the line away, a load of a dirty line moves it as well: the reader is the
    /// next writer in every structure here. Of a clean line, the LLC gives its copy and keeps it.
    fn fetch_held(&mut self, core: usize, line: u32, write: bool, holder: Holder) -> Level {
        let (was_dirty, level) = match holder {
            Holder::L2(other) => {
                let set = self.index.l2_set(line);
                let taken = self.l2[other].remove(set, line);
                let was_dirty = taken.is_some_and(Entry::dirty);
                let in_l1 = self.leave_l1(other, line);
                if !write && !was_dirty && self.llc.find(self.index.llc_set(line), line).is_some() {
                    self.counts.llc_hits += 1;
                    self.fill(core, Entry::new(line, 0));
                    return Level::Llc;
                }
                let level = match self.is_far(other) {
                    true => Level::Far,
                    false if in_l1 => Level::SnoopL1,
                    false => Level::Snoop,
                };
                (was_dirty, level)
            }
            Holder::FarLlc { dirty } => (dirty, Level::Far),
        };
        match (level, self.is_far(core)) {
            (Level::Far, false) if !self.remote => self.look_up(),
            (Level::Snoop, true) => self.mark(),
            _ => {}
        }
        self.counts.snoops += 1;
        self.fill(core, Entry::new(line, dirty_if(write || was_dirty)));
        level
    }

    /// A line that a DMA write has left is copied, and moves to the inclusive ways; any other moves to the L2.
    fn fetch_llc(&mut self, core: usize, line: u32, write: bool, (set, way): (usize, usize)) {
        self.counts.llc_hits += 1;
        let e = self.llc.get(set, way);
        self.llc.clear(set, way);
        if !e.io() {
            return self.fill(core, Entry::new(line, dirty_if(write || e.dirty())));
        }
        let keep = Entry::new(line, dirty_if(e.dirty()));
        if self.ways.inclusive >> way & 1 == 1 {
            self.llc.set(set, way, keep);
        } else {
            self.insert(set, self.ways.inclusive, keep);
        }
        self.fill(core, Entry::new(line, dirty_if(write)));
    }

    /// The other half of a 128 B pair comes along, if no cache has it.
    fn pair(&mut self, core: usize, line: u32) {
        let here = self.l2[core].has(self.index.l2_set(line), line) || self.holder(line).is_some();
        if !here && self.llc.find(self.index.llc_set(line), line).is_none() {
            self.counts.dram_reads += 1;
            if self.is_far(core) {
                self.mark();
            }
            self.fill(core, Entry::new(line, 0));
        }
    }
}
