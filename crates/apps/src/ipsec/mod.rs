//! `ipsec`: a gateway that forwards, drops or seals each flow as its policies say.

mod esp;
mod spd;

pub use esp::{Keys, Sa, Suite, spi};
pub use spd::{Policy, Selector, Spd};

use core::ops::Range;

use memory::Memory;

use crate::l3fwd::L3fwd;
use crate::{App, Cause, Headers, Packet, Verdict};

/// Cycles per frame beside memory accesses and ciphers: those of l3fwd.
pub const CYCLES: u32 = crate::l3fwd::CYCLES;

/// The ends of the tunnel unless told otherwise (addresses for documentation, RFC 5737).
pub const HERE: [u8; 4] = [192, 0, 2, 1];
/// The far end.
pub const THERE: [u8; 4] = [192, 0, 2, 2];

/// What sealing a packet costs beside memory accesses, in cycles; only the model asks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Of each packet: the way through the cipher's driver, key set-up, headers.
    pub frame: u32,
    /// Of each byte of the packet.
    pub byte: f64,
}

/// Applies policies, seals what they say, and routes what is left as [`L3fwd`].
pub struct Ipsec<M: Memory> {
    route: L3fwd<M>,
    spd: Spd,
    sa: Sa,
    cost: Cost,
    /// A frame while it is sealed.
    scratch: Vec<u8>,
}

impl<M: Memory> Ipsec<M> {
    /// A gateway with one outgoing association, this core's own.
    pub fn new(route: L3fwd<M>, spd: Spd, sa: Sa, cost: Cost) -> Ipsec<M> {
        Ipsec { route, spd, sa, cost, scratch: Vec::new() }
    }

    /// Seals a packet that has been routed to the far end of the tunnel.
    fn protect(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        let Some(inner) = headers.packet() else { return Verdict::Drop(Cause::BadHeader) };
        let Some(hop) = self.route.hop(m, self.sa.to()) else { return Verdict::Drop(Cause::NoRoute) };
        let len = self.sa.suite().frame(inner.len());
        if len > usize::from(u16::MAX) || m.check(packet.frames, packet.buf.0, len as u32).is_err() {
            return Verdict::Drop(Cause::TooLong);
        }
        // One hop less inside (RFC 4301 §5.1.2.1).
        if !headers.hop() {
            return Verdict::Drop(Cause::TtlExpired);
        }
        m.work(self.cost.frame + (self.cost.byte * inner.len() as f64) as u32);
        self.load(m, packet, headers, inner.clone(), len);
        if self.sa.seal(&mut self.scratch, inner.len()).is_none() {
            return Verdict::Drop(Cause::SaSpent);
        }
        let [to, from] = self.route.macs(hop);
        self.scratch[..6].copy_from_slice(&to);
        self.scratch[6..12].copy_from_slice(&from);
        self.scratch[12..14].copy_from_slice(&[8, 0]);
        m.put(packet.frames, packet.buf, 0, &self.scratch[..self.sa.shown(len)], len as u32);
        headers.replaced();
        Verdict::Reply(len as u16)
    }

    /// The inner packet at its place in a frame of `len` bytes, its headers as they have been rewritten.
    fn load(&mut self, m: &mut M, packet: &Packet<M>, headers: &Headers, inner: Range<usize>, len: usize) {
        let start = self.sa.suite().inner();
        self.scratch.clear();
        self.scratch.resize(len, 0);
        let shown = self.sa.shown(start + inner.len()) - start;
        let place = &mut self.scratch[start..start + shown];
        m.get(packet.frames, packet.buf, inner.start as u32, place, inner.len() as u32);
        let seen = headers.bytes();
        let rewritten = seen.get(inner.start..inner.end.min(seen.len())).unwrap_or_default();
        let kept = rewritten.len().min(shown);
        place[..kept].copy_from_slice(&rewritten[..kept]);
    }
}

impl<M: Memory> App<M> for Ipsec<M> {
    fn cycles(&self) -> u32 {
        App::<M>::cycles(&self.route)
    }

    fn ahead(&self) -> usize {
        self.route.ahead()
    }

    #[inline]
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        let Some(key) = headers.key() else { return Verdict::Drop(Cause::Policy) };
        match self.spd.policy(headers, &key) {
            Policy::Bypass => self.route.frame(m, packet, headers),
            Policy::Discard => Verdict::Drop(Cause::Policy),
            Policy::Protect => self.protect(m, packet, headers),
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("sealed", u64::from(self.sa.sealed()))]
    }
}
