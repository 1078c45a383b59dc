//! Lines of words: who has a copy of each, who waits for it, and what a store into it has to wait for.

use super::agents::{Agents, Who};
use super::node::Node;

/// What the world knows of a line of words, in one line of the host.
#[repr(align(64))]
#[derive(Clone, Debug, Default)]
pub(crate) struct WordLine {
    /// Agents parked until it is written.
    pub watch: Agents,
    /// Who has a copy from `changed` on, and who has one until then.
    pub has: Agents,
    had: Agents,
    /// When the store that took the line away from `had` shows. Of a contended line: when its only holder is done
    /// with it.
    pub changed: u64,
    /// Signals stored in it, wrapping.
    pub stores: u32,
    state: State,
}

/// What an agent of the other node that loads a line finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nobody has stored into it since it came from memory.
    #[default]
    Clean,
    Stored,
    /// Stored into, and a load takes it from `had` at `changed`.
    Leaving,
}

impl WordLine {
    /// Who has a copy at `at`: what was stored but does not show yet changes nothing.
    #[inline]
    fn copies(&mut self, at: u64) -> &mut Agents {
        if at >= self.changed { &mut self.has } else { &mut self.had }
    }

    /// `me` loads the line at `at`; whether it had no copy. Cores share a line until it is written. A card
    /// keeps what it has read; if a single core had the line, that core's next load finds it in its L2.
    #[inline(always)]
    pub(crate) fn load(&mut self, me: Who, at: u64) -> bool {
        self.copies(at).join(me)
    }

    /// What stands between `me` and a store at `at`.
    #[inline(always)]
    pub(crate) fn claim(&mut self, me: Who, at: u64) -> Claim {
        let copies = self.copies(at);
        if copies.is_but_cards(me) {
            Claim::Free
        } else if copies.has(me) {
            Claim::Recall
        } else {
            Claim::Fetch
        }
    }

    /// Whether the line comes over the link to `me`, an agent of `node`, for an access at `at`: a load that finds no
    /// other copy on its node, or a store that has to take one from the other node. `far` are the agents of the far
    /// node, `home` is the line's.
    pub(crate) fn crosses(
        &mut self,
        me: Who,
        at: u64,
        write: bool,
        far: &Agents,
        [node, home]: [Node; 2],
    ) -> bool {
        let copies = self.copies(at);
        let beside = copies.has_other(me, far, node == Node::Near);
        let across = copies.has_other(me, far, node == Node::Far);
        let here = beside || write && copies.has(me);
        if write && across { true } else { !here && (across || home != node) }
    }

    /// Whether the line moves with a load of the other node: an agent has stored into it.
    #[inline]
    pub(crate) fn moves(&self) -> bool {
        self.state != State::Clean
    }

    /// Whether it is a load that takes the line from who had it.
    #[inline]
    pub(crate) fn leaves(&self) -> bool {
        self.state == State::Leaving
    }

    /// `me` has asked for the line at `at` to load it, and nobody else keeps a copy from `leaves` on, unless somebody
    /// takes it to store into it after that.
    pub(crate) fn moves_to(&mut self, me: Who, at: u64, leaves: u64) {
        if leaves < self.changed {
            return self.copies(at).become_only(me);
        }
        self.has.remove(me);
        self.had.clone_from(&self.has);
        self.has.become_only(me);
        (self.changed, self.state) = (leaves, State::Leaving);
    }

    /// Whether the line is on its way to `me` alone.
    #[inline]
    pub(crate) fn comes(&self, me: Who, at: u64) -> bool {
        self.has.is(me) && at < self.changed
    }

    /// `me` stored into the line at `at`, and that shows at `visible`.
    #[inline(always)]
    pub(crate) fn wrote(&mut self, me: Who, at: u64, visible: u64) {
        if me.is_aside() {
            self.wrote_by_any(me, at, visible);
        } else {
            self.wrote_by(me, at, visible);
        }
    }

    #[cold]
    fn wrote_by_any(&mut self, me: Who, at: u64, visible: u64) {
        self.wrote_by(me, at, visible);
        // Who sets a ring up leaves it to memory.
        if me.is_nobody() {
            self.state = State::Clean;
        }
    }

    #[inline(always)]
    fn wrote_by(&mut self, me: Who, at: u64, visible: u64) {
        let shown = at >= self.changed;
        if shown {
            self.had.become_like(&self.has, me);
        }
        // Of two stores that do not show yet, the first one takes the line away.
        if shown || !self.has.is(me) {
            if !shown && self.leaves() && self.had.is(me) {
                return; // before the line goes
            }
            self.changed = visible;
        }
        self.becomes(me);
    }

    /// `me` alone has the line, and has stored into it.
    #[inline(always)]
    fn becomes(&mut self, me: Who) {
        self.has.become_only(me);
        self.state = State::Stored;
    }

    /// `me` has a contended line to itself until `until`.
    #[inline]
    pub(crate) fn hold(&mut self, me: Who, until: u64) {
        self.becomes(me);
        self.changed = until;
    }
}

/// What stands between a core and a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Nothing: no other core has a copy.
    Free,
    /// The line has to come.
    Fetch,
    /// It is here, but others have copies to be taken from them.
    Recall,
}
