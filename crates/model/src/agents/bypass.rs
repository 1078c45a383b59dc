//! RDMA writes of a flow that no core receives: a queue pair of the card beside its receive queues.

use memory::{Memory, Ps};

use super::book::Book;
use super::files::Files;
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
    /// What its host has, if it takes files.
    pub files: Option<Files>,
}

impl Region {
    /// Bytes of its completion queue.
    pub(crate) const QUEUE: u64 = COMPLETIONS * COMPLETION as u64;

    /// Where the entry of an immediate is in it.
    pub(crate) fn entry(&self, nth: u64) -> u64 {
        nth % COMPLETIONS * u64::from(COMPLETION)
    }
}

/// Writes until the flow or the run is over. Packets wait for the slot in `buffer` bytes of the card; the sender is held
/// back where these are full, and nothing is dropped.
pub(crate) fn work(m: &mut View, flow: Bypass, region: Region, buffer: f64, book: &Book) {
    let ps_per_byte = 8e3 / flow.gbps;
    let (mut done, mut completed, mut at, mut off) = (0_u64, 0_u64, flow.from.0 as f64, 0);
    m.pause(flow.from, false);
    while !m.stopped() && m.now() < flow.until {
        // A batch of a file lies in one piece.
        let begins = region.files.is_some() && done % u64::from(flow.batch) == 0;
        let next = if begins { flow.batch_bytes() } else { flow.message.into() };
        if off + next > flow.region {
            off = 0;
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
            m.write_remote(region.data, off, len, flow.placed);
            at = at.max(m.now().0 as f64 - buffer * ps_per_byte);
            off += u64::from(len);
        }
        done += 1;
        if done % u64::from(flow.batch) == 0 {
            m.complete_remote(region.completions, region.entry(completed), COMPLETION);
            completed += 1;
            if let Some(files) = region.files {
                files.tell(m, completed);
            }
        }
    }
    book.add(vec![("bypass_writes", done), ("bypass_immediates", completed)]);
}
