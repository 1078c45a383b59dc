//! The wire: what a frame occupies on it, and frames one after the other.

use crate::Rate;

/// Bytes on the wire besides the frame: FCS 4, preamble 8, gap 12.
pub const OVERHEAD: u32 = 24;
/// Shortest frame without FCS; a shorter one is padded with zeros.
pub const MIN_FRAME: u16 = 60;

/// Bytes of wire time of a frame of `len` bytes (without FCS).
pub fn wire_bytes(len: u16) -> u32 {
    u32::from(len.max(MIN_FRAME)) + OVERHEAD
}

/// One port of several, and its line rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Which port, from 0.
    pub port: u32,
    /// How many ports there are.
    pub ports: u32,
    /// Line rate of each port, in Gbps.
    pub gbps: f64,
}

impl Line {
    /// Line rate where none is given, in Gbps.
    pub const GBPS: f64 = 100.0;

    /// Flows of this port, of `flows` that are dealt to all.
    pub(crate) fn share(&self, flows: u64) -> u64 {
        flows.saturating_sub(u64::from(self.port)).div_ceil(u64::from(self.ports.max(1)))
    }

    /// Picoseconds per byte at this port's share of `rate` (its line rate at most); `None` when
    /// nothing can be sent.
    pub(crate) fn pace(&self, rate: Rate) -> Option<f64> {
        let share = match rate {
            Rate::Gbps(total) => total / f64::from(self.ports),
            Rate::Own => self.gbps,
        };
        let sends = self.port < self.ports && share > 0.0 && self.gbps > 0.0 && self.gbps.is_finite();
        sends.then(|| 8000.0 / share.min(self.gbps))
    }
}

/// A wire that carries one frame at a time. Whole picoseconds, so that frames never overlap.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    ps_per_byte: f64,
    /// When the last frame has left.
    free: u64,
    /// Its length and its time: the next one is often as long.
    last: (u16, u64),
}

impl Wire {
    pub(crate) fn new(line: Line) -> Self {
        let ps_per_byte = 8000.0 / line.gbps;
        Self { ps_per_byte, free: 0, last: (0, time(0, ps_per_byte)) }
    }

    /// Sends a frame that is due at `due` ps, or as soon as the wire is free; when its last bit arrives.
    #[inline]
    pub(crate) fn send(&mut self, due: f64, len: u16) -> u64 {
        // Conversions saturate: a time past 2^64 ps (213 days) stays there.
        let start = (due as u64).max(self.free);
        if self.last.0 != len {
            self.last = (len, time(len, self.ps_per_byte));
        }
        self.free = start.saturating_add(self.last.1);
        self.free
    }
}

fn time(len: u16, ps_per_byte: f64) -> u64 {
    libm::ceil(f64::from(wire_bytes(len)) * ps_per_byte) as u64
}
