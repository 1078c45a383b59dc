//! Entries of rules, in units of a cache line.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::field;
use crate::key::Key;
use crate::lines::{self, Line, Lines};
use crate::mask::Mask;
use crate::sizes::{MASK_WORDS, SHORT};
use crate::state::{Form, State};
use crate::version::Stamp;

/// Words of a unit: stamp (3), frames, bytes, priority with tick, and two that hold the key or its first word and the
/// numbers of the units that have the others.
const FRAMES: usize = 3;
const BYTES: usize = 4;
const RANK: usize = 5;
const KEY: usize = 6;
const LINKS: usize = 7;

/// All units. Number 0 is not used.
#[derive(Debug)]
pub(crate) struct Arena(Lines);

/// Units by number. It is a copy: a prefetch makes a compiler read again what lies in memory.
#[derive(Clone, Copy)]
pub(crate) struct Lined<'a>(&'a [Line]);

impl Lined<'_> {
    #[inline(always)]
    pub(crate) fn prefetch(self, unit: u32) {
        lines::prefetch(self.0, unit as usize);
    }

    /// Whether a unit has an entry of one unit with these words and the priority in the upper half of `order`; and its
    /// state at `version`.
    #[inline(always)]
    pub(crate) fn same_and_state(
        self,
        unit: u32,
        words: [u64; 2],
        order: u64,
        version: u64,
    ) -> (bool, State) {
        let line = &self.0[unit as usize];
        let [rank, first, second] = [RANK, KEY, LINKS].map(|w| line[w].load(Ordering::Relaxed));
        let [when, halves @ ..] = [&line[0], &line[1], &line[2]];
        let state = State(Stamp { when, halves }.at(version));
        let other = (first ^ words[0]) | (second ^ words[1]) | ((rank ^ order) >> 32);
        (other == 0, state)
    }

    /// The same state, if it is the entry's and in this unit; otherwise absent.
    #[inline(always)]
    pub(crate) fn state_of(self, unit: u32, words: [u64; 2], order: u64, version: u64) -> State {
        let (same, state) = self.same_and_state(unit, words, order, version);
        if same && !state.is_link() { state } else { State::ABSENT }
    }
}

/// What an entry has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// How many units an entry with so many words of key takes.
pub(crate) const fn units_of(words: usize) -> usize {
    if words <= SHORT { 1 } else { 1 + (words - 1).div_ceil(lines::WORDS) }
}

const _: () =
    assert!(units_of(MASK_WORDS) == 3 && units_of(MASK_WORDS + 1) == 4, "two links have no more units");

impl Arena {
    /// Room for the units from 1 to `units`.
    pub(crate) fn new(units: u32) -> Arena {
        Arena(Lines::new(units as usize + 1))
    }

    #[inline(always)]
    fn line(&self, unit: u32) -> &Line {
        &self.0.all()[unit as usize]
    }

