//! One set-associative array, a set in one host cache line.
//!
//! A way holds a line number and two flags. Ways have positions because the LLC's masks (DDIO,
//! inclusive) name positions.

/// Most ways that a set can have.
pub const WAYS: usize = 16;

/// The line was written and memory does not know.
pub const DIRTY: u32 = 1 << 31;
/// The line was written by DMA and no core has read it since.
pub const IO: u32 = 1 << 30;
const FLAGS: u32 = DIRTY | IO;
const EMPTY: u32 = !FLAGS;

/// A way's content: line number and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u32);

impl Entry {
    /// `line` with `flags`.
    pub const fn new(line: u32, flags: u32) -> Entry {
        Entry(line & !FLAGS | flags)
    }
    /// The line number.
    pub const fn line(self) -> u32 {
        self.0 & !FLAGS
    }
    /// Whether memory must be told.
    pub const fn dirty(self) -> bool {
        self.0 & DIRTY != 0
    }
    /// Whether DMA wrote it and no core read it.
    pub const fn io(self) -> bool {
        self.0 & IO != 0
    }
}

#[repr(align(64))]
#[derive(Clone, Copy)]
struct Set([u32; WAYS]);

impl Set {
    /// The ways that hold `line`, a bit each: every access asks, so all ways are compared at once. Compilers
    /// find the compares, but not the way from them to bits.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn ways_of(&self, line: u32) -> u32 {
        use core::arch::x86_64::{
            __m128i, _mm_and_si128, _mm_cmpeq_epi32, _mm_load_si128, _mm_movemask_epi8, _mm_packs_epi16,
            _mm_packs_epi32, _mm_set1_epi32,
        };
        let ways: *const __m128i = self.0.as_ptr().cast();
        // SAFETY: x86-64 has SSE2, and a set is four vectors, aligned to 64 bytes.
        unsafe {
            let (tag, line) = (_mm_set1_epi32(!FLAGS as i32), _mm_set1_epi32(line as i32));
            let four = |i| _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(ways.add(i)), tag), line);
            let eight = |i| _mm_packs_epi32(four(i), four(i + 1));
            _mm_movemask_epi8(_mm_packs_epi16(eight(0), eight(2))) as u32
        }
    }

    /// The ways that hold `line`, a bit each.
    #[cfg(not(target_arch = "x86_64"))]
    fn ways_of(&self, line: u32) -> u32 {
        let ways = self.0.iter().enumerate();
        ways.fold(0, |bits, (way, t)| bits | u32::from(t & !FLAGS == line) << way)
    }

    /// The way that holds `line`.
    #[inline]
    fn find(&self, line: u32) -> Option<usize> {
        first(self.ways_of(line))
    }

    /// The first empty way of `mask`.
    #[inline]
    fn empty(&self, mask: u32) -> Option<usize> {
        first(self.ways_of(EMPTY) & mask)
    }
}

#[inline]
fn first(ways: u32) -> Option<usize> {
    (ways != 0).then(|| ways.trailing_zeros() as usize)
}

/// Random or LRU choice among the ways of a mask.
pub struct Array {
    sets: Vec<Set>,
    /// Ages for LRU, larger is more recent; empty for random replacement.
    ages: Vec<[u32; WAYS]>,
    tick: u32,
    seed: u64,
}

impl Array {
    /// `sets` empty sets.
    pub fn new(sets: usize, lru: bool, seed: u64) -> Array {
        Array {
            sets: vec![Set([EMPTY; WAYS]); sets],
            ages: if lru { vec![[0; WAYS]; sets] } else { Vec::new() },
            tick: 0,
            seed: seed | 1,
        }
    }

    /// The way that holds `line`.
    #[inline]
    pub fn find(&self, set: usize, line: u32) -> Option<usize> {
        self.sets[set].find(line)
    }

    /// What a way holds.
    #[inline]
    pub fn get(&self, set: usize, way: usize) -> Entry {
        Entry(self.sets[set].0[way])
    }

