//! Memory of a card, behind the switch within the card (CEIO, sections 4.2 and 6.4): what its accesses cost, and nowhere
//! else.
//!
//! The card's pipeline is on one side of the switch; this memory, the card's cores and their engine that moves frames are on
//! the other. A frame that is kept crosses the switch once, and once more on its way to the host. That second way is a part
//! of a write to the host, as it is for frames that are not kept. The host's slot and caches see nothing of the first one.

use super::pcie::{Lane, tlp_bytes};
use crate::profile::Server;

/// The memory of one card.
pub(crate) struct NicMemory {
    /// The switch, into the memory and out of it.
    into: Lane,
    out: Lane,
    /// Reads and writes together, at what the memory bears.
    cells: Lane,
    tlp: u64,
    overhead: u64,
    /// Of a byte through the switch, and of one in the memory, ps.
    switch_ps: f64,
    cells_ps: f64,
    /// From the last byte that a read is given to when the engine has it.
    latency: u64,
    /// One way through the switch.
    switch: u64,
    /// Bytes written and read.
    pub moved: [u64; 2],
}

impl NicMemory {
    /// That of a card of `server`, if it has some; idle.
    pub(crate) fn new(server: &Server) -> Option<NicMemory> {
        let (memory, pcie) = (server.nic_memory()?, &server.constants.pcie);
        let per_byte = |gbytes: f64| 1e12 / (gbytes * 1e9);
        Some(NicMemory {
            into: Lane::default(),
            out: Lane::default(),
            cells: Lane::default(),
            tlp: pcie.tlp_bytes.value as u64,
            overhead: pcie.overhead_bytes.value as u64,
            switch_ps: per_byte(memory.switch_gbytes.value),
            cells_ps: per_byte(memory.peak_gbytes.value * memory.usable.value),
            latency: (memory.idle_ns.value * 1e3) as u64,
            switch: (memory.switch_ns.value * 1e3) as u64,
            moved: [0; 2],
        })
    }

    /// The card's pipeline writes `len` bytes from `at` on: when they have left it, and when they are there. Whoever reads
    /// them later waits for the memory behind them.
    pub(crate) fn write(&mut self, at: u64, len: u64) -> [u64; 2] {
        self.moved[0] += len;
        let over = self.into.stream(at, tlp_bytes(len, self.tlp, self.overhead), self.switch_ps);
        let left = over.max(self.cells.stream(at, lines(len), self.cells_ps));
        [left, left + self.switch]
    }

    /// The card's engine reads `len` bytes from `at` on: when they have come. Reads in a row are under way together, as
    /// many as the ring asks for.
    pub(crate) fn read(&mut self, at: u64, len: u64) -> u64 {
        self.moved[1] += len;
        let cells = self.cells.stream(at, lines(len), self.cells_ps);
        let over = self.out.stream(at, tlp_bytes(len, self.tlp, self.overhead), self.switch_ps);
        over.max(cells) + self.latency
    }

    /// What a core's load of a line waits for behind the slot, ps: register loads have the way to the card, and this one
    /// crosses its switch there and back.
    pub(crate) fn load(&mut self, at: u64) -> u64 {
        self.read(at, 64) + 2 * self.switch - at
    }
}

/// Bytes of the lines that so many bytes fill: the memory knows no others.
fn lines(len: u64) -> u64 {
    len.next_multiple_of(64)
}
