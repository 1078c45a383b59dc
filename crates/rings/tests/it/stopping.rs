//! Single queues stop and start while the others of their port go on.

use crate::common;
use crate::common::Plain;
use memory::{Buf, Ps};
use rings::world::{Op, World};
use rings::{Buffers, Host, Interface, Outcome, privring, rxbisect, shring};

const LEN: u16 = 64;
const BUFFERS: u32 = 64;
const RING: u32 = 4;

fn interfaces() -> [Interface; 4] {
    let (ax, bx, timeout) = (RING, 2 * RING, Ps::from_us(1));
    let bisect = rxbisect::Sizes { ax, bx, group: 0, batch: 3, timeout, alloc_queues: 0 };
    [
        Interface::PrivRing(privring::Sizes { ring: RING }),
        Interface::ShRing(shring::Sizes {
            ring: RING,
            shared_by: 2,
            completions: RING,
            ..Default::default()
        }),
        Interface::RxBisect(bisect),
        Interface::RxBisect(rxbisect::Sizes { alloc_queues: 2, ..bisect }),
    ]
}

fn world(interface: Interface, queues: u32) -> World<Plain> {
    let (mut world, _) = common::world(interface, queues, BUFFERS);
    assert_eq!(world.fill(), 0);
    world
}

fn shared(shared_by: u32) -> World<Plain> {
    world(
        Interface::ShRing(shring::Sizes { ring: 8, shared_by, completions: 8, ..Default::default() }),
        shared_by,
    )
}

fn stop(world: &mut World<Plain>, core: u16) {
    world.apply(Op::StopQueue { core }).unwrap();
}

fn drain(world: &mut World<Plain>, core: u16) {
    world.apply(Op::DrainQueue { core }).unwrap();
}

fn start(world: &mut World<Plain>, core: u16) {
    world.apply(Op::StartQueue { core }).unwrap();
}

/// The core receives and frees until there is nothing; how many frames.
fn receive(world: &mut World<Plain>, core: usize) -> usize {
    let mut all = 0;
    loop {
        let n = world.cores[core].poll(3).unwrap();
        world.cores[core].free(usize::MAX);
        if n == 0 {
            return all;
        }
        all += n;
    }
}

/// All cores but the first poll, and queue 1 gets a frame, three times; how many frames arrived.
fn others(world: &mut World<Plain>) -> usize {
    let mut arrived = 0;
    for _ in 0..3 {
        for core in 1..world.cores.len() {
            receive(world, core);
        }
        arrived += world.nic.arrive(1, 1, LEN).unwrap();
    }
    arrived
}

/// Buffers in the rings.
fn inside(world: &mut World<Plain>) -> u64 {
    u64::from(BUFFERS) - world.cores[0].available()
}

#[test]
fn a_queue_stops_and_starts_any_number_of_times_while_another_goes_on() {
    for interface in interfaces() {
        let mut world = world(interface.clone(), 2);
        for cycle in 0..60u16 {
            let (n, name) = (usize::from(cycle % 7), interface.name());
            world.nic.arrive(0, n, LEN).unwrap();
            world.cores[0].poll(usize::from(cycle % 3)).unwrap();
            world.cores[0].free(usize::MAX);
            stop(&mut world, 0);
            let before = world.nic.offered().count(Outcome::QueueStopped);
            assert_eq!(world.nic.arrive(0, 5, LEN), Ok(0), "{name}");
            assert_eq!(world.nic.offered().count(Outcome::QueueStopped) - before, 5, "{name}");
            if cycle % 2 == 0 {
                receive(&mut world, 0); // a stopped queue may be polled until it drains
            }
            // The slots of frames that wait are the ring's again only when they are drained.
            let shared = matches!(interface, Interface::ShRing(_));
            let moved = others(&mut world);
            assert!(moved == 3 || shared, "{name}, cycle {cycle}: {moved}");
            drain(&mut world, 0);
            assert_eq!(others(&mut world), 3, "{name}, cycle {cycle}");
            receive(&mut world, 1);
            // Allocators learn of what is used a little later.
            let allocators = 2 * u64::from(RING) * u64::from(world.cores.len() > 2);
            let inside = inside(&mut world);
            assert!(inside == RING.into() || inside <= allocators, "{name}: {inside}");
            start(&mut world, 0);
            others(&mut world);
            assert_eq!(world.nic.arrive(0, 1, LEN), Ok(1), "{name}, cycle {cycle}");
            receive(&mut world, 0);
        }
        world.finish(false).unwrap();
    }
}

