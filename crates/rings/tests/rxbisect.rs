//! rxbisect, rule by rule (rxbisect §4).

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Plain, counter};
use memory::{Geometry, Ps, Side, Space};
use rings::mock::{MockHost, MockNic};
use rings::rxbisect::{Ax, Bx, Plan, Sizes, build_plan};
use rings::world::World;
use rings::{AnyHost, AnyNic, Interface, Outcome, pool, tx};

const LEN: u16 = 64;
/// Every notice at once.
const PROMPT: Sizes = Sizes { ax: 4, bx: 8, group: 0, batch: 1, timeout: Ps::ZERO, alloc_queues: 0 };

fn world(sizes: Sizes, queues: u32) -> (World<Plain>, Plain) {
    let (mut world, plain) = common::world(Interface::RxBisect(sizes), queues, 256);
    assert_eq!(world.fill(), 0);
    (world, plain)
}

fn nic(world: &World<Plain>, name: &str) -> u64 {
    counter(&world.nic.counters(), name)
}

/// Empty buffers that the NIC can take for `queue`, found by taking them all.
fn takes(world: &mut World<Plain>, queue: u16) -> usize {
    world.nic.arrive(queue, 1000, LEN).unwrap()
}

fn dropped(world: &World<Plain>) -> (u64, u64) {
    (world.nic.offered().count(Outcome::RingFull), world.nic.offered().count(Outcome::NoBuffer))
}

// ## Which Ax ring

#[test]
fn the_linked_ax_comes_first_and_its_notice_is_combined() {
    let (mut world, plain) = world(PROMPT, 2);
    assert_eq!(world.nic.arrive(0, 4, LEN), Ok(4));
    assert_eq!((nic(&world, "combined"), nic(&world, "split")), (4, 0));
    assert_eq!(plain.stores("rxbisect.bx.entry"), 4, "one entry for frame and notice");
    assert_eq!(world.nic.arrive(1, 4, LEN), Ok(4), "the other Ax ring is untouched");
    assert_eq!(nic(&world, "combined"), 8);
    world.finish(false).unwrap();
}

#[test]
fn then_any_other_and_its_core_is_told_apart() {
    let (mut world, plain) = world(PROMPT, 2);
    assert_eq!(world.nic.arrive(0, 6, LEN), Ok(6));
    assert_eq!((nic(&world, "combined"), nic(&world, "split"), nic(&world, "foreign")), (4, 2, 2));
    assert_eq!(plain.stores("rxbisect.bx.entry"), 8, "two split ones took two entries each");
    assert_eq!(world.cores[1].poll(32), Ok(0), "notices are no frames");
    assert_eq!(world.cores[0].poll(32), Ok(6));
    assert_eq!(counter(&world.cores[0].counters(), "foreign"), 2);
    assert_eq!(takes(&mut world, 0), 8, "both Ax rings are full again");
    world.finish(false).unwrap();
}

#[test]
fn a_burst_may_fill_its_bx_from_all_ax_rings() {
    let (mut world, _) = world(Sizes { bx: 16, ..PROMPT }, 4);
    assert_eq!(world.nic.arrive(2, 20, LEN), Ok(16), "4 Ax rings of 4");
    assert_eq!(dropped(&world), (4, 0));
    world.finish(false).unwrap();
}

#[test]
fn the_others_are_taken_in_rotation() {
    let (mut world, _) = world(Sizes { bx: 32, ..PROMPT }, 4);
    assert_eq!(world.nic.arrive(0, 4 + 6, LEN), Ok(10)); // six from rings 1, 2, 3, 1, 2, 3
    for core in 1..4 {
        assert_eq!(world.nic.arrive(core, 2, LEN), Ok(2));
    }
    assert_eq!(nic(&world, "combined"), 4 + 6, "each of the others had two buffers left");
    assert_eq!(world.nic.arrive(1, 1, LEN), Ok(0), "and no more");
    assert_eq!(dropped(&world), (0, 1));
    world.finish(false).unwrap();
}

