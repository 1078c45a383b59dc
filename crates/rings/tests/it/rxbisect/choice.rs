//! Which Ax ring gives the buffer.

use super::*;
use crate::common::counter;

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
