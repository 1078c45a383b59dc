//! A received burst on its way to the queues.

use arrayvec::ArrayVec;
use nic::group;
use rings::Frame;

use crate::limits::BURST;

/// Frames that passed, each with its queue.
pub(super) struct Burst<'a> {
    frames: ArrayVec<Frame<'a>, BURST>,
    /// Of those frames; zeros follow.
    queues: [u16; BURST],
}

const _: () = assert!(BURST <= group::MOST);

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

    /// Hands the frames to `each`, see [`group::by_queue`].
    #[inline(always)]
    pub(super) fn by_queue(&self, each: impl FnMut(u16, &[Frame<'a>])) {
        group::by_queue(&self.frames, &self.queues, each);
    }
}