#[test]
fn nothing_is_taken_from_another_group() {
    let (mut world, _) = world(Sizes { group: 2, bx: 16, ..PROMPT }, 5);
    assert_eq!(takes(&mut world, 1), 8, "its own group has two Ax rings");
    assert_eq!(takes(&mut world, 2), 8);
    assert_eq!(takes(&mut world, 4), 4, "the last group has one");
    world.finish(false).unwrap();
}

// ## Plans of one's own

/// A port with a plan, like [`World`]'s.
fn planned(sizes: Sizes, plan: &Plan) -> (MockNic<Plain>, Vec<MockHost<Plain>>) {
    let mut space = Plain::new(Side::Both);
    let buffers = space.buffers(&Geometry { count: 64, stride: 128, offset: 0, room: 128 }).unwrap();
    let (hosts, nic) = build_plan(&mut space, &sizes, plan, buffers).unwrap();
    let n = hosts.len() as u32;
    let (host_tx, nic_tx) = tx::build(&mut space, tx::Sizes::default(), n).unwrap();
    let pools = pool::build(&mut space, 64, n, 0).unwrap();
    let view = space.side(Side::Host);
    let parts = (0..).zip(hosts).zip(host_tx.into_iter().zip(pools));
    let mut hosts: Vec<_> = parts
        .map(|((q, rx), (tx, pool))| MockHost::new(view.clone(), q, AnyHost::RxBisect(rx), tx, pool, buffers))
        .collect();
    hosts.iter_mut().for_each(|host| assert_eq!(host.fill(), 0));
    (MockNic::new(space.side(Side::Nic), AnyNic::RxBisect(nic), nic_tx, buffers, n), hosts)
}

#[test]
fn an_associated_ring_of_another_node_is_not_used() {
    let ax = |link, node| Ax { link, node };
    let all = vec![0, 1, 2];
    let bx = |node| Bx { from: all.clone(), node };
    let plan = Plan { ax: vec![ax(0, 0), ax(1, 1), ax(2, 0)], bx: vec![bx(0), bx(1), bx(0)] };
    let (mut nic, _) = planned(Sizes { bx: 16, ..PROMPT }, &plan);
    assert_eq!(nic.arrive(0, 16, LEN), Ok(8), "rings 0 and 2");
    assert_eq!(nic.arrive(1, 16, LEN), Ok(4), "ring 1");
}

#[test]
fn a_bx_takes_only_from_associated_rings_even_if_linked() {
    let ax = |link| Ax { link, node: 0 };
    let bx = |from: &[u16]| Bx { from: from.to_vec(), node: 0 };
    let plan = Plan { ax: vec![ax(0), ax(1)], bx: vec![bx(&[1]), bx(&[])] };
    let (mut nic, mut cores) = planned(PROMPT, &plan);
    assert_eq!(nic.arrive(0, 16, LEN), Ok(4), "ring 1 alone");
    assert_eq!(nic.arrive(1, 1, LEN), Ok(0), "none");
    assert_eq!(nic.offered().count(Outcome::NoBuffer), 12 + 1);
    assert_eq!((cores[1].poll(32), cores[0].poll(32)), (Ok(0), Ok(4)));
    assert_eq!(nic.arrive(0, 2, LEN), Ok(2), "core 1 was told and refilled it");
}

#[test]
fn two_ax_rings_may_be_linked_to_one_bx() {
    let ax = |link| Ax { link, node: 0 };
    let all = || Bx { from: vec![0, 1, 2], node: 0 };
    let plan = Plan { ax: vec![ax(0), ax(0), ax(1)], bx: vec![all(), all()] };
    let (mut nic, mut cores) = planned(Sizes { bx: 16, ..PROMPT }, &plan);
    for round in 0..20 {
        assert_eq!(nic.arrive(0, 10, LEN), Ok(10));
        assert_eq!(nic.arrive(1, 2, LEN), Ok(2), "round {round}");
        for core in &mut cores {
            core.poll(32).unwrap();
            core.free(32);
        }
    }
    assert_eq!(counter(&nic.counters(), "combined"), 20 * 10);
    let faults: u64 = cores.iter().map(|core| counter(&core.counters(), "faults")).sum();
    assert_eq!(faults, 0, "notices of each ring came in order");
}

