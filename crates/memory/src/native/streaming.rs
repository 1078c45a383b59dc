//! Stores past the caches (non-temporal), where the processor has them. Elsewhere, under Miri and under a sanitizer,
//! plain stores do.
//!
//! Rust's memory model has no such store: it may overtake what its thread stores later, a release among it. So none is
//! left under way. Each function here stores and fences in one block of assembly: at its end all its stores are in
//! order before whatever the thread stores next. What is left is what relaxed atomic stores of aligned words may do:
//! others see each word whole, and the words in any order. The compiler may take the block for just these.

#[cfg(not(all(target_arch = "x86_64", not(any(miri, sanitized)))))]
pub(super) use super::bytes::{clear, copy};
#[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
pub(super) use instructions::{clear, copy};

#[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
mod instructions {
    use core::arch::asm;
    use core::sync::atomic::AtomicU64;

    use crate::WORD;

    /// Whole words from as many chunks of bytes.
    #[inline]
    pub(in crate::native) fn copy(words: &[AtomicU64], chunks: &[[u8; WORD]]) {
        let left = words.len().min(chunks.len());
        if left == 0 {
            return;
        }
        // SAFETY: the loop reads `left` chunks and stores to as many aligned words, which are atomics: a shared
        // reference allows it. With the fence they are relaxed stores, as said above. Every x86-64 has SSE2.
        unsafe {
            asm!(
                "2:",
                "mov {word}, qword ptr [{from}]",
                "movnti qword ptr [{to}], {word}",
                "add {from}, 8",
                "add {to}, 8",
                "dec {left}",
                "jnz 2b",
                "sfence",
                word = out(reg) _,
                from = inout(reg) chunks.as_ptr() => _,
                to = inout(reg) words.as_ptr() => _,
                left = inout(reg) left => _,
                options(nostack),
            );
        }
    }

    /// Zeros into whole words.
    #[inline]
    pub(in crate::native) fn clear(words: &[AtomicU64]) {
        if words.is_empty() {
            return;
        }
        // SAFETY: as for `copy`, without what is read.
        unsafe {
            asm!(
                "2:",
                "movnti qword ptr [{to}], {zero}",
                "add {to}, 8",
                "dec {left}",
                "jnz 2b",
                "sfence",
                zero = in(reg) 0_u64,
                to = inout(reg) words.as_ptr() => _,
                left = inout(reg) words.len() => _,
                options(nostack),
            );
        }
    }
}