#[test]
fn a_started_queue_has_all_its_descriptors() {
    for interface in interfaces().into_iter().take(3) {
        let mut world = world(interface.clone(), 2);
        for n in [0, 1, 3, 4, 2] {
            world.nic.arrive(0, n, LEN).unwrap();
            stop(&mut world, 1);
            stop(&mut world, 0);
            drain(&mut world, 0);
            drain(&mut world, 1);
            assert_eq!(inside(&mut world), 0, "{}: every buffer came back", interface.name());
            start(&mut world, 0);
            start(&mut world, 1);
            assert_eq!(world.cores[0].poll(32), Ok(0));
            let both = world.nic.arrive(0, 100, LEN).unwrap();
            let want = if matches!(interface, Interface::RxBisect(_)) { 2 * RING } else { RING };
            assert_eq!(both, want as usize, "{} after {n} frames", interface.name());
            receive(&mut world, 0);
            receive(&mut world, 1);
        }
        world.finish(false).unwrap();
    }
}

#[test]
fn a_started_queue_has_no_buffer_before_it_is_filled() {
    for interface in interfaces() {
        let mut world = world(interface.clone(), 2);
        let cores = world.cores.len() as u16;
        for _ in 0..3 {
            (0..cores).for_each(|core| stop(&mut world, core));
            (0..cores).for_each(|core| drain(&mut world, core));
            (0..cores).for_each(|core| world.nic.start_queue(core));
            assert_eq!(world.nic.arrive(0, 3, LEN), Ok(0), "{}: what was taken back", interface.name());
            (0..cores).for_each(|core| start(&mut world, core));
            assert_eq!(world.nic.arrive(0, 3, LEN), Ok(3), "{}", interface.name());
            receive(&mut world, 0);
        }
        world.finish(false).unwrap();
    }
}

#[test]
fn frames_that_wait_are_counted_and_not_taken() {
    for interface in interfaces().into_iter().take(3) {
        let mut world = world(interface, 2);
        let waiting = |world: &mut World<Plain>, core: usize| {
            let (m, rx, _, _) = world.cores[core].parts();
            rx.waiting(m)
        };
        assert_eq!(waiting(&mut world, 0), 0);
        for round in 0..5 {
            assert_eq!(world.nic.arrive(0, 4, LEN), Ok(4));
            assert_eq!([waiting(&mut world, 0), waiting(&mut world, 1)], [4, 0], "round {round}");
            world.cores[0].poll(3).unwrap();
            assert_eq!(waiting(&mut world, 0), 1);
            receive(&mut world, 0);
            receive(&mut world, 1);
        }
    }
}

#[test]
fn counters_have_a_name_each_and_end() {
    for interface in interfaces() {
        let mut world = world(interface, 2);
        let all = world.cores[0].counters();
        let (_, rx, _, _) = world.cores[0].parts();
        assert!(all.iter().enumerate().all(|(i, counter)| rx.counter(i) == Some(*counter)));
        assert!(!all.is_empty() && rx.counter(all.len()).is_none());
        assert!(!world.nic.counters().is_empty());
    }
}

/// Takes the whole pool away, or gives it back.
fn pool(world: &mut World<Plain>, back: &[Buf]) -> Vec<Buf> {
    let (m, _, _, pool) = world.cores[0].parts();
    pool.give(m, back);
    let mut all = vec![Buf(0); if back.is_empty() { BUFFERS as usize } else { 0 }];
    let n = pool.take(m, &mut all);
    all.truncate(n);
    all
}

