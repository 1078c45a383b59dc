//! A received burst on its way to the queues.

use arrayvec::ArrayVec;
use rings::Frame;

use crate::limits::BURST;

/// Frames that passed, each with its queue.
pub(super) struct Burst<'a> {
    frames: ArrayVec<Frame<'a>, BURST>,
    /// Of those frames; zeros follow.
    queues: [u16; BURST],
}

/// Sorting keeps one bit for each frame.
const _: () = assert!(BURST == u64::BITS as usize);

impl<'a> Burst<'a> {
    #[inline(always)]
    pub(super) fn new() -> Burst<'a> {
        Burst { frames: ArrayVec::new(), queues: [0; BURST] }
    }

    /// Adds a frame; there are at most [`BURST`].
    #[inline(always)]
    pub(super) fn push(&mut self, queue: u16, frame: Frame<'a>) {
        self.queues[self.frames.len()] = queue;
        self.frames.push(frame);
    }

    /// All frames, as they came.
    #[inline(always)]
    pub(super) fn frames(&self) -> &[Frame<'a>] {
        &self.frames
    }

    /// Hands the frames to `each`, queue by queue, those of a queue as they came. A ring takes frames that lie in a
    /// row, so they are copied once.
    #[inline(always)]
    pub(super) fn by_queue(&self, mut each: impl FnMut(u16, &[Frame<'a>])) {
        let Some(last) = self.frames.len().checked_sub(1) else { return };
        // One bit for each frame that is left.
        let mut left = u64::MAX >> (BURST - 1 - last);
        while left != 0 {
            let queue = self.queues[left.trailing_zeros() as usize];
            let mut run = ArrayVec::<_, BURST>::new();
            for (i, frame) in self.frames.iter().enumerate() {
                if left >> i & 1 == 1 && self.queues[i] == queue {
                    run.push(*frame);
                    left &= !(1 << i);
                }
            }
            each(queue, &run);
        }
    }
}
