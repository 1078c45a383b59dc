//! A rule's actions as one word, which the half of a stamp holds.

use crate::action::{Action, Fate, Plan};
use crate::verdict::Ending;

/// What a rule does, or that it is absent. Lists of a fate, a mark and a counter fit in; others lie in a record.
///
/// Bits 0 and 1: form. Inline: bit 2 counts, bit 3 marks, bits 4 and 5 the fate, bit 6 a jump, 16 to 31 the fate's
/// number, 32 to 63 the mark.
/// Others: bits 32 to 63 a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(pub(crate) u64);

/// What a state says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Absent,
    Inline(Inline),
    /// The record of this number has the actions.
    Record(u32),
    /// The unit of this number has the state.
    Link(u32),
}

/// A fate with little beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inline {
    pub(crate) fate: Fate,
    pub(crate) mark: Option<u32>,
    pub(crate) count: bool,
}

const INLINE: u64 = 1;
const RECORD: u64 = 2;
const LINK: u64 = 3;
const COUNT: u64 = 4;
const MARK: u64 = 8;
const JUMP: u64 = 0x40;

impl State {
    pub(crate) const ABSENT: State = State(0);

    pub(crate) fn record(number: u32) -> State {
        State(RECORD | u64::from(number) << 32)
    }

    pub(crate) fn link(unit: u32) -> State {
        State(LINK | u64::from(unit) << 32)
    }

    /// Whether another unit has the state.
    #[inline(always)]
    pub(crate) fn is_link(self) -> bool {
        self.0 & 3 == LINK
    }

    /// The state of a plan that needs no record.
    pub(crate) fn of(plan: &Plan<'_>) -> Option<State> {
        let mut inline = Inline { fate: plan.fate, mark: None, count: false };
        for action in plan.list {
            match *action {
                Action::Mark(mark) => inline.mark = Some(mark),
                Action::Count => inline.count = true,
                Action::Queue(_) | Action::Rss(_) | Action::Drop | Action::Jump(_) => {}
                _ => return None,
            }
        }
        Some(inline.into())
    }

    /// A fate with little beside it, if it is one: what most rules are.
    #[inline(always)]
    pub(crate) fn inline(self) -> Option<Inline> {
        (self.0 & 3 == INLINE).then(|| self.as_inline())
    }

    /// Whether a frame ends by it, and nothing is asked for but a mark and a counter.
    #[inline(always)]
    pub(crate) fn is_end(self) -> bool {
        self.0 & (JUMP | 3) == INLINE
    }

    /// How a frame ends by one that is an end, and its mark.
    #[inline(always)]
    pub(crate) fn end(self) -> (Ending, Option<u32>) {
        let number = (self.0 >> 16) as u16;
        // Numbers of fates are those of endings, so that nothing is left to choose. The last one is a jump's: no end.
        let ending = match self.0 >> 4 & 3 {
            0 => Ending::Queue(number),
            1 => Ending::Rss(number),
            2 => Ending::Drop,
            _ => Ending::Missed(number),
        };
        (ending, (self.0 & MARK != 0).then_some((self.0 >> 32) as u32))
    }

    /// Whether one that is an end counts.
    #[inline(always)]
    pub(crate) fn counts(self) -> bool {
        self.0 & COUNT != 0
    }

    #[inline(always)]
    pub(crate) fn form(self) -> Form {
        let number = (self.0 >> 32) as u32;
        match self.0 & 3 {
            INLINE => Form::Inline(self.as_inline()),
            RECORD => Form::Record(number),
            LINK => Form::Link(number),
            _ => Form::Absent,
        }
    }

    #[inline(always)]
    fn as_inline(self) -> Inline {
        let (mark, number) = ((self.0 >> 32) as u32, (self.0 >> 16) as u16);
        let fate = match self.0 >> 4 & 3 {
            0 => Fate::Queue(number),
            1 => Fate::Rss(number),
            2 => Fate::Drop,
            _ => Fate::Jump(number),
        };
        Inline { fate, mark: (self.0 & MARK != 0).then_some(mark), count: self.0 & COUNT != 0 }
    }
}

impl From<Inline> for State {
    fn from(inline: Inline) -> State {
        let (fate, number) = match inline.fate {
            Fate::Queue(queue) => (0, queue),
            Fate::Rss(context) => (1, context),
            Fate::Drop => (2, 0),
            Fate::Jump(group) => (3, group),
        };
        let flag = |there, bit| if there { bit } else { 0 };
        let flags = flag(inline.count, COUNT) | flag(inline.mark.is_some(), MARK) | flag(fate == 3, JUMP);
        let mark = u64::from(inline.mark.unwrap_or(0)) << 32;
        State(INLINE | flags | fate << 4 | u64::from(number) << 16 | mark)
    }
}

impl Inline {
    /// The list that it stands for.
    pub(crate) fn actions(self) -> Vec<Action> {
        let fate = match self.fate {
            Fate::Queue(queue) => Action::Queue(queue),
            Fate::Rss(context) => Action::Rss(context),
            Fate::Drop => Action::Drop,
            Fate::Jump(group) => Action::Jump(group),
        };
        let mark = self.mark.map(Action::Mark);
        let count = self.count.then_some(Action::Count);
        mark.into_iter().chain(count).chain([fate]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::Match;

    #[test]
    fn a_state_says_what_it_was_made_of() {
        for fate in [Fate::Queue(65_535), Fate::Rss(7), Fate::Drop, Fate::Jump(1)] {
            for mark in [None, Some(0), Some(u32::MAX)] {
                for count in [false, true] {
                    let inline = Inline { fate, mark, count };
                    assert_eq!(State::from(inline).form(), Form::Inline(inline));
                    let list = inline.actions();
                    assert_eq!(State::of(&Plan::new(&list, &Match::any()).unwrap()), Some(inline.into()));
                }
            }
        }
        assert_eq!(State::record(9).form(), Form::Record(9));
        assert_eq!(State::link(u32::MAX).form(), Form::Link(u32::MAX));
        assert_eq!(State::ABSENT.form(), Form::Absent);
    }

    #[test]
    fn what_does_not_fit_needs_a_record() {
        let list = [Action::Age(3), Action::Drop];
        assert_eq!(State::of(&Plan::new(&list, &Match::any()).unwrap()), None);
    }
}
