//! When runs count that are compared: one window for all, so that all meet the same arrivals.
//!
//! A window is whole laps of a capture, or as long for all of a generator. It begins when the rates of *all* runs have
//! settled. How long that takes differs: each interface and start has a warm-up of its own, which doubles until it has
//! settled. All warm-ups end at one time of the sources, so a short one begins late.

use std::str::FromStr;

use memory::Ps;
use model::{LONGEST, Span};
use traffic::{Arrival, Lap, Source};

use crate::fail::Fail;
use crate::lab::point::Point;

/// Parts of a window, and steps of a part's length that must agree before it; fewer where a lap is long.
const PARTS: u64 = 4;
/// Steps that tell whether rates agree at all.
const FEWEST: u64 = 2;
/// Frames of a part at least.
const PART_FRAMES: u64 = 4096;
/// The shortest part, ps.
const SHORTEST: u64 = 1_000_000_000;
/// What a stall of all cores takes, and fills, ps.
const STALL: u64 = 2_000_000_000;
/// Frames after which nobody waits any longer for rates to settle, and those of a lap that is not waited for.
const PATIENCE: f64 = 3e6;
/// The longest warm-up, in first ones.
const DOUBLED: u64 = 8;
/// Turns of the rings in the longest run at least, however seldom frames come.
const TURNS: u64 = 8;
/// Rounds of `dynamic` before its rates are judged.
const ROUNDS: u64 = 48;
/// Frames of a generator that tell its rate.
const LOOK: u64 = 512;
/// Warm-up of a trial, ps: rings fill, and drain behind a stall.
const TRIAL_WARM: u64 = 13_000_000_000;
/// Parts of a trial.
const TRIAL_PARTS: u64 = 8;
/// How many windows of rates that never settle are measured.
const UNSETTLED: u32 = 4;

/// What the traffic of all ports is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pattern {
    /// From one frame to the next in the mean, ps.
    pub gap: f64,
    /// After how long it repeats, ps: the longest lap of all ports.
    pub lap: Option<u64>,
}

impl Pattern {
    /// Looks at the traffic of `point`.
    pub(crate) fn of(point: &Point) -> Pattern {
        let mut sources = point.sources();
        let lap = sources.iter().filter_map(|s| s.lap()).map(|lap| lap.ps).max();
        let rate: f64 = sources.iter_mut().map(|s| rate(s.as_mut())).sum();
        Pattern { gap: 1.0 / rate.max(1e-18), lap }
    }

    /// `ps` rounded up to whole laps, and so to ns that a command line can name.
    fn laps(&self, ps: u64) -> u64 {
        let whole = match self.lap {
            Some(lap) => ps.div_ceil(lap.max(1)).saturating_mul(lap),
            None => ps,
        };
        whole.div_ceil(1000).saturating_mul(1000)
    }

    fn frames(&self, ps: u64) -> f64 {
        ps as f64 / self.gap
    }
}

/// Frames per ps.
fn rate(source: &mut dyn Source) -> f64 {
    if let Some(Lap { ps, frames }) = source.lap() {
        return frames as f64 / ps as f64;
    }
    let mut a = Arrival::EMPTY;
    let seen = (0..LOOK).take_while(|_| source.next(&mut a)).count();
    seen as f64 / a.at.max(1) as f64
}

/// The first span that is tried for runs that meet the same arrivals.
pub(crate) fn first(points: &[&Point]) -> Span {
    let Some(point) = points.first() else {
        return Span {
            late: Ps::ZERO,
            warm: Ps::ZERO,
            part: Ps(SHORTEST),
            parts: 1,
            agree: 0,
            step: Ps::ZERO,
            until_loss: false,
        };
    };
    let pattern = Pattern::of(point);
    let posted = points.iter().map(|p| p.scenario(Vec::new()).posted_buffers()).max().unwrap_or(0);
    let round = points.iter().map(|p| p.interface.round().0).max().unwrap_or(0);
    // Twice the time in which every posted buffer is used once; longer than any trial of `dynamic`.
    let turn = (pattern.gap * (2 * posted).max(PART_FRAMES) as f64) as u64;
    let turn = turn.max(SHORTEST).max(2 * round).min(LONGEST.0 / TURNS);
    let part = pattern.laps(turn);
    let parts = (PARTS * turn).div_ceil(part).clamp(1, PARTS);
    let agree = if pattern.frames(part) > PATIENCE { 0 } else { parts.max(FEWEST) };
    let wanted = (pattern.gap * point.frames as f64) as u64;
    // `dynamic` decides, settles, stalls and settles again.
    let filling = if round > 0 { ROUNDS * round } else { 2 * turn };
    let parts = parts.max(wanted.div_ceil(part));
    let warm = |agree: u64| (STALL + filling).saturating_add(agree * part).div_ceil(1000) * 1000;
    // Of frames that come hours apart no settling is waited for.
    let agree = if fitting(warm(agree), part) < parts { 0 } else { agree };
    let warm = warm(agree);
    Span {
        late: Ps::ZERO,
        warm: Ps(warm),
        part: Ps(part),
        parts: parts.min(fitting(warm, part)) as u32,
        agree: agree as u32,
        step: Ps(part),
        until_loss: false,
    }
}

