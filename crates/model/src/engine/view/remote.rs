//! What a card writes into host memory, and reads there, for a flow that no core receives, and what writes do to the IIO buffer.

use super::View;
use crate::machine::layout::Table;
use crate::machine::pcie::Beside;
use crate::scenario::bypass::Placed;

impl View {
    /// The card writes `len` bytes of a packet at `off` of a region.
    pub(crate) fn write_remote(&mut self, t: Table, off: u64, len: u32, placed: Placed) {
        self.machine().written_remotely += u64::from(len);
        self.write_beside(t, off, len, placed);
    }

    /// The card keeps a packet of `len` bytes in its own memory, by an engine beside what it receives.
    pub(crate) fn keep_remote(&mut self, len: u32) {
        let (at, port) = (self.clock, self.me.port as usize);
        if let Some(memory) = self.machine().nic_memories.get_mut(port) {
            memory.write(at, len.into());
        }
    }

    /// A packet that it kept goes to `off` of a region in host memory. The agent goes on: reads are under way together.
    pub(crate) fn drain_remote(&mut self, t: Table, off: u64, len: u32) {
        let (at, port) = (self.clock, self.me.port as usize);
        if let Some(memory) = self.machine().nic_memories.get_mut(port) {
            memory.read(at, len.into());
        }
        self.write_remote(t, off, len, Placed::Memory);
        self.clock = at;
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
        self.clock = machine.links[port].write_beside(Beside::Remote, at, u64::from(len));
    }

    /// Lines that cards have written; of those in the sample, how many the LLC had, and how many took the place of others.
    pub(crate) fn written_lines(&self) -> [u64; 3] {
        let counts = self.sim().counts();
        [self.machine().dma_lines, counts.dma_write_hits, counts.dma_write_misses]
    }

    /// Lines in the IIO buffer where so many are written in a ps, and so many of them take the place of others (A151).
    pub(crate) fn iio_lines(&self, written: f64, placed: f64) -> f64 {
        let machine = self.machine();
        written * machine.costs.write as f64 + placed * machine.dram_latency() as f64
    }

    /// The same at the slot's line rate, with all lines in place.
    pub(crate) fn iio_lines_at_line_rate(&self) -> f64 {
        self.iio_lines(self.machine().line_rate, 0.0)
    }
}
