//! Loads of which the two modes lose different shares, and what the judge makes of them.

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
            self.changes.iter().filter(|at| **at >= *from && **at < *from + Ps::from_us(1_000_000)).count()
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
