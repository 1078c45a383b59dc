//! `udp-ack`: answers every UDP datagram with one of 64 B, FCS and all, without a look at what it carries (CEIO, section
//! 6.1: the echo).

use memory::Memory;

use crate::headers::SHORTEST;
use crate::{App, Headers, Packet, Verdict};

/// Cycles per frame beside memory accesses: those of `l3fwd`, a program as bare as this one.
pub const CYCLES: u32 = crate::l3fwd::CYCLES;
/// What the answer carries of the datagram: an IPv4 frame of 64 B is full with it.
const KEPT: usize = SHORTEST - packet::ETHERNET - 20 - 8;

/// Answers each datagram with its first bytes.
pub struct UdpAck {
    cycles: u32,
}

impl UdpAck {
    /// One that takes `cycles` of a frame.
    pub fn new(cycles: u32) -> UdpAck {
        UdpAck { cycles }
    }
}

impl<M: Memory> App<M> for UdpAck {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline]
    fn frame(&mut self, _: &mut M, _: &Packet<M>, headers: &mut Headers) -> Verdict {
        let Some(payload) = headers.datagram() else { return Verdict::Pass };
        let mut kept = [0; KEPT];
        let seen = headers.bytes();
        let there = seen.get(payload.start..payload.end.min(seen.len())).unwrap_or_default();
        let len = there.len().min(KEPT);
        kept[..len].copy_from_slice(&there[..len]);
        headers.answer(&kept[..len], 0, 0).map_or(Verdict::Pass, Verdict::Reply)
    }
}
