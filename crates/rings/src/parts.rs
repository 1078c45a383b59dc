//! What rings are made of: each part is the words of both its ends, and the code that moves them.

pub(crate) mod completions;
pub(crate) mod empties;
pub(crate) mod entry;
pub(crate) mod lock;
