//! Notices: split and combined, held back and in order.

use super::*;

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
    // The first entry, a frame of the first generation, claims descriptor 1.
    plain.poke("rxbisect.bx.entry", 0, 3, 1 | 1 << 17 | 1 << 18 | 1 << 32);
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
