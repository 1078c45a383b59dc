//! A core's pool whose buffers cost cycles: its private stack is the core's own memory, which the model
//! does not see.

use memory::{Buf, Memory};
use rings::Buffers;
use rings::pool::CoreCache;

use crate::view::View;

/// A pool with a price.
pub(crate) struct Priced {
    pub pool: CoreCache<View>,
    /// Cycles to take a buffer and give it back.
    pub cycles: f64,
}

impl Buffers<View> for Priced {
    fn take(&mut self, m: &mut View, out: &mut [Buf]) -> usize {
        let got = self.pool.take(m, out);
        if self.cycles > 0.0 {
            m.work((self.cycles * got as f64) as u32);
        }
        got
    }

    fn give(&mut self, m: &mut View, bufs: &[Buf]) {
        self.pool.give(m, bufs);
    }
}
