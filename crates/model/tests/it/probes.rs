//! Contention in the model: claims that fail, locks that wait, and polls that may be skipped.
//!
//! The algorithms are those that also run on real memory and under the checker.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::cell::Cell;
use std::rc::Rc;

use crate::caches::Chance;
use crate::world::{Out, World, server};
use memory::probe::{Claimer, Claims, Lock, Producer};
use memory::{Class, Memory, Ps, Side};
use model::View;
use model::hierarchy::Counts;

/// Core counts to try.
const CORES: [u32; 5] = [1, 2, 4, 8, 16];
const LEN: u32 = 64;
const VALUES: u64 = 4000;
/// Entries that a core claims at once, and its work for each of them, cycles.
const BURST: usize = 4;
const WORK: u32 = 100;

/// What a run shows: who received what and when, and what that cost.
#[derive(Debug, PartialEq)]
struct Seen {
    received: Vec<(u32, u64, Ps)>,
    claims: u64,
    failed: u64,
    counts: Counts,
}

/// A core that claims, works, and calls `quiet` when it finds nothing.
fn consume(
    m: &mut View,
    core: u32,
    mut claimer: Claimer<View>,
    quiet: fn(&mut View),
    out: &Out<(u32, u64, Ps)>,
) -> (u64, u64) {
    let mut values = [0; BURST];
    while !m.stopped() {
        let n = claimer.receive(m, &mut values, 64);
        for value in &values[..n] {
            out.push((core, *value, m.now()));
            m.work(WORK);
        }
        if n == 0 {
            quiet(m);
        }
    }
    (claimer.claims, claimer.failed)
}

/// The card: `VALUES` entries as fast as the ring takes them.
fn produce(m: &mut View, mut producer: Producer<View>) {
    for value in 0..VALUES {
        while !producer.offer(m, value) {
            m.idle();
        }
        m.chain();
    }
    while !producer.all_back(m) {
        m.idle();
    }
}

/// All cores claim from one ring.
fn claim_run(cores: u32) -> Seen {
    let mut w = World::new(server());
    let claims = Claims::<View>::new(&mut w.space, LEN).unwrap();
    let (received, tallies, done) = (Out::default(), Out::default(), Rc::new(Cell::new(false)));
    let over = done.clone();
    w.nic(move |m| {
        produce(m, claims.producer());
        over.set(true);
    });
    for core in 0..cores {
        let (received, tallies) = (received.clone(), tallies.clone());
        w.core(core, move |m| tallies.push(consume(m, core, claims.claimer(), View::idle, &received)));
    }
    let counts = w.run_while_not(&done).sim().counts();
    let (claims, failed) = tallies.all().into_iter().fold((0, 0), |(c, f), (c1, f1)| (c + c1, f + f1));
    Seen { received: received.all(), claims, failed, counts }
}

#[test]
fn failed_claims_are_none_alone_and_grow_with_cores() {
    let mut last = -1.0;
    for cores in CORES {
        let seen = claim_run(cores);
        let share = seen.failed as f64 / (seen.claims + seen.failed) as f64;
        println!("{cores} cores: {} claims, {} failed ({:.1}%)", seen.claims, seen.failed, 100.0 * share);
        let mut values: Vec<_> = seen.received.iter().map(|r| r.1).collect();
        values.sort_unstable();
        assert!(values.into_iter().eq(0..VALUES), "each entry once");
        if cores == 1 {
            assert_eq!(seen.failed, 0, "nobody to lose against");
        }
        assert!(share > last, "{cores} cores fail more often than fewer: {share} after {last}");
        last = share;
    }
}

#[test]
fn claims_repeat_exactly() {
    for cores in [2, 16] {
        assert_eq!(claim_run(cores), claim_run(cores), "{cores} cores");
    }
}

