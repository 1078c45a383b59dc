//! One thread is held before each access of a burst in turn. The others receive up to one round of descriptors, then
//! the NIC sees a full ring; when the thread goes on, all goes on (corec §3.4.4).

use std::collections::BTreeSet;

use rings::{Host, Outcome};

use super::port::{Build, Port, Walker, apart, locked, shared};
use super::seen;
use crate::common::{Access, Plain};

const RING: u32 = 4;
/// Rounds that the others try to receive meanwhile.
const ROUNDS: usize = 4;

/// Before access `at`, counted from 0.
fn access(mut at: u32) -> impl FnMut(Access) -> bool + Send {
    move |_| {
        at = at.wrapping_sub(1);
        at == u32::MAX
    }
}

/// A burst that is held somewhere.
#[derive(Clone, Copy)]
struct Held {
    /// Before which access.
    at: u32,
    /// Frames at most.
    burst: usize,
}

/// What happened while a thread was held.
#[derive(Debug)]
struct Meanwhile {
    /// Frames that the held thread received in the end.
    own: usize,
    /// Frames that the others received.
    others: usize,
    /// Others that waited for a lock, and did nothing else.
    waiting: usize,
    /// Whether they came to a stop before the frames did.
    stopped: bool,
}

/// A port whose ring is full of frames, `turned` slots past its start.
fn full<H: Host<Plain>>(build: Build<H>, threads: u32, turned: usize) -> Port<H> {
    let mut port = Port::new(build, RING, threads, 6 * RING);
    for _ in 0..turned {
        assert_eq!((port.card.offer(1), port.cores[0].poll(1)), (1, 1));
        port.cores[0].free();
    }
    assert_eq!(port.card.offer(RING as usize), RING as usize);
    port
}

/// All threads but the held ones poll, and frames come, until neither gets on; what the others received.
fn others<H>(port: &mut Port<H>, waiting: &mut Vec<Walker<H>>) -> (usize, bool)
where
    H: Host<Plain> + Send + 'static,
{
    let mut all = 0;
    for _ in 0..ROUNDS {
        let mut moved = 0;
        for core in core::mem::take(&mut port.cores) {
            let walker = core.walk(2, |access| access.call == "wait");
            if walker.stands {
                waiting.push(walker);
                continue;
            }
            let (mut core, n) = walker.resume();
            core.free();
            port.cores.push(core);
            moved += n;
        }
        all += moved;
        if moved + port.card.offer(RING as usize) == 0 {
            return (all, true);
        }
    }
    (all, false)
}

/// All go on: another two rounds of frames get through, and the NIC never saw more than one consumer.
fn settle<H: Host<Plain>>(mut port: Port<H>, what: &str) {
    for _ in 0..2 {
        port.empty();
        assert_eq!(port.card.offer(RING as usize), RING as usize, "{what}: the whole ring");
    }
    port.empty();
    let journal = port.plain.journal();
    assert!(port.cores.iter().all(|core| core.counter("faults") == 0), "{what}");
    port.finish().unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
    seen::Nic::reads(&journal, RING).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
}

/// Holds the first of three threads; `None` once the burst has no such access.
fn hold<H: Host<Plain> + Send + 'static>(build: Build<H>, held: Held, turned: usize) -> Option<Meanwhile> {
    let mut port = full(build, 3, turned);
    let walker = port.cores.remove(0).walk(held.burst, access(held.at));
    if !walker.stands {
        return None;
    }
    let mut waiting = Vec::new();
    let (others, stopped) = others(&mut port, &mut waiting);
    let (mut core, own) = walker.resume();
    core.free();
    let meanwhile = Meanwhile { own, others, waiting: waiting.len(), stopped };
    port.cores.insert(0, core);
    for (mut core, _) in waiting.into_iter().map(Walker::resume) {
        core.free();
        port.cores.push(core);
    }
    let full = BTreeSet::from([Outcome::RingFull]);
    assert!(port.card.dropped == full || !stopped && port.card.dropped.is_empty(), "{:?}", port.card.dropped);
    settle(port, &format!("held before access {}", held.at));
    Some(meanwhile)
}

/// Every access of a burst.
fn each<H: Host<Plain> + Send + 'static>(build: Build<H>, burst: usize, turned: usize) -> Vec<Meanwhile> {
    (0..).map_while(|at| hold(build, Held { at, burst }, turned)).collect()
}

#[test]
fn others_receive_one_round_past_a_held_thread() {
    for turned in 0..RING as usize {
        for burst in [1, 2, RING as usize] {
            let all = each(shared, burst, turned);
            for (at, Meanwhile { own, others, waiting, stopped }) in all.iter().enumerate() {
                let what = format!("burst {burst}, {turned} before, held before access {at}");
                assert_eq!(*waiting, 0, "{what}: nobody waits for a lock");
                if *stopped {
                    // A claim across the ring's end is marked in two steps: one round past what is not marked.
                    let marked = own + others - RING as usize;
                    assert!(
                        marked == 0 || marked == RING as usize - turned && marked < *own,
                        "{what}: {others}"
                    );
                } else {
                    assert!(*others > 2 * RING as usize, "{what}: {others}");
                }
            }
            let stopped = all.iter().filter(|m| m.stopped).count();
            println!(
                "burst {burst}, {turned} before: {} accesses, {stopped} stop the others after a round",
                all.len()
            );
            assert!(stopped > 4 * burst && stopped < all.len());
            let lost = all.iter().filter(|m| m.own == 0).count();
            assert!(lost > 0, "held before its claim, it loses it");
        }
    }
}

