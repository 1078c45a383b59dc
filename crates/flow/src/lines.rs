//! Shared words by cache line, zeroed by the system.

use core::sync::atomic::AtomicU64;

/// Words of a line.
pub(crate) const WORDS: usize = 8;

/// A cache line.
pub(crate) type Line = [AtomicU64; WORDS];

/// Lines at addresses that lines have.
#[derive(Debug)]
pub(crate) struct Lines {
    words: Box<[AtomicU64]>,
    /// The first word that begins a line.
    first: usize,
}

impl Lines {
    /// `n` lines of zeros. Memory of the system's that is zero already is not touched: its pages become resident when
    /// they are used.
    pub(crate) fn new(n: usize) -> Lines {
        // An allocation of such alignment would be cleared by hand.
        let words = vec![0_u64; n * WORDS + WORDS - 1].into_boxed_slice();
        // SAFETY: an AtomicU64 is laid out as a u64, and on 64-bit targets aligned alike; the box owns all words.
        let words = unsafe { Box::from_raw(Box::into_raw(words) as *mut [AtomicU64]) };
        let past = words.as_ptr() as usize / 8 % WORDS;
        Lines { first: (WORDS - past) % WORDS, words }
    }

    /// Bytes of so many lines.
    pub(crate) const fn bytes(n: u64) -> u64 {
        (n * WORDS as u64 + WORDS as u64 - 1) * 8
    }

    /// The lines, and perhaps less than one more.
    #[inline(always)]
    pub(crate) fn all(&self) -> &[Line] {
        self.words[self.first..].as_chunks().0
    }
}

const _: () = assert!(align_of::<AtomicU64>() == align_of::<u64>());

/// Starts fetching a line.
#[inline(always)]
pub(crate) fn prefetch(line: &Line) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_where_cache_lines_do() {
        for n in [1, 2, 1000] {
            let lines = Lines::new(n);
            assert!(lines.all().len() >= n);
            assert_eq!(lines.all().as_ptr() as usize % 64, 0);
        }
    }
}
