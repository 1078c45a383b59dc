//! One set-associative array, a set in one host cache line, or in two where it has more than 16 ways.
//!
//! A way holds a line number and two flags. Ways have positions because the LLC's masks (DDIO,
//! inclusive) name positions.

/// Most ways that a set can have.
pub const WAYS: usize = 32;
/// Ways that one line of the host holds.
const NARROW: usize = 16;

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
struct Set<const W: usize>([u32; W]);

impl<const W: usize> Set<W> {
    const EMPTY: Set<W> = Set([EMPTY; W]);

    /// The ways that hold `line`, a bit each.
    #[inline]
    fn ways_of(&self, line: u32) -> u32 {
        let (lines, _) = self.0.as_chunks();
        lines.iter().rev().fold(0, |bits, ways| bits << NARROW | among(ways, line))
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

    /// Whether `line` is here; moves it to the front and marks it dirty if `write`.
    #[inline]
    fn hit(&mut self, line: u32, write: bool) -> bool {
        let Some(way) = self.find(line) else { return false };
        let e = self.0[way] | if write { DIRTY } else { 0 };
        if way > 0 {
            self.0.copy_within(0..way, 1);
        }
        self.0[0] = e;
        true
    }

    /// Makes a line clean; whether it was dirty.
    fn clean(&mut self, line: u32) -> bool {
        let Some(way) = self.find(line) else { return false };
        let dirty = self.0[way] & DIRTY != 0;
        self.0[way] &= !DIRTY;
        dirty
    }

    /// Puts an entry in front of `ways`; what the last one held.
    #[inline]
    fn push(&mut self, ways: usize, entry: Entry) -> Entry {
        let last = Entry(self.0[ways - 1]);
        // All positions, so that the length is known when this is compiled; those from `ways` on stay empty.
        let rest = self.0[ways..].len();
        self.0.copy_within(0..W - 1, 1);
        self.0[W - rest..].fill(EMPTY);
        self.0[0] = entry.0;
        last
    }

    /// Takes a line out; those behind it move up.
    #[inline]
    fn remove(&mut self, ways: usize, line: u32) -> Option<Entry> {
        let way = self.find(line)?;
        let e = Entry(self.0[way]);
        self.0.copy_within(way + 1..ways, way);
        self.0[ways - 1] = EMPTY;
        Some(e)
    }
}

/// Which of these ways hold `line`, a bit each: every access asks, so all are compared at once. Compilers find the
/// compares, but not the way from them to bits.
#[cfg(target_arch = "x86_64")]
#[inline]
fn among(ways: &[u32; NARROW], line: u32) -> u32 {
    use core::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16,
        _mm_packs_epi32, _mm_set1_epi32,
    };
    let ways: *const __m128i = ways.as_ptr().cast();
    // SAFETY: x86-64 has SSE2, and so many ways are four vectors.
    unsafe {
        let (tag, line) = (_mm_set1_epi32(!FLAGS as i32), _mm_set1_epi32(line as i32));
        let four = |i| _mm_cmpeq_epi32(_mm_and_si128(_mm_loadu_si128(ways.add(i)), tag), line);
        let eight = |i| _mm_packs_epi32(four(i), four(i + 1));
        _mm_movemask_epi8(_mm_packs_epi16(eight(0), eight(2))) as u32
    }
}

/// Which of these ways hold `line`, a bit each.
#[cfg(not(target_arch = "x86_64"))]
fn among(ways: &[u32; NARROW], line: u32) -> u32 {
    let ways = ways.iter().enumerate();
    ways.fold(0, |bits, (way, t)| bits | u32::from(t & !FLAGS == line) << way)
}

#[inline]
fn first(ways: u32) -> Option<usize> {
    (ways != 0).then(|| ways.trailing_zeros() as usize)
}

/// Sets, in as many lines of the host as their ways need.
enum Sets {
    Narrow(Vec<Set<NARROW>>),
    Wide(Vec<Set<WAYS>>),
}

impl Sets {
    fn new(sets: usize, ways: usize) -> Sets {
        if ways <= NARROW { Sets::Narrow(vec![Set::EMPTY; sets]) } else { Sets::Wide(vec![Set::EMPTY; sets]) }
    }
}

/// The same of either kind of sets.
macro_rules! either {
    ($sets:expr, $s:ident => $do:expr) => {
        match $sets {
            Sets::Narrow($s) => $do,
            Sets::Wide($s) => apart(|| $do),
        }
    };
}

