//! `udp-echo`: sends every UDP datagram back to where it came from, after a look at all of it.

use memory::Memory;

use crate::{App, Headers, Packet, SEEN, Verdict};

/// Cycles per frame beside memory accesses: those of `l3fwd`, a program as bare as this one.
pub const CYCLES: u32 = crate::l3fwd::CYCLES;

/// Reads each datagram from end to end and sends it back.
pub struct UdpEcho {
    cycles: u32,
    /// What has been read of a frame.
    payload: Vec<u8>,
    /// Bytes read behind the headers.
    bytes: u64,
}

impl UdpEcho {
    /// An echo that takes `cycles` of a frame.
    pub fn new(cycles: u32) -> UdpEcho {
        UdpEcho { cycles, payload: Vec::new(), bytes: 0 }
    }
}

impl<M: Memory> App<M> for UdpEcho {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline]
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        if !headers.turn() {
            return Verdict::Pass;
        }
        let rest = usize::from(packet.len).saturating_sub(SEEN);
        if rest > 0 {
            self.payload.resize(rest, 0);
            m.get(packet.frames, packet.buf, SEEN as u32, &mut self.payload, rest as u32);
        }
        self.bytes += rest as u64;
        Verdict::Send
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("bytes_read", self.bytes)]
    }
}
