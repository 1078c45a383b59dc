//! privring: drops, debts, doorbells and bad words.

use crate::common;
use crate::common::counter;
use rings::oracle::{self, MARK};
use rings::privring::Sizes;
use rings::world::{Op, World};
use rings::{Buffers, Interface, Nic, Outcome};

const LEN: u16 = 64;

fn world(ring: u32, queues: u32, buffers: u32) -> (World<common::Plain>, common::Plain) {
    let (mut world, plain) = common::world(Interface::PrivRing(Sizes { ring }), queues, buffers);
    world.fill();
    (world, plain)
}

#[test]
fn a_full_ring_drops_only_its_own_frames() {
    let (mut world, _) = world(4, 2, 64);
    assert_eq!(world.nic.arrive(0, 7, LEN), Ok(4));
    assert_eq!(world.nic.arrive(1, 2, LEN), Ok(2));
    assert_eq!(world.nic.offered().count(Outcome::RingFull), 3);
    let (m, rx, _) = world.nic.parts();
    let mut out = [Outcome::Delivered; 1];
    rx.deliver(m, 9, &[oracle::frame(&[0; MARK], LEN)], &mut out);
    assert_eq!(out, [Outcome::RingFull], "a queue that is not there has no room");
}

#[test]
fn a_burst_refills_what_it_received_and_rings_once() {
    let (mut world, plain) = world(8, 1, 64);
    let bells = plain.stores("privring.doorbell");
    world.nic.arrive(0, 5, LEN).unwrap();
    assert_eq!(world.cores[0].poll(3), Ok(3));
    assert_eq!(world.cores[0].poll(32), Ok(2));
    assert_eq!(world.cores[0].poll(32), Ok(0));
    assert_eq!(plain.stores("privring.doorbell") - bells, 2, "an empty poll rings nothing");
    assert_eq!(world.nic.arrive(0, 9, LEN), Ok(8), "the ring is full again");
    world.finish(false).unwrap();
}

#[test]
fn a_failed_allocation_is_a_debt_that_every_poll_retries() {
    let (mut world, _) = world(4, 1, 4);
    assert_eq!(world.nic.arrive(0, 4, LEN), Ok(4));
    assert_eq!(world.cores[0].poll(32), Ok(4));
    assert_eq!(world.nic.arrive(0, 1, LEN), Ok(0), "the pool was empty");
    assert_eq!(world.cores[0].free(1), 1);
    assert_eq!(world.cores[0].poll(32), Ok(0));
    assert_eq!(world.nic.arrive(0, 2, LEN), Ok(1), "an empty poll paid what it could");
    assert_eq!(counter(&world.cores[0].counters(), "debts"), 2);
    world.cores[0].free(3);
    assert_eq!(world.cores[0].poll(0), Ok(0));
    assert_eq!(world.nic.arrive(0, 9, LEN), Ok(3));
    world.finish(false).unwrap();
}

#[test]
fn a_short_pool_leaves_the_ring_short_and_says_so() {
    let (mut world, _) = common::world(Interface::PrivRing(Sizes { ring: 8 }), 1, 5);
    assert_eq!(world.fill(), 3);
    assert_eq!(world.nic.arrive(0, 9, LEN), Ok(5));
    world.finish(false).unwrap();
}

#[test]
fn a_frame_longer_than_a_buffer_is_bad_and_uses_none() {
    let (mut world, _) = world(2, 1, 8); // buffers hold 128 B
    assert_eq!(world.nic.arrive(0, 3, 129), Ok(0));
    assert_eq!(world.nic.offered().count(Outcome::BadFrame), 3);
    assert_eq!(world.nic.arrive(0, 3, 128), Ok(2));
    assert_eq!(world.nic.offered().count(Outcome::RingFull), 1);
    world.finish(false).unwrap();
}

#[test]
fn frames_that_wait_in_the_ring_are_drained_too() {
    let (mut world, _) = world(8, 2, 32);
    world.nic.arrive(0, 5, LEN).unwrap();
    world.cores[0].poll(2).unwrap();
    world.finish(true).unwrap();
}

#[test]
fn words_that_name_no_buffer_stop_their_own_queue_alone() {
    let (mut world, plain) = world(4, 2, 32);
    plain.poke("privring.descriptor", 0, 1, u64::MAX);
    assert_eq!(world.nic.arrive(0, 4, LEN), Ok(1), "the second descriptor is bad");
    assert!(counter(&world.nic.counters(), "bad_descriptors") > 0);
    assert_eq!(world.nic.arrive(1, 2, LEN), Ok(2));
    plain.poke("privring.completion", 1, 0, 1 << 40); // the first completion's buffer
    assert_eq!(world.cores[1].poll(32), Ok(1), "the bad one is skipped");
    assert_eq!(counter(&world.cores[1].counters(), "faults"), 1);
    plain.poke("privring.doorbell", 1, 0, 1 << 60);
    assert_eq!(world.nic.arrive(1, 9, LEN), Ok(2), "a doorbell beyond the ring is ignored");
    plain.poke("privring.doorbell", 1, 0, 0);
    assert_eq!(world.nic.arrive(1, 9, LEN), Ok(0), "and so is one that goes back");
    let (m, rx, _, pool) = world.cores[0].parts();
    rings::Host::drain(rx, m, pool);
    assert!(pool.available(m) > 0);
}

#[test]
fn indexes_wrap_many_times() {
    for ring in [2, 4] {
        let (mut world, _) = world(ring, 1, 16);
        for step in 0..200u16 {
            world.apply(Op::Arrive { queue: 0, n: step % 5, len: MARK as u16 + step % 9 }).unwrap();
            world.apply(Op::Poll { core: 0, burst: step % 4 }).unwrap();
            world.apply(Op::Free { core: 0, n: 3 }).unwrap();
        }
        world.finish(false).unwrap();
    }
}

#[test]
fn spares_of_a_driver_serve_as_well_as_a_pool() {
    /// An array that is filled before the call.
    struct Spares(Vec<memory::Buf>);
    impl<M: memory::Memory> Buffers<M> for Spares {
        fn take(&mut self, _m: &mut M, out: &mut [memory::Buf]) -> usize {
            let n = out.len().min(self.0.len());
            out.iter_mut().zip(self.0.drain(..n)).for_each(|(slot, buf)| *slot = buf);
            n
        }
        fn give(&mut self, _m: &mut M, bufs: &[memory::Buf]) {
            self.0.extend_from_slice(bufs);
        }
    }
    let (mut world, _) = world(4, 1, 16);
    world.nic.arrive(0, 3, LEN).unwrap();
    let mut spares = Spares(vec![memory::Buf(10), memory::Buf(11)]);
    let mut out = [rings::Completion::none(); 4];
    let (m, rx, _, _) = world.cores[0].parts();
    assert_eq!(rings::Host::rx_burst(rx, m, &mut spares, &mut out), 3);
    assert!(spares.0.is_empty());
    assert_eq!(world.nic.arrive(0, 4, LEN), Ok(3), "one posted before, two spares");
}
