//! Bytes: copies of growing size, a frame copied into a buffer, a frame read.

use std::hint::black_box;

use memory::{Class, Memory, NativeView, Region, Space};

use super::bed::{LINE, field, timed};
use crate::fail::Fail;

/// Sizes of the plain copies, bytes: in L1 and L2, in the LLC, beyond.
pub(super) const SIZES: [usize; 3] = [16 << 10, 4 << 20, 128 << 20];
/// Bytes that a sample copies at least.
const LEAST: usize = 32 << 20;
/// Lines of a long frame, and repeats of one short operation.
const FRAME: u32 = 24;
const LINE_BYTES: usize = 64;
const REPEATS: u32 = 20_000;

/// A long frame where a buffer has it: from the start of a line on.
#[repr(align(64))]
struct Aligned([u8; FRAME as usize * LINE_BYTES]);

/// What is copied and read.
pub(super) struct Copies<'r> {
    frames: Box<[Aligned; 3]>,
    lines: <NativeView<'r> as Memory>::Words<LINE>,
    from: Vec<u8>,
    to: Vec<u8>,
}

impl<'r> Copies<'r> {
    /// # Errors
    /// No room.
    pub(super) fn new(mut region: &'r Region) -> Result<Copies<'r>, Fail> {
        let frames = Box::new([const { Aligned([1; _]) }; 3]);
        let lines = region.words(&field::<LINE>("frame", Class::Body, 32), 0).map_err(Fail::new)?;
        let most = SIZES.into_iter().max().unwrap_or_default();
        Ok(Copies { frames, lines, from: vec![1; most], to: vec![2; most] })
    }

    /// A plain copy of `bytes`, GB/s.
    pub(super) fn gbytes(&mut self, m: &mut NativeView<'_>, bytes: usize) -> f64 {
        let (from, to) = (&self.from[..bytes], &mut self.to[..bytes]);
        to.copy_from_slice(from);
        let rounds = LEAST.div_ceil(bytes);
        let ns = timed(m, |_| {
            for _ in 0..rounds {
                to.copy_from_slice(black_box(from));
                black_box(&mut *to);
            }
        });
        (rounds * bytes) as f64 / ns
    }

    /// Nanoseconds to copy a line of a frame, both in L1: by a plain copy, as frames come into another allocator's
    /// buffers.
    pub(super) fn put_line(&mut self, m: &mut NativeView<'r>) -> f64 {
        let [from, into @ ..] = &mut *self.frames;
        let ns = timed(m, |_| {
            for i in 0..REPEATS as usize {
                into[i % 2].0.copy_from_slice(black_box(&from.0));
                black_box(&mut into[i % 2]);
            }
        });
        ns / f64::from(REPEATS * FRAME)
    }

    /// Nanoseconds to read all words of a line that is in L1.
    pub(super) fn read_line(&self, m: &mut NativeView<'r>) -> f64 {
        let mut sum = 0u64;
        let ns = timed(m, |m| {
            for _ in 0..REPEATS {
                for line in 0..u64::from(FRAME) {
                    let words: [u64; LINE] = m.read(self.lines, line);
                    sum = words.into_iter().fold(sum, u64::wrapping_add);
                }
                sum = black_box(sum);
            }
        });
        ns / f64::from(REPEATS * FRAME)
    }
}
