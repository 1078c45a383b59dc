//! rxbisect, rule by rule (rxbisect §4).

use crate::common;

mod choice;
mod host;
mod notices;
mod plans;
mod room;

use crate::common::{Plain, counter};
use memory::Ps;
use rings::rxbisect::Sizes;
use rings::world::World;
use rings::{Buffers, Interface, Outcome};

pub(crate) const LEN: u16 = 64;
/// Every notice at once.
pub(crate) const PROMPT: Sizes =
    Sizes { ax: 4, bx: 8, group: 0, batch: 1, timeout: Ps::ZERO, alloc_queues: 0 };

pub(crate) fn world(sizes: Sizes, queues: u32) -> (World<Plain>, Plain) {
    let (mut world, plain) = common::world(Interface::RxBisect(sizes), queues, 256);
    assert_eq!(world.fill(), 0);
    (world, plain)
}

pub(crate) fn nic(world: &World<Plain>, name: &str) -> u64 {
    counter(&world.nic.counters(), name)
}

/// Empty buffers that the NIC can take for `queue`, found by taking them all.
pub(crate) fn takes(world: &mut World<Plain>, queue: u16) -> usize {
    world.nic.arrive(queue, 1000, LEN).unwrap()
}

pub(crate) fn dropped(world: &World<Plain>) -> (u64, u64) {
    (world.nic.offered().count(Outcome::RingFull), world.nic.offered().count(Outcome::NoBuffer))
}

/// Core 0 receives while the pool has nothing for it, so that its Ax ring stays short.
pub(crate) fn steal(world: &mut World<Plain>, n: usize) {
    let mut taken = Vec::new();
    {
        let (m, _, _, pool) = world.cores[0].parts();
        let mut buf = [memory::Buf(0)];
        while Buffers::take(pool, m, &mut buf) == 1 {
            taken.push(buf[0]);
        }
    }
    assert_eq!(world.cores[0].poll(32), Ok(n));
    let (m, _, _, pool) = world.cores[0].parts();
    Buffers::give(pool, m, &taken);
}

pub(crate) const HELD: Sizes = Sizes { ax: 16, bx: 64, batch: 4, timeout: Ps::from_us(1), ..PROMPT };

/// Queue 0's own Ax ring is empty: what arrives for it now is foreign.
pub(crate) fn starved(sizes: Sizes) -> (World<Plain>, Plain) {
    let (mut world, plain) = world(sizes, 2);
    assert_eq!(world.nic.arrive(0, sizes.ax as usize, LEN), Ok(sizes.ax as usize));
    assert_eq!(nic(&world, "split"), 0);
    (world, plain)
}

/// Notices that Ax 1's core has been told of: what it posts on its next poll.
pub(crate) fn told(world: &mut World<Plain>, plain: &Plain) -> bool {
    let bells = plain.stores("rxbisect.ax.doorbell");
    assert_eq!(world.cores[1].poll(0), Ok(0));
    plain.stores("rxbisect.ax.doorbell") > bells
}
