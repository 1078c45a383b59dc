//! The words of a `ddring`: what a descriptor says on its way to the NIC and on its way back.

use memory::{Buf, Memory};

use crate::contract::{Buffers, Completion, Frame};

// ## Words

/// Words of a descriptor: `[address, 0]` to the NIC, `[rss | kind << 32, length | done << 16 | mark << 32]` back:
/// length and mark as in a [`Completion`].
pub(super) const WORDS: usize = 2;
/// The descriptor is done: the NIC has stored a frame.
const DONE: u64 = 1 << u16::BITS;

/// What the NIC writes back over a descriptor once `frame` lies in its buffer.
#[inline(always)]
pub(super) fn written_back(frame: &Frame<'_>) -> [u64; WORDS] {
    [frame.meta, frame.size | DONE]
}

/// The words of one ring that a receiving core reads and writes: alike for one core and for several.
pub(crate) struct Words<M: Memory> {
    pub(crate) descriptor: M::Words<WORDS>,
    pub(crate) tail: M::Words<1>,
    pub(crate) buffer: M::Words<1>,
    /// Descriptors.
    pub(crate) size: u64,
}

impl<M: Memory> Clone for Words<M> {
    fn clone(&self) -> Self {
        *self
    }
}

// A derived one would ask for a memory that can be copied.
impl<M: Memory> Copy for Words<M> {}

impl<M: Memory> Words<M> {
    /// Descriptors from `next` on that are done, at most `most`: all of them posted.
    #[inline(always)]
    pub(crate) fn done(&self, m: &mut M, next: u64, most: u64) -> u64 {
        let mut n = 0;
        // Pairs with the publish in `Ring::show`.
        while n < most && m.acquire(self.descriptor, next.wrapping_add(n)) & DONE != 0 {
            n += 1;
        }
        n
    }

    /// The frame in descriptor `i`, which is done and the caller's; the buffer alone, if the frame cannot
    /// be in it.
    #[inline(always)]
    pub(crate) fn frame(&self, m: &mut M, b: M::Buffers, i: u64) -> Result<Completion, Buf> {
        let [meta, status] = m.read(self.descriptor, i);
        let [raw] = m.read(self.buffer, i);
        match m.check(b, raw, u32::from(status as u16)) {
            Ok(buf) => Ok(Completion::of(buf, meta, status)),
            Err(_) => Err(Buf(raw)),
        }
    }

    /// Makes descriptor `i` an empty one for `buf`. The NIC has it once TAIL has moved past it.
    #[inline(always)]
    pub(crate) fn replace(&self, m: &mut M, i: u64, buf: Buf) {
        m.write(self.buffer, i, [buf.0]);
        m.publish(self.descriptor, i, [buf.0, 0]); // with `tail`'s ring: pairs with the acquire in `Ring::refresh`
    }

    /// Gives the buffers of descriptors `from..to` back, done or not.
    pub(crate) fn give_back<B: Buffers<M>>(&self, m: &mut M, bufs: &mut B, from: u64, to: u64) {
        for i in 0..to.wrapping_sub(from).min(self.size) {
            let [raw] = m.read(self.buffer, from.wrapping_add(i));
            bufs.give(m, &[Buf(raw)]);
        }
    }
}
