//! Plain copies of growing size.

use std::hint::black_box;

use memory::NativeView;

use super::bed::timed;

/// Sizes of the plain copies, bytes: in L1 and L2, in the LLC, beyond.
pub(super) const SIZES: [usize; 3] = [16 << 10, 4 << 20, 128 << 20];
/// Bytes that a sample copies at least.
const LEAST: usize = 32 << 20;
/// What is copied.
pub(super) struct Copies {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Copies {
    pub(super) fn new() -> Copies {
        let most = SIZES.into_iter().max().unwrap_or_default();
        Copies { from: vec![1; most], to: vec![2; most] }
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
}
