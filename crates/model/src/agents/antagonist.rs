//! Antagonists: threads of the other socket with their data in this socket's memory.
//!
//! Their own caches are the other socket's, so they take DRAM bandwidth here and no LLC (A35). A thread has
//! so many lines under way and asks for the next ones when they come: DRAM's load slows it as it slows
//! the cores.

use apps::AntagonistKind;
use memory::Memory;

use crate::engine::view::View;
use crate::profile::Constants;

/// Rounds of lines in a step: some 2 us, less than half of an interval in which DRAM's load is counted.
const ROUNDS: f64 = 16.0;

/// What a thread does to the memory.
#[derive(Clone, Copy)]
pub(crate) struct Press {
    /// Lines under way.
    lines: f64,
    /// Lines written back for each that is read.
    writes: f64,
    /// The way between the sockets, there and back, ps.
    way: u64,
}

impl Press {
    pub(crate) fn new(kind: AntagonistKind, c: &Constants) -> Press {
        let way = (c.interconnect.remote_ns.value * 1e3) as u64;
        match kind {
            // Two operands and the owner's read of the result, which is written back.
            AntagonistKind::Stream => {
                Press { lines: c.antagonist.stream_lines.value, writes: 1.0 / 3.0, way }
            }
            // Ranks are read along edges, and written once for each vertex.
            AntagonistKind::PageRank => Press { lines: c.antagonist.pagerank_lines.value, writes: 0.0, way },
        }
    }

    /// Presses until the run is over.
    pub(crate) fn work(self, m: &mut View) {
        while !m.stopped() && self.lines > 0.0 {
            let reads = self.lines * ROUNDS;
            m.press(reads, reads * self.writes, self.lines, self.way);
            m.chain();
        }
    }
}
