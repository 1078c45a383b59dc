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
pub struct Line<'a> {
    /// Which port, from 0.
    pub port: u32,
    /// What part of the traffic each port gets, in whole numbers above 0: `&[3, 1]` are two ports, the first with
    /// three quarters.
    pub loads: &'a [u16],
    /// Line rate of each port, in Gbps.
    pub gbps: f64,
}

impl Line<'_> {
    /// Line rate where none is given, in Gbps.
    pub const GBPS: f64 = 100.0;

    /// Flows of this port, of `flows` that are dealt to all.
    pub fn share(&self, flows: u64) -> u64 {
        Deal::new(self).share(flows)
    }

    /// This port's load; 0 for one that does not exist.
    fn load(&self) -> u16 {
        self.loads.get(self.port as usize).copied().unwrap_or(0)
    }

    /// Picoseconds per byte at this port's share of `rate` (its line rate at most); `None` when
    /// nothing can be sent. Where the rate is the line's, the ports with the largest load have it.
    pub(crate) fn pace(&self, rate: Rate) -> Option<f64> {
        let load = f64::from(self.load());
        let share = match rate {
            Rate::Gbps(total) => total * load / self.loads.iter().map(|l| f64::from(*l)).sum::<f64>(),
            Rate::Own => self.gbps * load / f64::from(self.loads.iter().copied().max().unwrap_or(0)),
        };
        let sends = share > 0.0 && self.gbps > 0.0 && self.gbps.is_finite();
        sends.then(|| 8000.0 / share.min(self.gbps))
    }
}

/// How generated flows are dealt to ports: by number, in rounds. A round has as many flows as the loads add
/// up to.
#[derive(Clone, Debug)]
pub(crate) struct Deal {
    round: u32,
    /// The numbers of a round that are this port's, in order.
    mine: Vec<u32>,
}

impl Deal {
    /// A round begins with one flow for each port, so that no port goes without where flows are few. The
    /// others are spread evenly over the round.
    pub(crate) fn new(line: &Line<'_>) -> Deal {
        let turns = |(p, &load): (usize, &u16)| (0..u64::from(load)).map(move |k| (p, k, u64::from(load)));
        let mut round: Vec<(usize, u64, u64)> = line.loads.iter().enumerate().flat_map(turns).collect();
        // The k-th of n stands in the middle of the k-th of n equal parts.
        let before = |a: &(usize, u64, u64), b: &(usize, u64, u64)| {
            let middle = |k: u64, other: u64| if k == 0 { 0 } else { (2 * k + 1) * other };
            middle(a.1, b.2).cmp(&middle(b.1, a.2)).then(a.0.cmp(&b.0))
        };
        round.sort_by(before);
        let mine =
            |(at, (p, ..)): (usize, &(usize, u64, u64))| (*p == line.port as usize).then_some(at as u32);
        Deal { round: round.len() as u32, mine: round.iter().enumerate().filter_map(mine).collect() }
    }

    fn share(&self, flows: u64) -> u64 {
        let (rounds, rest) = (flows / u64::from(self.round.max(1)), flows % u64::from(self.round.max(1)));
        rounds * self.mine.len() as u64 + self.mine.partition_point(|at| u64::from(*at) < rest) as u64
    }

    /// The number among all flows of this port's `flow`.
    #[inline]
    pub(crate) fn number(&self, flow: u32) -> u32 {
        let (round, turn) = match self.mine.len() as u32 {
            0 | 1 => (flow, 0),
            n => (flow / n, flow % n),
        };
        let at = self.mine.get(turn as usize).copied().unwrap_or(0);
        round.wrapping_mul(self.round).wrapping_add(at)
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
    pub(crate) fn new(line: Line<'_>) -> Self {
        let ps_per_byte = 8000.0 / line.gbps;
        Self { ps_per_byte, free: 0, last: (0, time(0, ps_per_byte)) }
    }

    /// Sends a frame that is due at `due` ps, or as soon as the wire is free; when its last bit arrives.
    #[inline]
    pub(crate) fn send(&mut self, due: f64, len: u16) -> u64 {
        // Signed conversions: the processor has an instruction for them. A time past 2^63 ps (106 days) stays there.
        let start = (due as i64 as u64).max(self.free);
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