#[test]
fn a_plan_that_names_a_missing_ring_is_refused() {
    let mut space = Plain::new(Side::Both);
    let buffers = space.buffers(&Geometry { count: 64, stride: 128, offset: 0, room: 128 }).unwrap();
    let mut error = |ax: Ax, from: u16| {
        let plan = Plan { ax: vec![ax], bx: vec![Bx { from: vec![from], node: 0 }] };
        build_plan(&mut space, &PROMPT, &plan, buffers).err().map(|e| e.to_string())
    };
    assert_eq!(error(Ax { link: 0, node: 0 }, 0), None);
    assert!(error(Ax { link: 1, node: 0 }, 0).unwrap().contains("linked to Bx 1"));
    assert!(error(Ax { link: 0, node: 0 }, 7).unwrap().contains("associated with Ax 7"));
}

// ## Eligibility and room

/// Ax rings of 8, Bx rings of 4; Ax 0 and Bx 0 are empty, and core 0 owes its buffers.
fn ax0_empty(batch: u32) -> (World<Plain>, Plain) {
    let (mut world, plain) = world(Sizes { ax: 8, bx: 4, batch, timeout: Ps::from_us(100), ..PROMPT }, 2);
    for _ in 0..2 {
        assert_eq!(world.nic.arrive(0, 4, LEN), Ok(4));
        steal(&mut world, 4);
    }
    (world, plain)
}

#[test]
fn an_ax_is_eligible_only_if_its_bx_can_take_the_notice() {
    let (mut world, _) = ax0_empty(1);
    assert_eq!(world.nic.arrive(1, 4, LEN), Ok(4)); // fills Bx 1, leaves 4 buffers in Ax 1
    assert_eq!(world.nic.arrive(0, 1, LEN), Ok(0));
    assert_eq!(dropped(&world), (0, 1), "Ax 1 is not empty, but its core could not be told");
    assert_eq!(world.cores[1].poll(1), Ok(1));
    assert_eq!(world.nic.arrive(0, 2, LEN), Ok(1), "one entry is read, one notice fits");
    world.finish(false).unwrap();
}

#[test]
fn a_notice_reserves_its_entry_when_the_buffer_is_consumed() {
    let (mut world, plain) = ax0_empty(4);
    let before = plain.stores("rxbisect.bx.entry");
    assert_eq!(world.nic.arrive(0, 3, LEN), Ok(3), "from Ax 1");
    assert_eq!(plain.stores("rxbisect.bx.entry") - before, 3, "their notices are held back");
    assert_eq!(world.nic.arrive(1, 2, LEN), Ok(1), "of 4 entries 3 are reserved");
    assert_eq!(dropped(&world), (1, 0));
    assert_eq!(plain.stores("rxbisect.bx.entry") - before, 3 + 3 + 1);
    assert_eq!(world.cores[1].poll(32), Ok(1));
    assert_eq!(takes(&mut world, 1), 4);
    world.finish(false).unwrap();
}

/// Core 0 receives while the pool has nothing for it, so that its Ax ring stays short.
fn steal(world: &mut World<Plain>, n: usize) {
    let mut taken = Vec::new();
    {
        let (m, _, _, pool) = world.cores[0].parts();
        let mut buf = [memory::Buf(0)];
        while rings::Buffers::take(pool, m, &mut buf) == 1 {
            taken.push(buf[0]);
        }
    }
    assert_eq!(world.cores[0].poll(32), Ok(n));
    let (m, _, _, pool) = world.cores[0].parts();
    rings::Buffers::give(pool, m, &taken);
}

#[test]
fn reserved_entries_make_an_ax_ineligible_too() {
    let (mut world, _) = ax0_empty(4);
    assert_eq!(world.nic.arrive(1, 2, LEN), Ok(2)); // two entries of Bx 1 are left
    assert_eq!(world.nic.arrive(0, 3, LEN), Ok(2), "two notices wait, unwritten: a third would not fit");
    assert_eq!(dropped(&world), (0, 1));
    world.finish(false).unwrap();
}