    /// The units, for a loop over them.
    #[inline(always)]
    pub(crate) fn units(&self) -> Lined<'_> {
        Lined(self.0.all())
    }

    #[inline(always)]
    pub(crate) fn stamp(&self, unit: u32) -> Stamp<'_, AtomicU64> {
        let [when, first, second, ..] = self.line(unit);
        Stamp { when, halves: [first, second] }
    }

    /// The unit that has the entry's state at `version`, and this state.
    #[inline(always)]
    pub(crate) fn at(&self, mut unit: u32, version: u64) -> (u32, State) {
        loop {
            let state = State(self.stamp(unit).at(version));
            match state.form() {
                Form::Link(older) => unit = older,
                _ => return (unit, state),
            }
        }
    }

    #[inline(always)]
    pub(crate) fn priority(&self, unit: u32) -> u32 {
        // Written before the entry could be reached.
        (self.line(unit)[RANK].load(Ordering::Relaxed) >> 32) as u32
    }

    /// The tick of its last frame.
    pub(crate) fn tick(&self, unit: u32) -> u32 {
        self.line(unit)[RANK].load(Ordering::Relaxed) as u32
    }

    /// A frame came at `tick`. The priority beside it never changes, so that every reader stores the same one.
    pub(crate) fn touch(&self, unit: u32, tick: u32) {
        let word = &self.line(unit)[RANK];
        let old = word.load(Ordering::Relaxed);
        let new = old >> 32 << 32 | u64::from(tick);
        if new != old {
            word.store(new, Ordering::Relaxed);
        }
    }

    /// Counts. Statistics order nothing.
    #[inline(always)]
    pub(crate) fn add(&self, unit: u32, count: Count) {
        let line = self.line(unit);
        line[FRAMES].fetch_add(count.frames, Ordering::Relaxed);
        line[BYTES].fetch_add(count.bytes, Ordering::Relaxed);
    }

    pub(crate) fn count(&self, unit: u32) -> Count {
        let [frames, bytes] = [FRAMES, BYTES].map(|w| self.line(unit)[w].load(Ordering::Relaxed));
        Count { frames, bytes }
    }

    /// The units beside the first one of an entry with `words` words of key.
    pub(crate) fn others(&self, unit: u32, words: usize) -> impl Iterator<Item = u32> + use<> {
        let links = self.line(unit)[LINKS].load(Ordering::Relaxed);
        [links as u32, (links >> 32) as u32].into_iter().take(units_of(words) - 1)
    }

    /// Writes an entry that no reader can reach: all but its stamp. What makes it reachable orders these stores.
    pub(crate) fn fill(
        &self,
        units: &[u32],
        priority: u32,
        tick: u32,
        mut key: impl ExactSizeIterator<Item = u64>,
    ) {
        let [unit, others @ ..] = units else { return };
        let line = self.line(*unit);
        let long = key.len() > SHORT;
        line[FRAMES].store(0, Ordering::Relaxed);
        line[BYTES].store(0, Ordering::Relaxed);
        line[RANK].store(u64::from(priority) << 32 | u64::from(tick), Ordering::Relaxed);
        line[KEY].store(key.next().unwrap_or(0), Ordering::Relaxed);
        if !long {
            line[LINKS].store(key.next().unwrap_or(0), Ordering::Relaxed);
            return;
        }
        let links = others.iter().rev().fold(0, |all, unit| all << 32 | u64::from(*unit));
        line[LINKS].store(links, Ordering::Relaxed);
        for unit in others {
            for (word, value) in self.line(*unit).iter().zip(&mut key) {
                word.store(value, Ordering::Relaxed);
            }
        }
    }

    /// The `n` words of an entry's key.
    #[inline(always)]
    pub(crate) fn key(&self, unit: u32, n: usize) -> impl Iterator<Item = u64> + '_ {
        let line = self.line(unit);
        let (near, far) = if n > SHORT { (1, n - 1) } else { (n, 0) };
        let others = self.others(unit, n).flat_map(|unit| self.line(unit)).take(far);
        line[KEY..][..near].iter().chain(others).map(|word| word.load(Ordering::Relaxed))
    }

    /// Whether an entry of one unit has these words.
    #[inline(always)]
    pub(crate) fn holds_two(&self, unit: u32, words: [u64; 2]) -> bool {
        let line = self.line(unit);
        let [first, second] = [KEY, LINKS].map(|w| line[w].load(Ordering::Relaxed));
        (first ^ words[0]) | (second ^ words[1]) == 0
    }

    /// Whether the entry, of a rule with `mask`, has the values of `key`.
    #[inline(always)]
    pub(crate) fn holds(&self, unit: u32, mask: &Mask, key: &Key) -> bool {
        match mask.short() {
            Some(short) => self.holds_two(unit, short.words(key)),
            None => mask.words(&key.words).zip(self.key(unit, mask.len())).all(|(a, b)| a == b),
        }
    }

    /// The whole values of the entry, of a rule with `mask`.
    pub(crate) fn values(&self, unit: u32, mask: &Mask) -> [u64; field::WORDS] {
        mask.spread(self.key(unit, mask.len()))
    }
}
