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
