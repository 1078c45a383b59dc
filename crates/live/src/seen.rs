//! Which frames have come, where they may come in any order.

use std::collections::VecDeque;

const BITS: u64 = 64;

/// A set of numbers from 0 up. What is complete from the start on takes no memory.
#[derive(Default)]
pub(crate) struct Seen {
    /// Words of numbers that are complete.
    complete: u64,
    /// The words that follow.
    words: VecDeque<u64>,
}

impl Seen {
    /// Adds a number; whether it is new.
    #[inline]
    pub(crate) fn add(&mut self, number: u64) -> bool {
        let Some(word) = (number / BITS).checked_sub(self.complete) else { return false };
        let (word, bit) = (word as usize, 1 << (number % BITS));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.forget();
        new
    }

    /// Adds all numbers of `other`; how many of them were here already.
    pub(crate) fn unite(&mut self, other: &Seen) -> u64 {
        let complete = (0..other.complete).map(|word| (word, u64::MAX));
        let rest = (other.complete..).zip(other.words.iter().copied());
        complete.chain(rest).map(|(word, bits)| self.add_word(word, bits)).sum()
    }

    fn add_word(&mut self, word: u64, bits: u64) -> u64 {
        let Some(word) = word.checked_sub(self.complete) else { return u64::from(bits.count_ones()) };
        if word as usize >= self.words.len() {
            self.words.resize(word as usize + 1, 0);
        }
        let here = &mut self.words[word as usize];
        let twice = (*here & bits).count_ones();
        *here |= bits;
        self.forget();
        u64::from(twice)
    }

    /// Complete words at the start are only counted.
    #[inline]
    fn forget(&mut self) {
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.complete += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once_in_any_order() {
        let mut seen = Seen::default();
        // 7 is prime to 1000: every number once.
        assert!((0..1000).all(|i| seen.add(i * 7 % 1000)));
        assert_eq!((seen.complete, seen.words.len()), (15, 1), "complete words are forgotten");
        assert!((0..1000).all(|i| !seen.add(i)));
        assert!(seen.add(1000) && seen.add(70_000) && !seen.add(1000));
    }

    #[test]
    fn sets_that_share_numbers_say_how_many() {
        let of = |numbers: &[u64]| {
            let mut seen = Seen::default();
            numbers.iter().for_each(|n| assert!(seen.add(*n)));
            seen
        };
        let mut all = of(&(0..128).collect::<Vec<_>>());
        assert_eq!(all.unite(&of(&[5, 127, 128, 300])), 2);
        assert_eq!(all.unite(&of(&(0..200).collect::<Vec<_>>())), 129);
        assert_eq!(all.unite(&of(&[200])), 0);
    }
}