#[test]
fn a_full_bx_drops_its_own_frames_and_stops_nobody_else() {
    let (mut world, _) = world(Sizes { ax: 4, bx: 8, ..PROMPT }, 3);
    // Nobody polls queue 2. Its frames fill its Bx from all Ax rings.
    assert_eq!(takes(&mut world, 2), 8);
    assert_eq!(dropped(&world), (1000 - 8, 0));
    for round in 0..100 {
        for core in 0..2 {
            assert_eq!(world.nic.arrive(core, 4, LEN), Ok(4), "round {round}");
            assert_eq!(world.cores[usize::from(core)].poll(32), Ok(4));
            world.cores[usize::from(core)].free(32);
        }
    }
    assert_eq!(world.nic.arrive(2, 1, LEN), Ok(0));
    world.finish(false).unwrap();
}

#[test]
fn a_queue_no_longer_polled_only_makes_its_own_ax_ineligible() {
    let (mut world, _) = world(Sizes { ax: 4, bx: 8, ..PROMPT }, 2);
    // Queue 1 is not polled. Queue 0 takes buffers of Ax 1 until there are none; it goes on with its own.
    assert_eq!(world.nic.arrive(0, 8, LEN), Ok(8));
    for round in 0..50 {
        assert_eq!(world.cores[0].poll(32), Ok(if round == 0 { 8 } else { 4 }));
        world.cores[0].free(32);
        assert_eq!(world.nic.arrive(0, 6, LEN), Ok(4), "its own Ax ring, refilled");
    }
    // Once queue 1 is polled again, its Ax ring is back.
    world.cores[1].poll(32).unwrap();
    world.cores[0].poll(32).unwrap();
    assert_eq!(takes(&mut world, 0), 8);
    world.finish(false).unwrap();
}

#[test]
fn the_index_is_published_by_polls_that_find_only_notices() {
    let (mut world, plain) = world(Sizes { ax: 4, bx: 4, ..PROMPT }, 2);
    for round in 0..20 {
        // Queue 0 uses all of both Ax rings in two calls: Bx 1 gets nothing but notices.
        assert_eq!(world.nic.arrive(0, 4, LEN), Ok(4), "round {round}");
        steal(&mut world, 4);
        assert_eq!(world.nic.arrive(0, 4, LEN), Ok(4), "round {round}: from Ax 1");
        let told = plain.stores("rxbisect.bx.index");
        assert_eq!(world.cores[1].poll(32), Ok(0));
        assert_eq!(plain.stores("rxbisect.bx.index") - told, 1, "no frame, but the index moved");
        assert_eq!(world.cores[1].poll(32), Ok(0));
        assert_eq!(plain.stores("rxbisect.bx.index") - told, 1, "unchanged: nothing to publish");
        world.cores[0].poll(32).unwrap();
        world.cores[0].free(32);
        world.cores[0].poll(0).unwrap();
    }
    world.finish(false).unwrap();
}

#[test]
fn the_two_causes_of_a_drop_are_told_apart() {
    let (mut world, _) = world(Sizes { ax: 2, bx: 8, ..PROMPT }, 1);
    assert_eq!(world.nic.arrive(0, 3, LEN), Ok(2));
    assert_eq!(dropped(&world), (0, 1), "room in the Bx, nothing in the Ax");
    let (mut world, _) = self::world(Sizes { ax: 8, bx: 2, ..PROMPT }, 1);
    assert_eq!(world.nic.arrive(0, 3, LEN), Ok(2));
    assert_eq!(dropped(&world), (1, 0), "the other way round");
    assert_eq!(world.nic.arrive(0, 1, 1000), Ok(0));
    assert_eq!(dropped(&world), (2, 0), "no room comes before a bad frame");
    world.cores[0].poll(32).unwrap();
    assert_eq!(world.nic.arrive(0, 1, 1000), Ok(0));
    assert_eq!(world.nic.offered().count(Outcome::BadFrame), 1);
    world.finish(false).unwrap();
}

// ## Notices

const HELD: Sizes = Sizes { ax: 16, bx: 64, batch: 4, timeout: Ps::from_us(1), ..PROMPT };

