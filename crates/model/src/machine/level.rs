//! The places where an access may find its line.

use super::coherence::node::Node;

/// Where an access found its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The core's own L2.
    L2,
    /// The LLC.
    Llc,
    /// Another core's L2.
    Snoop,
    /// Another core's L1, where the profile tells it from the L2.
    SnoopL1,
    /// DRAM of the near node.
    Dram,
    /// A cache of the far node: seen from there its LLC.
    Far,
    /// A cache of the other node than the one that asks, whose own memory the line belongs to: that is asked first.
    Away,
    /// DRAM of the far node.
    FarDram,
}

/// How many there are.
pub(crate) const LEVELS: usize = 8;

impl Level {
    /// All of them, in order.
    pub(crate) const ALL: [Level; LEVELS] = [
        Level::L2,
        Level::Llc,
        Level::Snoop,
        Level::SnoopL1,
        Level::Dram,
        Level::Far,
        Level::Away,
        Level::FarDram,
    ];

    /// Whether a line comes from there to a core of `node` over the link.
    #[inline(always)]
    pub(crate) const fn crosses(self, node: Node) -> bool {
        match self {
            Level::L2 => false,
            Level::Away => true,
            Level::Llc | Level::Snoop | Level::SnoopL1 | Level::Dram => matches!(node, Node::Far),
            Level::Far | Level::FarDram => matches!(node, Node::Near),
        }
    }
}
