//! The host half: debts, dedicated allocators, bad words.

use super::*;

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

#[test]
fn notices_of_buffers_that_were_not_posted_are_not_believed() {
    let (mut world, plain) = world(Sizes { ax: 2, ..PROMPT }, 1);
    let bells = plain.stores("rxbisect.ax.doorbell");
    for n in 0..4 {
        // First generation, a notice, descriptor n of Ax 0.
        plain.poke("rxbisect.bx.entry", 0, 4 * n + 3, 1 | 1 << 18 | (n as u64) << 32);
    }
    assert_eq!(world.cores[0].poll(32), Ok(0));
    assert_eq!(counter(&world.cores[0].counters(), "faults"), 2, "two were posted");
    assert_eq!(plain.stores("rxbisect.ax.doorbell") - bells, 1);
    assert_eq!(256 - world.cores[0].available(), 2 + 2, "no more buffers than that are at stake");
}
