//! The card's own memory: slots that hold frames until their cores ask for them. All accesses of the ring to that
//! memory are here: who prices it does so by [`Geometry::home`].

use memory::{Buf, Geometry, Memory, Side, Space};

use crate::contract::{Frame, Rest};
use crate::sizes::SizeError;

/// Bytes of a slot: the buffer of §4.1. A longer frame takes several.
pub const SLOT: u32 = 2048;

const NONE: u32 = u32::MAX;

/// Slots, those that are free among them.
pub(super) struct Elastic<M: Memory> {
    buffers: M::Buffers,
    /// The slot behind each: of its frame, or of those that are free.
    next: Vec<u32>,
    free: u32,
    left: u32,
    least: u32,
    /// A frame in one piece.
    whole: Vec<u8>,
}

impl<M: Memory> Elastic<M> {
    /// `slots` in `space`, all of them free.
    ///
    /// # Errors
    /// It has no room.
    pub(super) fn bind<S: Space<Mem = M>>(space: &mut S, slots: u32) -> Result<Elastic<M>, SizeError> {
        let buffers = space.buffers(&Geometry::plain(slots, SLOT).homed(Side::Nic))?;
        let next = (1..=slots).map(|next| if next < slots { next } else { NONE }).collect();
        Ok(Elastic { buffers, next, free: 0, left: slots, least: slots, whole: Vec::new() })
    }

    /// Slots that hold frames, now and at most.
    pub(super) fn used(&self) -> [u32; 2] {
        [self.left, self.least].map(|left| self.next.len() as u32 - left)
    }

    /// Whether half of it is used.
    pub(super) fn is_congested(&self) -> bool {
        self.left as usize <= self.next.len() / 2
    }

    fn slot(&self, m: &M, slot: u32) -> Buf {
        // It is one of the slots, so there is such a buffer.
        m.check(self.buffers, u64::from(slot), SLOT).unwrap_or(Buf(u64::from(slot)))
    }

    /// Stores a frame; its first slot, if there is room.
    pub(super) fn keep(&mut self, m: &mut M, frame: &Frame<'_>) -> Option<u32> {
        let len = u32::from(frame.len());
        let count = len.div_ceil(SLOT).max(1);
        if count > self.left {
            return None;
        }
        let first = self.free;
        if let (Rest::Nothing, 1) = (frame.rest, count) {
            let buf = self.slot(m, first);
            m.put(self.buffers, buf, 0, frame.bytes(), len);
        } else {
            self.keep_pieces(m, frame);
        }
        let last = (1..count).fold(first, |slot, _| self.next[slot as usize]);
        self.free = core::mem::replace(&mut self.next[last as usize], NONE);
        self.left -= count;
        self.least = self.least.min(self.left);
        Some(first)
    }

    /// Stores a frame that is not one piece for one slot in the slots that are free.
    fn keep_pieces(&mut self, m: &mut M, frame: &Frame<'_>) {
        let mut whole = core::mem::take(&mut self.whole);
        whole.clear();
        whole.extend_from_slice(frame.bytes());
        if let Rest::Pieces(more) = frame.rest {
            more.iter().for_each(|piece| whole.extend_from_slice(piece));
        }
        whole.resize(usize::from(frame.len()), 0);
        let mut slot = self.free;
        for part in whole.chunks(SLOT as usize) {
            let buf = self.slot(m, slot);
            m.put(self.buffers, buf, 0, part, part.len() as u32);
            slot = self.next[slot as usize];
        }
        self.whole = whole;
    }

    /// The bytes of a frame of `len` that was stored from slot `first` on.
    pub(super) fn read(&mut self, m: &mut M, first: u32, len: u16) -> &[u8] {
        self.whole.resize(usize::from(len), 0);
        let mut whole = core::mem::take(&mut self.whole);
        let mut slot = first;
        for part in whole.chunks_mut(SLOT as usize) {
            let buf = self.slot(m, slot);
            m.get(self.buffers, buf, 0, part, part.len() as u32);
            slot = self.next[slot as usize];
        }
        self.whole = whole;
        &self.whole
    }

    /// Frees the slots of a frame.
    pub(super) fn free(&mut self, first: u32) {
        let mut last = first;
        self.left += 1;
        while self.next[last as usize] != NONE {
            last = self.next[last as usize];
            self.left += 1;
        }
        self.next[last as usize] = core::mem::replace(&mut self.free, first);
    }
}
