//! Coherence: which copies of a line there are, whose memory it belongs to, and what crosses between the nodes.
//!
//! The server has two nodes. Cores, cards and memory of the *near* one are those of today's servers; cores that play the
//! NIC may be on the *far* one, as the NIC of a coherent link is, and a card may be. Every line has a **home**, the node
//! whose memory it belongs to. Its copies are kept in one of two forms:
//!
//! * of a line of words, an exact set of agents and when a store takes the line from them ([`word_line`]): rings are
//!   made of such lines, and whether a copy is there decides what an agent sees;
//! * of a line of a buffer, at most one copy in each node's private caches ([`directory`]), for the lines that are
//!   simulated.
//!
//! A line that a node gets from the other one crosses the [`link`], which counts it as a read or as a read for
//! ownership (RFO).

pub(crate) mod agents;
pub(super) mod directory;
pub(super) mod home;
pub(crate) mod link;
pub(crate) mod node;
pub(crate) mod word_line;

use agents::Agents;
use link::{Crossed, NodeLink};
use node::Node;

/// Who is where, and what crosses between the nodes.
pub(crate) struct Nodes {
    /// Whether something of the far node takes part: cores or a card.
    pub apart: bool,
    /// Whether a line of words that one node has stored into moves to an agent of the other one that loads it.
    moves: bool,
    /// Agents of the far node.
    pub far: Agents,
    /// Lines that agents of each node got over the link: each of words, and of buffers as many as the sample tells.
    pub crossed: [Crossed; 2],
    link: NodeLink,
}

impl Nodes {
    /// One node, or two if they are `apart`; whether loads from the other one move lines of words.
    pub(crate) fn new(apart: bool, moves: bool, link: NodeLink) -> Nodes {
        Nodes { apart, moves, far: Agents::default(), crossed: Default::default(), link }
    }

    /// Whether loads move lines of words from node to node.
    #[inline]
    pub(crate) fn words_move(&self) -> bool {
        self.apart && self.moves
    }

    /// Lines cross the link to `node` at `at`; whether what they wait is another time from now on.
    #[inline]
    pub(crate) fn cross(&mut self, node: Node, write: bool, lines: u64, at: u64) -> bool {
        self.crossed[node as usize].count(write, lines);
        self.carry(node, lines, at)
    }

    /// The same of lines that nobody asked for: stores past the caches.
    #[inline]
    pub(crate) fn carry(&mut self, to: Node, lines: u64, at: u64) -> bool {
        self.link.take(to, at, lines)
    }

    /// What a line to a node waits for the link, ps.
    #[inline]
    pub(crate) fn wait(&self, to: Node) -> u64 {
        self.link.wait(to)
    }
}
