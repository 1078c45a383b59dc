//! Parse and steering: which queue a frame goes to.

use packet::{ETHERNET, Parsed, Steering};

/// What the card's parser found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Receive queue.
    pub queue: u16,
    /// RSS hash, or the number that steering goes by; 0 where the frame has none.
    pub rss: u32,
    /// Whether it has one.
    pub hashed: bool,
    /// Packet type, the bits of [`packet::kind`].
    pub kind: u32,
}

/// Queue, hash and type of a frame of `len` bytes that begins with `head`, in which [`packet::parse`] found `parsed`;
/// `None` if it is shorter than an Ethernet header.
///
/// What is wrong with the packet in the frame is for the host to find: as on cards, the type tells how far the headers
/// could be followed, and steering goes by what there is. Frames that give nothing to steer by have number 0.
#[inline(always)]
pub fn classify(steering: &impl Steering, parsed: &Parsed, head: &[u8], len: u32) -> Option<Class> {
    if len < ETHERNET as u32 {
        return None;
    }
    let number = steering.number(parsed, head);
    let (value, hashed) = (number.unwrap_or(0), number.is_some());
    Some(Class { queue: steering.queue(value), rss: value, hashed, kind: parsed.kind })
}
