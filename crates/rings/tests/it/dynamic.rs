//! dynamic: order across turns, who delays whom, who decides, what rests and what is told.

use crate::common;
use crate::common::{Plain, counter};
use memory::Ps;
use rings::dynamic::Sizes;
use rings::dynamic::judge::{Mode, Mode::Private, Mode::Shared, PERSISTS, SETTLE, SHORTEST, TRIAL};
use rings::shring::Unlock;
use rings::world::{Op, World};
use rings::{Buffers, Host, Interface};

const LEN: u16 = 64;
const BUFFERS: u32 = 512;
const SIZES: Sizes = Sizes {
    ring: 8,
    shared_by: 2,
    completions: 8,
    unlock: Unlock::Store,
    report: 1,
    round: Ps::from_us(1_000),
};

fn world(sizes: Sizes, queues: u32) -> (World<Plain>, Plain) {
    let (mut world, plain) = common::world(Interface::Dynamic(sizes), queues, BUFFERS);
    assert_eq!(world.fill(), 0);
    (world, plain)
}

/// Frames of queue `core` received by the shared ring and by its own.
fn by(world: &World<Plain>, core: usize) -> (u64, u64) {
    let all = world.cores[core].counters();
    (counter(&all, "by_shared"), counter(&all, "by_private"))
}

fn all(world: &World<Plain>, name: &str) -> u64 {
    world.cores.iter().map(|core| counter(&core.counters(), name)).sum()
}

/// The core receives and frees until there is nothing; how many frames.
fn receive(world: &mut World<Plain>, core: usize) -> usize {
    let mut all = 0;
    while let n @ 1.. = world.cores[core].poll(3).unwrap() {
        world.cores[core].free(usize::MAX);
        all += n;
    }
    all
}

fn waiting(world: &mut World<Plain>, core: usize) -> u64 {
    let (m, rx, _, _) = world.cores[core].parts();
    rx.waiting(m)
}

#[test]
fn frames_keep_their_order_and_the_nic_is_one_turn_ahead() {
    let (mut world, _) = world(SIZES, 2);
    world.nic.arrive(0, 3, LEN).unwrap();
    world.cores[1].ask(Private);
    world.nic.arrive(0, 2, LEN).unwrap(); // by its own ring
    world.cores[1].ask(Shared);
    world.nic.arrive(0, 1, LEN).unwrap(); // still: the core has not taken the first turn
    assert_eq!(waiting(&mut world, 0), 6);
    assert_eq!(world.cores[0].poll(0), Ok(0), "a poll without room takes no turn");
    assert_eq!(receive(&mut world, 0), 6);
    assert_eq!(by(&world, 0), (3, 3));
    world.nic.arrive(0, 2, LEN).unwrap();
    assert_eq!(receive(&mut world, 0), 2);
    assert_eq!(by(&world, 0), (5, 3));
    world.finish(false).unwrap(); // the oracle has judged the order
}

#[test]
fn a_core_that_stands_still_delays_nobody_elses_turn() {
    let (mut world, _) = world(SIZES, 2);
    assert_eq!(world.nic.arrive(0, 9, LEN), Ok(8), "core 0 has the whole ring, and stands still");
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0));
    world.cores[1].ask(Private);
    assert_eq!(world.nic.arrive(1, 9, LEN), Ok(8));
    assert_eq!(receive(&mut world, 1), 8);
    assert_eq!(by(&world, 1), (0, 8));
    world.cores[1].ask(Shared);
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0), "core 1 is back at the ring that core 0 holds");
    assert_eq!(receive(&mut world, 0), 8);
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(1));
    world.finish(false).unwrap();
}

#[test]
fn rings_of_other_cores_have_a_mode_of_their_own() {
    let (mut world, _) = world(SIZES, 5); // shared by 0-1, 2-3 and 4
    world.cores[2].ask(Private);
    for queue in 0..5 {
        world.nic.arrive(queue, 1, LEN).unwrap();
        receive(&mut world, queue.into());
    }
    assert_eq!([0, 1, 2, 3, 4].map(|core| by(&world, core).1), [0, 0, 1, 1, 0]);
    world.finish(true).unwrap();
}

/// Frames for both queues in steps of 25 us; core 0 receives `slow` of its 6 a step, core 1 all.
/// What core 1 received.
fn steps(world: &mut World<Plain>, count: u32, slow: usize) -> u64 {
    let before = world.cores[1].received().1.count();
    for _ in 0..count {
        for queue in 0..2 {
            world.nic.arrive(queue, 6, LEN).unwrap();
        }
        world.cores[0].poll(slow).unwrap();
        world.cores[0].free(usize::MAX);
        receive(world, 1);
        world.apply(Op::Tick { ns: 25_000 }).unwrap();
    }
    world.cores[1].received().1.count() - before
}

/// Steps of [`steps`] in a round.
const ROUND: u32 = 40;

