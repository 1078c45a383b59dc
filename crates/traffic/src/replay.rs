//! A capture as one port's endless stream.

use crate::clock::Clock;
use crate::schedule::Schedule;
use crate::trace::{Frame, Stamps, Trace};
use crate::wire::Wire;
use crate::{Arrival, Arrivals, HEAD, Lap, Line, Rate, Source, rewrite, seed, wire_bytes};
use rand_pcg::Pcg64Mcg;
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
    /// How long a lap lasts, in ps.
    period: f64,
    pace: Pace,
}

/// When frames are due.
enum Pace {
    /// As they were captured.
    Captured {
        schedule: Schedule,
        /// When this lap began, in ps.
        base: f64,
        /// ps of replay per ns of capture.
        scale: f64,
    },
    /// As a generator has them.
    Stated { clock: Clock, rng: Pcg64Mcg },
}

impl Replay {
    /// The frames of `line`'s port. `arrivals` overrides the capture's time stamps; a capture that has none is
    /// paced evenly.
    pub(crate) fn new(
        trace: Arc<Trace>,
        arrivals: Option<Arrivals>,
        line: Line<'_>,
        rate: Rate,
        seed: u64,
    ) -> Self {
        let pace = line.pace(rate);
        let order = if pace.is_some() { dealt(&trace, line) } else { Vec::new() };
        let ps_per_byte = pace.unwrap_or_default();
        let wire_total: u64 = order.iter().map(|i| wire(&trace.frames()[*i as usize])).sum();
        // The time that a lap's bytes take at the asked rate, and at line rate for own timing.
        let sending = wire_total as f64 * ps_per_byte;
        let untimed = trace.stats().timing() == Stamps::None || trace.lap_ns() == 0.0;
        let (pace, period) = match arrivals.or(untimed.then_some(Arrivals::Constant)) {
            Some(arrivals) => {
                let mut rng = seed::rng(seed, line.port);
                let frames: u64 = order.iter().map(|i| u64::from(trace.frames()[*i as usize].len)).sum();
                let mean = frames as f64 / order.len().max(1) as f64;
                let clock = Clock::new(arrivals, Some(mean), ps_per_byte, &mut rng);
                (Pace::Stated { clock, rng }, sending)
            }
            None => {
                let schedule = Schedule::new(&trace, rate != Rate::Own);
                let scale = if rate == Rate::Own { 1000.0 } else { sending / schedule.lap_ns };
                let period = schedule.lap_ns * scale;
                (Pace::Captured { schedule, base: 0.0, scale }, period)
            }
        };
        let stride = seed::mix(seed) as u32 | 1;
        Self { trace, order, next: 0, lap: 0, stride, wire: Wire::new(line), period, pace }
    }

    /// The number in this lap of flow `number` of the capture.
    #[inline]
    fn flow(&self, number: u32) -> u32 {
        let flows = self.trace.flows().len() as u32;
        self.lap.wrapping_mul(flows).wrapping_add(number).saturating_add(1)
    }
}

impl Source for Replay {
    fn next(&mut self, out: &mut Arrival) -> bool {
        if self.next == self.order.len() {
            self.next = 0;
            self.lap = self.lap.wrapping_add(1);
            if let Pace::Captured { base, .. } = &mut self.pace {
                *base += self.period;
            }
        }
        let Some(&index) = self.order.get(self.next) else { return false };
        self.next += 1;
        let frame = self.trace.frames()[index as usize];
        let due = match &mut self.pace {
            Pace::Captured { schedule, base, scale } => *base + schedule.at(index, &frame) as f64 * *scale,
            Pace::Stated { clock, rng } => clock.next(wire_bytes(frame.len), rng),
        };
        out.at = self.wire.send(due, frame.len);
        out.len = frame.len;
        out.flow = if frame.ip { self.flow(frame.flow) } else { 0 };
        let head = self.trace.head(&frame);
        out.head = [0; HEAD];
        out.head[..head.len()].copy_from_slice(head);
        out.head_len = head.len() as u8;
        rewrite::shift(&mut out.head[..head.len()], self.lap.wrapping_mul(self.stride));
        true
    }

    fn lap(&self) -> Option<Lap> {
        let lap = || Lap { ps: (self.period as u64).max(1), frames: self.order.len() as u64 };
        (!self.order.is_empty()).then(lap)
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
        // The fewest bytes for its load; among equals the port with the larger load.
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
