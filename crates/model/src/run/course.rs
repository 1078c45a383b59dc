//! How a run goes: rings fill, rates settle, a window counts.
//!
//! A run that is compared with others has its times laid down in advance ([`Span`]): all of them meet the same
//! arrivals over the same window. A run alone looks for its own: until its rates have settled.

use memory::Ps;
use nic::reorder::Order;

use super::account::Measured;
use super::confidence::Rates;
use super::error::Error;
use super::snapshot::{Part, Snapshot};
use crate::run::Run;
use crate::scenario::{Scenario, Span, Start};

/// A stall of all cores that fills every ring.
const STALL: Ps = Ps::from_us(2_000);
/// Frames that a first look at the offered rate needs, and the longest it may take.
const LOOK: u64 = 512;
const LONGEST_LOOK: Ps = Ps(100_000_000_000_000);
/// The shortest step between two looks at the rates.
const SHORTEST_STEP: Ps = Ps::from_us(1_000);
/// Frames that a step has at least.
const STEP_FRAMES: u64 = 4096;
/// Steps that must agree before measuring, the frames after which nobody waits any longer, and the steps
/// measured.
const AGREE: usize = 4;
const PATIENCE: u64 = 3_000_000;
const MEASURED: usize = 4;
/// Rounds of `dynamic` that are waited for at least: it decides, settles, stalls and settles again.
const ROUNDS: u64 = 48;
/// What agreement means: throughput within 1%, hit rate within 1.5 points, and queues that neither fill
/// nor drain by more than 0.2% of the frames that pass.
const SAME_RATE: f64 = 0.01;
const SAME_HITS: f64 = 1.5;
const SAME_QUEUES: f64 = 0.002;
/// Looks at ring occupancy in a step.
const LOOKS: u64 = 8;

impl Run {
    /// The times of `span`; whether rates had settled by then.
    pub(crate) fn laid_down(&mut self, s: &Scenario, span: &Span) -> Result<(bool, Measured), Error> {
        let judged = Ps(span.step.0.saturating_mul(u64::from(span.agree)));
        if s.start == Start::Full {
            // Early enough to be over when steps are judged. `dynamic` stalls in the ways that it has chosen by then.
            let free = span.warm.saturating_sub(judged).0;
            let at = if s.interface.round() > Ps::ZERO { free / 2 } else { SHORTEST_STEP.0.min(free / 4) };
            self.advance(Ps(at))?;
            self.engine.sim().stall_cores(Ps(at), STALL);
        }
        self.until(span.warm.saturating_sub(judged))?;
        let mut last = self.snapshot();
        let mut steps = Vec::new();
        for left in (0..u64::from(span.agree)).rev() {
            self.until(span.warm.saturating_sub(Ps(span.step.0 * left)))?;
            let next = self.snapshot();
            steps.push(Step::between(&last, &next));
            last = next;
        }
        self.warmup = self.now;
        let settled = judged <= span.warm && level(&steps);
        let before = self.begin();
        let (mut looks, mut parts) = (Looks::new(&before), Vec::new());
        for part in 0..u64::from(span.parts) {
            let began = self.now;
            for look in 1..=LOOKS {
                self.until(began + Ps(span.part.0 * look / LOOKS))?;
                self.look_around(&mut looks);
            }
            debug_assert_eq!(self.now, span.warm + Ps(span.part.0 * (part + 1)));
            let after = self.snapshot();
            let latency = self.book.meter.borrow_mut().next_part();
            let lost = span.until_loss && after.lost() > before.lost();
            parts.push(Part { after, latency });
            if lost {
                self.book.meter.borrow_mut().ends(self.now);
                break;
            }
        }
        Ok((settled, self.window(before, looks, parts)))
    }

    /// Warms up until rates have settled, and measures.
    pub(crate) fn until_settled(&mut self, s: &Scenario) -> Result<(bool, Measured), Error> {
        let Pace { step, patience } = self.look(s)?;
        if s.start == Start::Full {
            if s.interface.round() > Ps::ZERO {
                self.settle(step, patience, s.limit)?; // it stalls in the ways that it has chosen
            }
            let from = self.now;
            self.engine.sim().stall_cores(from, STALL);
            self.advance(STALL)?;
        }
        let settled = self.settle(step, patience, s.limit)?;
        let window = self.measure(step, s.frames, s.limit)?;
        Ok((settled && self.offered() >= s.frames, window))
    }

    /// Runs up to `end`, which may have passed.
    fn until(&mut self, end: Ps) -> Result<(), Error> {
        self.advance(end.saturating_sub(self.now))
    }

    fn offered(&self) -> u64 {
        self.book.meter.borrow().fates.decided()
    }

    /// Runs until the offered rate shows; the step in which rates are compared: twice the time in which
    /// every posted buffer is used once. Steps that agree are longer than any trial of `dynamic`.
    fn look(&mut self, s: &Scenario) -> Result<Pace, Error> {
        let mut span = SHORTEST_STEP;
        while self.offered() < LOOK && self.now < LONGEST_LOOK.min(s.limit) {
            self.advance(span)?;
            span = Ps(span.0 * 2);
        }
        let frame = self.now.0 / self.offered().max(1);
        let patience = PATIENCE.max(ROUNDS * s.interface.round().0 / frame.max(1));
        let step = Ps(frame.saturating_mul((2 * self.posted).max(STEP_FRAMES)));
        let shortest = SHORTEST_STEP.max(Ps(2 * s.interface.round().0));
        Ok(Pace { step: step.max(shortest).min(LONGEST_LOOK), patience })
    }

