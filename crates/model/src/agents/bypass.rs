//! RDMA writes of a flow that no core receives: a queue pair of the card beside its receive queues.

use std::collections::VecDeque;

use memory::{Memory, Ps};

use super::book::Book;
use crate::engine::view::View;
use crate::machine::layout::Table;
use crate::scenario::bypass::{Bypass, HEADERS};

/// Entries of its completion queue.
const COMPLETIONS: u64 = 64;
/// Bytes of one.
const COMPLETION: u32 = 64;

/// Where a flow writes to.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    pub data: Table,
    /// What its immediates complete.
    pub completions: Table,
}

impl Region {
    /// Bytes of its completion queue.
    pub(crate) const QUEUE: u64 = COMPLETIONS * COMPLETION as u64;
}

/// Writes until the flow or the run is over. Packets wait for the slot in the bytes of the card's buffer; the sender is held
/// back where these are full, and nothing is dropped. Of a card with `credits` each packet of a batch takes one; those
/// beyond wait in the card's memory, and an immediate has them moved to the host's, past its caches, beside what comes.
pub(crate) fn work(
    m: &mut View,
    flow: Bypass,
    region: Region,
    (buffer, credits): (f64, Option<u32>),
    book: &Book,
) {
    let ps_per_byte = 8e3 / flow.gbps;
    let (mut done, mut completed, mut at, mut off) = (0_u64, 0_u64, flow.from.0 as f64, 0);
    let (mut used, mut slow) = (0, Slow::default());
    m.pause(flow.from, false);
    while !m.stopped() && m.now() < flow.until {
        if off + u64::from(flow.message) > flow.region {
            off = 0;
        }
        for nth in 0..flow.packets() {
            let len = flow.packet(nth);
            at += f64::from(len + HEADERS) * ps_per_byte;
            m.pause(Ps(at as u64), false);
            if credits.is_none_or(|credits| used < credits) {
                m.write_remote(region.data, off, len, flow.placed);
                used += 1;
            } else {
                m.keep_remote(len);
                slow.waiting.push_back((off, len));
                slow.kept += 1;
            }
            slow.drain(m, region);
            at = at.max(m.now().0 as f64 - buffer * ps_per_byte);
            off += u64::from(len);
        }
        done += 1;
        if done % u64::from(flow.batch) == 0 {
            let entry = completed % COMPLETIONS * u64::from(COMPLETION);
            m.complete_remote(region.completions, entry, COMPLETION);
            completed += 1;
            (used, slow.due) = (0, slow.waiting.len());
        }
    }
    book.add(vec![("bypass_writes", done), ("bypass_immediates", completed)]);
    if credits.is_some() {
        book.add(vec![("bypass_kept", slow.kept)]);
    }
}

/// Packets in the card's memory, and how many of them an immediate has released.
#[derive(Default)]
struct Slow {
    waiting: VecDeque<(u64, u32)>,
    due: usize,
    kept: u64,
}

impl Slow {
    /// Moves two for each that comes: the batch before is through before the next one is.
    fn drain(&mut self, m: &mut View, region: Region) {
        for _ in 0..self.due.min(2) {
            let Some((off, len)) = self.waiting.pop_front() else { return };
            m.drain_remote(region.data, off, len);
            self.due -= 1;
        }
    }
}
