//! The buffers of all pools: what is kept of their frames, and how many others are used between two uses of one.

use memory::Buf;

use super::frames::{Frames, Origin};
use super::layout::PoolId;

/// All buffers.
pub(crate) struct BufferMemory {
    frames: Vec<Frames>,
    /// Whether cores store past their caches into some of them.
    pub streams: bool,
    /// Frames that a NIC has written, all ports; the clock of reuse distances.
    puts: u64,
    /// Sum and number of reuse distances, in frames.
    pub reuse: (u64, u64),
}

impl BufferMemory {
    /// Nothing has been written into these.
    pub(crate) fn new(frames: Vec<Frames>, streams: bool) -> BufferMemory {
        BufferMemory { frames, streams, puts: 0, reuse: (0, 0) }
    }

    /// The frames in buffers of `b`.
    #[inline(always)]
    pub(crate) fn of(&self, b: PoolId) -> &Frames {
        &self.frames[b.index as usize]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn of_mut(&mut self, b: PoolId) -> &mut Frames {
        &mut self.frames[b.index as usize]
    }

    /// A NIC has written the frame in `buf`; it came at `stamp`, from `origin`.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, b: PoolId, buf: Buf, stamp: u64, origin: &Origin) {
        let puts = self.puts as u32;
        let frames = self.of_mut(b);
        if let Some(kept) = frames.origins.get_mut(buf.0 as usize) {
            *kept = *origin;
        }
        let kept = &mut frames.kept[buf.0 as usize];
        kept.stamp = stamp;
        let before = std::mem::replace(&mut kept.puts, puts);
        self.reuse.0 += u64::from(puts.wrapping_sub(before));
        self.reuse.1 += 1;
        self.puts += 1;
    }

    /// Asks the host for what is kept of frames of the first pool that words may name.
    #[inline(always)]
    pub(crate) fn expect(&self, words: &[u64]) {
        let Some(frames) = self.frames.first() else { return };
        let Some(last) = frames.kept.len().checked_sub(1) else { return };
        for raw in words {
            // The host could not guess which of them are frames.
            frames.kept[last.min(*raw as usize)].expect();
        }
    }
}
