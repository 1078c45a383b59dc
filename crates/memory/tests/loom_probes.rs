//! The probes, and the checker itself, in every interleaving.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::sync::Arc;

use memory::checked::{Bounds, CheckedSpace, CheckedView, Orders, Site, explore, spawn};
use memory::probe::{Claims, Lock};
use memory::{Buf, Class, Field, Geometry, Memory, Side, Space, Touch};

const fn field(name: &'static str, width: u32, class: Class, writer: Side) -> Field {
    Field { name, len: 2, width, class, writer, reader: Side::Both }
}

/// Ring of 2, 3 entries, one producer, two consumers: each entry arrives once and intact.
fn claims(mut space: CheckedSpace) {
    let ring = Claims::<CheckedView>::new(&mut space, 2).unwrap();
    let space = space.share();
    let consumer = |tries: u32| {
        let (mut m, mut claimer) = (space.view(Side::Host), ring.claimer());
        move || {
            let (mut seen, mut out) = (Vec::new(), [0; 2]);
            for _ in 0..tries {
                let n = claimer.receive(&mut m, &mut out, 2);
                seen.extend_from_slice(&out[..n]);
                m.idle();
            }
            (seen, claimer)
        }
    };
    let threads = [spawn(consumer(2)), spawn(consumer(2))];
    let (mut m, mut producer) = (space.view(Side::Nic), ring.producer());
    let mut sent = 0;
    for _ in 0..4 {
        if sent < 3 && producer.offer(&mut m, 10 + sent) {
            sent += 1;
        } else {
            m.idle();
        }
    }
    let mut all = Vec::new();
    for thread in threads {
        let (seen, _) = thread.join().unwrap();
        assert!(seen.is_sorted(), "{seen:?} out of ring order");
        all.extend(seen);
    }
    let (mut m, mut claimer, mut out) = (space.view(Side::Both), ring.claimer(), [0; 2]);
    loop {
        match claimer.receive(&mut m, &mut out, 2) {
            0 => break,
            n => all.extend_from_slice(&out[..n]),
        }
    }
    all.sort_unstable();
    assert!(all.iter().copied().eq(10..10 + sent), "sent {sent}, received {all:?}");
}

/// Three threads, two turns each: the counter under the lock is neither raced nor lost.
fn locked(mut space: CheckedSpace) {
    let lock = Lock::<CheckedView>::new(&mut space).unwrap();
    let counter = space.words::<1>(&field("counter", 1, Class::Body, Side::Host), 0).unwrap();
    let space = space.share();
    let worker = || {
        let (mut m, mut lock) = (space.view(Side::Host), lock);
        move || {
            for _ in 0..2 {
                lock.lock(&mut m);
                let [count] = m.read(counter, 0);
                m.write(counter, 0, [count + 1]);
                lock.unlock(&mut m);
            }
        }
    };
    let threads = [spawn(worker()), spawn(worker())];
    worker()();
    for thread in threads {
        thread.join().unwrap();
    }
    let (mut m, mut lock) = (space.view(Side::Both), lock);
    lock.lock(&mut m);
    assert_eq!(m.read(counter, 0), [6]);
}

/// Explores `test` with full orderings, then with each of its sites relaxed: every one must be missed.
fn check_and_weaken(name: &str, test: fn(CheckedSpace)) {
    let orders = Arc::new(Orders::strong());
    let explored = explore(Bounds::from_env(), &orders, test).unwrap();
    println!("{name}: {explored}");
    let sites = orders.sites();
    let sites: Vec<Site> = sites.into_iter().filter(|s| s.file.contains("probe/")).collect();
    assert!(sites.len() >= 2, "{sites:?}");
    for site in sites {
        let error = explore(Bounds::from_env(), &Arc::new(Orders::weakened(site)), test);
        let error = error.map(|e| e.executions).expect_err(&format!("nobody misses {site}"));
        println!("{name}: {site} relaxed: {}", error.lines().next().unwrap_or_default());
        assert!(!error.contains("maximum number of branches"), "{site}: no verdict");
    }
}

#[test]
fn each_claim_is_exclusive_and_every_ordering_is_needed() {
    check_and_weaken("claim probe", claims);
}

