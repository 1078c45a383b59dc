//! Which slots of a bucket have a hash: all are compared at once, which leaves nothing to predict.

use crate::lines::Line;

/// Bits of the slots; the last word is none.
const SLOTS: u32 = 0x3fff;

/// Two bits for each of the first seven words whose upper half is `hash`, the first word lowest.
#[inline(always)]
pub(crate) fn slots(line: &Line, hash: u32) -> u32 {
    words(line, hash) & SLOTS
}

#[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
#[inline(always)]
fn words(line: &Line, hash: u32) -> u32 {
    use core::arch::asm;
    use core::arch::x86_64::{
        __m128, _mm_castps_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi32, _mm_set1_epi32,
        _mm_shuffle_ps,
    };
    let [a, b, c, d]: [__m128; 4];
    // SAFETY: the line is 64 bytes that begin at a multiple of 16, and atomics, so other threads may store meanwhile. Each
    // word lies in one half of a load, which x86-64 loads at once; its loads acquire. Every x86-64 has SSE2.
    unsafe {
        asm!(
            "movaps {a}, xmmword ptr [{line}]",
            "movaps {b}, xmmword ptr [{line} + 16]",
            "movaps {c}, xmmword ptr [{line} + 32]",
            "movaps {d}, xmmword ptr [{line} + 48]",
            line = in(reg) line.as_ptr(),
            a = out(xmm_reg) a,
            b = out(xmm_reg) b,
            c = out(xmm_reg) c,
            d = out(xmm_reg) d,
            options(nostack, preserves_flags, readonly),
        );
    }
    // SAFETY: every x86-64 has SSE2.
    unsafe {
        let wanted = _mm_set1_epi32(hash.cast_signed());
        let upper =
            |low, high| _mm_cmpeq_epi32(_mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(low, high)), wanted);
        _mm_movemask_epi8(_mm_packs_epi32(upper(a, b), upper(c, d))).cast_unsigned()
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(miri, sanitized)))))]
#[inline(always)]
fn words(line: &Line, hash: u32) -> u32 {
    let same =
        |at: usize| u32::from((crate::version::Slot(&line[at]).get() >> 32) as u32 == hash) * 3 << (2 * at);
    (0..line.len()).fold(0, |all, at| all | same(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicU64;

    #[test]
    fn each_slot_has_its_bits() {
        #[repr(align(64))]
        struct Aligned(Line);
        for at in 0..8 {
            for (word, hash) in [(7 << 32 | 9, 7), (u64::MAX, u32::MAX), (1 << 63, 1 << 31)] {
                let line = Aligned(core::array::from_fn(|i| {
                    AtomicU64::new(if i == at { word } else { word >> 32 })
                }));
                let expected = if at < 7 { 3 << (2 * at) } else { 0 };
                assert_eq!(slots(&line.0, hash), expected, "{word:x} in {at}");
                assert_eq!(slots(&line.0, hash ^ 2), 0);
            }
        }
    }
}
