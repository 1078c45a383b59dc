//! Which partition a frame is for: what its client writes into the UDP destination port.

use crate::sizes::unit;
use crate::{Spec, Target, wire_bytes};
use rand_pcg::Pcg64Mcg;

/// Chooses partitions (and a target's frames) one by one.
pub(crate) struct Partitions {
    count: u32,
    target: Option<Share>,
}

/// The part of the traffic that goes to partition 0, at even distances among the rest.
struct Share {
    /// Of bytes on the wire, or of frames.
    part: f64,
    of_bytes: bool,
    /// Frame length, where it is not the workload's.
    len: Option<u16>,
    /// What the target still has to get, in bytes or frames.
    owed: f64,
}

impl Partitions {
    /// `ps_per_byte`: the pace of this port. `None` where the workload has no partitions.
    pub(crate) fn new(spec: &Spec, ps_per_byte: f64, rng: &mut Pcg64Mcg) -> Option<Self> {
        if spec.partitions == 0 {
            return None;
        }
        let share = |target| match target {
            Target::Gbps(gbps) => {
                Share { part: gbps * ps_per_byte / 8000.0, of_bytes: true, len: None, owed: 0.0 }
            }
            Target::Percent { percent, len } => {
                Share { part: percent / 100.0, of_bytes: false, len: Some(len), owed: 0.0 }
            }
        };
        // A random phase, so that the targets of two ports do not march in step.
        let target = spec.target.map(|t| Share { owed: unit(rng), ..share(t) });
        Some(Self { count: spec.partitions, target })
    }

    /// Partition and length of a frame of `flow` that would have `len` bytes. A flow keeps its partition; a
    /// frame for the target counts as another flow's.
    #[inline]
    pub(crate) fn next(&mut self, flow: u64, len: u16) -> (u32, u16) {
        let Some(target) = &mut self.target else { return (flow as u32 % self.count, len) };
        let weight = if target.of_bytes { f64::from(wire_bytes(len)) } else { 1.0 };
        target.owed += target.part * weight;
        if target.owed >= weight || self.count == 1 {
            target.owed -= weight;
            return (0, target.len.unwrap_or(len));
        }
        (1 + flow as u32 % (self.count - 1), len)
    }
}
