//! The probes on real memory: threads that really collide.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod shaken;

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Barrier;

use memory::probe::{Claims, Lock};
use memory::{Backing, Class, Field, Memory, NativeView, Region, Side, Space};
use shaken::{Shaken, ShakenSpace};

const LEN: u32 = 64;
/// Entries per round of the claim probe.
const ENTRIES: u64 = if cfg!(miri) { 60 } else { 200_000 };
/// Rounds until a collision must have been seen, however busy the machine is.
const ROUNDS: u32 = 100;

/// Claims and failures of `threads` consumers that share one ring of `entries` entries.
fn claim_round<M: Memory>(
    claims: Claims<M>,
    view: impl Fn() -> M + Sync,
    threads: usize,
    entries: u64,
) -> (u64, u64)
where
    Claims<M>: Sync,
{
    let stop = AtomicBool::new(false);
    let consumer = || {
        let (mut m, mut claimer, mut seen) = (view(), claims.claimer(), Vec::new());
        let mut out = [0; 4];
        // Acquire: partner is the store after the last entry, which must be received first.
        while !stop.load(Ordering::Acquire) {
            match claimer.receive(&mut m, &mut out, 16) {
                0 => m.idle(),
                n => seen.extend_from_slice(&out[..n]),
            }
        }
        (seen, claimer.claims, claimer.failed)
    };
    std::thread::scope(|s| {
        let consumers: Vec<_> = (0..threads).map(|_| s.spawn(consumer)).collect();
        let (mut m, mut producer) = (view(), claims.producer());
        for value in 0..entries {
            while !producer.offer(&mut m, value) {
                m.idle();
            }
        }
        while !producer.all_back(&mut m) {
            m.idle();
        }
        stop.store(true, Ordering::Release); // partner: the consumers' load
        let (mut all, mut won, mut failed) = (Vec::new(), 0, 0);
        for consumer in consumers {
            let (seen, claims, lost) = consumer.join().unwrap();
            assert!(seen.is_sorted(), "a thread claims in ring order");
            all.extend(seen);
            won += claims;
            failed += lost;
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..entries), "each entry once");
        (won, failed)
    })
}

fn print(how: &str, threads: usize, won: u64, failed: u64) -> f64 {
    let share = failed as f64 / (won + failed) as f64;
    let percent = 100.0 * share;
    println!(
        "claim probe, {how}, {threads} threads: {failed} of {} claims failed ({percent:.2}%)",
        won + failed
    );
    share
}

fn region() -> Region {
    Region::new(1 << 16, Backing::Heap).unwrap()
}

#[test]
fn claims_between_threads_win_once_and_never_fail_alone() {
    for threads in 1..=4 {
        let region = region();
        let claims = Claims::<NativeView>::new(&mut &region, LEN).unwrap();
        let (won, failed) = claim_round(claims, || region.view(), threads, ENTRIES);
        print("native", threads, won, failed);
        // Between threads a collision is up to the scheduler; the test below forces them.
        assert!(threads > 1 || failed == 0, "nobody to lose against");
    }
}

/// With an interleaving at every claim, more threads lose more claims, on any number of cores.
#[test]
#[cfg_attr(miri, ignore = "shares need many claims")]
fn failed_claims_grow_with_threads() {
    let share = |threads| {
        let region = region();
        let claims = Claims::<Shaken>::new(&mut ShakenSpace(&region), LEN).unwrap();
        let (won, failed) = claim_round(claims, || Shaken(region.view()), threads, ENTRIES / 10);
        print("native, interleaved", threads, won, failed)
    };
    // On a busy machine a scheduler may keep threads apart for a round, but not for all of them.
    let grows = |_| {
        let [one, two, four, sixteen] = [1, 2, 4, 16].map(share);
        assert!(one == 0.0, "nobody to lose against");
        two < four && four < sixteen
    };
    assert!((0..ROUNDS).any(grows), "in none of {ROUNDS} rounds more threads lost more");
}

/// How often each of `threads` adds one under the lock, by a plain read and write.
const TURNS: u64 = if cfg!(miri) { 20 } else { 5_000 };

fn lock_round(threads: u64) -> u64 {
    let region = Region::new(4096, Backing::Heap).unwrap();
    let lock = Lock::<NativeView>::new(&mut &region).unwrap();
    let counter = Field {
        name: "counter",
        len: 1,
        width: 1,
        class: Class::Body,
        writer: Side::Host,
        reader: Side::Host,
        home: Side::Host,
    };
    let counter = (&region).words::<1>(&counter, 0).unwrap();
    let start = Barrier::new(threads as usize);
    let worker = || {
        let (mut m, mut lock) = (region.view(), lock);
        start.wait();
        for _ in 0..TURNS {
            lock.lock(&mut m);
            let [count] = m.read(counter, 0);
            // The others get a turn at every look inside, however few cores there are.
            std::thread::yield_now();
            m.write(counter, 0, [count + 1]);
            lock.unlock(&mut m);
        }
        lock.waits
    };
    let waits = std::thread::scope(|s| {
        let workers: Vec<_> = (0..threads).map(|_| s.spawn(worker)).collect();
        workers.into_iter().map(|w| w.join().unwrap()).sum()
    });
    assert_eq!(region.view().read(counter, 0), [threads * TURNS], "an update was lost under the lock");
    waits
}

#[test]
fn lock_waiters_wait_and_lose_nothing() {
    for threads in 1..=4 {
        let (mut waits, mut rounds) = (0, 0);
        while rounds == 0 || (threads > 1 && waits == 0 && rounds < ROUNDS) {
            waits += lock_round(threads);
            rounds += 1;
        }
        println!("lock probe, native, {threads} threads: {waits} waits in {} turns", threads * TURNS);
        if threads == 1 {
            assert_eq!(waits, 0, "nobody to wait for");
        } else if !cfg!(miri) {
            assert!(waits > 0, "{threads} threads never waited in {ROUNDS} rounds");
        }
    }
}