/// Out of the way of the code for narrow sets, which most caches have.
#[cold]
#[inline(never)]
fn apart<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Which way of a full set goes.
struct Choice {
    ways: usize,
    /// Ages for LRU, larger is more recent, way by way; empty for random replacement.
    ages: Vec<u32>,
    tick: u32,
    seed: u64,
}

impl Choice {
    /// A way was used.
    #[inline]
    fn used(&mut self, set: usize, way: usize) {
        if !self.ages.is_empty() {
            self.tick += 1;
            self.ages[set * self.ways + way] = self.tick;
        }
    }

    #[inline(always)]
    fn victim(&mut self, set: usize, mask: u32) -> usize {
        if !self.ages.is_empty() {
            let ages = &self.ages[set * self.ways..][..self.ways];
            let ways = (0..self.ways).filter(|w| mask >> w & 1 == 1);
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
        if (mask >> low) & (mask >> low).wrapping_add(1) == 0 {
            return (low + nth) as usize;
        }
        let mut m = mask;
        for _ in 0..nth {
            m &= m - 1;
        }
        m.trailing_zeros() as usize
    }
}

/// Random or LRU choice among the ways of a mask.
pub struct Array {
    sets: Sets,
    choice: Choice,
}

impl Array {
    /// `sets` empty sets of `ways`.
    pub fn new(sets: usize, ways: usize, lru: bool, seed: u64) -> Array {
        let ages = if lru { vec![0; sets * ways] } else { Vec::new() };
        Array { sets: Sets::new(sets, ways), choice: Choice { ways, ages, tick: 0, seed: seed | 1 } }
    }

    /// The way that holds `line`.
    #[inline]
    pub fn find(&self, set: usize, line: u32) -> Option<usize> {
        either!(&self.sets, sets => sets[set].find(line))
    }

    /// What a way holds.
    #[inline]
    pub fn get(&self, set: usize, way: usize) -> Entry {
        Entry(either!(&self.sets, sets => sets[set].0[way]))
    }

    /// Overwrites a way and marks it used.
    #[inline]
    pub fn set(&mut self, set: usize, way: usize, entry: Entry) {
        either!(&mut self.sets, sets => sets[set].0[way] = entry.0);
        self.choice.used(set, way);
    }

    /// Empties a way; what it held.
    #[inline]
    pub fn clear(&mut self, set: usize, way: usize) -> Entry {
        Entry(either!(&mut self.sets, sets => std::mem::replace(&mut sets[set].0[way], EMPTY)))
    }

    /// Puts `entry` into a way of `mask`: an empty one, else the replacement's choice; the victim.
    pub fn insert(&mut self, set: usize, mask: u32, entry: Entry) -> Option<Entry> {
        let choice = &mut self.choice;
        let old = either!(&mut self.sets, sets => {
            let ways = &mut sets[set];
            let way = match ways.empty(mask) {
                Some(way) => way,
                None => choice.victim(set, mask),
            };
            choice.used(set, way);
            Entry(std::mem::replace(&mut ways.0[way], entry.0))
        });
        if old.0 & !FLAGS == EMPTY { None } else { Some(old) }
    }
}

/// A core's own cache, L1 or L2: LRU by position, the most recent first.
pub struct Private {
    sets: Sets,
    ways: usize,
}

impl Private {
    /// `sets` empty sets of `ways`.
    pub fn new(sets: usize, ways: usize) -> Private {
        Private { sets: Sets::new(sets, ways), ways }
    }

    /// Whether `line` is in its `set`; moves it to the front and marks it dirty if `write`.
    #[inline]
    pub fn hit(&mut self, set: usize, line: u32, write: bool) -> bool {
        either!(&mut self.sets, sets => sets[set].hit(line, write))
    }

    /// Whether `line` is in its `set`, without using it.
    #[inline]
    pub fn has(&self, set: usize, line: u32) -> bool {
        either!(&self.sets, sets => sets[set].find(line)).is_some()
    }

    /// Puts a line in front of its `set`; the victim.
    #[inline(always)]
    pub fn insert(&mut self, set: usize, entry: Entry) -> Option<Entry> {
        let last = either!(&mut self.sets, sets => sets[set].push(self.ways, entry));
        if last.0 & !FLAGS == EMPTY { None } else { Some(last) }
    }

    /// Memory is told of what was written to a line; whether there was something.
    pub fn clean(&mut self, set: usize, line: u32) -> bool {
        either!(&mut self.sets, sets => sets[set].clean(line))
    }

    /// Takes a line out of its `set`.
    #[inline]
    pub fn remove(&mut self, set: usize, line: u32) -> Option<Entry> {
        either!(&mut self.sets, sets => sets[set].remove(self.ways, line))
    }
}
