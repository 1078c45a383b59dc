//! A core's pool whose buffers cost cycles: its private stack is the core's own memory, which the model
//! does not see.

use memory::{Buf, Memory};
use rings::Buffers;
use rings::pool::CoreCache;

use crate::engine::view::View;

/// A pool with a price.
pub(crate) struct Priced {
    pub pool: CoreCache<View>,
    /// Cycles to take a buffer and give it back.
    pub cycles: f64,
    /// Cycles of a call, however many buffers it takes.
    pub call: u32,
    /// Time spent with the pool that all cores share, ps.
    pub spent: Spent,
}

/// What a core's private stack does not hold costs time: taking from the shared pool, giving back to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub taking: u64,
    pub giving: u64,
}

impl Buffers<View> for Priced {
    fn take(&mut self, m: &mut View, out: &mut [Buf]) -> usize {
        let began = m.now();
        let got = self.pool.take(m, out);
        self.spent.taking += m.now().saturating_sub(began).0;
        let cycles = self.call + (self.cycles * got as f64) as u32;
        if cycles > 0 {
            m.work(cycles);
        }
        got
    }

    fn give(&mut self, m: &mut View, bufs: &[Buf]) {
        let began = m.now();
        self.pool.give(m, bufs);
        self.spent.giving += m.now().saturating_sub(began).0;
    }
}
