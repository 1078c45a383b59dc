//! The search for the keys of a burst in a group, tuple by tuple: lines of all keys are fetched before the first one is
//! read.

use core::slice;

use crate::arena::Arena;
use crate::buckets::{self, First, Homes};
use crate::hash;
use crate::key::Key;
use crate::lines::{Line, prefetch};
use crate::mask::Short;
use crate::sizes::BURST;
use crate::state::{Form, State};
use crate::view::{Found, Tuple};

/// Keys of a burst on their way through a tuple, one after the other in columns.
#[derive(Default)]
struct Probes {
    /// How many there are.
    n: usize,
    /// The place of each key in the burst.
    at: [u8; BURST],
    hash: [u32; BURST],
    /// The words of each key, where the mask is a short one.
    words: [[u64; 2]; BURST],
    first: [First; BURST],
}

/// The best rule of a group's `tuples` for those keys of a burst that are `open`; `done` gets each key, its place and what
/// was found.
#[inline(always)]
pub(crate) fn search(
    tuples: &[Tuple],
    arena: &Arena,
    keys: &mut [Key],
    open: &[u8],
    version: u64,
    mut done: impl FnMut(&mut Key, usize, Found),
) {
    let mut probes = Probes::of(open);
    if let [tuple] = tuples {
        probes.begin(tuple, arena, keys);
        // What is done with a key is done while the units of others come.
        for i in 0..probes.n.min(BURST) {
            let at = usize::from(probes.at[i]) % BURST;
            let found = probes.compare(i, tuple, arena, &keys[at], version, Found::NONE);
            done(&mut keys[at], at, found);
        }
        return;
    }
    let mut found = [Found::NONE; BURST];
    for (tuple, others) in tuples.iter().zip(0..) {
        // Nothing has been found before the first one.
        if others > 0 {
            probes.choose(tuple, open, &found);
        }
        if probes.n == 0 {
            break;
        }
        probes.begin(tuple, arena, keys);
        for i in 0..probes.n.min(BURST) {
            let at = usize::from(probes.at[i]) % BURST;
            found[at] = probes.compare(i, tuple, arena, &keys[at], version, found[at]);
        }
    }
    for at in open.iter().map(|at| usize::from(*at) % BURST) {
        done(&mut keys[at], at, found[at]);
    }
}

impl Probes {
    /// All that are open.
    #[inline(always)]
    fn of(open: &[u8]) -> Probes {
        let mut probes = Probes { n: open.len().min(BURST), ..Probes::default() };
        probes.at[..probes.n].copy_from_slice(&open[..probes.n]);
        probes
    }

    /// Begins with the keys for which the tuple may have something better than was found.
    #[inline(always)]
    fn choose(&mut self, tuple: &Tuple, open: &[u8], found: &[Found; BURST]) {
        let order = tuple.order;
        self.n = 0;
        for at in open.iter().take(BURST) {
            self.at[self.n % BURST] = *at;
            self.n += usize::from(order <= found[usize::from(*at) % BURST].order);
        }
    }

    /// Begins with a tuple: all lines that its keys need are fetched.
    #[inline(always)]
    fn begin(&mut self, tuple: &Tuple, arena: &Arena, keys: &[Key]) {
        self.hash(tuple, keys);
        self.look(tuple, arena);
    }

    /// Hashes keys, and fetches their buckets.
    #[inline(always)]
    fn hash(&mut self, tuple: &Tuple, keys: &[Key]) {
        let tables = Tables::of(tuple);
        let n = self.n.min(BURST);
        let Some(short) = tuple.mask.short().copied() else { return self.hash_long(tuple, keys) };
        for ((at, hash), words) in self.at[..n].iter().zip(&mut self.hash).zip(&mut self.words) {
            *words = short.words(&keys[usize::from(*at)]);
            *hash = hash::of_two(*words);
            tables.prefetch(*hash);
        }
    }

    /// The same for masks of more than two words.
    #[inline(never)]
    fn hash_long(&mut self, tuple: &Tuple, keys: &[Key]) {
        let tables = Tables::of(tuple);
        for (at, hash) in self.at[..self.n].iter().zip(&mut self.hash) {
            *hash = tuple.mask.hash(&keys[usize::from(*at)]);
            tables.prefetch(*hash);
        }
    }

    /// Looks into buckets, and fetches the first unit of each key.
    #[inline(always)]
    fn look(&mut self, tuple: &Tuple, arena: &Arena) {
        let (tables, arena) = (Tables::of(tuple), arena.units());
        for (hash, first) in self.hash[..self.n.min(BURST)].iter().zip(&mut self.first) {
            *first = tables.first(*hash);
            if let Some(unit) = first.unit() {
                arena.prefetch(unit);
            }
        }
    }

