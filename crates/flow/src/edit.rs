//! What rules do to a frame's bytes: fields are set, VXLAN is taken off and put on. Checksums follow.

mod encap;
mod place;
mod sums;

use arrayvec::ArrayVec;

use crate::action::Action;
use crate::field::{Field, Layer, TTL};
use crate::key::Key;

/// Bytes of a frame in which fields are set. Headers behind them stay as they are.
pub const HEAD: usize = 256;

/// The longest frame, bytes: lengths have 16 bits.
const LONGEST: u32 = u16::MAX as u32;

/// A frame that was edited: its new first bytes, behind which the old frame goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    head: ArrayVec<u8, { HEAD + encap::MOST }>,
    /// Bytes of the frame as it is now.
    len: u32,
    /// Bytes of the old frame that `head` stands for.
    taken: u32,
}

/// A frame grew longer than 65,535 B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {0} B; {LONGEST} B are allowed")]
pub struct TooLong(pub u32);

impl Edited {
    /// A frame of `len` bytes that begins with `bytes`, before anything is done to it.
    pub fn new(bytes: &[u8], len: u32) -> Edited {
        let seen = bytes.len().min(HEAD).min(len as usize);
        let head: ArrayVec<u8, _> = bytes[..seen].iter().copied().collect();
        Edited { len, taken: head.len() as u32, head }
    }

    /// Its first bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Where the old frame goes on behind the [`head`](Self::head).
    pub fn rest_from(&self) -> u32 {
        self.taken
    }

    /// Its bytes in all, without FCS.
    #[expect(clippy::len_without_is_empty, reason = "a length of what is elsewhere")]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Does one action; those that change no bytes do nothing.
    ///
    /// # Errors
    /// The frame would grow too long.
    pub fn apply(&mut self, action: &Action) -> Result<(), TooLong> {
        match action {
            Action::Set { field, value } => self.change(*field, |_| *value),
            Action::DecTtl => {
                TTL.into_iter().for_each(|field| self.change(field, |ttl| ttl.saturating_sub(1)))
            }
            Action::VxlanDecap => self.decap(),
            Action::VxlanEncap(vxlan) => self.encap(vxlan)?,
            _ => {}
        }
        Ok(())
    }

    /// Changes a field of the outer headers, where its header is there.
    fn change(&mut self, field: Field, change: impl Fn(u128) -> u128) {
        let parsed = packet::parse(&self.head);
        let there = Key::read(&self.head, &parsed).get(Layer::Outer, field).is_some();
        let Some(place) = place::of(field, &parsed, &self.head).filter(|_| there) else { return };
        if let Some(bytes) = self.head.get_mut(place.at..place.at + place.bytes) {
            let mut whole = [0; 16];
            let words = &mut whole[16 - place.bytes..];
            words.copy_from_slice(bytes);
            let old = <[u8; 16]>::try_from(&whole[..]).map_or(0, u128::from_be_bytes);
            let mask = field.largest() << place.shift;
            let value = change((old & mask) >> place.shift);
            let new = (old & !mask | value << place.shift & mask).to_be_bytes();
            sums::replace(&mut self.head, &parsed, place.at, &new[16 - place.bytes..]);
        }
    }

    fn decap(&mut self) {
        let parsed = packet::parse(&self.head);
        let vxlan = Key::read(&self.head, &parsed).has(Layer::Outer, crate::field::Header::Vxlan);
        let before = usize::from(parsed.l4) + encap::UDP_VXLAN;
        if vxlan && before <= self.head.len() {
            self.head.drain(..before);
            self.len -= before as u32;
        }
    }
}