#[test]
fn shring_slots_of_a_stopped_core_serve_the_others() {
    let mut world = shared(2);
    assert_eq!(world.nic.arrive(0, 8, LEN), Ok(8));
    let taken = pool(&mut world, &[]);
    assert_eq!(world.cores[0].poll(5), Ok(5), "5 slots are a debt, 3 frames wait");
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0));
    stop(&mut world, 0);
    drain(&mut world, 0);
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0), "nobody has looked yet");
    assert_eq!(world.cores[1].poll(32), Ok(0));
    assert_eq!(world.nic.arrive(1, 8, LEN), Ok(3), "the buffers of the frames that waited");
    assert_eq!(world.cores[1].poll(32), Ok(3));
    pool(&mut world, &taken);
    assert_eq!(world.cores[1].poll(32), Ok(0));
    assert_eq!(world.nic.arrive(1, 9, LEN), Ok(8), "the whole ring is theirs");
    start(&mut world, 0);
    assert_eq!(receive(&mut world, 1), 8);
    assert_eq!(world.nic.arrive(0, 9, LEN), Ok(8));
    world.finish(true).unwrap();
}

#[test]
fn shring_cores_that_start_after_all_have_stopped_share_the_ring_anew() {
    let mut world = shared(4);
    world.nic.arrive(2, 5, LEN).unwrap();
    (0..4).for_each(|core| stop(&mut world, core));
    (0..4).for_each(|core| drain(&mut world, core));
    assert_eq!(inside(&mut world), 0);
    for core in 0..4 {
        start(&mut world, core);
        assert_eq!(inside(&mut world), 2 * (u64::from(core) + 1));
    }
    assert_eq!(world.nic.arrive(3, 9, LEN), Ok(8));
    world.finish(true).unwrap();
}

#[test]
fn shring_keeps_the_buffers_that_others_can_use_until_its_last_core_stops() {
    let mut world = shared(3);
    for core in 0..2 {
        stop(&mut world, core);
        drain(&mut world, core);
        assert_eq!(inside(&mut world), 8, "posted buffers belong to the ring");
    }
    assert_eq!(world.nic.arrive(2, 3, LEN), Ok(3));
    stop(&mut world, 2);
    drain(&mut world, 2);
    assert_eq!(inside(&mut world), 0);
    world.finish(true).unwrap();
}

fn bisected(alloc_queues: u32) -> World<Plain> {
    let sizes = rxbisect::Sizes { ax: 4, bx: 16, group: 0, batch: 8, timeout: Ps::from_us(9), alloc_queues };
    world(Interface::RxBisect(sizes), 2)
}

#[test]
fn rxbisect_does_not_use_the_buffers_of_a_stopped_queue() {
    let mut world = bisected(0);
    stop(&mut world, 1);
    assert_eq!(world.nic.arrive(0, 8, LEN), Ok(4), "its own Ax ring and no other");
    assert_eq!(world.nic.offered().count(Outcome::NoBuffer), 4);
    drain(&mut world, 1);
    assert_eq!(inside(&mut world), 4);
    start(&mut world, 1);
    assert_eq!(world.nic.arrive(0, 8, LEN), Ok(4), "and the other again");
    world.finish(false).unwrap();
}

#[test]
fn rxbisect_tells_a_stopped_queue_what_others_used() {
    let mut world = bisected(0);
    assert_eq!(world.nic.arrive(0, 6, LEN), Ok(6), "two of them in buffers of queue 1, not told of");
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(1));
    assert_eq!(world.nic.arrive(0, 1, LEN), Ok(1));
    stop(&mut world, 1);
    drain(&mut world, 1);
    assert_eq!(inside(&mut world), 7, "what lies in frames of queue 0");
    start(&mut world, 1);
    assert_eq!(inside(&mut world), 7 + 4);
    assert_eq!(receive(&mut world, 0), 7, "intact");
    world.finish(false).unwrap();
}

#[test]
fn rxbisect_allocators_stop_and_start() {
    let mut world = bisected(2);
    stop(&mut world, 2); // cores 2 and 3 allocate
    drain(&mut world, 2);
    assert_eq!(inside(&mut world), 4);
    assert_eq!(world.nic.arrive(0, 8, LEN), Ok(4), "what the other allocator posted");
    start(&mut world, 2);
    assert_eq!(world.nic.arrive(1, 8, LEN), Ok(4));
    stop(&mut world, 0);
    drain(&mut world, 0);
    receive(&mut world, 2);
    receive(&mut world, 3);
    assert_eq!(world.nic.arrive(1, 16, LEN), Ok(8), "a queue without an Ax ring takes none with it");
    world.finish(false).unwrap();
}