#[test]
fn the_lock_excludes_and_every_ordering_is_needed() {
    check_and_weaken("lock probe", locked);
}

/// Runs `test` with a field, a body word and a buffer between a NIC (this thread) and a core.
fn two<N, H>(nic: N, host: H) -> Result<(), String>
where
    N: Fn(&mut CheckedView, Bound) + Copy + Send + Sync + 'static,
    H: Fn(&mut CheckedView, Bound) + Copy + Send + Sync + 'static,
{
    let test = move |mut space: CheckedSpace| {
        let bound = Bound {
            signal: space.words(&field("signal", 2, Class::Signal, Side::Nic), 0).unwrap(),
            bell: space.words(&field("bell", 1, Class::Doorbell, Side::Host), 0).unwrap(),
            buffers: space.buffers(&Geometry { count: 1, stride: 64, offset: 0, room: 64 }).unwrap(),
        };
        let space = space.share();
        let (mut ours, mut theirs) = (space.view(Side::Nic), space.view(Side::Host));
        let thread = spawn(move || host(&mut theirs, bound));
        nic(&mut ours, bound);
        thread.join().unwrap();
    };
    explore(Bounds { preemptions: 2 }, &Arc::new(Orders::strong()), test).map(|_| ())
}

#[derive(Clone, Copy)]
struct Bound {
    signal: <CheckedView as Memory>::Words<2>,
    bell: <CheckedView as Memory>::Words<1>,
    buffers: <CheckedView as Memory>::Buffers,
}

#[test]
fn a_published_payload_may_be_read_and_an_unpublished_one_not() {
    let deliver = |m: &mut CheckedView, b: Bound| {
        m.put(b.buffers, Buf(0), 0, b"frame", 60);
        m.publish(b.signal, 0, [0, 1]);
    };
    let read = |m: &mut CheckedView, b: Bound| {
        let mut out = [0; 6];
        m.get(b.buffers, Buf(0), 0, &mut out, 60);
        assert_eq!(&out, b"frame\0");
    };
    let patient = move |m: &mut CheckedView, b: Bound| {
        if m.acquire(b.signal, 0) == 1 {
            assert_eq!(m.read(b.signal, 0), [0, 1]);
            read(m, b);
        }
    };
    let hasty = move |m: &mut CheckedView, b: Bound| {
        if m.relaxed(b.signal, 0) == 1 {
            read(m, b);
        }
    };
    two(deliver, patient).unwrap();
    assert!(two(deliver, hasty).unwrap_err().contains("Causality violation"));
    let late = |m: &mut CheckedView, b: Bound| {
        m.publish(b.signal, 0, [0, 1]);
        m.put(b.buffers, Buf(0), 0, b"frame", 60);
    };
    assert!(two(late, patient).is_err(), "a payload written after its signal");
}

#[test]
fn a_buffer_has_one_owner() {
    let touch = |m: &mut CheckedView, b: Bound| m.meta(b.buffers, Buf(0), 0, Touch::Write);
    assert!(two(touch, touch).unwrap_err().contains("Causality violation"));
    let stranger = |m: &mut CheckedView, b: Bound| m.put(b.buffers, Buf(1), 0, &[], 1);
    assert!(two(stranger, |_, _| ()).unwrap_err().contains("none of 1 buffers"));
}

#[test]
fn calls_are_held_to_class_and_writer() {
    let nothing = |_: &mut CheckedView, _: Bound| ();
    let steals = |m: &mut CheckedView, b: Bound| m.publish(b.signal, 0, [0, 1]);
    assert!(two(nothing, steals).unwrap_err().contains("signal[0]: written by Host, belongs to Nic"));
    let swaps = |m: &mut CheckedView, b: Bound| drop(m.swap_if(b.signal, 0, 0, 1));
    assert!(two(swaps, nothing).unwrap_err().contains("not a call for class Signal"));
    let plain = |m: &mut CheckedView, b: Bound| m.release(b.bell, 0, 1);
    assert!(two(nothing, plain).unwrap_err().contains("not a call for class Doorbell"));
}
