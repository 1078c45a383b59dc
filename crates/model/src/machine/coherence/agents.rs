//! Sets of agents: who has a copy of a line, who waits for it.
//!
//! A usual run has some twenty agents: a set of them is one word, with a bit for each. A *large* run has more agents
//! than bits: its sets are several words, which lie aside. All members of a run are of one kind, and each tells by its
//! bit which kind that is.

/// The most agents of a simulation: 128 cores, and as many that play NICs.
pub(crate) const AGENTS: usize = 256;
/// Numbers behind those of agents: of all cards together, and of nobody.
const CARDS: u16 = AGENTS as u16;
const NOBODY: u16 = CARDS + 1;

/// The bit of a member of a large run. No set has this bit: a look at the word finds nothing, and only then the words
/// aside are looked at.
const ELSEWHERE: u64 = 1;
/// The bit that says that there are members in the words aside.
const ASIDE: u64 = 2;
/// The bit of all cards together.
const CARD: u64 = 4;
/// Bits before those of agents, and the most agents of a run that is not large.
const FIRST: usize = 3;
const FEW: usize = 64 - FIRST;

/// Whether a run of so many agents is large.
pub(crate) const fn is_large(agents: usize) -> bool {
    agents > FEW
}

/// A member of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    bit: u64,
    number: u16,
}

impl Who {
    /// Agent `number`. From [`AGENTS`] on it is nobody, as a view for set-up is: no set has that.
    pub(crate) const fn agent(number: usize, large: bool) -> Who {
        match number {
            AGENTS.. => Who { bit: 0, number: NOBODY },
            0..FEW if !large => Who { bit: 1 << FIRST << number, number: number as u16 },
            _ => Who { bit: ELSEWHERE, number: number as u16 },
        }
    }

    /// All cards as one member: no two of them use the same words.
    pub(crate) const fn cards(large: bool) -> Who {
        Who { bit: if large { ELSEWHERE } else { CARD }, number: CARDS }
    }

    /// Whether it is the cards.
    const fn is_cards(self) -> bool {
        self.number == CARDS
    }

    /// Whether no set can have it.
    pub(crate) const fn is_nobody(self) -> bool {
        self.bit == 0
    }

    /// Whether it is in words aside, if anywhere: it has no bit of its own.
    #[inline(always)]
    pub(crate) const fn is_aside(self) -> bool {
        self.bit <= ELSEWHERE
    }

    const fn word(self) -> usize {
        self.number as usize / 64
    }

    const fn bit_of_word(self) -> u64 {
        1 << (self.number % 64)
    }
}

/// A bit for each number.
pub(crate) type Bits = [u64; 5];

/// A set of agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agents {
    bits: u64,
    /// Of no meaning without [`ASIDE`].
    aside: Option<Box<Bits>>,
}

impl Agents {
    #[inline(always)]
    pub(crate) fn has(&self, who: Who) -> bool {
        self.bits & who.bit != 0 || who.is_aside() && self.has_aside(who)
    }

    /// Whether there is nobody but `who`.
    #[inline(always)]
    pub(crate) fn is(&self, who: Who) -> bool {
        self.bits == who.bit || who.is_aside() && self.is_in_words(who, false)
    }

    /// The same, cards left out.
    #[inline(always)]
    pub(crate) fn is_but_cards(&self, who: Who) -> bool {
        self.bits & !CARD == who.bit || who.is_aside() && self.is_in_words(who, true)
    }

    /// Adds `who`; whether it was not here. Cards that come to a single other member take its place.
    #[inline(always)]
    pub(crate) fn join(&mut self, who: Who) -> bool {
        if self.bits & who.bit != 0 {
            return false;
        }
        if who.is_aside() {
            return self.join_aside(who);
        }
        if who.bit == CARD && self.bits.is_power_of_two() {
            self.bits = 0;
        }
        self.bits |= who.bit;
        true
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, who: Who) {
        if who.is_aside() {
            self.insert_aside(who);
        } else {
            self.bits |= who.bit;
        }
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, who: Who) {
        if who.is_aside() {
            self.remove_aside(who);
        } else {
            self.bits &= !who.bit;
        }
    }

    /// There is nobody but `who` from now on.
    #[inline(always)]
    pub(crate) fn become_only(&mut self, who: Who) {
        if who.is_aside() {
            self.become_only_aside(who);
        } else {
            self.bits = who.bit;
        }
    }

