//! Packet buffers as pages of slots of one size, each page with a count of the answers that are being sent from it.
//!
//! A slot that is given up while its page is being sent from waits until the last of them is sent. So nobody
//! writes to bytes that a card may still read.

use memory::LINE;

/// The most slots of a page.
const MOST: u32 = 192;
/// Words of a set of slots.
const WORDS: usize = MOST as usize / 64;

/// Some slots of a page.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Slots([u64; WORDS]);

impl Slots {
    /// The first `n`.
    fn first_of(n: u32) -> Slots {
        let mut all = Slots::default();
        (0..n).for_each(|slot| all.add(slot));
        all
    }

    fn add(&mut self, slot: u32) {
        self.0[slot as usize / 64] |= 1 << (slot % 64);
    }

    fn unite(&mut self, others: Slots) {
        self.0.iter_mut().zip(others.0).for_each(|(word, bits)| *word |= bits);
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn is_empty(&self) -> bool {
        *self == Slots::default()
    }

    /// Takes out the first slot.
    fn take(&mut self) -> Option<u32> {
        let (at, word) = (0..).zip(&mut self.0).find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        Some(at * 64 + bit)
    }
}

/// Where an item lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) page: u32,
    pub(super) slot: u32,
}

/// How pages are cut: each into equal slots of whole lines, as many as hold an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Lines of a page.
    lines: u32,
}

impl Cut {
    /// Of pages of `room` bytes.
    pub(super) fn new(room: u32) -> Cut {
        Cut { lines: room / LINE as u32 }
    }

    /// Slots of a page for items of `bytes`; `None` if a page holds none.
    pub(super) fn slots(self, bytes: usize) -> Option<u32> {
        let lines = u32::try_from(bytes.div_ceil(LINE)).ok()?.max(1);
        (lines <= self.lines).then(|| (self.lines / lines).min(MOST))
    }

    /// Where slot `slot` of a page of `slots` begins.
    pub(super) fn offset(self, slots: u32, slot: u32) -> u32 {
        slot * (self.lines / slots.max(1)) * LINE as u32
    }
}

/// A page.
#[derive(Clone, Default)]
struct Page {
    /// Slots that it is cut into; 0: it is empty and may be cut anew.
    slots: u32,
    /// Where it stands among the open pages of its size, if it has free slots.
    at: u32,
    /// Answers that are being sent from it.
    sending: u32,
    free: Slots,
    /// Given up, and perhaps being sent.
    waiting: Slots,
}

/// All pages of a store.
pub(super) struct Pages {
    pub(super) cut: Cut,
    pages: Vec<Page>,
    /// Pages that have free slots, by how many slots they have.
    open: Vec<Vec<u32>>,
    empty: Vec<u32>,
}

impl Pages {
    /// `count` empty pages.
    pub(super) fn new(cut: Cut, count: u32) -> Pages {
        let open = vec![Vec::new(); MOST as usize + 1];
        Pages { cut, pages: vec![Page::default(); count as usize], open, empty: (0..count).rev().collect() }
    }

    /// A slot for an item of `bytes`; `None` if there is none.
    pub(super) fn take(&mut self, bytes: usize) -> Option<Place> {
        let slots = self.cut.slots(bytes)?;
        let open = &mut self.open[slots as usize];
        if open.is_empty() {
            let page = self.empty.pop()?;
            self.pages[page as usize] = Page { slots, free: Slots::first_of(slots), ..Page::default() };
            open.push(page);
        }
        let page = *open.last()?;
        let free = &mut self.pages[page as usize].free;
        let slot = free.take()?;
        if free.is_empty() {
            open.pop();
        }
        Some(Place { page, slot })
    }

    /// Gives up a slot that was taken.
    pub(super) fn give(&mut self, place: Place) {
        let page = &mut self.pages[place.page as usize];
        let mut slots = Slots::default();
        slots.add(place.slot);
        if page.sending > 0 {
            page.waiting.unite(slots);
        } else {
            self.free(place.page, slots);
        }
    }

