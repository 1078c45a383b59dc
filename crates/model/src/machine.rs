//! The modelled machine: its caches, DRAM and links, the words and frames that lie in its memory, and what an access
//! to them costs. Nothing here knows who acts when.

pub mod cache;
pub(crate) mod costs;
pub(crate) mod dram;
pub(crate) mod frames;
pub mod hierarchy;
pub(crate) mod host;
pub(crate) mod layout;
pub(crate) mod level;
pub(crate) mod lines;
pub(crate) mod pcie;
pub(crate) mod prices;
pub(crate) mod sample;
pub(crate) mod who;
