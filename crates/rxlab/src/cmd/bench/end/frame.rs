//! Frames that are written and read whole, as rxbench's: every word differs from frame to frame, and the words of a frame
//! add up to zero. The sum that a receiver takes because it reads every byte is its integrity check as well.

use memory::WORD;

/// Bytes of the longest frame.
const LONGEST: usize = 2048;
/// Words in front, the same in all frames: where rxbench has headers.
const HEADER: usize = 6;
/// The number of the frame, and what makes the sum zero; the body follows.
const NUMBER: usize = 6;
const BALANCE: usize = 7;
const BODY: usize = 8;
/// A word of the header.
const FILL: u64 = 0x0200_0000_0001_0800;
/// An odd number with its bits spread: numbers in a row then give bodies that have nothing alike.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A frame of this process, from which or to which bytes are copied.
#[repr(align(64))]
pub(super) struct Frame {
    words: [[u8; WORD]; LONGEST / WORD],
    len: usize,
}

impl Frame {
    /// Of `len` bytes, 64 to 2048.
    pub(super) fn new(len: u16) -> Frame {
        let mut words = [[0; WORD]; LONGEST / WORD];
        words[..HEADER].fill(FILL.to_ne_bytes());
        Frame { words, len: usize::from(len).min(LONGEST) }
    }

    /// Writes every byte of frame number `number`.
    #[inline(always)]
    pub(super) fn write(&mut self, number: u64) -> &[u8] {
        let first = number.wrapping_mul(SPREAD);
        let mut sum = number.wrapping_add(FILL.wrapping_mul(HEADER as u64));
        let (whole, rest) = (self.len / WORD, self.len % WORD);
        for (i, word) in (BODY as u64..).zip(&mut self.words[BODY..whole]) {
            let value = first.wrapping_add(i);
            *word = value.to_ne_bytes();
            sum = sum.wrapping_add(value);
        }
        if rest > 0 {
            let value = first & ((1 << (rest * 8)) - 1);
            self.words[whole] = value.to_le_bytes();
            sum = sum.wrapping_add(value);
        }
        self.words[NUMBER] = number.to_ne_bytes();
        self.words[BALANCE] = sum.wrapping_neg().to_ne_bytes();
        &self.words.as_flattened()[..self.len]
    }

    /// Where a frame of `len` bytes is read to; none is longer than the longest.
    #[inline(always)]
    pub(super) fn room(&mut self, len: u16) -> &mut [u8] {
        self.len = usize::from(len).min(LONGEST);
        if !self.len.is_multiple_of(WORD) {
            self.words[self.len / WORD] = [0; WORD];
        }
        &mut self.words.as_flattened_mut()[..self.len]
    }

    /// The sum of all words, zero if the frame is whole, and its number.
    #[inline(always)]
    pub(super) fn read(&self) -> (u64, u64) {
        let words = self.words[..self.len.div_ceil(WORD)].iter();
        let sum = words.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
        (sum, u64::from_ne_bytes(self.words[NUMBER]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_differs_in_a_word_or_a_byte_does_not_add_up() {
        for len in [64, 65, 100, 1500, 1518, 2048] {
            let bytes = Frame::new(len).write(7).to_vec();
            let sum = |bytes: &[u8]| {
                let mut there = Frame::new(64);
                there.room(len).copy_from_slice(bytes);
                there.read()
            };
            assert_eq!(sum(&bytes), (0, 7), "{len} B");
            for at in [0, 47, 55, 63, usize::from(len) - 1] {
                let mut torn = bytes.clone();
                torn[at] ^= 1;
                assert_ne!(sum(&torn).0, 0, "{len} B at {at}");
            }
        }
    }
}
