//! What a card writes into host memory, and reads there, for a flow that no core receives.

use super::View;
use crate::machine::layout::Table;
use crate::scenario::bypass::Placed;

impl View {
    /// The card writes `len` bytes of a packet at `off` of a region.
    pub(crate) fn write_remote(&mut self, t: Table, off: u64, len: u32, placed: Placed) {
        self.machine().written_remotely += u64::from(len);
        self.write_beside(t, off, len, placed);
    }

    /// The card completes a batch: an entry of the queue that a core may look at, so it goes where such entries go.
    pub(crate) fn complete_remote(&mut self, t: Table, off: u64, len: u32) {
        self.write_beside(t, off, len, Placed::Cache);
    }

    /// The card reads `len` bytes at `off` of a table, to send them on; the next read goes out behind this one's bytes.
    pub(crate) fn read_remote(&mut self, t: Table, off: u64, len: u32) {
        let (at, port) = (self.clock, self.me.port as usize);
        let (first, last) = (t.line(off), t.line(off + u64::from(len) - 1));
        let machine = self.machine();
        machine.dma_read(first, last - first + 1, at);
        self.clock = machine.links[port].read_beside(at, u64::from(len));
    }

    fn write_beside(&mut self, t: Table, off: u64, len: u32, placed: Placed) {
        let (at, port) = (self.clock, self.me.port as usize);
        let (first, last) = (t.line(off), t.line(off + u64::from(len) - 1));
        let partial = !(off + u64::from(len)).is_multiple_of(64);
        let machine = self.machine();
        match placed {
            Placed::Cache => machine.dma_write(first, last - first + 1, partial, at),
            Placed::Memory => machine.dma_write_past(first, last, partial, at),
        }
        self.clock = machine.links[port].write_beside(at, u64::from(len));
    }
}
