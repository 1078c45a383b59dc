//! Numbers that several rooms know.

/// Words of a key that a mask may use: as many as an entry has room for.
pub const MASK_WORDS: usize = 17;

/// Words of a key that an entry of one unit has.
pub(crate) const SHORT: usize = 2;

/// Actions of a rule at most.
pub const ACTIONS: usize = 32;

/// Tags that a frame can carry from group to group.
pub const TAGS: u8 = 3;

/// Frames that are searched together.
pub const BURST: usize = 32;

/// Groups in which one frame is looked up at most.
pub const CHAIN: usize = 16;