#[test]
fn a_slow_core_ends_sharing_and_a_balance_brings_it_back() {
    let (mut world, _) = world(Sizes { ring: 32, completions: 32, ..SIZES }, 2);
    assert_eq!(steps(&mut world, 10 * ROUND, 9), 6 * 400, "balanced");
    assert_eq!((all(&world, "trials"), by(&world, 1).1), (0, 0));

    let hurt = steps(&mut world, (PERSISTS + 2) * ROUND, 1);
    assert!(hurt < 6 * 240 * 3 / 4, "sharing starves the innocent: {hurt}");
    steps(&mut world, (SETTLE + TRIAL) * ROUND, 1);
    assert_eq!((all(&world, "trials"), all(&world, "switches")), (1, 1), "private rings are better");
    assert_eq!(steps(&mut world, 20 * ROUND, 1), 6 * 800, "core 1 loses nothing");

    let before = by(&world, 1);
    steps(&mut world, (2 * SHORTEST) * ROUND, 9);
    assert_eq!((all(&world, "trials"), all(&world, "switches")), (2, 2), "sharing is no worse");
    assert!(by(&world, 1).0 > before.0);
    let private = by(&world, 1).1;
    assert_eq!(steps(&mut world, 20 * ROUND, 9), 6 * 800);
    assert_eq!(by(&world, 1).1, private);
    world.finish(false).unwrap();
}

/// Core 0 holds all shared buffers and never polls: nobody receives anything, and who polls in vain decides.
#[test]
fn starved_cores_decide() {
    let (mut world, _) = world(SIZES, 2);
    world.nic.arrive(0, 8, LEN).unwrap();
    for _ in 0..10 * ROUND {
        world.nic.arrive(1, 6, LEN).unwrap();
        receive(&mut world, 1);
        world.apply(Op::Tick { ns: 25_000 }).unwrap();
    }
    assert_eq!(all(&world, "switches"), 1);
    assert!(by(&world, 1).1 > 0);
    world.finish(true).unwrap();
}

#[test]
fn an_idle_port_reports_nothing_and_a_busy_one_every_so_often() {
    let (mut world, plain) = world(Sizes { report: 4, ..SIZES }, 2);
    for _ in 0..10 {
        world.cores[0].poll(32).unwrap();
    }
    assert_eq!((plain.stores("dynamic.tally"), plain.stores("dynamic.received")), (0, 0));
    for n in 1..=8 {
        world.nic.arrive(0, 1, LEN).unwrap();
        assert_eq!(plain.stores("dynamic.tally"), n / 4);
    }
    assert_eq!(world.nic.arrive(0, 8, LEN), Ok(0));
    assert_eq!(plain.stores("dynamic.tally"), 3, "drops count too");
    world.finish(false).unwrap();
}

#[test]
fn the_ring_that_rests_is_filled_when_buffers_come_back() {
    let (mut world, _) = world(SIZES, 2);
    let (m, _, _, pool) = world.cores[1].parts();
    let mut taken = vec![memory::Buf(0); BUFFERS as usize];
    let n = pool.take(m, &mut taken);
    world.nic.arrive(0, 8, LEN).unwrap();
    world.cores[0].ask(Private);
    world.nic.arrive(0, 1, LEN).unwrap();
    assert_eq!(world.cores[0].poll(32), Ok(8), "and no buffer to repost");
    assert_eq!(world.cores[0].poll(32), Ok(1));
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(1), "core 1 goes private as well");
    let (m, _, _, pool) = world.cores[1].parts();
    pool.give(m, &taken[..n]);
    assert_eq!(world.cores[0].poll(32), Ok(0));
    world.cores[1].ask(Shared);
    receive(&mut world, 1);
    assert_eq!(world.nic.arrive(1, 9, LEN), Ok(8), "the shared ring was filled while it rested");
    world.finish(false).unwrap();
}

#[test]
fn queues_stop_and_start_on_the_ring_that_they_had() {
    let (mut world, _) = world(SIZES, 2);
    for cycle in 0..60u16 {
        let mode = Mode::after(u64::from(cycle / 3));
        world.cores[usize::from(cycle % 2)].ask(mode);
        world.nic.arrive(0, usize::from(cycle % 7), LEN).unwrap();
        world.nic.arrive(1, 1, LEN).unwrap();
        world.cores[0].poll(usize::from(cycle % 3)).unwrap();
        world.cores[0].free(usize::MAX);
        receive(&mut world, 1);
        for core in 0..if cycle % 5 == 0 { 2 } else { 1 } {
            world.apply(Op::StopQueue { core }).unwrap();
            world.cores[1].ask(Mode::after(u64::from(cycle)));
            world.apply(Op::DrainQueue { core }).unwrap();
            assert_eq!(waiting(&mut world, core.into()), 0);
        }
        if cycle % 5 == 0 {
            assert_eq!(world.cores[0].available(), BUFFERS.into(), "every buffer came back");
        }
        for core in 0..2 {
            world.apply(Op::StartQueue { core }).unwrap();
            receive(&mut world, core.into());
        }
        receive(&mut world, 0); // what a stopped core left is filled by who polls in vain
        for core in 0..2 {
            assert_eq!(world.nic.arrive(core, 1, LEN), Ok(1), "cycle {cycle}, core {core}");
            assert_eq!(receive(&mut world, core.into()), 1);
        }
    }
    assert!(by(&world, 0).0 > 0 && by(&world, 0).1 > 0);
    world.finish(false).unwrap();
}

#[test]
fn counters_have_a_name_each_and_end() {
    let (mut world, _) = world(SIZES, 2);
    let all = world.cores[0].counters();
    let names: std::collections::BTreeSet<_> = all.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), all.len());
    let (_, rx, _, _) = world.cores[0].parts();
    assert!(all.iter().enumerate().all(|(i, counter)| rx.counter(i) == Some(*counter)));
    assert!(rx.counter(all.len()).is_none() && names.contains(&"debts") && names.contains(&"faults"));
    assert_eq!(world.nic.counters(), [("bad_descriptors", 0)]);
}
