//! The application that ends a frame: it reads and checks each one, and gives its buffer back.

use apps::{App, Cause, Headers, Packet, Verdict};
use memory::Memory;

use crate::ledger::Ledger;
use crate::stamp::Stamp;

/// Frames whose headers are on their way while another is read.
const AHEAD: usize = 4;

/// Records every frame in its core's ledger.
pub(crate) struct Check {
    pub(crate) ledger: Ledger,
}

impl<M: Memory> App<M> for Check {
    fn cycles(&self) -> u32 {
        0
    }

    fn ahead(&self) -> usize {
        AHEAD
    }

    #[inline]
    fn frame(&mut self, _: &mut M, _: &Packet<M>, headers: &mut Headers) -> Verdict {
        self.ledger.record(Stamp::read(headers.bytes()));
        Verdict::Drop(Cause::Consumed)
    }
}
