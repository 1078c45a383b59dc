//! Of which kind a flow is, where somebody says it: of one that a core processes, or of one that bypasses cores.

use super::Sizes;
use crate::contract::{Choice, Value};

/// What is known of a port's flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: those that nobody processes are detected as the card drains them (§4.1).
    Detected,
    /// Cores process all of them: none is taken for one that bypasses cores.
    Involved,
    /// All of them bypass cores: none has credits.
    Bypass,
}

impl Choice for Kind {
    const ALL: &'static [(&'static str, Kind)] =
        &[("detected", Kind::Detected), ("involved", Kind::Involved), ("bypass", Kind::Bypass)];
}

/// The mark by which flow rules name frames of flows that bypass cores, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(pub Option<u32>);

impl Value for Mark {
    fn text(&self) -> String {
        self.0.map_or_else(|| "none".into(), |mark| mark.to_string())
    }

    fn set(&mut self, text: &str) -> bool {
        let mark = text.parse().ok().filter(|mark| *mark <= LAST_MARK);
        self.0 = mark;
        mark.is_some() || text == "none"
    }

    fn allowed(&self) -> String {
        format!("none or a flow rule's mark from 0 to {LAST_MARK}")
    }
}

/// The last that `rte_flow`'s MARK has in a frame's word: the one behind it is its FLAG.
const LAST_MARK: u32 = u32::MAX - 2;

/// Tells the kind of a frame's flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    kind: Kind,
    /// What a frame's word has for the mark: 0 there is none, so marks count from 1.
    word: Option<u32>,
}

impl Kinds {
    pub(super) fn new(sizes: &Sizes) -> Kinds {
        Kinds { kind: sizes.kind, word: sizes.bypass_mark.0.map(|mark| mark.saturating_add(1)) }
    }

    /// Whether a frame with this word is of a flow that is said to bypass cores.
    #[inline(always)]
    pub(super) fn bypasses(self, word: u32) -> bool {
        self.kind == Kind::Bypass || self.word == Some(word)
    }

    /// Whether such flows are to be detected.
    pub(super) fn detects(self) -> bool {
        self.kind == Kind::Detected
    }
}
