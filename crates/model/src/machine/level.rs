//! The places where an access may find its line.

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
    /// DRAM.
    Dram,
    /// A cache of the far node: seen from there its LLC.
    Far,
}

impl Level {
    /// All of them, in order.
    pub(crate) const ALL: [Level; 6] =
        [Level::L2, Level::Llc, Level::Snoop, Level::SnoopL1, Level::Dram, Level::Far];
}
