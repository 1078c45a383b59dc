//! Which words are registers of a card, how cores map them, and behind which slot they are.

use core::ops::Range;

use memory::Mapping;

/// A field of registers.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub words: Range<u32>,
    /// The signal of its first entry, and words of each.
    pub signal: u32,
    pub width: u32,
    pub mapping: Mapping,
    pub port: u32,
}

impl Register {
    /// The number of the signal that a word is, if it is one.
    pub(crate) fn signal_of(&self, word: u32) -> Option<u32> {
        let nth = word - self.words.start;
        (nth % self.width + 1 == self.width).then(|| self.signal + nth / self.width)
    }
}

/// All registers, in the order of their words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers(Vec<Register>);

impl Registers {
    /// One more, behind all others.
    pub(crate) fn add(&mut self, register: Register) {
        self.0.push(register);
    }

    /// The register that a word is of, if it is of one.
    pub(crate) fn of(&self, word: u32) -> Option<&Register> {
        let after = self.0.partition_point(|register| register.words.start <= word);
        self.0[..after].last().filter(|register| register.words.contains(&word))
    }
}