    /// Overwrites a way and marks it used.
    #[inline]
    pub fn set(&mut self, set: usize, way: usize, entry: Entry) {
        self.sets[set].0[way] = entry.0;
        self.used(set, way);
    }

    /// Empties a way; what it held.
    #[inline]
    pub fn clear(&mut self, set: usize, way: usize) -> Entry {
        let e = self.get(set, way);
        self.sets[set].0[way] = EMPTY;
        e
    }

    /// Marks a way used (LRU).
    #[inline]
    pub fn used(&mut self, set: usize, way: usize) {
        if let Some(ages) = self.ages.get_mut(set) {
            self.tick += 1;
            ages[way] = self.tick;
        }
    }

    /// Puts `entry` into a way of `mask`: an empty one, else the replacement's choice; the victim.
    pub fn insert(&mut self, set: usize, mask: u32, entry: Entry) -> Option<Entry> {
        let way = match self.sets[set].empty(mask) {
            Some(way) => way,
            None => self.victim(set, mask),
        };
        let old = self.get(set, way);
        self.set(set, way, entry);
        if old.0 & !FLAGS == EMPTY { None } else { Some(old) }
    }

    fn victim(&mut self, set: usize, mask: u32) -> usize {
        if let Some(ages) = self.ages.get(set) {
            let ways = (0..WAYS).filter(|w| mask >> w & 1 == 1);
            return ways.min_by_key(|w| ages[*w]).unwrap_or(0);
        }
        // xorshift64*: one multiplication, the same on every machine.
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        let r = (self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32;
        let nth = ((u64::from(r) * u64::from(mask.count_ones())) >> 32) as u32;
        let low = mask.trailing_zeros();
        // Most masks are of ways in a row; how often a loop is gone through the host could not guess.
        if (mask >> low) & ((mask >> low) + 1) == 0 {
            return (low + nth) as usize;
        }
        let mut m = mask;
        for _ in 0..nth {
            m &= m - 1;
        }
        m.trailing_zeros() as usize
    }
}

/// A core's own cache, L1 or L2: LRU by position, the most recent first.
pub struct Private {
    sets: Vec<Set>,
    ways: usize,
}

impl Private {
    /// `sets` (a power of two) of `ways`.
    pub fn new(sets: usize, ways: usize) -> Private {
        Private { sets: vec![Set([EMPTY; WAYS]); sets], ways }
    }

    /// Whether `line` is in its `set`; moves it to the front and marks it dirty if `write`.
    #[inline]
    pub fn hit(&mut self, set: usize, line: u32, write: bool) -> bool {
        let set = &mut self.sets[set];
        let Some(way) = set.find(line) else { return false };
        let e = set.0[way] | if write { DIRTY } else { 0 };
        if way > 0 {
            set.0.copy_within(0..way, 1);
        }
        set.0[0] = e;
        true
    }

    /// Whether `line` is in its `set`, without using it.
    #[inline]
    pub fn has(&self, set: usize, line: u32) -> bool {
        self.sets[set].find(line).is_some()
    }

    /// Puts a line in front of its `set`; the victim.
    pub fn insert(&mut self, set: usize, entry: Entry) -> Option<Entry> {
        let ways = self.ways;
        let set = &mut self.sets[set];
        let last = Entry(set.0[ways - 1]);
        // All positions, so that the length is known when this is compiled; those from `ways` on stay empty.
        let rest = set.0[ways..].len();
        set.0.copy_within(0..WAYS - 1, 1);
        set.0[WAYS - rest..].fill(EMPTY);
        set.0[0] = entry.0;
        if last.0 & !FLAGS == EMPTY { None } else { Some(last) }
    }

    /// Takes a line out of its `set`.
    pub fn remove(&mut self, set: usize, line: u32) -> Option<Entry> {
        let ways = self.ways;
        let set = &mut self.sets[set];
        let way = set.find(line)?;
        let e = Entry(set.0[way]);
        set.0.copy_within(way + 1..ways, way);
        set.0[ways - 1] = EMPTY;
        Some(e)
    }
}