/// Whether the model can run `span`.
///
/// # Errors
/// A capture's laps take too long.
pub(crate) fn check(span: &Span) -> Result<(), Fail> {
    let hours = |ps: u64| ps as f64 / 3.6e15;
    let (_, end) = span.window();
    if end <= LONGEST.0 {
        return Ok(());
    }
    Err(Fail::new(format!(
        "--rate: whole laps of this traffic take {:.1} hours of simulated time; allowed: up to {:.1} hours, a higher rate in Gbps compresses it",
        hours(end),
        hours(LONGEST.0)
    )))
}

/// How many parts end in time, at least one.
fn fitting(warm: u64, part: u64) -> u64 {
    (LONGEST.0.saturating_sub(warm) / part.max(1)).clamp(1, u64::from(u32::MAX))
}

/// A short span for a look at one setting beside many: rings turn over a few times, and nobody asks whether rates have
/// settled.
pub(crate) fn quick(point: &Point) -> Span {
    let first = first(&[point]);
    let warm = first.warm.saturating_sub(Ps(first.step.0 * u64::from(first.agree.saturating_sub(1))));
    Span { warm, parts: first.parts.div_ceil(2), agree: 0, ..first }
}

/// A span with a longer warm-up, judged in longer steps, in which noise averages out; `None` where nobody waits any
/// longer than for `first`.
pub(crate) fn longer(span: &Span, first: &Span, point: &Point) -> Option<Span> {
    let [warm, step] = [span.warm, span.step].map(|t| Ps(t.0.saturating_mul(2)));
    let patient = warm.0 <= DOUBLED * first.warm.0 && Pattern::of(point).frames(warm.0) < 2.0 * PATIENCE;
    (patient && warm + span.part < point.limit.min(LONGEST)).then_some(Span { warm, step, ..*span })
}

/// The span of rates that do not settle: several windows, of which the results are a range.
pub(crate) fn unsettled(span: &Span) -> Span {
    let parts = u64::from(span.parts.saturating_mul(UNSETTLED));
    Span { parts: parts.min(fitting(span.warm.0, span.part.0)) as u32, ..*span }
}

/// The span of a trial in which drops count for `counts` or a lap more; it does not depend on the interface. It ends
/// with the first loss, which decides it.
pub(crate) fn trial(point: &Point, counts: Ps) -> Span {
    let pattern = Pattern::of(point);
    let part = pattern.laps((counts.0 / TRIAL_PARTS).max((pattern.gap * PART_FRAMES as f64) as u64));
    let parts = counts.0.div_ceil(part.max(1)).clamp(1, TRIAL_PARTS).min(fitting(TRIAL_WARM, part));
    Span {
        late: Ps::ZERO,
        warm: Ps(TRIAL_WARM),
        part: Ps(part),
        parts: parts as u32,
        agree: 0,
        step: Ps::ZERO,
        until_loss: true,
    }
}

/// `WARM:PART:PARTS:STEP:AGREE[:LATE]`, ns and counts: what a command line that runs a point again has.
pub(crate) fn text(span: &Span) -> String {
    let ns = |t: Ps| t.0 / 1000;
    let late = if span.late > Ps::ZERO { format!(":{}", ns(span.late)) } else { String::new() };
    format!("{}:{}:{}:{}:{}{late}", ns(span.warm), ns(span.part), span.parts, ns(span.step), span.agree)
}

/// Reads what [`text`] wrote.
///
/// # Errors
/// Names what is allowed.
pub(crate) fn read(text: &str) -> Result<Span, Fail> {
    const LONGEST: u64 = model::LONGEST.0 / 1000;
    let bad = || {
        Fail::new(format!(
            "--window {text}: allowed: WARM:PART:PARTS:STEP:AGREE[:LATE] as a result's command has it, ns and counts, ten hours at most"
        ))
    };
    let mut numbers: Vec<u64> =
        text.split(':').map(u64::from_str).collect::<Result<_, _>>().map_err(|_| bad())?;
    if numbers.len() == 5 {
        numbers.push(0);
    }
    let [
        warm @ ..=LONGEST,
        part @ 1..=LONGEST,
        parts @ 1..=1_000_000,
        step,
        agree @ ..=64,
        late @ ..=LONGEST,
    ] = numbers[..]
    else {
        return Err(bad());
    };
    if part.saturating_mul(parts).saturating_add(warm) > LONGEST || agree.saturating_mul(step) > warm {
        return Err(bad());
    }
    let [late, warm, part, step] = [late, warm, part, step].map(|ns| Ps(ns * 1000));
    Ok(Span { late, warm, part, parts: parts as u32, agree: agree as u32, step, until_loss: false })
}
