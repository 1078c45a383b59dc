//! What `world::server` charges, ps, and how long things take.

#![allow(dead_code, reason = "no test needs all of it")]

use memory::{Buf, Memory, Ps, Touch};
use model::{PoolId, Table, View};

/// A nanosecond.
pub(crate) const NS: u64 = 1000;
/// An operation on words that are here.
pub(crate) const OP: u64 = NS;
/// An atomic on a line that is here.
pub(crate) const ATOMIC: u64 = 10 * NS;
/// A hit in the own L2.
pub(crate) const L2: u64 = 7 * NS;
/// A hit in the LLC.
pub(crate) const LLC: u64 = 22 * NS;
/// A line from another core.
pub(crate) const SNOOP: u64 = 60 * NS;
/// More for what comes from the other node.
pub(crate) const REMOTE: u64 = 70 * NS;
/// A line from idle DRAM.
pub(crate) const DRAM: u64 = 85 * NS;
/// Readers of a line that is held get it within this of each other.
pub(crate) const TURNS: u64 = 256;
/// Stores leave through the store buffer, eight lines at a time.
pub(crate) const STORES: u64 = 8;
/// Independent loads of a busy core, where a core plays the card: so many lines at a time.
pub(crate) const LOADS: u64 = 4;
/// Of lines in a row, likewise.
pub(crate) const RUN: u64 = 6;
/// To read, and to copy, a line that is here, likewise.
pub(crate) const READ: u64 = 2 * NS;
pub(crate) const COPY: u64 = 3 * NS;
/// A byte on PCIe.
pub(crate) const BYTE: u64 = 100;
/// What a TLP adds to its payload.
pub(crate) const TLP: u64 = 26 * BYTE;
/// From the card to the cache.
pub(crate) const TO_CACHE: u64 = 300 * NS;
/// From a core's doorbell to the card.
pub(crate) const BELL: u64 = 800 * NS;

/// How long `what` takes.
pub(crate) fn cost(m: &mut View, what: impl FnOnce(&mut View)) -> u64 {
    let from = m.now();
    what(m);
    (m.now() - from).0
}

/// Reading a line of a table.
pub(crate) fn touch(m: &mut View, table: Table, line: u64) -> u64 {
    cost(m, |m| m.touch(table, line * 64, Touch::Read))
}

/// Reading `len` bytes of a frame.
pub(crate) fn get(m: &mut View, b: PoolId, buf: u64, len: u32) -> u64 {
    cost(m, |m| m.get(b, Buf(buf), 0, &mut [0; 64], len))
}

/// Nothing until `at`.
pub(crate) fn until(m: &mut View, at: u64) {
    m.pause(Ps(at), false);
    assert_eq!(m.now(), Ps(at), "a pause ends on time");
}
