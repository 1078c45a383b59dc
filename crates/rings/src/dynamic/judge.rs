//! When to switch: by measured trial. Pure: it knows no memory, and no clock but its samples'.
//!
//! Sharing is the home mode: it posts the fewest buffers, so without drops there is no reason to leave it.
//! What it costs under imbalance no counter of the cores tells (a starved core looks like an idle one), and
//! what private rings cost in cache no counter tells either. So both are tried under the load of the day:
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
    /// Rounds in a row that dropped; the least that one of them lost (ppm), of each [`PERSISTS`] anew. The
    /// first one may have begun well: it does not count.
    lossy: u32,
    least: u32,
    /// What the mode that is not in force lost when it was (ppm).
    other: u32,
    /// Rounds since the last trial, and those that must pass.
    since: u32,
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
mod tests {
    use super::*;

    const ROUND: Round = Round { time: Ps::from_us(1000), frames: 8192 };
    /// Frames of a step of 0.1 ms: 8.2 million a second.
    const FRAMES: u64 = 820;
    const STEP: Ps = Ps::from_us(100);
    const SECOND: u64 = 10_000;

    /// A judge and the counters that it sees.
    struct Bench {
        judge: Judge,
        mode: Mode,
        now: Sample,
        /// Time of each change.
        changes: Vec<Ps>,
        /// Steps in private mode, and all.
        private: u64,
        steps: u64,
    }

    impl Bench {
        fn new() -> Bench {
            // Just before they wrap.
            let now = Sample { at: Ps(7), offered: MASK - 99_999, dropped: MASK, received: MASK - 100_000 };
            let (judge, mode) = (Judge::default(), Mode::Shared);
            Bench { judge, mode, now, changes: Vec::new(), private: 0, steps: 0 }
        }

        /// `steps` of a load of which each mode loses so much, percent.
        fn run(&mut self, steps: u64, loses: impl Fn(Mode, u64) -> u64) {
            for _ in 0..steps {
                let lost = FRAMES * loses(self.mode, self.steps) / 100;
                self.step(lost, lost);
            }
        }

        fn step(&mut self, dropped: u64, lost: u64) {
            self.steps += 1;
            self.private += u64::from(self.mode == Mode::Private);
            let n = &mut self.now;
            n.at += STEP;
            n.offered = (n.offered + FRAMES) & MASK;
            n.dropped = (n.dropped + dropped) & MASK;
            n.received = (n.received + FRAMES - lost) & MASK;
            self.judge = Judge::unpack(self.judge.pack());
            if self.judge.observe(self.mode, *n, &ROUND).is_some() {
                self.mode = if self.mode == Mode::Shared { Mode::Private } else { Mode::Shared };
                self.changes.push(n.at);
            }
        }

        /// The most changes within a second.
        fn busiest(&self) -> usize {
            let within = |from: &Ps| {
                self.changes
                    .iter()
                    .filter(|at| **at >= *from && **at < *from + Ps::from_us(1_000_000))
                    .count()
            };
            self.changes.iter().map(within).max().unwrap_or(0)
        }
    }

    fn balanced(mode: Mode, _: u64) -> u64 {
        if mode == Mode::Shared { 0 } else { 18 }
    }

    fn slow_core(mode: Mode, _: u64) -> u64 {
        if mode == Mode::Shared { 40 } else { 10 }
    }

    #[test]
    fn without_drops_sharing_is_never_left() {
        let mut b = Bench::new();
        b.run(20 * SECOND, balanced);
        assert_eq!((b.changes.len(), b.mode), (0, Mode::Shared));
    }

    #[test]
    fn a_stall_of_two_milliseconds_is_no_reason() {
        for offset in 0..20 {
            let mut b = Bench::new();
            b.run(SECOND + offset, balanced);
            b.run(20, |_, _| 100);
            b.run(SECOND, balanced);
            assert_eq!(b.changes, [], "{offset}");
        }
    }

    #[test]
    fn a_slow_core_ends_sharing_within_the_rounds_promised() {
        let mut b = Bench::new();
        b.run(SECOND, balanced);
        let from = b.steps;
        b.run(5 * SECOND, slow_core);
        let first = b.changes[0].0 / STEP.0 - from;
        assert!(first <= 10 * u64::from(PERSISTS + 2), "left after {first} steps");
        assert_eq!(b.mode, Mode::Private);
        let share = b.private as f64 / (5 * SECOND) as f64;
        assert!(share > 0.96, "private {share}: trials of sharing, the shortest waits first");
    }

    /// Of a load that is ten times too much, 1% of what is offered is 10% of what is received.
    #[test]
    fn a_gain_is_one_of_what_is_received() {
        let mut b = Bench::new();
        b.run(5 * SECOND, |mode, _| if mode == Mode::Shared { 90 } else { 89 });
        assert_eq!(b.mode, Mode::Private);
        assert!(gains(0, 10_000, GAIN) && !gains(0, 9_800, GAIN) && !gains(MILLION as u32, 0, 0));
    }

