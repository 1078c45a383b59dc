//! Parse and steering: which queue a frame goes to.

use packet::{Fault, Parsed, Steering};

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
/// `None` if it is malformed.
///
/// A header that runs past a captured part is not the frame's fault: what was parsed before it counts.
/// An unknown ethertype is no fault either; such frames have number 0.
#[inline(always)]
pub fn classify(steering: &impl Steering, parsed: &Parsed, head: &[u8], len: u32) -> Option<Class> {
    match parsed.fault {
        Some(Fault::Version | Fault::Length) => return None,
        Some(Fault::Short) if head.len() >= len as usize => return None,
        _ if len == 0 => return None,
        _ => {}
    }
    let number = steering.number(parsed, head);
    let (value, hashed) = (number.unwrap_or(0), number.is_some());
    Some(Class { queue: steering.queue(value), rss: value, hashed, kind: parsed.kind })
}