    fn free(&mut self, number: u32, slots: Slots) {
        let page = &mut self.pages[number as usize];
        let open = &mut self.open[page.slots as usize];
        if page.free.is_empty() {
            page.at = open.len() as u32;
            open.push(number);
        }
        page.free.unite(slots);
        if page.free.count() == page.slots {
            let at = page.at as usize;
            page.slots = 0;
            open.swap_remove(at);
            if let Some(moved) = open.get(at) {
                self.pages[*moved as usize].at = at as u32;
            }
            self.empty.push(number);
        }
    }

    /// Where an item of `place` begins in its page.
    pub(super) fn offset(&self, place: Place) -> u32 {
        self.cut.offset(self.pages[place.page as usize].slots, place.slot)
    }

    /// Whether an item of `bytes` may be written where another one is: it fits as well, and nobody reads there.
    pub(super) fn may_write(&self, place: Place, bytes: usize) -> bool {
        let page = &self.pages[place.page as usize];
        page.sending == 0 && self.cut.slots(bytes) == Some(page.slots)
    }

    /// An answer is going to be sent from a page.
    pub(super) fn keep(&mut self, page: u32) {
        self.pages[page as usize].sending += 1;
    }

    /// An answer has been sent from a page, or will not be.
    pub(super) fn returned(&mut self, number: u32) {
        let Some(page) = self.pages.get_mut(number as usize) else { return };
        page.sending = page.sending.saturating_sub(1);
        if page.sending == 0 && !page.waiting.is_empty() {
            let waiting = core::mem::take(&mut page.waiting);
            self.free(number, waiting);
        }
    }

    /// Answers that are being sent.
    pub(super) fn sending(&self) -> u64 {
        self.pages.iter().map(|page| u64::from(page.sending)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn items_share_a_page_by_their_size() {
        let cut = Cut::new(9728);
        assert_eq!([1, 64, 65, 200, 9728].map(|bytes| cut.slots(bytes)), [152, 152, 76, 38, 1].map(Some));
        assert_eq!(cut.slots(9729), None);
        assert_eq!([cut.offset(152, 151), cut.offset(38, 37), cut.offset(1, 0)], [151 * 64, 37 * 4 * 64, 0]);
        assert_eq!(Cut::new(65_535).slots(1), Some(MOST));
    }

    proptest! {
        /// No two items overlap, none begins where a page is being sent from a slot given up, and all of the room
        /// comes back.
        #[test]
        fn slots_never_overlap(steps in prop::collection::vec((0u8..4, 1usize..2049, any::<usize>()), 1..400)) {
            let mut pages = Pages::new(Cut::new(2048), 6);
            let mut items = BTreeMap::<(u32, u32), u32>::new();
            let mut sent = Vec::<(u32, u32, u32)>::new();
            for (what, bytes, which) in steps {
                match what {
                    0 | 1 => {
                        if let Some(place) = pages.take(bytes) {
                            let start = pages.offset(place);
                            let end = start + (bytes as u32).next_multiple_of(64);
                            prop_assert!(end <= 2048);
                            let taken = items.iter().map(|((p, s), e)| (*p, *s, *e)).chain(sent.iter().copied());
                            for (p, s, e) in taken {
                                prop_assert!(p != place.page || e <= start || end <= s, "overlap");
                            }
                            items.insert((place.page, start), end);
                        } else {
                            prop_assert!(!items.is_empty() || !sent.is_empty(), "nothing is held, nothing is free");
                        }
                    }
                    2 if !items.is_empty() => {
                        let (&(page, start), &end) = items.iter().nth(which % items.len()).unwrap();
                        if which & 1 == 0 {
                            sent.push((page, start, end));
                            pages.keep(page);
                        }
                        items.remove(&(page, start));
                        let slots = pages.pages[page as usize].slots;
                        let slot = (0..slots).find(|slot| pages.cut.offset(slots, *slot) == start).unwrap();
                        pages.give(Place { page, slot });
                    }
                    3 if !sent.is_empty() => {
                        let (page, ..) = sent.swap_remove(which % sent.len());
                        pages.returned(page);
                    }
                    _ => {}
                }
            }
            sent.iter().for_each(|(page, ..)| pages.returned(*page));
            for ((page, start), _) in items {
                let slots = pages.pages[page as usize].slots;
                let slot = (0..slots).find(|slot| pages.cut.offset(slots, *slot) == start).unwrap();
                pages.give(Place { page, slot });
            }
            prop_assert_eq!((pages.empty.len(), pages.sending()), (6, 0));
        }
    }
}