    /// Warms up until throughput and hit rate agree over some steps; whether they came to.
    fn settle(&mut self, step: Ps, patience: u64, limit: Ps) -> Result<bool, Error> {
        let mut last = self.snapshot();
        let mut steps = Vec::new();
        let measuring = Ps(step.0.saturating_mul(MEASURED as u64));
        let mut settled = false;
        while !settled && self.offered() < patience && self.now + step + measuring < limit {
            self.advance(step)?;
            let next = self.snapshot();
            steps.push(Step::between(&last, &next));
            last = next;
            settled = steps.len() >= AGREE && agree(&steps[steps.len() - AGREE..]);
        }
        self.warmup = self.now;
        Ok(settled)
    }

    /// Measures over a few steps, and on until `frames` have been offered or the time is `limit`.
    fn measure(&mut self, step: Ps, frames: u64, limit: Ps) -> Result<Measured, Error> {
        let before = self.begin();
        let mut looks = Looks::new(&before);
        while looks.n < LOOKS * MEASURED as u64 || self.offered() < frames && self.now < limit {
            self.advance(Ps(step.0 / LOOKS))?;
            self.look_around(&mut looks);
        }
        let after = self.snapshot();
        let latency = self.book.meter.borrow_mut().next_part();
        Ok(self.window(before, looks, vec![Part { after, latency }]))
    }

    /// From now on it counts.
    fn begin(&mut self) -> Snapshot {
        self.book.meter.borrow_mut().begin();
        self.book.orders.borrow_mut().iter_mut().for_each(Order::restart);
        self.snapshot()
    }

    /// Looks at what waits where.
    fn look_around(&mut self, looks: &mut Looks) {
        looks.n += 1;
        let now = self.snapshot();
        looks.batches.push(now.rates_since(&looks.last));
        looks.last = now;
        let meter = self.book.meter.borrow();
        looks.passing += meter.passing as f64;
        let cores = 0..meter.fates.queues();
        for (core, g) in cores.zip(&self.engine.sim().gauges) {
            let delivered = meter.fates.of(core, rings::Outcome::Delivered);
            looks.waiting[core] += delivered.saturating_sub(g.received) as f64;
            looks.tx_filled += g.tx_filled as f64;
        }
    }

    /// What has been counted since `before`.
    pub(crate) fn window(&mut self, before: Snapshot, mut looks: Looks, mut parts: Vec<Part>) -> Measured {
        self.book.meter.borrow_mut().measuring = false;
        let after = parts.last().map_or_else(|| self.snapshot(), |p| p.after.clone());
        let n = looks.n.max(1) as f64;
        for sum in looks.waiting.iter_mut().chain([&mut looks.tx_filled, &mut looks.passing]) {
            *sum /= n;
        }
        let Looks { waiting, tx_filled, passing, batches, .. } = looks;
        let (nic_cores, reordering) = (self.nic_cores.clone(), self.reordering());
        if parts.len() < 2 {
            parts.clear();
        }
        Measured {
            before,
            after,
            parts,
            batches,
            waiting,
            tx_filled,
            passing,
            reordering,
            nic_cores,
            warmup: self.warmup,
        }
    }
}

/// How rates of a run alone are compared.
struct Pace {
    step: Ps,
    /// Frames after which nobody waits for rates to agree any longer.
    patience: u64,
}

/// What looks during a window have found: sums.
pub(crate) struct Looks {
    n: u64,
    /// What the last one had counted, and the rates from one to the next.
    last: Snapshot,
    batches: Vec<Rates>,
    /// Frames waiting for each core.
    waiting: Vec<f64>,
    /// Filled transmit entries.
    tx_filled: f64,
    /// Frames in physical rings.
    passing: f64,
}

impl Looks {
    /// None, from a window's beginning on.
    pub(crate) fn new(before: &Snapshot) -> Looks {
        let waiting = vec![0.0; before.gauges.len()];
        Looks { n: 0, last: before.clone(), batches: Vec::new(), waiting, tx_filled: 0.0, passing: 0.0 }
    }
}

/// What is compared between steps.
struct Step {
    gbps: f64,
    ddio: f64,
    /// Frames that queues gained, as a share of those that passed.
    gained: f64,
}

impl Step {
    fn between(last: &Snapshot, next: &Snapshot) -> Step {
        let passed = (next.sent - last.sent).max(1) as f64;
        let gained = next.inside() as f64 - last.inside() as f64;
        Step { gbps: next.gbps_since(last), ddio: next.ddio_since(last), gained: gained / passed }
    }
}

/// Whether steps agree one by one. A run that looks for the first steps that agree must not take a slow slide for that.
fn agree(steps: &[Step]) -> bool {
    let spread = |of: fn(&Step) -> f64| {
        steps.iter().map(of).fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)))
    };
    let (low, high) = spread(|s| s.gbps);
    let (cold, warm) = spread(|s| s.ddio);
    high - low <= SAME_RATE * high && warm - cold <= SAME_HITS && gained(steps)
}

/// Whether the later half of the steps agrees with the earlier one. Where a single look decides, noise within a half is
/// no drift.
fn level(steps: &[Step]) -> bool {
    let (early, late) = steps.split_at(steps.len() / 2);
    let drift = |of: fn(&Step) -> f64| (mean(late, of) - mean(early, of)).abs();
    drift(|s| s.gbps) <= SAME_RATE * mean(steps, |s| s.gbps)
        && drift(|s| s.ddio) <= SAME_HITS
        && gained(steps)
}

/// Whether queues neither fill nor drain.
fn gained(steps: &[Step]) -> bool {
    mean(steps, |s| s.gained).abs() <= SAME_QUEUES
}

fn mean(steps: &[Step], of: fn(&Step) -> f64) -> f64 {
    steps.iter().map(of).sum::<f64>() / steps.len().max(1) as f64
}
