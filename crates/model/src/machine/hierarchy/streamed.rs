//! Stores of cores past the caches.

use super::{Hierarchy, Node};

impl Hierarchy {
    /// A line leaves all caches and is written to its home's DRAM. If it is not `whole`, the rest
    /// comes from what had it, else from DRAM.
    pub fn stream_out(&mut self, line: u32, whole: bool) {
        let home = self.home_of(line);
        let copies = self.copies_of(line);
        if copies.has(home.other()) {
            self.goes(line, home.other(), home);
        }
        for holder in [Node::Near, Node::Far].map(|n| self.directory.holder(copies, n)).into_iter().flatten()
        {
            self.take(line, holder);
        }
        let set = self.index.llc_set(line);
        let here = self.llc.find(set, line).map(|way| self.llc.clear(set, way));
        if !whole && copies.is_none() && here.is_none() {
            self.read_dram(line);
        }
        self.write_dram(line);
    }
}
