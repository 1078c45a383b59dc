//! Where a capture's frames lie in time when it is replayed: at their stamps, spread where stamps are few, and
//! without its idle time where it is compressed.

use crate::trace::{Frame, Stamps, Trace};
use serde::Serialize;

/// A gap of at least so many ns and at least this part of the whole capture is idle time. Only the pause
/// between two captures is as long; compressed to a rate, it would leave everything else as one burst.
pub const IDLE: (u64, f64) = (1_000_000_000, 0.1);
/// Frames below which a capture is too short to tell idle time from traffic.
const ENOUGH: usize = 100;

/// Idle time of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Idle {
    /// Gaps, see [`IDLE`].
    pub gaps: u64,
    /// Their time, ns.
    pub ns: u64,
}

/// When the frames of a capture are due, in ns since its first frame.
pub(crate) struct Schedule {
    /// Of each frame; empty where frames come at their stamps.
    at: Vec<u64>,
    /// From the start of one lap to that of the next.
    pub(crate) lap_ns: f64,
}

impl Schedule {
    /// The capture's own schedule, or with `compress` that without idle time.
    pub(crate) fn new(trace: &Trace, compress: bool) -> Schedule {
        let idle = if compress { trace.idle() } else { Idle::default() };
        let few = trace.stats().timing() == Stamps::Few;
        let lap_ns = trace.lap_over(trace.stats().duration_ns - idle.ns);
        if idle.gaps == 0 && !few {
            return Schedule { at: Vec::new(), lap_ns };
        }
        let frames = trace.frames();
        let mut at = Vec::with_capacity(frames.len());
        let mut cut = 0;
        for group in frames.chunk_by(|a, b| a.at == b.at) {
            let before = at.len().checked_sub(1).map_or(0, |last| frames[last].at);
            if idle.gaps > 0 && is_idle(trace, group[0].at - before) {
                cut += group[0].at - before;
            }
            // What follows the group, or the lap's end.
            let next = frames.get(at.len() + group.len()).map_or(cut + lap_ns as u64, |f| f.at);
            let span = if few && !is_idle(trace, next - group[0].at) { next - group[0].at } else { 0 };
            let share = |i: usize| (u128::from(span) * i as u128 / group.len() as u128) as u64;
            at.extend((0..group.len()).map(|i| group[0].at - cut + share(i)));
        }
        Schedule { at, lap_ns }
    }

    /// When `frame`, whose number is `index`, is due.
    #[inline]
    pub(crate) fn at(&self, index: u32, frame: &Frame) -> u64 {
        self.at.get(index as usize).copied().unwrap_or(frame.at)
    }
}

fn is_idle(trace: &Trace, gap: u64) -> bool {
    let (ns, part) = IDLE;
    gap >= ns && gap as f64 >= part * trace.stats().duration_ns as f64
}

impl Trace {
    /// Idle time, which is left out where the capture is compressed or stretched to a rate.
    pub fn idle(&self) -> Idle {
        let gaps = self.frames().windows(2).map(|pair| pair[1].at - pair[0].at);
        let idle = gaps.filter(|gap| self.frames().len() >= ENOUGH && is_idle(self, *gap));
        idle.fold(Idle::default(), |all, gap| Idle { gaps: all.gaps + 1, ns: all.ns + gap })
    }
}
