//! Stores of cores past the caches.

use super::{Hierarchy, Node};

impl Hierarchy {
    /// A line leaves all caches and is written to its home's DRAM. If it is not `whole`, the rest
    /// comes from what had it, else from DRAM.
    pub fn stream_out(&mut self, line: u32, whole: bool) {
        let home = self.home_of(line);
        let copies = self.copies_of(line);
        let in_llc = self.in_llc(line);
        if copies.has(home.other()) || home == Node::Far && in_llc {
            self.goes(line, home.other(), home);
        }
        for holder in [Node::Near, Node::Far].map(|n| self.directory.holder(copies, n)).into_iter().flatten()
        {
            self.take(line, holder);
        }
        let set = self.index.llc_set(line);
        if let Some(way) = self.llc.find(set, line) {
            self.llc.clear(set, way);
        }
        if !whole && copies.is_none() && !in_llc {
            self.read_dram(line);
        }
        self.write_dram(line);
    }
}
