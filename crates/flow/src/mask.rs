//! A mask as a tuple has it: only the words in which it has bits.

use core::cmp::Ordering;

use arrayvec::ArrayVec;

use crate::error::Error;
use crate::field::WORDS;
use crate::hash;
use crate::key::Key;
use crate::sizes::{MASK_WORDS, SHORT};

/// A mask. The order of masks is that of rules at equal priority: more bits first, then greater words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    all: [u64; WORDS],
    used: ArrayVec<(u8, u64), MASK_WORDS>,
    bits: u32,
    /// Its words, if there are two at the most.
    short: Option<Short>,
}

/// A mask of two words or less: where a key has them, and their bits. One that is not used has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    at: [u8; 2],
    bits: [u64; 2],
}

impl Short {
    /// The words of `key` that an entry has; 0 for those that it has not.
    #[inline(always)]
    pub(crate) fn words(&self, key: &Key) -> [u64; 2] {
        // Every place is below the bound, which spares a check for each key.
        [0, 1].map(|i| key.words[usize::from(self.at[i]).min(WORDS - 1)] & self.bits[i])
    }
}

impl Mask {
    /// # Errors
    /// It needs too many words.
    pub(crate) fn new(all: &[u64; WORDS]) -> Result<Mask, Error> {
        let words = all.iter().filter(|w| **w != 0).count();
        if words > MASK_WORDS {
            return Err(Error::Wide { words });
        }
        let used: ArrayVec<(u8, u64), MASK_WORDS> =
            (0..).zip(all).filter(|(_, w)| **w != 0).map(|(at, w)| (at, *w)).collect();
        let [first, second] = [0, 1].map(|i| used.get(i).copied().unwrap_or_default());
        let short = (words <= SHORT).then_some(Short { at: [first.0, second.0], bits: [first.1, second.1] });
        Ok(Mask { all: *all, used, bits: all.iter().map(|w| w.count_ones()).sum(), short })
    }

    pub(crate) fn all(&self) -> &[u64; WORDS] {
        &self.all
    }

    /// The words of a short one.
    #[inline(always)]
    pub(crate) fn short(&self) -> Option<&Short> {
        self.short.as_ref()
    }

    /// How many words an entry has.
    pub(crate) fn len(&self) -> usize {
        self.used.len()
    }

    /// The words of `key` that an entry has.
    #[inline(always)]
    pub(crate) fn words<'a>(&'a self, key: &'a [u64; WORDS]) -> impl Iterator<Item = u64> + 'a {
        self.used.iter().map(|(at, mask)| key[usize::from(*at)] & mask)
    }

    /// The hash of these words.
    #[inline(always)]
    pub(crate) fn hash(&self, key: &Key) -> u32 {
        match &self.short {
            Some(short) => hash::of_two(short.words(key)),
            None => hash::of(self.words(&key.words)),
        }
    }

    /// The whole values of an entry's words.
    pub(crate) fn spread(&self, words: impl Iterator<Item = u64>) -> [u64; WORDS] {
        let mut all = [0; WORDS];
        for ((at, _), word) in self.used.iter().zip(words) {
            all[usize::from(*at)] = word;
        }
        all
    }
}

impl Ord for Mask {
    fn cmp(&self, other: &Mask) -> Ordering {
        (other.bits, other.all).cmp(&(self.bits, self.all))
    }
}

impl PartialOrd for Mask {
    fn partial_cmp(&self, other: &Mask) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
