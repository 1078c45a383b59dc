//! Loads and stores of cores.

use super::{Copies, Hierarchy, Holder, Level, Node};
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
            if write && self.copies {
                return self.own(core, line);
            }
            self.counts.l2_hits += 1;
            return Level::L2;
        }
        let level = self.miss(core, line, write);
        if matches!(level, Level::Dram | Level::FarDram) && self.adjacent.is_on(core >= self.nic_cores) {
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
        let copies = self.copies_of(line);
        if !copies.is_none() {
            return self.fetch_held(core, line, write, copies);
        }
        let (node, set) = (self.node_of(core), self.index.llc_set(line));
        if let Some(way) = self.llc.find(set, line) {
            self.goes(line, Node::Near, node);
            self.fetch_llc(core, line, write, (set, way));
            return self.asked(line, write, node, Level::Llc);
        }
        self.goes(line, self.home_of(line), node);
        self.counts.llc_misses += 1;
        let level = self.read_dram(line);
        self.fill(core, Entry::new(line, dirty_if(write)));
        level
    }

    /// Private caches have the line, or the far LLC.
    fn fetch_held(&mut self, core: usize, line: u32, write: bool, copies: Copies) -> Level {
        let node = self.node_of(core);
        let [beside, across] = [node, node.other()].map(|n| self.directory.holder(copies, n));
        match across {
            Some(holder) if self.copies && !write && beside.is_none() => self.copy(core, line, holder),
            _ => self.take_over(core, line, write, [beside, across]),
        }
    }

    /// A store takes the line away from all. So does a load, where loads move lines, and within a node: the reader is
    /// the next writer in every structure here. Of a clean line, the LLC gives its copy and keeps it.
    fn take_over(&mut self, core: usize, line: u32, write: bool, from: [Option<Holder>; 2]) -> Level {
        let (node, [beside, across]) = (self.node_of(core), from);
        // The other node's copy comes last: it takes longest.
        let across = across.filter(|_| write || beside.is_none());
        let (mut dirty, mut level) = (false, Level::L2);
        for holder in [beside, across].into_iter().flatten() {
            let (was_dirty, in_l1) = self.take(line, holder);
            dirty |= was_dirty;
            level = self.level_of(holder, in_l1);
            if node == Node::Near && !write && !dirty && matches!(holder, Holder::L2(_)) && self.in_llc(line)
            {
                self.counts.llc_hits += 1;
                self.fill(core, Entry::new(line, 0));
                return Level::Llc;
            }
        }
        if across.is_some() {
            self.goes(line, node.other(), node);
        }
        if write && self.copies {
            self.recall_llc(line, node);
        }
        self.counts.snoops += 1;
        self.fill(core, Entry::new(line, dirty_if(write || dirty)));
        self.asked(line, write, node, level)
    }

    /// A load copies the line that the other node has, and leaves it there, clean. What the core's LLC has comes from
    /// there.
    fn copy(&mut self, core: usize, line: u32, holder: Holder) -> Level {
        let (node, set) = (self.node_of(core), self.index.llc_set(line));
        if node == Node::Near
            && let Some(way) = self.llc.find(set, line)
        {
            self.fetch_llc(core, line, false, (set, way));
            return Level::Llc;
        }
        let (was_dirty, in_l1) = match holder {
            Holder::L2(other) => {
                let set = self.index.l2_set(line);
                (self.l2[other].clean(set, line), self.leave_l1(other, line))
            }
            Holder::FarLlc { dirty } => {
                self.held_by(line, Holder::FarLlc { dirty: false });
                (dirty, false)
            }
        };
        if was_dirty {
            self.write_dram(line);
        }
        self.goes(line, node.other(), node);
        self.counts.snoops += 1;
        self.fill(core, Entry::new(line, 0));
        self.asked(line, false, node, self.level_of(holder, in_l1))
    }

    /// Where a line was that such a holder had.
    #[inline(always)]
    fn level_of(&self, holder: Holder, in_l1: bool) -> Level {
        match holder {
            Holder::L2(core) if self.node_of(core) == Node::Far => Level::Far,
            Holder::L2(_) if in_l1 => Level::SnoopL1,
            Holder::L2(_) => Level::Snoop,
            Holder::FarLlc { .. } => Level::Far,
        }
    }

    /// A core stores into a line that its L2 has, where the other node may have a copy.
    fn own(&mut self, core: usize, line: u32) -> Level {
        let node = self.node_of(core);
        let recalled = self.recall_llc(line, node);
        if let Some(holder) = self.directory.holder(self.copies_of(line), node.other()) {
            self.take(line, holder);
        } else if !recalled {
            self.counts.l2_hits += 1;
            return Level::L2;
        }
        self.counts.snoops += 1;
        self.asked(line, true, node, if node == Node::Near { Level::Far } else { Level::Snoop })
    }

    /// A store of the far node takes away what the near LLC has; whether it had something.
    fn recall_llc(&mut self, line: u32, node: Node) -> bool {
        let set = self.index.llc_set(line);
        let way = if node == Node::Far { self.llc.find(set, line) } else { None };
        way.map(|way| self.llc.clear(set, way)).is_some()
    }

    /// A core of `node` gets the line from such a level. If the line belongs to the core's own memory and the other
    /// node has it, the memory is asked first, which has the mark. It has none of what a card on the other node wrote
    /// (A43), and a store does not wait for it where it is read beside (A89).
    fn asked(&self, line: u32, write: bool, node: Node, level: Level) -> Level {
        let own = level.crosses(node) && self.home_of(line) == node && !self.remote;
        if own && !(write && self.beside) { Level::Away } else { level }
    }

    /// A line that a DMA write has left is copied, and moves to the inclusive ways; any other moves to the L2. An inclusive
    /// LLC keeps its copies where they are. The far
    /// node copies it where loads copy lines, and takes it for a store.
    fn fetch_llc(&mut self, core: usize, line: u32, write: bool, (set, way): (usize, usize)) {
        self.counts.llc_hits += 1;
        let e = self.llc.get(set, way);
        if self.copies && self.node_of(core) == Node::Far {
            if write {
                self.llc.clear(set, way);
            }
            return self.fill(core, Entry::new(line, dirty_if(write)));
        }
        if self.inclusive && self.node_of(core) == Node::Near {
            self.llc.set(set, way, Entry::new(line, dirty_if(e.dirty())));
            return self.fill(core, Entry::new(line, dirty_if(write)));
        }
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
        let here = match self.directory.get(self.index.sample.rank(line)) {
            Some(copies) => !copies.is_none(),
            None => self.l2[core].has(self.index.l2_set(line), line),
        };
        if !here && !self.in_llc(line) {
            self.read_dram(line);
            self.goes(line, self.home_of(line), self.node_of(core));
            self.fill(core, Entry::new(line, 0));
        }
    }
}