    /// Wherever in a round the trouble begins: what its first round lost says nothing.
    #[test]
    fn a_round_that_began_well_does_not_decide() {
        for offset in 0..20 {
            let mut b = Bench::new();
            b.run(SECOND + offset, balanced);
            b.run(10 * u64::from(PERSISTS + SETTLE + TRIAL + 4), slow_core);
            assert_eq!((b.mode, b.changes.len()), (Mode::Private, 1), "{offset}");
        }
    }

    #[test]
    fn private_rings_that_lose_more_are_given_up() {
        for private in [12, 13, 30, 100] {
            let mut b = Bench::new();
            b.run(10 * SECOND, |mode, _| if mode == Mode::Shared { 12 } else { private });
            let share = b.private as f64 / b.steps as f64;
            assert!(b.mode == Mode::Shared && share < 0.02, "{private}%: private {share}");
            assert!(b.changes.len() >= 8, "and tried again: {}", b.changes.len());
        }
    }

    #[test]
    fn when_the_imbalance_is_over_sharing_comes_back() {
        let mut b = Bench::new();
        b.run(5 * SECOND, slow_core);
        assert_eq!(b.mode, Mode::Private);
        let most = 12 * u64::from(LONGEST + SETTLE + TRIAL);
        b.run(most, |_, _| 0);
        assert_eq!(b.mode, Mode::Shared, "sharing is home: it need only lose nothing");
        let changes = b.changes.len();
        b.run(5 * SECOND, balanced);
        assert_eq!(b.changes.len(), changes);
    }

    /// A private ring absorbs for a while what its core cannot follow; then it drops.
    #[test]
    fn a_trial_that_was_too_kind_is_corrected() {
        let mut b = Bench::new();
        let mut absorbed = 0;
        for _ in 0..20 * SECOND {
            let step = match b.mode {
                Mode::Shared => {
                    absorbed = 0;
                    (82, 82)
                }
                Mode::Private => {
                    absorbed += 1;
                    if absorbed < 300 { (0, 0) } else { (164, 164) }
                }
            };
            b.step(step.0, step.1);
        }
        let share = b.private as f64 / b.steps as f64;
        assert!(share < 0.1, "private {share}");
    }

    #[test]
    fn what_queues_up_is_lost_even_if_nothing_drops() {
        let mut b = Bench::new();
        b.run(2 * SECOND, |_, _| 0); // so that trials may follow each other
        for _ in 0..5 * SECOND {
            // A private ring that hides its loss: without the queues it would look perfect.
            let dropped = if b.mode == Mode::Shared { 82 } else { 0 };
            b.step(dropped, 82);
        }
        assert_eq!(b.mode, Mode::Shared);
        assert!(!b.changes.is_empty());
    }

    #[test]
    fn switches_are_bounded_whatever_happens() {
        let most = 2 * (1000 / u64::from(SHORTEST + SETTLE + TRIAL) + 1);
        let worse_if_kept: fn(Mode, u64) -> u64 = |_, step| if step / 300 % 2 == 0 { 50 } else { 0 };
        let noise: fn(Mode, u64) -> u64 = |_, step| (step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 60;
        let enemy: fn(Mode, u64) -> u64 = |mode, step| {
            let fashion = step / 90 % 2 == 0;
            if (mode == Mode::Shared) == fashion { 40 } else { 1 }
        };
        for loses in [worse_if_kept, noise, enemy] {
            let mut b = Bench::new();
            b.run(20 * SECOND, loses);
            assert!(b.busiest() as u64 <= most, "{} in a second, at most {most}", b.busiest());
            assert!(b.changes.len() > 4, "the test does not test");
        }
    }

    #[test]
    fn slow_traffic_is_judged_by_frames_and_fast_by_time() {
        let mut b = Bench::new();
        let slow = Round { frames: 1 << 24, ..ROUND };
        let fast = Round { frames: 0, time: Ps::from_us(1_000_000) };
        b.judge.observe(b.mode, b.now, &slow);
        let mark = b.judge.mark;
        for round in [slow, fast] {
            b.now.at += Ps::from_us(900_000);
            b.now.offered += 1000;
            assert_eq!(b.judge.observe(b.mode, b.now, &round), None);
            assert_eq!(b.judge.mark, mark);
            b.now.at = mark.at;
        }
    }

    #[test]
    fn any_words_are_a_judge() {
        for word in [0, 1, u64::MAX, 0x8000_0000_0000_0003] {
            let mut judge = Judge::unpack([word; 8]);
            for n in [0, 1 << 20, u64::MAX] {
                let now = Sample { at: Ps(n), offered: n, dropped: n, received: !n };
                judge.due(now.at, &ROUND);
                judge.observe(Mode::after(n), now, &ROUND);
                judge.observe(Mode::Shared, now, &Round { time: Ps::ZERO, frames: 0 });
            }
        }
        assert_eq!(Judge::unpack([0; 8]), Judge::default());
    }
}
