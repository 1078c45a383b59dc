//! Going once over many lines: one word of each, or frames whole.

use std::hint::black_box;
use std::ptr;

use memory::native::Words;
use memory::{Class, Memory, NativeView, Region, Space};

use super::bed::{LINE, cycle, field, timed};
use crate::fail::Fail;

/// Lines of a long frame.
pub(super) const FRAME: usize = 24;

/// Lines from one buffer to the next, as DPDK's pools have it.
const STRIDE: u32 = 37;
/// The least that a line is waited for, ns: where work hides all of it, noise would make it less than nothing.
pub(super) const LEAST_NS: f64 = 0.1;

/// What a core does with each line of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Finds in it which line is next: no load before the last one is over.
    Walk,
    /// Loads a word; adds up all words of a frame.
    Load,
    /// Stores a word; copies a frame there.
    Store,
}

/// In which order it goes over the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Frames, whole: their lines one after the other.
    Sequential,
    /// Lines at random.
    Scattered,
}

/// In which order a pool gives its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    /// One behind the other.
    New,
    /// In none: it has been in use for long.
    Mixed,
}

impl Pool {
    /// The first line of each buffer in `lines`.
    fn buffers(self, lines: u32) -> Vec<u32> {
        let all = lines / STRIDE;
        let order = if self == Pool::Mixed { cycle(all) } else { (0..all).collect() };
        order.into_iter().map(|buffer| buffer * STRIDE).collect()
    }
}

/// Some lines in either order.
pub(super) struct Orders {
    /// The first line of each frame.
    frames: Vec<u32>,
    scattered: Vec<u32>,
}

/// A frame as it is copied from and to.
#[repr(align(64))]
struct Frame([[u64; LINE]; FRAME]);

static COPIED: Frame = Frame([[1; LINE]; FRAME]);

impl Orders {
    /// Of `lines`; of frames as many as they hold buffers.
    pub(super) fn new(lines: u32, pool: Pool) -> Orders {
        Orders { frames: pool.buffers(lines), scattered: cycle(lines) }
    }

    /// Two halves of twice as many lines. In a mixed pool buffers of either lie between those of the other, and what a
    /// processor fetches behind the end of a frame is the other half's.
    pub(super) fn halves(lines: u32, pool: Pool) -> [Orders; 2] {
        let mut first = pool.buffers(2 * lines);
        let second = first.split_off(first.len() / 2);
        let lines_of = |half: u32| cycle(lines).into_iter().map(move |line| half * lines + line).collect();
        [Orders { frames: first, scattered: lines_of(0) }, Orders { frames: second, scattered: lines_of(1) }]
    }

    /// Whole frames.
    pub(super) fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Goes once over them in `on`; nanoseconds of a line. They lie inside that field, and with frames nobody else
    /// accesses them meanwhile: the words by which they change hands order the accesses.
    pub(super) fn line<'r>(&self, m: &mut NativeView<'r>, on: Words<'r, LINE>, how: (Pass, Order)) -> f64 {
        let lines = match how.1 {
            Order::Sequential => self.frames.len() * FRAME,
            Order::Scattered => self.scattered.len(),
        };
        timed(m, |m| self.pass(m, on, how)) / lines as f64
    }

    fn pass<'r>(&self, m: &mut NativeView<'r>, on: Words<'r, LINE>, (what, order): (Pass, Order)) {
        let frames = self.frames.iter().map(|first| u64::from(*first));
        let lines = self.scattered.iter().map(|line| u64::from(*line));
        match (order, what) {
            (Order::Sequential, Pass::Store) => {
                // SAFETY: what `line` asks of its caller.
                frames.for_each(|frame| unsafe { put(on, frame) });
            }
            (Order::Sequential, Pass::Load | Pass::Walk) => {
                // SAFETY: what `line` asks of its caller.
                black_box(frames.fold(0, |sum, frame| sum ^ unsafe { read(on, frame) }));
            }
            (_, Pass::Walk) => {
                black_box(lines.fold(0, |at, _| m.acquire(on, at)));
            }
            (_, Pass::Load) => {
                black_box(lines.fold(0, |sum, line| sum ^ m.acquire(on, line)));
            }
            (_, Pass::Store) => lines.for_each(|line| m.release(on, line, line)),
        }
    }
}

/// A frame that its core has to itself in L1, for as many passes over it as over other frames: what reading and copying
/// them takes where no line has to come.
pub(super) struct AtHand<'r> {
    lines: Words<'r, LINE>,
}

impl<'r> AtHand<'r> {
    /// # Errors
    /// No room.
    pub(super) fn new(mut region: &'r Region) -> Result<AtHand<'r>, Fail> {
        let field = field::<LINE>("own", Class::Body, FRAME.next_power_of_two() as u32);
        Ok(AtHand { lines: region.words(&field, 0).map_err(Fail::new)? })
    }

    /// Nanoseconds of a line that is at hand; none where but a word of each line is accessed: that costs an operation,
    /// which is counted for itself.
    pub(super) fn line(&self, m: &mut NativeView<'r>, frames: usize, (what, order): (Pass, Order)) -> f64 {
        if order == Order::Scattered {
            return 0.0;
        }
        let own = Orders { frames: vec![0; frames], scattered: Vec::new() };
        own.line(m, self.lines, (what, order))
    }
}

/// Adds up the words of the frame whose lines begin with `line`.
///
/// # Safety
/// So many lines from there on lie inside the field, and nobody writes them meanwhile.
#[inline(always)]
unsafe fn read(on: Words<'_, LINE>, line: u64) -> u64 {
    // SAFETY: the caller's.
    let frame = unsafe { &*on.as_ptr(line).cast::<[[u64; LINE]; FRAME]>() };
    frame.as_flattened().iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Copies a frame to the lines that begin with `line`.
///
/// # Safety
/// As for [`read`], and nobody else reads them meanwhile.
#[inline(always)]
unsafe fn put(on: Words<'_, LINE>, line: u64) {
    // SAFETY: the caller's.
    unsafe { ptr::copy_nonoverlapping(black_box(&COPIED.0), on.as_ptr(line).cast(), 1) };
}

#[cfg(test)]
mod tests {
    use memory::Backing;

    use super::*;

    #[test]
    fn halves_share_no_line_and_lie_in_the_field() {
        for (lines, pool) in [(192, Pool::New), (192, Pool::Mixed), (2048, Pool::New), (2048, Pool::Mixed)] {
            let [a, b] = Orders::halves(lines, pool);
            assert_eq!(a.frames.len(), b.frames.len());
            let mut starts: Vec<u32> = a.frames.iter().chain(&b.frames).copied().collect();
            starts.sort_unstable();
            assert!(starts.windows(2).all(|w| w[1] - w[0] == STRIDE), "{pool:?}: {starts:?}");
            assert!(starts.last().is_some_and(|last| last + FRAME as u32 <= 2 * lines));
            let mut all: Vec<u32> = a.scattered.iter().chain(&b.scattered).copied().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..2 * lines));
        }
    }

    #[test]
    fn a_frame_is_read_as_it_was_copied() {
        let region = Region::new(1 << 16, Backing::Heap).unwrap();
        let mut space = &region;
        let words = space.words(&field::<LINE>("frames", Class::Body, 64), 0).unwrap();
        // SAFETY: 64 lines, and one thread.
        let read = |line| unsafe { read(words, line) };
        assert_eq!(read(37), 0);
        // SAFETY: as above.
        unsafe { put(words, 37) };
        assert_eq!(read(37), (FRAME * LINE) as u64);
        assert_eq!((read(36), read(13)), ((FRAME as u64 - 1) * LINE as u64, 0));
    }
}
