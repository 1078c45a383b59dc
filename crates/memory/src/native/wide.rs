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
    use core::sync::atomic::AtomicU64;

    use crate::WORD;
    use crate::native::bytes;

    /// Words of a cache line.
    const LINE: usize = 8;
    /// Words of a move.
    const PAIR: usize = 2;

    /// Whole words from as many chunks of bytes: lines first, since most frames are whole lines or many of them.
    #[inline(always)]
    pub(in crate::native) fn copy(words: &[AtomicU64], chunks: &[[u8; WORD]]) {
        let (lines, words) = words.as_chunks::<LINE>();
        let (from, chunks) = chunks.as_chunks::<LINE>();
        lines.iter().zip(from).for_each(|(to, from)| store_line(to, from));
        if !chunks.is_empty() {
            let (pairs, last) = words.as_chunks::<PAIR>();
            let (from, rest) = chunks.as_chunks::<PAIR>();
            pairs.iter().zip(from).for_each(|(to, from)| store_pair(to, from));
            bytes::copy(last, rest);
        }
    }

    /// As many chunks of bytes from whole words.
    #[inline(always)]
    pub(in crate::native) fn load(words: &[AtomicU64], chunks: &mut [[u8; WORD]]) {
        let (lines, words) = words.as_chunks::<LINE>();
        let (to, chunks) = chunks.as_chunks_mut::<LINE>();
        lines.iter().zip(to).for_each(|(from, to)| load_line(from, to));
        if !chunks.is_empty() {
            let (pairs, last) = words.as_chunks::<PAIR>();
            let (to, rest) = chunks.as_chunks_mut::<PAIR>();
            pairs.iter().zip(to).for_each(|(from, to)| load_pair(from, to));
            bytes::extract(last, rest);
        }
    }

    /// Loads are of a word each: whoever wrote the bytes may have stored words a moment ago, and a load of two of them
    /// would wait until all stores before are in the cache.
    #[inline(always)]
    fn store_line(to: &[AtomicU64; LINE], from: &[[u8; WORD]; LINE]) {
        // SAFETY: it loads 64 private bytes and stores to eight words, which are atomics: a shared reference allows it.
        // They are relaxed stores, as said above. Every x86-64 has SSE2.
        unsafe {
            asm!(
                "movq {a}, qword ptr [{from}]", "movhps {a}, qword ptr [{from} + 8]",
                "movq {b}, qword ptr [{from} + 16]", "movhps {b}, qword ptr [{from} + 24]",
                "movq {c}, qword ptr [{from} + 32]", "movhps {c}, qword ptr [{from} + 40]",
                "movq {d}, qword ptr [{from} + 48]", "movhps {d}, qword ptr [{from} + 56]",
                "movups xmmword ptr [{to}], {a}", "movups xmmword ptr [{to} + 16], {b}",
                "movups xmmword ptr [{to} + 32], {c}", "movups xmmword ptr [{to} + 48], {d}",
                to = in(reg) to.as_ptr(), from = in(reg) from.as_ptr(),
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline(always)]
    fn load_line(from: &[AtomicU64; LINE], to: &mut [[u8; WORD]; LINE]) {
        // SAFETY: it loads eight words, which are atomics of a live reference, and stores to 64 private bytes. They are
        // relaxed loads, as said above. Every x86-64 has SSE2.
        unsafe {
            asm!(
                "movups {a}, xmmword ptr [{from}]", "movups {b}, xmmword ptr [{from} + 16]",
                "movups {c}, xmmword ptr [{from} + 32]", "movups {d}, xmmword ptr [{from} + 48]",
                "movups xmmword ptr [{to}], {a}", "movups xmmword ptr [{to} + 16], {b}",
                "movups xmmword ptr [{to} + 32], {c}", "movups xmmword ptr [{to} + 48], {d}",
                to = in(reg) to.as_mut_ptr(), from = in(reg) from.as_ptr(),
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline(always)]
    fn store_pair(to: &[AtomicU64; PAIR], from: &[[u8; WORD]; PAIR]) {
        // SAFETY: as of `store_line`, 16 bytes and two words.
        unsafe {
            asm!("movups {value}, xmmword ptr [{from}]", "movups xmmword ptr [{to}], {value}",
                to = in(reg) to.as_ptr(), from = in(reg) from.as_ptr(), value = out(xmm_reg) _,
                options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    fn load_pair(from: &[AtomicU64; PAIR], to: &mut [[u8; WORD]; PAIR]) {
        // SAFETY: as of `load_line`, two words and 16 bytes.
        unsafe {
            asm!("movups {value}, xmmword ptr [{from}]", "movups xmmword ptr [{to}], {value}",
                to = in(reg) to.as_mut_ptr(), from = in(reg) from.as_ptr(), value = out(xmm_reg) _,
                options(nostack, preserves_flags));
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