/// A ring that had too few buffers at its start is topped up by whoever has some, unless a held thread is about it.
#[test]
fn nobody_waits_where_buffers_are_missing() {
    let mut at = 0;
    loop {
        let mut port = Port::short(shared, RING, 3, 4 * RING, 1);
        let walker = port.cores.remove(0).walk(2, access(at));
        let more = walker.stands;
        assert_eq!(port.card.offer(3), 3, "of four descriptors, three have a buffer already");
        let mut waiting = Vec::new();
        let (all, _) = others(&mut port, &mut waiting);
        assert!(all >= 3, "held before access {at}: {all}");
        assert!(waiting.is_empty(), "held before access {at}");
        port.cores.push(walker.resume().0);
        settle(port, &format!("held before access {at}"));
        if !more {
            return;
        }
        at += 1;
    }
}

/// Frames that never stop coming keep nobody from filling such a ring: the NIC gets none of the descriptors behind one
/// that lacks a buffer, so somebody polls in vain once it has used those before it, and not again from then on.
#[test]
fn a_ring_that_lacks_buffers_is_whole_after_less_than_a_round_of_frames() {
    for (threads, posted, burst) in
        (1..=3).flat_map(|t| (0..=RING / t).flat_map(move |p| (1..=2 * RING).map(move |b| (t, p, b))))
    {
        let what = format!("{threads} threads posted {posted} each, bursts of {burst}");
        let mut port = Port::short(shared, RING, threads, 4 * RING, posted);
        let (before, mut frames) = ((threads * posted) as usize, 0);
        let mut vain = Vec::new();
        for turn in 0..16 * RING as usize {
            port.card.offer(RING as usize);
            let core = &mut port.cores[turn % threads as usize];
            match core.poll(burst as usize) {
                0 => vain.push(frames),
                n => frames += n,
            }
            core.free();
        }
        let once = if before < RING as usize { vec![before] } else { Vec::new() };
        assert_eq!(vain, once, "{what}: frames before each poll in vain");
        settle(port, &what);
    }
}

/// While one thread is held, another leaves and joins, and the third receives.
#[test]
fn a_thread_leaves_and_joins_past_a_held_one() {
    for (at, burst) in each(shared, 2, 0).iter().enumerate().map(|(at, _)| (at as u32, 2)) {
        let mut port = full(shared, 3, 0);
        let walker = port.cores.remove(0).walk(burst, access(at));
        let core = &mut port.cores[0];
        core.host.drain(&mut core.m, &mut core.spares);
        let (all, _) = others(&mut port, &mut Vec::new());
        assert!(all > 0, "held before access {at}");
        let core = port.cores.remove(0);
        let joins =
            core.walks(|access| access.call == "wait", |core| core.host.fill(&mut core.m, &mut core.spares));
        port.cores.push(walker.resume().0);
        port.cores.push(joins.resume().0);
        settle(port, &format!("held before access {at}"));
    }
}

/// Metronome's way: whoever has the lock stops all others at once.
#[test]
fn under_a_lock_others_stand_still() {
    let all = each(locked, 2, 0);
    let still = all.iter().filter(|m| m.waiting == 2).count();
    assert!(all.iter().filter(|m| m.waiting == 2).all(|m| m.others == 0 && m.stopped), "{all:?}");
    println!("under a lock: {} accesses, {still} stop the others at once", all.len());
    assert!(4 * still > 3 * all.len(), "{still} of {}", all.len());
}

/// The scale-out way: the frames of a held thread's queue are nobody else's, wherever it is held.
#[test]
fn with_a_queue_each_nobody_takes_over() {
    let all = each(apart, 2, 0);
    assert!(all.len() > 4 && all.iter().all(|m| m.others == 0 && m.stopped), "{all:?}");
}

/// Two of three threads are held, anywhere; they go on in either order.
#[test]
fn two_held_threads_stop_the_third_after_a_round() {
    let last = each(shared, 2, 0).len() as u32;
    for first in 0..last {
        let mut second = 0;
        let mut more = true;
        while more {
            for swapped in [false, true] {
                more = hold_two(first, second, swapped);
            }
            second += 1;
        }
    }
}

/// Whether the second burst has such an access.
fn hold_two(first: u32, second: u32, swapped: bool) -> bool {
    let mut port = full(shared, 3, 1);
    let mut held = vec![port.cores.remove(0).walk(2, access(first))];
    held.push(port.cores.remove(0).walk(2, access(second)));
    let more = held[1].stands;
    let mut waiting = Vec::new();
    let (others, stopped) = others(&mut port, &mut waiting);
    let what = format!("held before accesses {first} and {second}");
    assert!(waiting.is_empty(), "{what}: nobody waits for a lock");
    if swapped {
        held.swap(0, 1);
    }
    let mut own = 0;
    for (mut core, n) in held.into_iter().map(Walker::resume) {
        core.free();
        own += n;
        port.cores.push(core);
    }
    assert!(!stopped || others <= RING as usize, "{what}: {own} and {others}");
    settle(port, &what);
    more
}
