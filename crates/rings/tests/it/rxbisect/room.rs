//! Eligibility, reserved entries, full rings: who drops what.

use super::*;

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
    let (mut world, _) = super::world(Sizes { ax: 8, bx: 2, ..PROMPT }, 1);
    assert_eq!(world.nic.arrive(0, 3, LEN), Ok(2));
    assert_eq!(dropped(&world), (1, 0), "the other way round");
    assert_eq!(world.nic.arrive(0, 1, 1000), Ok(0));
    assert_eq!(dropped(&world), (2, 0), "no room comes before a bad frame");
    world.cores[0].poll(32).unwrap();
    assert_eq!(world.nic.arrive(0, 1, 1000), Ok(0));
    assert_eq!(world.nic.offered().count(Outcome::BadFrame), 1);
    world.finish(false).unwrap();
}
