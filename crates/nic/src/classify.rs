//! Parse and RSS: which queue a frame goes to.

use packet::{Fault, Parsed, Rss};

/// What the card's parser found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Receive queue.
    pub queue: u16,
    /// RSS hash; 0 where nothing of the frame is hashed.
    pub rss: u32,
    /// Whether `rss` is a hash.
    pub hashed: bool,
    /// Packet type, the bits of [`packet::kind`].
    pub kind: u32,
    /// Where its headers are.
    pub parsed: Parsed,
}

/// Queue, hash and type of a frame of `len` bytes that begins with `head`; `None` if it is malformed.
///
/// A header that runs past a captured part is not the frame's fault: what was parsed before it counts.
/// An unknown ethertype is no fault either; such frames hash to 0.
#[inline(always)]
pub fn classify(rss: &Rss, head: &[u8], len: u32) -> Option<Class> {
    let parsed = packet::parse(head);
    match parsed.fault {
        Some(Fault::Version | Fault::Length) => return None,
        Some(Fault::Short) if head.len() >= len as usize => return None,
        _ if len == 0 => return None,
        _ => {}
    }
    let hash = rss.hashed(&parsed, head);
    let (value, hashed) = (hash.unwrap_or(0), hash.is_some());
    Some(Class { queue: rss.queue(value), rss: value, hashed, kind: parsed.kind, parsed })
}
