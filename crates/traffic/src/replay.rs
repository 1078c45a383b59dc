//! A capture as one port's endless stream.

use crate::trace::{Frame, Trace};
use crate::wire::Wire;
use crate::{Arrival, HEAD, Line, Rate, Source, rewrite, wire_bytes};
use std::sync::Arc;

/// Loops the frames of one port. Each lap turns the addresses by another value: its flows are new.
pub(crate) struct Replay {
    trace: Arc<Trace>,
    /// This port's frames, in order.
    order: Vec<u32>,
    next: usize,
    lap: u32,
    /// Odd: `lap * stride` runs through all 2^24 values before one comes back.
    stride: u32,
    wire: Wire,
    /// When this lap began, and how long one lasts, in ps.
    base: f64,
    period: f64,
    /// ps of replay per ns of capture.
    scale: f64,
}

impl Replay {
    pub(crate) fn new(trace: Arc<Trace>, line: Line<'_>, rate: Rate, seed: u64) -> Self {
        let pace = line.pace(rate);
        let order = if pace.is_some() { dealt(&trace, line) } else { Vec::new() };
        let wire_total: u64 = order.iter().map(|i| wire(&trace.frames()[*i as usize])).sum();
        // The time that a lap's bytes take at the asked rate, and at line rate for own timing.
        let sending = wire_total as f64 * pace.unwrap_or(0.0);
        let lap_ns = trace.lap_ns();
        let (period, scale) = match rate {
            Rate::Own if lap_ns > 0.0 => (lap_ns * 1000.0, 1000.0),
            Rate::Own => (sending, 0.0),
            // All of one instant: a lap is one burst.
            Rate::Gbps(_) if lap_ns == 0.0 => (sending, 0.0),
            Rate::Gbps(_) => (sending, sending / lap_ns),
        };
        let stride = mix(seed) as u32 | 1;
        Self { trace, order, next: 0, lap: 0, stride, wire: Wire::new(line), base: 0.0, period, scale }
    }
}

impl Source for Replay {
    fn next(&mut self, out: &mut Arrival) -> bool {
        if self.next == self.order.len() {
            self.next = 0;
            self.lap = self.lap.wrapping_add(1);
            self.base += self.period;
        }
        let Some(index) = self.order.get(self.next) else { return false };
        self.next += 1;
        let frame = self.trace.frames()[*index as usize];
        out.at = self.wire.send(self.base + frame.at as f64 * self.scale, frame.len);
        out.len = frame.len;
        let head = self.trace.head(&frame);
        out.head = [0; HEAD];
        out.head[..head.len()].copy_from_slice(head);
        out.head_len = head.len() as u8;
        rewrite::shift(&mut out.head[..head.len()], self.lap.wrapping_mul(self.stride));
        true
    }
}

fn wire(frame: &Frame) -> u64 {
    u64::from(wire_bytes(frame.len))
}

/// The frames of one port: flows are dealt heaviest first, each to the port with the fewest bytes so
/// far for its load, so that ports have bytes in proportion and a flow stays on one port.
fn dealt(trace: &Trace, line: Line<'_>) -> Vec<u32> {
    let flows = trace.flows();
    let mut heaviest: Vec<u32> = (0..flows.len() as u32).collect();
    heaviest.sort_by_key(|f| (std::cmp::Reverse(flows[*f as usize]), *f));
    let mut has: Vec<(u64, u16)> = line.loads.iter().map(|load| (0, *load)).collect();
    let mut mine = vec![false; flows.len()];
    for flow in heaviest {
        // The fewest bytes for its load; of those level the port with the larger load.
        let for_load = |a: &(u64, u16), b: &(u64, u16)| {
            let scaled = |bytes: u64, other: u16| u128::from(bytes) * u128::from(other);
            scaled(a.0, b.1).cmp(&scaled(b.0, a.1)).then(b.1.cmp(&a.1))
        };
        let ports = has.iter_mut().enumerate().filter(|(_, (_, load))| *load > 0);
        let Some((port, (bytes, _))) = ports.min_by(|a, b| for_load(a.1, b.1)) else { break };
        *bytes += flows[flow as usize];
        mine[flow as usize] = port == line.port as usize;
    }
    let mine = |(_, f): &(usize, &Frame)| mine[f.flow as usize];
    trace.frames().iter().enumerate().filter(mine).map(|(i, _)| i as u32).collect()
}

/// SplitMix64's finaliser: seeds that differ in one bit end far apart.
pub(crate) fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
