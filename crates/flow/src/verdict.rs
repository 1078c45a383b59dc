//! What the tables say of a frame.

use arrayvec::ArrayVec;

use crate::action::Action;
use crate::edit::{Edited, TooLong};
use crate::records::Record;
use crate::sizes::CHAIN;

/// What becomes of a frame in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// To this receive queue.
    Queue(u16),
    /// To a queue by RSS, as the context of this number says.
    Rss(u16),
    /// Dropped.
    Drop,
    /// No rule of this group matched.
    Missed(u16),
    /// It was to be looked up in more groups than [`CHAIN`](crate::CHAIN).
    TooLong,
}

/// What the tables say of a frame. Metadata and tags are in its key.
#[derive(Clone, Debug)]
pub struct Verdict<'b> {
    /// What becomes of it.
    pub ending: Ending,
    /// Its mark, the last one that a rule gave it.
    pub mark: Option<u32>,
    /// In how many groups it was looked up.
    pub groups: u32,
    /// Lists of the rules that matched, as far as they edit the frame.
    pub(crate) records: Option<Box<ArrayVec<&'b Record, CHAIN>>>,
}

impl Verdict<'_> {
    /// Of a frame that was looked up nowhere.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Verdict { ending: Ending::TooLong, mark: None, groups: 0, records: None }
    }

    /// Whether the frame's bytes change.
    #[inline(always)]
    pub fn is_edited(&self) -> bool {
        self.records.is_some()
    }

    /// The frame of `len` bytes that begins with `bytes`, after all that is to be done to it.
    ///
    /// # Errors
    /// It would grow too long.
    pub fn edit(&self, bytes: &[u8], len: u32) -> Result<Edited, TooLong> {
        let mut edited = Edited::new(bytes, len);
        self.edits().try_for_each(|action| edited.apply(action)).map(|()| edited)
    }

    /// What is to be done to the frame's bytes, in this order: `Set`, `VxlanDecap` and `VxlanEncap`. Its key has the
    /// first two already.
    pub fn edits(&self) -> impl Iterator<Item = &Action> {
        self.records
            .iter()
            .flat_map(|records| records.iter())
            .flat_map(|record| &record.list)
            .filter(|action| action.edits())
    }
}