/// Queue 0's own Ax ring is empty: what arrives for it now is foreign.
fn starved(sizes: Sizes) -> (World<Plain>, Plain) {
    let (mut world, plain) = world(sizes, 2);
    assert_eq!(world.nic.arrive(0, sizes.ax as usize, LEN), Ok(sizes.ax as usize));
    assert_eq!(nic(&world, "split"), 0);
    (world, plain)
}

/// Notices that Ax 1's core has been told of: what it posts on its next poll.
fn told(world: &mut World<Plain>, plain: &Plain) -> bool {
    let bells = plain.stores("rxbisect.ax.doorbell");
    assert_eq!(world.cores[1].poll(0), Ok(0));
    plain.stores("rxbisect.ax.doorbell") > bells
}

#[test]
fn notices_wait_for_a_batch() {
    let (mut world, plain) = starved(HELD);
    for n in 1..=8 {
        world.nic.arrive(0, 1, LEN).unwrap();
        assert_eq!(told(&mut world, &plain), n % 4 == 0, "after {n}");
    }
    assert_eq!((nic(&world, "split"), nic(&world, "batched")), (8, 8));
    world.finish(false).unwrap();
}

#[test]
fn or_for_the_timeout() {
    let (mut world, mut plain) = starved(HELD);
    assert_eq!(world.nic.poll(), None);
    world.nic.arrive(0, 1, LEN).unwrap();
    plain.advance(Ps::from_ns(400));
    world.nic.arrive(0, 1, LEN).unwrap();
    assert_eq!(world.nic.poll(), Some(Ps::from_ns(1000)), "the oldest one counts");
    assert!(!told(&mut world, &plain));
    plain.advance(Ps::from_ns(599));
    assert_eq!(world.nic.poll(), Some(Ps::from_ns(1000)));
    plain.advance(Ps::from_ns(1));
    assert_eq!(world.nic.poll(), None);
    assert!(told(&mut world, &plain));
    world.nic.arrive(0, 1, LEN).unwrap();
    assert_eq!(world.nic.poll(), Some(Ps::from_ns(2000)), "the next one starts anew");
    world.finish(false).unwrap();
}

#[test]
fn or_for_a_frame_to_the_same_bx() {
    let (mut world, plain) = starved(HELD);
    world.nic.arrive(0, 3, LEN).unwrap();
    assert!(!told(&mut world, &plain));
    world.nic.arrive(1, 1, LEN).unwrap();
    assert!(told(&mut world, &plain), "adjacent entries, one write");
    assert_eq!(world.cores[1].poll(32), Ok(1));
    assert_eq!(nic(&world, "batched"), 3);
    world.finish(false).unwrap();
}

#[test]
fn or_until_the_ax_ring_is_empty() {
    let (mut world, plain) = starved(Sizes { batch: 64, ..HELD });
    world.nic.arrive(0, 15, LEN).unwrap();
    assert!(!told(&mut world, &plain));
    world.nic.arrive(0, 1, LEN).unwrap();
    assert!(told(&mut world, &plain), "the NIC starves: its core must know");
    world.finish(false).unwrap();
}

#[test]
fn a_combined_notice_never_overtakes_a_delayed_one() {
    let (mut world, _) = starved(Sizes { batch: 64, ..HELD });
    for n in 0..5 {
        // Foreign consumption of Ax 1 for queue 0, then queue 1's own: one ring, in turns.
        world.nic.arrive(0, 1, LEN).unwrap();
        world.nic.arrive(1, 1, LEN).unwrap();
        if n == 2 {
            world.cores[1].poll(32).unwrap();
        }
    }
    world.cores[1].poll(32).unwrap();
    assert_eq!((nic(&world, "split"), nic(&world, "combined")), (5, 16 + 5));
    assert_eq!(counter(&world.cores[1].counters(), "faults"), 0, "the host counts on ring order");
    world.finish(false).unwrap();
}

#[test]
fn a_host_notices_when_order_is_broken() {
    let (mut world, plain) = world(PROMPT, 1);
    world.nic.arrive(0, 2, LEN).unwrap();
    plain.poke("rxbisect.bx.entry", 0, 2, 1); // the first entry claims descriptor 1
    assert_eq!(world.cores[0].poll(32), Ok(2));
    assert_eq!(counter(&world.cores[0].counters(), "faults"), 2);
}

