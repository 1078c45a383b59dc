//! `vxlan`: the end of VXLAN tunnels: takes the outer headers off and sends on what they carried.

use memory::Memory;
use packet::vxlan::{HEADER, is_header};
use packet::{ETHERNET, kind};

use crate::{App, Cause, Headers, Packet, Verdict};

/// Cycles per frame beside memory accesses: those of `l3fwd`, a program as bare as this one.
pub const CYCLES: u32 = crate::l3fwd::CYCLES;

/// Sends the carried frames. What is no VXLAN passes.
pub struct Vxlan {
    cycles: u32,
}

impl Vxlan {
    /// An end that takes `cycles` of a frame.
    pub fn new(cycles: u32) -> Vxlan {
        Vxlan { cycles }
    }
}

impl<M: Memory> App<M> for Vxlan {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline]
    fn frame(&mut self, _: &mut M, _: &Packet<M>, headers: &mut Headers) -> Verdict {
        if headers.parsed().kind & kind::TUNNEL != kind::VXLAN {
            return Verdict::Pass;
        }
        let carried = headers.datagram().and_then(|payload| {
            let named = is_header(headers.bytes().get(payload.start..)?);
            let len = payload.len().checked_sub(HEADER).filter(|len| named && *len >= ETHERNET)?;
            Some(Verdict::Strip { before: (payload.start + HEADER) as u16, len: len as u16 })
        });
        carried.unwrap_or(Verdict::Drop(Cause::BadHeader))
    }
}
