//! When to switch: by measured trial. Pure: it knows no memory, and no clock but its samples'.
//!
//! Sharing is the home mode: it posts the fewest buffers, so without drops there is no reason to leave it.
//! No counter of the cores tells what sharing costs under imbalance: a starved core looks like an idle one.
//! Nor does any tell what private rings cost in cache. So both are tried under the load of the day:
//!
//! 1. A *reason*: sharing, some frames dropped in each of [`PERSISTS`] rounds; private, always (to go home).
//! 2. The other mode is in force for [`SETTLE`] rounds that are not counted: queues drain, every posted
//!    buffer is used, caches fill. Then it is measured for [`TRIAL`] rounds.
//! 3. It stays if cores receive more of what is offered, by a margin, else it goes. *Lost* are frames that
//!    were offered and not received: drops, and what queues up, as in a private ring long before it drops.
//!
//! Each trial doubles the time to the next one. A mode that comes to lose more than the other did when it
//! was last seen waits the shortest time: the load has changed, or the trial was too kind. So a wrong mode
//! is left after [`SHORTEST`] rounds, and a right one gives up `(SETTLE + TRIAL) / LONGEST` of its time.

use memory::Ps;

/// Rounds in a row with drops that make a reason: one more than a stall of 2 ms can spoil.
pub const PERSISTS: u32 = 4;
/// Rounds before a trial is measured: all posted buffers are used as many times, which takes a cache from
/// one working set to the other.
pub const SETTLE: u32 = 3;
/// Rounds measured: at four times the buffers, what queues hold at either end is a small part.
pub const TRIAL: u32 = 4;
/// Rounds between two trials, at first and at least.
pub const SHORTEST: u32 = 64;
/// The same at most.
pub const LONGEST: u32 = 1024;
/// Drops of a round that are no reason, parts per million.
pub const TOLERATED: u32 = 1_000;
/// How much more must be received by private rings to be worth their buffers, parts per million: above the
/// noise of a trial. Going home half of it is forgiven.
pub const GAIN: u32 = 10_000;

/// Counters come with so many bits and may wrap between, not within, two samples.
pub(crate) const COUNTER: u32 = 28;
const MASK: u64 = (1 << COUNTER) - 1;
const MILLION: u64 = 1_000_000;

/// Which rings receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The ring that several cores share.
    Shared,
    /// Each core's own.
    Private,
}

impl Mode {
    /// The mode after so many changes: sharing is where every port starts.
    #[inline(always)]
    pub fn after(changes: u64) -> Mode {
        if changes & 1 == 0 { Mode::Shared } else { Mode::Private }
    }
}

/// What a group of cores and the NIC have counted since the start, all modulo `2^28`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at: Ps,
    /// Frames that wanted a place in a ring.
    pub offered: u64,
    /// Frames that found none.
    pub dropped: u64,
    /// Frames that cores received.
    pub received: u64,
}

/// The shortest span that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// At least so long.
    pub time: Ps,
    /// At least so many frames: what the private rings of the group hold.
    pub frames: u64,
}

/// A change of mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// To the other mode, on trial.
    Try,
    /// Back: it was no better.
    Return,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing seen yet.
    #[default]
    Fresh,
    Steady,
    Settle,
    Trial,
}

/// What has been seen, and what is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judge {
    phase: Phase,
    /// Where the present round, or stretch of them, began.
    mark: Sample,
    /// Rounds in a row that dropped.
    lossy: u32,
    /// The least that one of them lost (ppm), counted anew after each [`PERSISTS`] rounds. The first one does
    /// not count: it may have begun well.
    least: u32,
    /// What the mode that is not in force lost when it was (ppm).
    other: u32,
    /// Rounds since the last trial.
    since: u32,
    /// Rounds that must pass between two trials.
    wait: u32,
}

/// Whether a mode that loses `a` receives more than one that loses `b`, by `margin` (all ppm).
fn gains(a: u32, b: u32, margin: u32) -> bool {
    let received = |lost: u32| MILLION.saturating_sub(u64::from(lost));
    received(a) * MILLION > received(b) * (MILLION + u64::from(margin))
}

/// What happened between two samples.
struct Span {
    time: Ps,
    offered: u64,
    dropped: u32,
    lost: u32,
}

impl Span {
    fn between(from: &Sample, to: &Sample) -> Span {
        let grew = |of: fn(&Sample) -> u64| of(to).wrapping_sub(of(from)) & MASK;
        let offered = grew(|s| s.offered);
        // Counters of many writers are not of one moment: more may be received than was offered.
        let ppm = |n: u64| (n.min(offered) * MILLION / offered.max(1)) as u32;
        let lost = offered.saturating_sub(grew(|s| s.received));
        Span {
            time: to.at.saturating_sub(from.at),
            offered,
            dropped: ppm(grew(|s| s.dropped)),
            lost: ppm(lost),
        }
    }
}