#[test]
fn what_is_held_back_is_written_when_the_nic_stops() {
    for cut in [false, true] {
        let (mut world, _) = starved(Sizes { timeout: Ps::from_us(1000), ..HELD });
        world.nic.arrive(0, 3, LEN).unwrap();
        world.finish(cut).unwrap();
    }
}

// ## Host half

#[test]
fn a_failed_allocation_is_a_debt_that_every_poll_retries() {
    let (mut world, _) = common::world(Interface::RxBisect(PROMPT), 1, 4);
    world.fill();
    assert_eq!(world.nic.arrive(0, 4, LEN), Ok(4));
    assert_eq!(world.cores[0].poll(32), Ok(4));
    assert_eq!(world.nic.arrive(0, 1, LEN), Ok(0));
    world.cores[0].free(3);
    assert_eq!(world.cores[0].poll(32), Ok(0));
    assert_eq!(takes(&mut world, 0), 3, "an empty poll paid what it could");
    assert_eq!(counter(&world.cores[0].counters(), "debts"), 2);
    world.finish(false).unwrap();
}

#[test]
fn notices_are_read_even_without_room_for_frames() {
    let (mut world, plain) = starved(PROMPT);
    world.nic.arrive(0, 2, LEN).unwrap();
    assert!(told(&mut world, &plain), "a poll with no room at all");
    assert_eq!(world.cores[0].poll(4), Ok(4));
    assert_eq!(world.cores[0].poll(32), Ok(2));
    world.finish(false).unwrap();
}

#[test]
fn dedicated_cores_allocate_for_all() {
    let sizes = Sizes { ax: 16, bx: 32, alloc_queues: 1, ..PROMPT };
    let (mut world, _) = world(sizes, 3);
    assert_eq!(world.cores.len(), 4);
    for round in 0..50 {
        for queue in 0..3 {
            assert_eq!(world.nic.arrive(queue, 4, LEN), Ok(4), "round {round}");
            assert_eq!(world.cores[usize::from(queue)].poll(32), Ok(4));
            world.cores[usize::from(queue)].free(32);
        }
        assert_eq!(world.cores[3].poll(0), Ok(0), "the allocator receives notices alone");
    }
    assert_eq!((nic(&world, "combined"), nic(&world, "split")), (0, 50 * 12));
    assert_eq!(takes(&mut world, 0), 16, "the one Ax ring of the port");
    assert_eq!(world.cores[0].poll(32), Ok(16));
    assert_eq!(takes(&mut world, 1), 0, "receiving cores allocate nothing");
    world.cores[3].poll(0).unwrap();
    assert_eq!(takes(&mut world, 1), 16);
    world.finish(false).unwrap();
}

#[test]
fn dedicated_cores_serve_their_group() {
    let sizes = Sizes { ax: 8, bx: 32, group: 2, alloc_queues: 3, ..PROMPT };
    let (mut world, _) = world(sizes, 4); // allocators 0 and 2 for group 0, 1 for group 1
    assert_eq!(takes(&mut world, 0), 16);
    assert_eq!(takes(&mut world, 3), 8);
    world.finish(true).unwrap();
}

#[test]
fn words_that_name_no_buffer_stop_their_own_ring_alone() {
    let (mut world, plain) = world(Sizes { bx: 16, ..PROMPT }, 2);
    plain.poke("rxbisect.ax.descriptor", 0, 1, u64::MAX);
    assert_eq!(takes(&mut world, 0), 1 + 4, "one of Ax 0 before the bad word, four of Ax 1");
    assert!(nic(&world, "bad_descriptors") > 0);
    plain.poke("rxbisect.bx.entry", 0, 0, 1 << 50);
    assert_eq!(world.cores[0].poll(32), Ok(4));
    assert_eq!(counter(&world.cores[0].counters(), "faults"), 1);
    plain.poke("rxbisect.bx.index", 1, 0, 1 << 20);
    world.cores[1].poll(32).unwrap();
    assert_eq!(takes(&mut world, 1), 4);
}