    /// Compares a key: the better of its rule in the tuple and what was found `before`. Most often its first unit has the
    /// best rule of the tuple, or there is none.
    #[inline(always)]
    fn compare(
        &self,
        i: usize,
        tuple: &Tuple,
        arena: &Arena,
        key: &Key,
        version: u64,
        before: Found,
    ) -> Found {
        let first = self.first[i];
        if let Some(unit) = first.unit()
            && tuple.mask.short().is_some()
            && let Some(best) = tuple.best_of(arena, unit, self.words[i], version)
        {
            return best;
        }
        if first == First::NONE {
            return before;
        }
        tuple.improve_apart(arena, key, self.hash[i], version, before)
    }
}

/// A group of one tuple whose mask is a short one and whose table does not grow: what most groups are. Nothing is asked
/// for each key that can be asked once.
#[derive(Clone, Copy)]
pub(crate) struct Single<'a> {
    tuple: &'a Tuple,
    short: Short,
    homes: Homes<'a>,
}

impl<'a> Single<'a> {
    #[inline(always)]
    pub(crate) fn of(tuples: &'a [Tuple]) -> Option<Single<'a>> {
        let [tuple @ Tuple { old: None, .. }] = tuples else { return None };
        Some(Single { tuple, short: *tuple.mask.short()?, homes: tuple.new.homes() })
    }

    /// The rule for each of up to [`BURST`] keys, in their order, as [`search`] finds it.
    #[inline(always)]
    pub(crate) fn search(self, arena: &Arena, keys: &mut [Key], version: u64, told: &mut impl Told) {
        let mut probes = [Probe { words: [0; 2], line: self.homes.line(0), hash: 0 }; BURST];
        for (key, probe) in keys.iter().zip(&mut probes) {
            let words = self.short.words(key);
            let hash = hash::of_two(words);
            *probe = Probe { words, line: self.homes.line(hash), hash };
            prefetch(slice::from_ref(probe.line), 0);
        }
        // Units; 0 where the bucket has none.
        let mut firsts = [0; BURST];
        let mut elsewhere = 0_u32;
        let units = arena.units();
        for ((probe, first), bit) in probes[..keys.len().min(BURST)].iter().zip(&mut firsts).zip(0..) {
            match buckets::first(probe.line, probe.hash) {
                First::NONE => {}
                First::ELSEWHERE => elsewhere |= 1 << bit,
                First(unit) => *first = unit,
            }
            units.prefetch(*first);
        }
        let order = self.tuple.order;
        for (((at, key), probe), unit) in keys.iter_mut().enumerate().zip(&probes).zip(&firsts) {
            let (same, state) = units.same_and_state(*unit, probe.words, order, version);
            if same && state.is_end() {
                told.end(at, *unit, state);
                continue;
            }
            let found = if same && !matches!(state.form(), Form::Absent | Form::Link(_)) {
                Found { unit: *unit, state, order }
            } else if *unit == 0 && elsewhere >> at & 1 == 0 {
                Found::NONE
            } else {
                self.rest(arena, key, probe.hash, version)
            };
            told.other(key, at, found);
        }
    }

    /// What is found where the first unit has not the best rule.
    #[cold]
    fn rest(&self, arena: &Arena, key: &Key, hash: u32, version: u64) -> Found {
        self.tuple.improve(arena, key, hash, version, Found::NONE)
    }
}

/// Who is told what [`Single`] finds for the key of each place.
pub(crate) trait Told {
    /// A unit with a state that is an end.
    fn end(&mut self, at: usize, unit: u32, state: State);

    /// Anything else.
    fn other(&mut self, key: &mut Key, at: usize, found: Found);
}

/// A key on its way through a [`Single`].
#[derive(Clone, Copy)]
struct Probe<'a> {
    words: [u64; 2],
    /// Its bucket.
    line: &'a Line,
    hash: u32,
}

/// The hash tables of a tuple: while it grows, what is not in the new one is in the old one.
#[derive(Clone, Copy)]
struct Tables<'a> {
    new: Homes<'a>,
    old: Option<Homes<'a>>,
}

impl<'a> Tables<'a> {
    #[inline(always)]
    fn of(tuple: &'a Tuple) -> Tables<'a> {
        Tables { new: tuple.new.homes(), old: tuple.old.as_ref().map(|old| old.homes()) }
    }

    #[inline(always)]
    fn prefetch(self, hash: u32) {
        self.new.prefetch(hash);
        if let Some(old) = self.old {
            old.prefetch(hash);
        }
    }

    #[inline(always)]
    fn first(self, hash: u32) -> First {
        let first = self.new.first(hash);
        match self.old {
            Some(old) if first == First::NONE => old.first(hash),
            _ => first,
        }
    }
}

impl Tuple {
    /// The rule in a unit, if it matches and no rule of the tuple is better.
    #[inline(always)]
    fn best_of(&self, arena: &Arena, unit: u32, words: [u64; 2], version: u64) -> Option<Found> {
        let state = arena.units().state_of(unit, words, self.order, version);
        (state != State::ABSENT).then_some(Found { unit, state, order: self.order })
    }

    #[inline(never)]
    fn improve_apart(&self, arena: &Arena, key: &Key, hash: u32, version: u64, found: Found) -> Found {
        self.improve(arena, key, hash, version, found)
    }
}
