//! Shared words by cache line, zeroed by the system.

use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;

/// Words of a line.
pub(crate) const WORDS: usize = 8;
/// Lines from this many on lie in pages of their own: those of a huge page.
#[cfg(not(miri))]
const MANY: usize = HUGE / size_of::<Line>();
/// Bytes of a huge page.
#[cfg(not(miri))]
const HUGE: usize = 2 << 20;

/// A cache line.
pub(crate) type Line = [AtomicU64; WORDS];

/// Lines at addresses that lines have.
#[derive(Debug)]
pub(crate) struct Lines {
    first: NonNull<Line>,
    n: usize,
    /// What they lie in, until they are dropped.
    _owner: Owner,
}

#[derive(Debug)]
enum Owner {
    Heap {
        _words: Heap,
    },
    #[cfg(not(miri))]
    Pages {
        _map: memmap2::MmapMut,
    },
}

/// Words of the allocator's. A box would claim to be alone with them.
#[derive(Debug)]
struct Heap(NonNull<[u64]>);

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: it is from `Box::leak`, and with the lines nobody has the words any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// SAFETY: lines are reached as atomic words alone, by a pointer into what `Lines` owns, which never moves.
unsafe impl Send for Lines {}
// SAFETY: as for Send.
unsafe impl Sync for Lines {}

impl Lines {
    /// `n` lines of zeros. Memory of the system's that is zero already is not touched: its pages become resident when
    /// they are used.
    pub(crate) fn new(n: usize) -> Lines {
        #[cfg(not(miri))]
        if n >= MANY
            && let Some(lines) = Lines::pages(n)
        {
            return lines;
        }
        // An allocation of such alignment would be cleared by hand.
        let words = Box::leak(vec![0_u64; n * WORDS + WORDS - 1].into_boxed_slice());
        let words = NonNull::from(words);
        let past = words.cast::<u64>().as_ptr() as usize / 8 % WORDS;
        // SAFETY: there are as many words before the first line, and one more.
        let first = unsafe { words.cast::<u64>().add((WORDS - past) % WORDS) }.cast();
        Lines { first, n, _owner: Owner::Heap { _words: Heap(words) } }
    }

    /// Lines in huge pages, where the system has them: look-ups in large tables would wait for their translations
    /// otherwise. None: it gives no memory this way.
    #[cfg(not(miri))]
    fn pages(n: usize) -> Option<Lines> {
        // Linux begins what fills huge pages where one begins.
        let bytes = n.checked_mul(size_of::<Line>())?.checked_next_multiple_of(HUGE)?;
        let mut map = memmap2::MmapOptions::new().len(bytes).no_reserve_swap().map_anon().ok()?;
        // It goes on with small ones otherwise.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        let first = NonNull::new(map.as_mut_ptr().cast())?;
        Some(Lines { first, n, _owner: Owner::Pages { _map: map } })
    }

    /// Bytes of so many lines.
    pub(crate) const fn bytes(n: u64) -> u64 {
        (n * WORDS as u64 + WORDS as u64 - 1) * 8
    }

    /// The lines.
    #[inline(always)]
    pub(crate) fn all(&self) -> &[Line] {
        // SAFETY: `n` lines from `first` on belong to the owner and began as zeros, which atomic words may be. Nobody has
        // the owner otherwise. An AtomicU64 is laid out as a u64 and here aligned alike.
        unsafe { NonNull::slice_from_raw_parts(self.first, self.n).as_ref() }
    }
}

const _: () = assert!(align_of::<AtomicU64>() == align_of::<u64>());

/// Starts fetching one of several things, if there are so many.
#[inline(always)]
pub(crate) fn prefetch<T>(all: &[T], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(all.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (all, at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::Ordering;

    #[test]
    fn lines_begin_where_cache_lines_do() {
        for n in [1, 2, 1000, if cfg!(miri) { 3 } else { 40_000 }] {
            let lines = Lines::new(n);
            assert_eq!(lines.all().len(), n);
            assert_eq!(lines.all().as_ptr() as usize % 64, 0);
            let words = lines.all()[n - 1].iter().map(|word| word.swap(7, Ordering::Relaxed));
            assert_eq!(words.sum::<u64>(), 0);
        }
    }
}
