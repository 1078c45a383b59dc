//! shring: sharing, liveness with idle cores, the lock, whose frames are dropped and why.

use crate::common;
use crate::common::{Plain, counter};
use rings::shring::Sizes;
use rings::world::{Op, World};
use rings::{Interface, Outcome};

const LEN: u16 = 64;

fn world(ring: u32, shared_by: u32, completions: u32, queues: u32) -> (World<Plain>, Plain) {
    let (mut world, plain) = common::world(
        Interface::ShRing(Sizes { ring, shared_by, completions, ..Default::default() }),
        queues,
        256,
    );
    assert_eq!(world.fill(), 0);
    (world, plain)
}

fn dropped(world: &World<Plain>) -> (u64, u64) {
    (world.nic.offered().count(Outcome::RingFull), world.nic.offered().count(Outcome::NoBuffer))
}

#[test]
fn one_core_may_use_the_whole_ring() {
    let (mut world, _) = world(8, 4, 16, 4);
    assert_eq!(world.nic.arrive(2, 9, LEN), Ok(8));
    assert_eq!(world.nic.arrive(0, 1, LEN), Ok(0), "which is what starves the others");
    assert_eq!(dropped(&world), (0, 2));
    assert_eq!(world.cores[2].poll(3), Ok(3));
    assert_eq!(world.nic.arrive(0, 4, LEN), Ok(3), "it reposts what it received");
    world.finish(false).unwrap();
}

#[test]
fn a_full_completion_ring_is_told_apart_from_an_empty_shared_ring() {
    let (mut world, _) = world(8, 2, 2, 2);
    assert_eq!(world.nic.arrive(0, 3, LEN), Ok(2));
    assert_eq!(dropped(&world), (1, 0), "no room in its own ring, though 6 buffers are posted");
    assert_eq!(world.nic.arrive(1, 2, LEN), Ok(2), "the other queue is not concerned");
    world.cores[0].poll(1).unwrap();
    assert_eq!(world.nic.arrive(0, 3, LEN), Ok(1), "what was read may be overwritten");
    world.finish(false).unwrap();
}

#[test]
fn rings_do_not_share_with_each_other() {
    let (mut world, _) = world(4, 2, 8, 5); // rings of queues 0-1, 2-3 and 4
    assert_eq!(world.nic.arrive(1, 6, LEN), Ok(4));
    assert_eq!(world.nic.arrive(2, 6, LEN), Ok(4));
    assert_eq!(world.nic.arrive(4, 6, LEN), Ok(4), "the last ring serves one core alone");
    world.finish(true).unwrap();
}

/// Liveness: a core that gets a frame now and then and one that gets none at all must not keep slots
/// that a busy core needs, however small the ring.
#[test]
fn idle_cores_do_not_stall_a_busy_one() {
    for ring in [4, 8, 16] {
        let (mut world, _) = world(ring, 3, 64, 3);
        for round in 0..200 {
            assert_eq!(world.nic.arrive(0, 1, LEN), Ok(1), "ring {ring}, round {round}");
            world.cores[0].poll(32).unwrap();
            world.cores[0].free(32);
            if round % 50 == 0 {
                // One frame for a core that then polls once and has no more to do: a refill that waits
                // for a batch would keep its slot for ever.
                assert_eq!(world.nic.arrive(1, 1, LEN), Ok(1));
                assert_eq!(world.cores[1].poll(32), Ok(1));
            }
        }
        assert_eq!(world.nic.arrive(0, 64, LEN), Ok(ring as usize), "every slot is posted");
        world.finish(false).unwrap();
    }
}

#[test]
fn a_core_that_stops_keeps_only_what_it_received() {
    let (mut world, _) = world(8, 2, 16, 2);
    assert_eq!(world.nic.arrive(1, 5, LEN), Ok(5)); // core 1 never polls again
    for _ in 0..50 {
        assert_eq!(world.nic.arrive(0, 8, LEN), Ok(3));
        assert_eq!(world.cores[0].poll(32), Ok(3));
        world.cores[0].free(3);
    }
    world.finish(false).unwrap();
}

#[test]
fn the_lock_is_taken_to_refill_and_only_then() {
    let (mut world, plain) = world(16, 2, 16, 2);
    let taken = |world: &World<Plain>, core: usize| counter(&world.cores[core].counters(), "lock_taken");
    assert_eq!((taken(&world, 0), taken(&world, 1)), (1, 1), "each filled its share");
    let bells = plain.stores("shring.doorbell");
    for _ in 0..10 {
        assert_eq!(world.cores[0].poll(32), Ok(0));
    }
    assert_eq!(taken(&world, 0), 1);
    world.nic.arrive(0, 7, LEN).unwrap();
    assert_eq!(world.cores[0].poll(32), Ok(7));
    assert_eq!((taken(&world, 0), plain.stores("shring.doorbell") - bells), (2, 1), "once for a burst");
    assert_eq!(counter(&world.cores[0].counters(), "lock_waits"), 0);
    world.finish(false).unwrap();
}

#[test]
fn a_failed_allocation_is_a_debt_of_the_core_that_received() {
    let (mut world, _) = common::world(
        Interface::ShRing(Sizes { ring: 4, shared_by: 2, completions: 8, ..Default::default() }),
        2,
        4, // all buffers are posted
    );
    world.fill();
    assert_eq!(world.nic.arrive(0, 5, LEN), Ok(4));
    assert_eq!(world.cores[0].poll(32), Ok(4));
    assert_eq!(world.cores[1].poll(32), Ok(0));
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0));
    world.cores[0].free(2);
    assert_eq!(world.cores[1].poll(32), Ok(0), "core 1 owes nothing and posts nothing");
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0));
    assert_eq!(world.cores[0].poll(32), Ok(0));
    assert_eq!(world.nic.arrive(1, 3, LEN), Ok(2));
    assert!(counter(&world.cores[0].counters(), "debts") >= 2);
    world.finish(false).unwrap();
}

#[test]
fn words_that_name_no_buffer_are_skipped() {
    let (mut world, plain) = world(4, 2, 4, 2);
    world.nic.arrive(0, 2, LEN).unwrap();
    plain.poke("shring.completion", 0, 0, u64::MAX);
    assert_eq!(world.cores[0].poll(32), Ok(1));
    assert_eq!(counter(&world.cores[0].counters(), "faults"), 1);
    assert_eq!(world.nic.arrive(1, 4, LEN), Ok(4), "its slot is posted anew");
    plain.poke("shring.index", 1, 0, 99);
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0), "an index beyond what was written is ignored");
    plain.poke("shring.doorbell", 0, 0, 1 << 33);
    assert_eq!(world.nic.arrive(0, 1, LEN), Ok(0));
    assert_eq!(dropped(&world).1, 1);
}

/// Doorbells of several cores may reach the card in another order than they were rung.
#[test]
fn a_doorbell_that_comes_late_takes_nothing_back() {
    let (mut world, plain) = world(4, 2, 8, 2);
    assert_eq!(world.nic.arrive(0, 1, LEN), Ok(1));
    plain.poke("shring.doorbell", 0, 0, 2);
    assert_eq!(world.nic.arrive(0, 4, LEN), Ok(3));
    world.finish(false).unwrap();
}

#[test]
fn all_is_drained_whoever_holds_it() {
    let (mut world, _) = world(8, 3, 8, 3);
    for (queue, n) in [(0, 3), (2, 4)] {
        world.apply(Op::Arrive { queue, n, len: LEN }).unwrap();
    }
    world.cores[0].poll(2).unwrap();
    world.cores[2].poll(1).unwrap();
    world.finish(true).unwrap();
}