    /// The same as `other` from now on, where members are as `who` is.
    #[inline(always)]
    pub(crate) fn become_like(&mut self, other: &Agents, who: Who) {
        if who.is_aside() {
            self.clone_from(other);
        } else {
            self.bits = other.bits;
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// Whether one of the members beside `who` is among `others`; if `outside`, whether one is not.
    #[inline]
    pub(crate) fn has_other(&self, who: Who, others: &Agents, outside: bool) -> bool {
        let flip = if outside { u64::MAX } else { 0 };
        if who.bit != ELSEWHERE {
            return self.bits & !who.bit & (others.bits ^ flip) != 0;
        }
        let (mine, theirs) = (self.words(), others.words());
        (0..mine.len()).any(|i| {
            let me = if i == who.word() { who.bit_of_word() } else { 0 };
            mine[i] & !me & (theirs[i] ^ flip) != 0
        })
    }

    /// The agents, a bit each: of a run that is not large, and those of a large one.
    #[inline(always)]
    pub(crate) fn members(&self) -> (u64, Option<Bits>) {
        if self.bits & ASIDE == 0 { (self.bits >> FIRST, None) } else { (0, Some(self.words())) }
    }

    #[cold]
    fn words(&self) -> Bits {
        let words = self.aside.as_deref().filter(|_| self.bits & ASIDE != 0);
        words.copied().unwrap_or_default()
    }

    #[cold]
    fn has_aside(&self, who: Who) -> bool {
        self.words()[who.word()] & who.bit_of_word() != 0
    }

    #[cold]
    fn is_in_words(&self, who: Who, but_cards: bool) -> bool {
        let cards = u32::from(but_cards && self.has_aside(Who::cards(true)));
        self.has_aside(who) && count(self.words()) == 1 + cards
    }

    #[cold]
    fn insert_aside(&mut self, who: Who) {
        if who.is_nobody() {
            return;
        }
        let mut words = self.words();
        words[who.word()] |= who.bit_of_word();
        self.put(words);
    }

    #[cold]
    fn remove_aside(&mut self, who: Who) {
        if who.is_nobody() {
            return;
        }
        let mut words = self.words();
        words[who.word()] &= !who.bit_of_word();
        self.put(words);
    }

    #[cold]
    fn become_only_aside(&mut self, who: Who) {
        self.bits = 0;
        self.insert_aside(who);
    }

    #[cold]
    fn join_aside(&mut self, who: Who) -> bool {
        let missing = !self.has_aside(who);
        if missing && who.is_cards() && count(self.words()) == 1 {
            self.bits = 0;
        }
        self.insert_aside(who);
        missing
    }

    fn put(&mut self, words: Bits) {
        **self.aside.get_or_insert_default() = words;
        self.bits = if count(words) > 0 { ASIDE } else { 0 };
    }
}

fn count(words: Bits) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

/// The places of the bits of a word that are set.
#[inline(always)]
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        lowest
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::mix::mix;

    fn members(set: &Agents) -> BTreeSet<usize> {
        let (word, aside) = set.members();
        let aside = aside.unwrap_or_default().into_iter().enumerate();
        ones(word).chain(aside.flat_map(|(i, word)| ones(word).map(move |bit| i * 64 + bit))).collect()
    }

    #[test]
    fn a_set_of_any_size_is_a_set() {
        for most in [1, 5, FEW, FEW + 1, AGENTS] {
            let (mut set, mut before) = (Agents::default(), Agents::default());
            let (mut want, mut old) = (BTreeSet::new(), BTreeSet::new());
            let mut chance = most as u64;
            for _ in 0..20_000 {
                chance = mix(chance);
                let number = (chance >> 32) as usize % most;
                let who = Who::agent(number, is_large(most));
                match chance % 8 {
                    0 => {
                        set.insert(who);
                        want.insert(number);
                    }
                    1..3 => assert_eq!(set.join(who), want.insert(number)),
                    3..6 => {
                        set.remove(who);
                        want.remove(&number);
                    }
                    6 => {
                        set.become_only(who);
                        want = BTreeSet::from([number]);
                    }
                    _ => {
                        before.become_like(&set, who);
                        old.clone_from(&want);
                    }
                }
                assert_eq!(members(&set), want);
                assert_eq!(members(&before), old);
                assert_eq!(set.has(who), want.contains(&number));
                assert_eq!((set.is(who), set.is_but_cards(who)), (want.iter().eq([&number]), set.is(who)));
                assert_eq!(set.is_empty(), want.is_empty());
            }
        }
    }

    #[test]
    fn others_are_looked_for_inside_and_outside_of_a_set() {
        for most in [5, FEW, FEW + 1, AGENTS] {
            let who = |number| Who::agent(number, is_large(most));
            let (mut set, mut far) = (Agents::default(), Agents::default());
            let mut chance = most as u64;
            for _ in 0..2_000 {
                chance = mix(chance);
                let (me, one) = ((chance >> 8) as usize % most, (chance >> 32) as usize % most);
                match chance % 4 {
                    0 => set.insert(who(one)),
                    1 => set.remove(who(one)),
                    2 => far.insert(who(one)),
                    _ => far.remove(who(one)),
                }
                let mut others = members(&set);
                others.remove(&me);
                let (inside, outside): (Vec<_>, Vec<_>) =
                    others.into_iter().partition(|other| far.has(who(*other)));
                assert_eq!(set.has_other(who(me), &far, false), !inside.is_empty());
                assert_eq!(set.has_other(who(me), &far, true), !outside.is_empty());
            }
        }
    }

    #[test]
    fn cards_are_one_member_and_nobody_is_none() {
        for large in [false, true] {
            let (core, cards) = (Who::agent(3, large), Who::cards(large));
            let nobody = Who::agent(usize::MAX, large);
            let mut set = Agents::default();
            set.insert(nobody);
            assert!(set.is_empty() && !set.has(nobody));
            assert!(set.is(nobody), "as nobody is left if nobody is left out");
            set.insert(core);
            assert!(set.is(core) && set.is_but_cards(core) && !set.is(nobody));
            set.insert(Who::agent(4, large));
            assert!(set.join(cards) && set.has(core), "of two, both keep it");
            set.remove(Who::agent(4, large));
            assert!(set.has(cards) && set.is_but_cards(core) && !set.is(core));
            assert!(!set.join(cards) && set.has(core));
            set.become_only(core);
            assert!(set.join(cards) && set.is(cards), "cards take it from one");
            set.become_only(nobody);
            assert!(set.is_empty() && set.is(nobody));
        }
    }
}
