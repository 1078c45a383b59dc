//! `nf`: the synthetic function of rxbisect §6.2: random reads in a large buffer, a route, and send.

use std::sync::Arc;

use memory::{Memory, Touch};

use crate::l3fwd::L3fwd;
use crate::{App, Headers, Packet, Verdict};

/// Cycles per frame beside memory accesses: those of the framework that LB runs in as well.
pub const CYCLES: u32 = crate::lb::CYCLES;
/// Words of the buffer: 40 MiB, more than an LLC.
const WORDS: u64 = (40 << 20) / 8;
/// Reads of each frame.
const READS: u32 = 2;
/// Cycles from a number to the place of the next: two multiplications, and shifts and sums, in a row.
const STEP: u32 = 12;
/// An odd multiplier without structure (the golden ratio's digits).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A buffer of random numbers, one for all cores: nobody writes it.
#[derive(Clone)]
pub struct Numbers {
    /// None in the model, where a number is made when it is read.
    words: Option<Arc<[u64]>>,
}

/// What stands at `i`.
fn number(i: u64) -> u64 {
    mix(i.wrapping_mul(MIX))
}

/// A permutation with good avalanche.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(MIX);
    x ^ (x >> 29)
}

impl Numbers {
    /// The name of the buffer.
    pub const NAME: &'static str = "nf.numbers";
    /// Bytes of the buffer.
    pub const BYTES: u64 = WORDS * 8;

    /// The buffer on real memory.
    pub fn real() -> Numbers {
        Numbers { words: Some((0..WORDS).map(number).collect()) }
    }

    /// The same numbers without the memory.
    pub fn declared() -> Numbers {
        Numbers { words: None }
    }

    #[inline]
    fn read<M: Memory>(&self, m: &mut M, table: M::Table, i: u64) -> u64 {
        m.touch(table, i * 8, Touch::Read);
        self.words.as_ref().map_or_else(|| number(i), |words| words[i as usize])
    }
}

/// Reads numbers, each at the place that the last one led to, then routes as [`L3fwd`].
pub struct Nf<M: Memory> {
    route: L3fwd<M>,
    numbers: Numbers,
    table: M::Table,
    reads: u32,
    /// Where the next frame's reads begin, and what all reads found.
    state: u64,
    cycles: u32,
}

impl<M: Memory> Nf<M> {
    /// Reads `extra` numbers more than the usual two for each frame (the paper's target core), at
    /// addresses that `seed` decides.
    pub fn new(
        route: L3fwd<M>,
        numbers: Numbers,
        table: M::Table,
        extra: u32,
        seed: u64,
        cycles: u32,
    ) -> Nf<M> {
        Nf { route, numbers, table, reads: READS.saturating_add(extra), state: mix(seed ^ MIX), cycles }
    }
}

impl<M: Memory> App<M> for Nf<M> {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline(always)]
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        for _ in 0..self.reads {
            let at = (u128::from(self.state) * u128::from(WORDS)) >> 64;
            m.work(STEP);
            self.state = mix(self.state ^ self.numbers.read(m, self.table, at as u64));
        }
        self.route.frame(m, packet, headers)
    }

    /// What all reads found. It is reported so that the compiler cannot leave the reads out.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("numbers", self.state)]
    }
}
