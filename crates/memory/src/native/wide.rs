//! Copies of 16 B at a time between shared words and private bytes, where the processor has such moves. Under Miri, a
//! sanitizer, and elsewhere, words are copied one by one.
//!
//! The compiler never joins atomic accesses, and a payload in words of 8 B costs several times as many instructions. So
//! the side of each move that is shared is an instruction of its own. It is what relaxed atomic accesses of its two
//! words may do: others see each word whole, since a processor splits such a move between words if anywhere, and the
//! words in any order. The compiler may take each block for just these.

#[cfg(not(all(target_arch = "x86_64", not(any(miri, sanitized)))))]
pub(super) use super::bytes::{copy, extract as load};
#[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
pub(super) use instructions::{copy, load};

#[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
mod instructions {
    use core::arch::asm;
    use core::arch::x86_64::__m128i;
    use core::array::{from_mut, from_ref};
    use core::sync::atomic::AtomicU64;

    use crate::WORD;
    use crate::native::bytes;

    /// Moves of a step, a cache line in all; and of the rest.
    const LINE: usize = 4;
    const ONE: usize = 1;
    /// Words of a move.
    const PAIR: usize = 2;

    /// Whole words from as many chunks of bytes.
    #[inline(always)]
    pub(in crate::native) fn copy(words: &[AtomicU64], chunks: &[[u8; WORD]]) {
        let (pairs, last) = words.as_chunks::<PAIR>();
        let (from, rest) = chunks.as_chunks::<PAIR>();
        let (lines, pairs) = pairs.as_chunks::<LINE>();
        let (from_lines, from) = from.as_chunks::<LINE>();
        lines.iter().zip(from_lines).for_each(|(to, from)| store(to, from));
        pairs.iter().zip(from).for_each(|(to, from)| store::<ONE>(from_ref(to), from_ref(from)));
        bytes::copy(last, rest);
    }

    /// As many chunks of bytes from whole words.
    #[inline(always)]
    pub(in crate::native) fn load(words: &[AtomicU64], chunks: &mut [[u8; WORD]]) {
        let (pairs, last) = words.as_chunks::<PAIR>();
        let (to, rest) = chunks.as_chunks_mut::<PAIR>();
        let (lines, pairs) = pairs.as_chunks::<LINE>();
        let (to_lines, to) = to.as_chunks_mut::<LINE>();
        lines.iter().zip(to_lines).for_each(|(from, to)| fetch(from, to));
        pairs.iter().zip(to).for_each(|(from, to)| fetch::<ONE>(from_ref(from), from_mut(to)));
        bytes::extract(last, rest);
    }

    #[inline(always)]
    fn store<const N: usize>(to: &[[AtomicU64; PAIR]; N], from: &[[[u8; WORD]; PAIR]; N]) {
        for (to, from) in to.iter().zip(from) {
            // SAFETY: any 16 bytes are a vector of them; `from` are private bytes, so this is a plain load.
            let value: __m128i = unsafe { core::ptr::from_ref(from).cast::<__m128i>().read_unaligned() };
            // SAFETY: it stores to two words, which are atomics: a shared reference allows it. They are relaxed stores, as
            // said above. Every x86-64 has SSE2.
            unsafe {
                asm!("movups xmmword ptr [{to}], {value}", to = in(reg) to.as_ptr(), value = in(xmm_reg) value,
                    options(nostack, preserves_flags));
            }
        }
    }

    #[inline(always)]
    fn fetch<const N: usize>(from: &[[AtomicU64; PAIR]; N], to: &mut [[[u8; WORD]; PAIR]; N]) {
        for (from, to) in from.iter().zip(to) {
            let value: __m128i;
            // SAFETY: it loads two words, which are atomics of a live reference: relaxed loads, as said above.
            unsafe {
                asm!("movups {value}, xmmword ptr [{from}]", from = in(reg) from.as_ptr(), value = out(xmm_reg) value,
                    options(nostack, preserves_flags, readonly));
            }
            // SAFETY: a vector is any 16 bytes, and `to` are private ones.
            unsafe { core::ptr::from_mut(to).cast::<__m128i>().write_unaligned(value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicU64;
    use core::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::WORD;

    #[test]
    fn every_number_of_words_goes_and_comes_whole_and_no_word_beside_them() {
        for len in 0..24 {
            for from in 0..3 {
                let words: Vec<AtomicU64> = (0..32).map(|_| AtomicU64::new(7)).collect();
                let chunks: Vec<[u8; WORD]> =
                    (0..len as u64).map(|i| (i << 32 | 0xabcd).to_ne_bytes()).collect();
                copy(&words[from..from + len], &chunks);
                let there: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
                let (before, rest) = there.split_at(from);
                let (copied, after) = rest.split_at(len);
                assert!(before.iter().chain(after).all(|word| *word == 7), "{len} words at {from}");
                assert!(copied.iter().zip(&chunks).all(|(word, chunk)| word.to_ne_bytes() == *chunk));
                let mut back = vec![[9; WORD]; len + 1];
                load(&words[from..from + len], &mut back[..len]);
                assert!(back[..len] == chunks && back[len] == [9; WORD], "{len} words at {from}");
            }
        }
    }
}