impl Judge {
    /// Whether a sample at `now` could end a round: they are not free.
    pub fn due(&self, now: Ps, round: &Round) -> bool {
        self.phase == Phase::Fresh || now.saturating_sub(self.mark.at) >= self.time(round)
    }

    fn rounds(&self) -> u64 {
        u64::from(match self.phase {
            Phase::Fresh | Phase::Steady => 1,
            Phase::Settle => SETTLE,
            Phase::Trial => TRIAL,
        })
    }

    fn time(&self, round: &Round) -> Ps {
        Ps(round.time.0.saturating_mul(self.rounds()))
    }

    /// Takes a sample in `mode`; the change to make.
    pub fn observe(&mut self, mode: Mode, now: Sample, round: &Round) -> Option<Change> {
        if self.phase == Phase::Fresh {
            let since = if mode == Mode::Shared { SHORTEST } else { 0 };
            *self = Judge { phase: Phase::Steady, mark: now, since, wait: SHORTEST, ..Judge::default() };
            return None;
        }
        let span = Span::between(&self.mark, &now);
        if span.time < self.time(round) || span.offered < round.frames.saturating_mul(self.rounds()) {
            return None;
        }
        self.mark = now;
        match self.phase {
            Phase::Fresh | Phase::Steady => self.steady(mode, &span),
            Phase::Settle => {
                self.phase = Phase::Trial;
                None
            }
            Phase::Trial => self.verdict(mode, span.lost),
        }
    }

    /// A round of the usual kind.
    fn steady(&mut self, mode: Mode, span: &Span) -> Option<Change> {
        self.since = self.since.saturating_add(1);
        if span.dropped > TOLERATED {
            self.least = match self.lossy {
                0 => u32::MAX,
                n if n.is_multiple_of(PERSISTS) => span.lost,
                _ => self.least.min(span.lost),
            };
            self.lossy = self.lossy.saturating_add(1);
        } else {
            self.lossy = 0;
        }
        if !self.lossy.is_multiple_of(PERSISTS) {
            return None;
        }
        let losing = self.lossy > 0;
        let worse = losing && gains(self.other, self.least, GAIN);
        let reason = losing || mode == Mode::Private;
        if !(worse && self.since >= SHORTEST || reason && self.since >= self.wait) {
            return None;
        }
        // With a reason all the time a trial would have come earlier: after a calm the past is no guide.
        let last = if self.since >= 2 * LONGEST { SHORTEST / 2 } else { self.wait };
        *self = Judge {
            phase: Phase::Settle,
            mark: self.mark,
            other: if losing { self.least } else { 0 },
            wait: last.saturating_mul(2).min(LONGEST),
            ..Judge::default()
        };
        Some(Change::Try)
    }

    /// The mode on trial lost so much: does it stay?
    fn verdict(&mut self, mode: Mode, lost: u32) -> Option<Change> {
        self.phase = Phase::Steady;
        let stays = match mode {
            Mode::Private => gains(lost, self.other, GAIN),
            Mode::Shared => !gains(self.other, lost, GAIN / 2),
        };
        if stays {
            return None;
        }
        self.other = lost;
        Some(Change::Return)
    }

    /// As words, for whoever judges next.
    pub(crate) fn pack(&self) -> [u64; 8] {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let Sample { at, offered, dropped, received } = self.mark;
        let (rounds, losses) = (two(self.since, self.wait), two(self.least, self.other));
        [two(self.phase as u32, self.lossy), at.0, offered, dropped, received, losses, rounds, 0]
    }

    /// The reverse of [`pack`](Self::pack). Zeros are a judge that has seen nothing.
    pub(crate) fn unpack(words: [u64; 8]) -> Judge {
        let [phase, at, offered, dropped, received, losses, rounds, _] = words;
        let (low, high) = (|w: u64| w as u32, |w: u64| (w >> 32) as u32);
        Judge {
            phase: match low(phase) {
                1 => Phase::Steady,
                2 => Phase::Settle,
                3 => Phase::Trial,
                _ => Phase::Fresh,
            },
            mark: Sample { at: Ps(at), offered, dropped, received },
            lossy: high(phase),
            least: low(losses),
            other: high(losses),
            since: low(rounds),
            wait: high(rounds),
        }
    }
}

#[cfg(test)]
mod tests;
