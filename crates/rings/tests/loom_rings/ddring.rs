//! A ring of done bits: one core, or two under a lock.

use memory::Side;
use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use rings::ddring::{Port as Halves, Refill, Sizes};

use crate::oracle::{Core, Port, Spares, buffers};
use crate::sharing::{claimed, drained, rejoined};

/// Over two wraps.
pub(crate) const ALONE: Scenario = Scenario { name: "ddring, ring 2, 5 frames", run: alone };

pub(crate) const LOCKED: Scenario = Scenario {
    name: "ddring, 2 threads, ring 2, 5 frames",
    run: |space| claimed::<_, 2>(space, build, 2, 3),
};

pub(crate) const REJOINED: Scenario =
    Scenario { name: "ddring, 2 threads, one leaves and joins", run: |space| rejoined(space, build) };

pub(crate) const DRAINED: Scenario =
    Scenario { name: "ddring, 2 threads drain", run: |space| drained(space, build) };

fn build(space: &mut CheckedSpace, shared_by: u32, b: CheckedBuffers) -> Halves<CheckedView> {
    let sizes = Sizes { ring: 2, shared_by, refill: Refill::Bulk };
    rings::ddring::build(space, &sizes, shared_by, b).unwrap()
}

fn alone(mut space: CheckedSpace) {
    let b = buffers(&mut space, 3);
    let (mut hosts, nic) = build(&mut space, 1, b);
    let space = space.share();
    let mut m = space.view(Side::Host);
    let mut core = Core::filled(&mut m, (0, hosts.remove(0)), b, Spares::new(0, 3));
    let core = spawn(move || {
        core.receive(&mut m, 5);
        core
    });
    let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 1));
    (0..5).for_each(|_| port.deliver(&mut m, 0));
    port.settle(&mut space.view(Side::Both), vec![core.join().unwrap()], 3);
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(ALONE);
}

#[test]
fn under_a_lock_they_arrive_once_and_intact() {
    crate::passes(LOCKED);
}

#[test]
fn a_core_leaves_and_joins_while_another_receives() {
    crate::passes(REJOINED);
}

#[test]
fn the_last_core_takes_back_what_is_posted() {
    crate::passes(DRAINED);
}
