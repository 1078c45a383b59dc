//! A core's combining buffers: what it writes to registers that are mapped so leaves by the line (A71).

use super::View;
use crate::machine::layout::Place;
use crate::machine::registers::Register;

/// All words of a line.
const FULL: u8 = u8::MAX;

/// A line that waits for more words.
struct Line {
    line: u32,
    register: Register,
    words: [u64; 8],
    /// Those that have been written, a bit each.
    written: u8,
}

/// Payload and number of the TLPs that a line leaves in: one if it is full, else one for each word.
fn tlps(written: u8) -> (u64, u64) {
    let words = u64::from(written.count_ones());
    (8 * words, if written == FULL { 1 } else { words })
}

/// The buffers of a core.
#[derive(Default)]
pub(super) struct Combining {
    /// Lines that have not left, the oldest first.
    open: Vec<Line>,
    /// When the PCIe root has those that have: then their buffers are free.
    leaving: Vec<u64>,
}

impl View {
    /// The core writes the last words of the entry that ends with `word` into the buffer of its line, which leaves once
    /// it is full.
    pub(super) fn combine(&mut self, register: &Register, word: u32, words: &[u64]) {
        let (line, end) = (word / 8, word as usize % 8 + 1);
        let open = self.mmio.combining.open.iter().position(|open| open.line == line);
        let nth = open.unwrap_or_else(|| {
            self.open_buffer(Line { line, register: register.clone(), words: [0; 8], written: 0 })
        });
        let line = &mut self.mmio.combining.open[nth];
        for (at, word) in (0..end).rev().zip(words.iter().rev()) {
            line.words[at] = *word;
            line.written |= 1 << at;
        }
        if line.written == FULL {
            self.leave(nth, self.clock);
        }
    }

    /// A line gets a buffer, the last of those that are open. If none is free, the core waits for one: the oldest line
    /// has to go if none is on its way.
    fn open_buffer(&mut self, line: Line) -> usize {
        let most = self.machine().costs.combining;
        let now = self.clock;
        self.mmio.combining.leaving.retain(|free| *free > now);
        if self.mmio.combining.open.len() >= most {
            self.leave(0, now);
        }
        let Combining { open, leaving } = &mut self.mmio.combining;
        if open.len() + leaving.len() >= most
            && let Some(first) = (0..leaving.len()).min_by_key(|k| leaving[*k])
        {
            self.clock = self.clock.max(leaving.swap_remove(first));
        }
        open.push(line);
        open.len() - 1
    }

    /// All lines leave behind the stores before, and the core waits until the PCIe root has them.
    pub(super) fn empty_buffers(&mut self) {
        let at = self.stores.drained.max(self.clock);
        while !self.mmio.combining.open.is_empty() {
            self.leave(0, at);
        }
        let there = self.mmio.combining.leaving.drain(..).max();
        self.clock = self.clock.max(there.unwrap_or(0));
    }

    /// An open line leaves the core at `at`.
    fn leave(&mut self, nth: usize, at: u64) {
        let Line { line, register, words, written } = self.mmio.combining.open.remove(nth);
        let (bytes, tlps) = tlps(written);
        let machine = self.machine();
        let gone = machine.links[register.port as usize].post(at, bytes, tlps);
        let visible = self.mmio.show(gone + machine.costs.doorbell);
        self.mmio.combining.leaving.push(gone.max(at + self.to_root()));
        for (word, value) in (line * 8..).zip(words).filter(|(word, _)| written >> (word % 8) & 1 == 1) {
            match register.signal_of(word) {
                Some(signal) => self.store(Place { word, signal, line }, value, visible),
                None => self.machine().words.values[word as usize] = value,
            }
        }
    }
}
