//! The probes, and the checker itself, in every interleaving.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::path::Path;
use std::sync::Arc;

use memory::checked::{
    Bounds, CheckedSpace, CheckedView, Orders, Scenario, Site, explore, listed, spawn, unmissed, weaken,
};
use memory::probe::{Claims, Lock};
use memory::{Buf, Class, Field, Geometry, Mapping, Memory, Side, Space, Touch};

const fn field(name: &'static str, width: u32, class: Class, writer: Side) -> Field {
    Field { name, len: 2, width, class, writer, reader: Side::Both, home: Side::Host }
}

/// Ring of 2, 3 entries, one producer, two consumers: each entry arrives once and intact. Polls
/// are few, and this thread receives what they left.
fn claims(mut space: CheckedSpace) {
    const TOTAL: u64 = 3;
    let ring = Claims::<CheckedView>::new(&mut space, 2).unwrap();
    let space = space.share();
    let consumer = |polls: u32| {
        let (mut m, mut claimer) = (space.view(Side::Host), ring.claimer());
        move || {
            let (mut seen, mut out) = (Vec::new(), [0; 2]);
            for _ in 0..polls {
                let n = claimer.receive(&mut m, &mut out, 2);
                seen.extend_from_slice(&out[..n]);
            }
            seen
        }
    };
    let threads = [spawn(consumer(2)), spawn(consumer(2))];
    let (mut m, mut producer) = (space.view(Side::Nic), ring.producer());
    let mut sent = 0;
    for _ in 0..TOTAL + 1 {
        if sent < TOTAL && producer.offer(&mut m, 10 + sent) {
            sent += 1;
        }
    }
    let mut all = Vec::new();
    for thread in threads {
        let seen = thread.join().unwrap();
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

const SCENARIOS: [Scenario; 2] =
    [Scenario { name: "claim probe", run: claims }, Scenario { name: "lock probe", run: locked }];

fn passes(Scenario { name, run }: Scenario) {
    let explored = explore(Bounds::from_env(), &Arc::new(Orders::strong()), run).unwrap();
    println!("{name}: {explored}");
}

#[test]
fn each_claim_is_exclusive() {
    passes(SCENARIOS[0]);
}

#[test]
fn the_lock_excludes() {
    passes(SCENARIOS[1]);
}

/// Every ordering is needed, or docs/verification.md says why not.
#[test]
fn weakened_orderings_are_missed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ours = |site: &Site| site.file.contains("memory/src/probe/");
    let verdicts = weaken(Bounds::from_env(), &SCENARIOS, ours).unwrap();
    verdicts.iter().for_each(|verdict| println!("{verdict}"));
    assert_eq!(verdicts.len(), 7, "sites of the probes");
    let document = std::fs::read_to_string(root.join("docs/verification.md")).unwrap();
    let listed = listed(&document, |file| file.starts_with("probe/"));
    assert_eq!(unmissed(&verdicts, &root).unwrap(), listed, "not missed (left), listed (right)");
}

/// Runs `test` with a field, a body word and a buffer between a NIC (this thread) and a core.
fn two<N, H>(nic: N, host: H) -> Result<(), String>
where
    N: Fn(&mut CheckedView, Bound) + Copy + Send + Sync + 'static,
    H: Fn(&mut CheckedView, Bound) + Copy + Send + Sync + 'static,
{
    let window_of_one = Field { reader: Side::Nic, ..field("window of one", 1, COMBINING, Side::Host) };
    let test = move |mut space: CheckedSpace| {
        let bound = Bound {
            signal: space.words(&field("signal", 2, Class::Signal, Side::Nic), 0).unwrap(),
            window_of_one: space.words(&window_of_one, 0).unwrap(),
            bell: space.words(&field("bell", 1, Class::Register(Mapping::Uncached), Side::Host), 0).unwrap(),
            buffers: space.buffers(&Geometry::plain(1, 64)).unwrap(),
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
    window_of_one: <CheckedView as Memory>::Words<1>,
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
    let swaps = |m: &mut CheckedView, b: Bound| _ = m.swap_if(b.signal, 0, 0, 1);
    assert!(two(swaps, nothing).unwrap_err().contains("not a call for class Signal"));
    let adds = |m: &mut CheckedView, b: Bound| _ = m.add(b.bell, 0, 1);
    assert!(two(nothing, adds).unwrap_err().contains("not a call for class Register(Uncached)"));
    let combined = |m: &mut CheckedView, b: Bound| m.ring(b.window_of_one, 1);
    assert!(two(nothing, combined).unwrap_err().contains("not a call for class Register(Combining)"));
    let plain = |m: &mut CheckedView, b: Bound| {
        m.release(b.bell, 0, 1);
        m.write(b.bell, 0, [2]);
        m.publish(b.window_of_one, 0, [3]);
    };
    two(nothing, plain).unwrap();
    let looks = |m: &mut CheckedView, b: Bound| _ = m.relaxed(b.window_of_one, 0);
    assert!(two(nothing, looks).unwrap_err().contains("window of one[0]: read by Host, for Nic"));
    two(looks, nothing).unwrap();
}

const WINDOW: Field = Field { reader: Side::Nic, ..field("window", 4, COMBINING, Side::Host) };
const COMBINING: Class = Class::Register(Mapping::Combining);

/// The host writes two entries of a combining register, then `barrier` publishes them; the NIC reads them once
/// `published` tells of that.
fn combined<W: Copy + Send + 'static>(
    mut space: CheckedSpace,
    signal: impl FnOnce(&mut CheckedSpace) -> W,
    barrier: impl FnOnce(&mut CheckedView, W),
    published: impl FnOnce(&mut CheckedView, W) -> bool + 'static,
) {
    let window = space.words::<4>(&WINDOW, 0).unwrap();
    let signal = signal(&mut space);
    let space = space.share();
    let (mut host, mut nic) = (space.view(Side::Host), space.view(Side::Nic));
    let thread = spawn(move || {
        if published(&mut nic, signal) {
            assert_eq!([0, 1].map(|i| nic.read(window, i)), [[1, 2, 3, 4], [5, 6, 7, 8]], "a torn entry");
        }
    });
    host.write(window, 0, [1, 2, 3, 4]);
    host.write(window, 1, [5, 6, 7, 8]);
    barrier(&mut host, signal);
    thread.join().unwrap();
}

fn rung(space: CheckedSpace) {
    let bell = field("bell", 1, Class::Register(Mapping::Uncached), Side::Host);
    combined(
        space,
        move |space| space.words::<1>(&bell, 0).unwrap(),
        |m, bell| m.ring(bell, 1),
        |m, bell| m.acquire(bell, 0) == 1,
    );
}

fn released(space: CheckedSpace) {
    let signal = field("signal", 1, Class::Signal, Side::Host);
    combined(
        space,
        move |space| space.words::<1>(&signal, 0).unwrap(),
        |m, signal| m.release(signal, 1, 1),
        |m, signal| m.acquire(signal, 1) == 1,
    );
}

fn published(space: CheckedSpace) {
    let tail = Field { reader: Side::Nic, ..field("tail", 2, COMBINING, Side::Host) };
    combined(
        space,
        move |space| space.words::<2>(&tail, 0).unwrap(),
        |m, tail| m.publish(tail, 0, [9, 1]),
        |m, tail| m.acquire(tail, 0) == 1 && m.body(tail, 0) == [9],
    );
}

/// A register that the NIC writes and the host reads.
fn told(mut space: CheckedSpace) {
    let status =
        Field { reader: Side::Host, ..field("status", 2, Class::Register(Mapping::Uncached), Side::Nic) };
    let status = space.words::<2>(&status, 0).unwrap();
    let space = space.share();
    let (mut host, mut nic) = (space.view(Side::Host), space.view(Side::Nic));
    let thread = spawn(move || nic.publish(status, 0, [7, 1]));
    if host.acquire(status, 0) == 1 {
        assert_eq!(host.read(status, 0), [7, 1]);
    }
    thread.join().unwrap();
}

const REGISTERS: [Scenario; 4] = [
    Scenario { name: "barrier by a doorbell", run: rung },
    Scenario { name: "barrier by a release", run: released },
    Scenario { name: "barrier by a publish", run: published },
    Scenario { name: "status of the NIC", run: told },
];

#[test]
fn registers_are_read_as_they_were_published() {
    REGISTERS.into_iter().for_each(passes);
}

#[test]
fn a_weakened_barrier_of_a_register_is_missed() {
    let ours = |site: &Site| site.file.ends_with("loom_probes.rs");
    let verdicts = weaken(Bounds::from_env(), &REGISTERS, ours).unwrap();
    verdicts.iter().for_each(|verdict| println!("{verdict}"));
    assert_eq!(verdicts.len(), 8, "a store and a load of each scenario");
    assert!(verdicts.iter().all(|verdict| verdict.caught.is_some()), "not missed: {verdicts:?}");
}

/// What is written alone may show at any time, and orders nothing.
#[test]
fn a_written_register_publishes_nothing() {
    let polls = |mut space: CheckedSpace| {
        let window = space.words::<4>(&WINDOW, 0).unwrap();
        let space = space.share();
        let (mut host, mut nic) = (space.view(Side::Host), space.view(Side::Nic));
        let thread = spawn(move || (nic.acquire(window, 0) == 4).then(|| nic.body::<4, 3>(window, 0)));
        host.write(window, 0, [1, 2, 3, 4]);
        thread.join().unwrap();
    };
    let found = explore(Bounds::from_env(), &Arc::new(Orders::strong()), polls).unwrap_err();
    assert!(found.contains("Causality violation"), "{found}");
}