/// Turns of each core under one lock, with some work inside and outside: waits, and when all were done.
fn lock_run(cores: u32) -> (u64, Ps) {
    const TURNS: u64 = 200;
    let mut w = World::new(server());
    let lock = Lock::<View>::new(&mut w.space).unwrap();
    let counter = w.words::<1>(Class::Body, Side::Host, 1);
    let (waits, inside) = (Out::default(), Rc::new(Cell::new(false)));
    for core in 0..cores {
        let (waits, inside, mut lock) = (waits.clone(), inside.clone(), lock);
        w.core(core, move |m| {
            let mut chance = Chance::new(u64::from(core));
            let mut count = 0;
            for _ in 0..TURNS {
                m.work(chance.below(2000));
                lock.lock(m);
                assert!(!inside.replace(true), "two cores hold the lock");
                [count] = m.read(counter, 0);
                m.work(50);
                m.write(counter, 0, [count + 1]);
                m.chain(); // others may try meanwhile
                inside.set(false);
                lock.unlock(m);
            }
            waits.push((lock.waits, count + 1, m.now()));
        });
    }
    w.run();
    let all = waits.all();
    assert_eq!(all.iter().map(|a| a.1).max(), Some(u64::from(cores) * TURNS), "an update was lost");
    (all.iter().map(|a| a.0).sum(), all.iter().map(|a| a.2).max().unwrap())
}

#[test]
fn lock_waits_are_none_alone_and_grow_with_cores() {
    let mut last = 0.0;
    for cores in CORES {
        let (waits, end) = lock_run(cores);
        let per_turn = waits as f64 / (f64::from(cores) * 200.0);
        println!("{cores} cores: {waits} waits, {per_turn:.2} a turn, {:.1} us", end.us());
        if cores == 1 {
            assert_eq!(waits, 0, "nobody to wait for");
        } else {
            assert!(per_turn > last, "{cores} cores wait more than fewer");
        }
        last = per_turn;
        assert_eq!(lock_run(cores), (waits, end), "the same again");
    }
}

/// Cores over `count` rings; values come at random times. `quiet` is what a core does when it finds
/// nothing.
fn polling_run(cores: u32, count: u32, seed: u64, quiet: fn(&mut View)) -> Seen {
    let mut w = World::new(server());
    let (received, tallies, done) = (Out::default(), Out::default(), Rc::new(Cell::new(false)));
    let rings: Vec<_> = (0..count).map(|_| Claims::<View>::new(&mut w.space, LEN).unwrap()).collect();
    let mut producers: Vec<_> = rings.iter().map(|r| r.producer()).collect();
    let over = done.clone();
    w.nic(move |m| {
        let mut chance = Chance::new(seed);
        for value in 0..400 {
            // Bursts, and gaps from less than a poll to hundreds of them.
            let gap = [0, 0, 3_000, 100_000, 2_000_000][chance.below(5) as usize];
            let next = m.now() + Ps(u64::from(chance.below(gap + 1)));
            m.pause(next, false);
            assert!(producers[chance.below(count) as usize].offer(m, value), "the rings are long enough");
        }
        let rest = m.now() + Ps::from_us(20);
        m.pause(rest, false);
        over.set(true);
    });
    for (core, ring) in (0..cores).zip(rings.into_iter().cycle()) {
        let (received, tallies) = (received.clone(), tallies.clone());
        w.core(core, move |m| tallies.push(consume(m, core, ring.claimer(), quiet, &received)));
    }
    let counts = w.run_while_not(&done).sim().counts();
    let (claims, failed) = tallies.all().into_iter().fold((0, 0), |(c, f), (c1, f1)| (c + c1, f + f1));
    let mut received = received.all();
    received.sort_unstable();
    assert_eq!(received.len(), 400);
    Seen { received, claims, failed, counts }
}

/// A poll that found nothing parks its core until there is something: times and counters are those of a
/// core that polls again and again.
#[test]
fn skipping_idle_polls_changes_nothing() {
    for (cores, rings) in [(1, 1), (2, 2), (5, 5), (2, 1), (3, 1), (4, 2)] {
        for seed in 0..4 {
            let parked = polling_run(cores, rings, seed, View::idle);
            let polled = polling_run(cores, rings, seed, View::chain);
            for (a, b) in parked.received.iter().zip(&polled.received) {
                assert_eq!(a, b, "{cores} cores, {rings} rings, seed {seed}: parked against polled");
            }
            assert_eq!(parked, polled, "{cores} cores, {rings} rings, seed {seed}");
        }
    }
}
