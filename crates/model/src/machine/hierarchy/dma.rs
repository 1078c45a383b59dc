//! Reads and writes of a card.

use super::holders::Holder;
use super::{Hierarchy, Level};
use crate::machine::cache::{DIRTY, Entry, IO};

impl Hierarchy {
    /// A DMA write of a line; whether the LLC had it. A partial write of a line that no cache holds
    /// reads the rest from DRAM.
    #[inline]
    pub fn dma_write(&mut self, line: u32, whole: bool) -> bool {
        if self.remote {
            return self.far_write(line, whole);
        }
        let mut cached = false;
        let holder = self.holder(line);
        if self.away(holder) {
            self.look_up();
        }
        if let Some(holder) = holder {
            if let Holder::L2(core) = holder {
                let set = self.index.l2_set(line);
                self.l2[core].remove(set, line);
                self.leave_l1(core, line);
            }
            self.held_by(line, None);
            cached = true;
        }
        let set = self.index.llc_set(line);
        if let Some(way) = self.llc.find(set, line) {
            self.llc.set(set, way, Entry::new(line, DIRTY | IO));
            self.counts.dma_write_hits += 1;
            return true;
        }
        self.counts.dma_write_misses += 1;
        if !whole && !cached {
            self.counts.dram_reads += 1;
        }
        self.insert(set, self.ways.ddio, Entry::new(line, DIRTY | IO));
        false
    }

    /// A DMA write of a card on the far node: the line leaves the caches here, and lies in the LLC there.
    fn far_write(&mut self, line: u32, whole: bool) -> bool {
        let set = self.index.llc_set(line);
        let here = self.llc.find(set, line).map(|way| self.llc.clear(set, way));
        let holder = self.holder(line);
        if let Some(Holder::L2(core)) = holder {
            let set = self.index.l2_set(line);
            self.l2[core].remove(set, line);
        }
        self.held_by(line, Some(Holder::FarLlc { dirty: true }));
        let hit = matches!(holder, Some(Holder::FarLlc { .. }));
        if hit {
            self.counts.dma_write_hits += 1
        } else {
            self.counts.dma_write_misses += 1
        }
        if !whole && here.is_none() && holder.is_none() {
            self.counts.dram_reads += 1;
        }
        hit
    }

    /// A DMA read of a line.
    #[inline]
    pub fn dma_read(&mut self, line: u32) -> Level {
        let set = self.index.llc_set(line);
        let level = if self.llc.find(set, line).is_some() {
            Level::Llc
        } else if self.holder(line).is_some() {
            Level::Snoop
        } else {
            Level::Dram
        };
        if level == Level::Snoop && !self.remote && self.away(self.holder(line)) {
            self.look_up();
        }
        if level == Level::Dram {
            self.counts.dma_read_misses += 1;
            self.counts.dram_reads += 1;
        } else {
            self.counts.dma_read_hits += 1;
        }
        level
    }
}
