//! RDMA writes of a flow that no core receives: a queue pair of the card beside its receive queues.

use std::collections::VecDeque;

use memory::{Memory, Ps};

use super::book::Book;
use super::files::Files;
use crate::engine::view::View;
use crate::machine::layout::Table;
use crate::scenario::bypass::{Bypass, COMPLETION, HEADERS, entry};

/// Where a flow writes to.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    pub data: Table,
    /// What its immediates complete.
    pub completions: Table,
    /// What its host has, if it takes files.
    pub files: Option<Files>,
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
        // A batch of a file lies in one piece.
        let begins = region.files.is_some() && done % u64::from(flow.batch) == 0;
        let next = if begins { flow.batch_bytes() } else { flow.message.into() };
        if off + next > flow.region {
            off = 0;
        }
        if let Some(files) = region.files.filter(|_| begins && flow.batches() == 1)
            && slow.drain(m, region, usize::MAX)
        {
            files.tell(m, completed);
        }
        if let Some(files) = region.files.filter(|_| begins)
            && !files.has_room(m, completed, flow.batches() - 1)
        {
            break;
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
                if slow.drain(m, region, 1)
                    && let Some(files) = region.files
                {
                    files.tell(m, completed);
                }
            }
            at = at.max(m.now().0 as f64 - buffer * ps_per_byte);
            off += u64::from(len);
        }
        done += 1;
        if done % u64::from(flow.batch) == 0 {
            m.complete_remote(region.completions, entry(completed), COMPLETION);
            completed += 1;
            used = 0;
            slow.due = slow.waiting.len();
            if let Some(files) = region.files.filter(|_| slow.due == 0) {
                files.tell(m, completed);
            }
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
    /// Moves `most` of them; whether those were the last ones of a batch. One for each that is kept: they are through when
    /// the next batch is, and the slot carries no more than the wire.
    fn drain(&mut self, m: &mut View, region: Region, most: usize) -> bool {
        let count = self.due.min(most);
        for (off, len) in self.waiting.drain(..count) {
            m.drain_remote(region.data, off, len);
        }
        self.due -= count;
        count > 0 && self.due == 0
    }
}
