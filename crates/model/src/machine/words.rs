//! The words of rings: their values, values that were stored but do not show yet, and the state of their lines.

use super::coherence::word_line::WordLine;
use super::layout::{Layout, Place};
use super::registers::Registers;

/// A signal whose newest value is not visible before `at`.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    old: u64,
    at: u64,
    /// What showed before `old`, and until when: doorbells follow each other within their way.
    older: (u64, u64),
}

/// All words.
pub(crate) struct WordMemory {
    pub values: Vec<u64>,
    pending: Vec<Pending>,
    /// Who stored each signal last, of those that both sides write: its slot and one, or 0. An agent sees its own stores
    /// at once.
    by: Vec<u32>,
    pub lines: Vec<WordLine>,
    pub registers: Registers,
    /// When each line that moves from node to node is there; of no line where words do not.
    there: Vec<u64>,
}

impl WordMemory {
    /// Zeros; whether lines move from node to node with loads.
    pub(crate) fn new(layout: &Layout, moves: bool) -> WordMemory {
        let lines = layout.words.div_ceil(8) as usize;
        WordMemory {
            values: vec![0; layout.words as usize],
            pending: vec![Pending::default(); layout.signals as usize],
            by: vec![0; layout.signals as usize],
            lines: vec![WordLine::default(); lines],
            registers: layout.registers.clone(),
            there: vec![0; if moves { lines } else { 0 }],
        }
    }

    /// When a line is there that was on its way over the link last.
    pub(crate) fn there(&self, line: u32) -> u64 {
        self.there.get(line as usize).copied().unwrap_or_default()
    }

    /// A line comes over the link at `at`.
    pub(crate) fn comes(&mut self, line: u32, at: u64) {
        if let Some(there) = self.there.get_mut(line as usize) {
            *there = at;
        }
    }

    /// A signal becomes `value`, which shows at `visible`.
    #[inline(always)]
    pub(crate) fn store(&mut self, w: Place, value: u64, visible: u64) {
        let word = &mut self.values[w.word as usize];
        let before = &mut self.pending[w.signal as usize];
        *before = Pending { old: *word, at: visible, older: (before.old, before.at) };
        *word = value;
    }

    /// Agent `slot` has stored a signal that both sides write.
    pub(crate) fn stored_by(&mut self, w: Place, slot: usize) {
        self.by[w.signal as usize] = (slot as u32).wrapping_add(1);
    }

    /// The value of a signal that both sides write, if agent `slot` stored it last.
    pub(crate) fn own(&self, w: Place, slot: usize) -> Option<u64> {
        (self.by[w.signal as usize] == (slot as u32).wrapping_add(1)).then(|| self.values[w.word as usize])
    }

    /// What shows of a signal at `clock`; when the next value does, if one has been stored.
    #[inline(always)]
    pub(crate) fn visible(&self, w: Place, clock: u64) -> (u64, Option<u64>) {
        let p = self.pending[w.signal as usize];
        if p.at <= clock {
            return (self.values[w.word as usize], None);
        }
        let (older, at) = p.older;
        if at > clock { (older, Some(at)) } else { (p.old, Some(p.at)) }
    }
}
