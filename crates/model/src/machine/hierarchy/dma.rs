//! Reads and writes of a card.

use super::{Hierarchy, Holder, Level, Node};
use crate::machine::cache::{DIRTY, Entry, IO};

impl Hierarchy {
    /// A DMA write of a line; whether the LLC had it. A partial write of a line that no cache holds
    /// reads the rest from DRAM.
    #[inline]
    pub fn dma_write(&mut self, line: u32, whole: bool) -> bool {
        if self.ways.ddio == 0 {
            // As a core's store past the caches: all of them lose the line, and its home's DRAM gets it (A121).
            self.counts.dma_write_misses += 1;
            self.stream_out(line, whole);
            return false;
        }
        if self.remote {
            return self.far_write(line, whole);
        }
        let copies = self.copies_of(line);
        let cached = !copies.is_none();
        if cached {
            if copies.has(Node::Far) {
                self.comes_back(line);
            }
            if let Some(Holder::L2(core)) = self.directory.holder(copies, Node::Near) {
                self.left(line, Node::Near);
                self.remove(core, line);
            }
        }
        let set = self.index.llc_set(line);
        if let Some(way) = self.llc.find(set, line) {
            self.llc.set(set, way, Entry::new(line, DIRTY | IO));
            self.counts.dma_write_hits += 1;
            return true;
        }
        self.counts.dma_write_misses += 1;
        if !cached {
            self.goes(line, self.home_of(line), Node::Near);
            if !whole {
                self.read_dram(line);
            }
        }
        self.insert(set, self.ways.ddio, Entry::new(line, DIRTY | IO));
        false
    }

    /// A line that the far node has is written here.
    #[cold]
    fn comes_back(&mut self, line: u32) {
        self.goes(line, Node::Far, Node::Near);
        if let Some(holder) = self.directory.holder(self.copies_of(line), Node::Far) {
            self.take(line, holder);
        }
    }

    /// A DMA write of a card on the far node: the line leaves the caches here, and lies in the LLC there.
    fn far_write(&mut self, line: u32, whole: bool) -> bool {
        let set = self.index.llc_set(line);
        let here = self.llc.find(set, line).map(|way| self.llc.clear(set, way));
        let copies = self.copies_of(line);
        if let Some(holder) = self.directory.holder(copies, Node::Near) {
            self.take(line, holder);
        }
        self.held_by(line, Holder::FarLlc { dirty: true });
        let hit = copies.has(Node::Far);
        if hit {
            self.counts.dma_write_hits += 1
        } else {
            self.counts.dma_write_misses += 1
        }
        if !whole && here.is_none() && copies.is_none() {
            self.read_dram(line);
        }
        hit
    }

    /// A DMA read of a line.
    #[inline(always)]
    pub fn dma_read(&mut self, line: u32) -> Level {
        let set = self.index.llc_set(line);
        let copies = self.copies_of(line);
        let level = if self.llc.find(set, line).is_some() {
            Level::Llc
        } else if copies.has(Node::Near) {
            Level::Snoop
        } else if copies.has(Node::Far) {
            if !self.remote && self.home_of(line) == Node::Near {
                self.read_dram(line); // for the mark
            }
            Level::Far
        } else {
            self.read_dram(line)
        };
        if matches!(level, Level::Dram | Level::FarDram) {
            self.counts.dma_read_misses += 1;
        } else {
            self.counts.dma_read_hits += 1;
        }
        level
    }
}
