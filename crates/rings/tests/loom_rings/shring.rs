//! Two cores share a ring, one NIC: two frames for core 0, one for core 1.

use memory::checked::{Checked, CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Buf, Side};
use rings::shring::{HostHalf, NicHalf, Sizes, Unlock, build};
use rings::{Host, Nic};

use crate::oracle::{Core, Port, Spares, buffers};

pub(crate) const SHARED: Scenario = Scenario {
    name: "shring, 2 cores, ring 2, 3 frames",
    run: |space| run(space, &[(0, 1), (1, 1), (0, 1)], Unlock::Store),
};

/// The completions of core 0's frames are written together.
pub(crate) const TOGETHER: Scenario = Scenario {
    name: "shring, 2 cores, ring 2, 2 frames together and 1",
    run: |space| run(space, &[(0, 2), (1, 1)], Unlock::Store),
};

/// The lock is freed as DPDK's is.
pub(crate) const SWAPPED: Scenario = Scenario {
    name: "shring, 2 cores, ring 2, 3 frames, unlocked by swaps",
    run: |space| run(space, &[(0, 1), (1, 1), (0, 1)], Unlock::Swap),
};

/// The NIC has stopped; both cores drain at once.
pub(crate) const DRAINED: Scenario = Scenario { name: "shring, 2 cores drain", run: drain };

/// A filled port of two cores.
struct Start {
    space: Checked,
    cores: Vec<Core<HostHalf<CheckedView>>>,
    port: Port<NicHalf<CheckedView>>,
}

fn start(mut space: CheckedSpace, unlock: Unlock) -> Start {
    let b: CheckedBuffers = buffers(&mut space, 4);
    let sizes = Sizes { ring: 2, shared_by: 2, completions: 2, unlock };
    let (hosts, nic) = build(&mut space, &sizes, 2, b).unwrap();
    let space = space.share();
    let mut m = space.view(Side::Host);
    let spares = [Spares::new(0, 2), Spares::new(2, 4)];
    let cores = (0..).zip(hosts).zip(spares).map(|(half, spares)| Core::filled(&mut m, half, b, spares));
    Start { cores: cores.collect(), port: Port::new(nic, 2), space }
}

/// Calls, each with so many frames for a queue.
fn run(space: CheckedSpace, calls: &[(u16, usize)], unlock: Unlock) {
    let Start { space, cores, mut port } = start(space, unlock);
    let receive = |(mut core, want): (Core<_>, u64)| {
        let mut m = space.view(Side::Host);
        spawn(move || {
            core.receive(&mut m, want);
            core
        })
    };
    let cores: Vec<_> = cores.into_iter().zip([2, 1]).map(receive).collect();
    let mut m = space.view(Side::Nic);
    calls.iter().for_each(|(queue, count)| port.deliver_together(&mut m, *queue, *count));
    let cores = cores.into_iter().map(|core| core.join().unwrap()).collect();
    port.settle(&mut space.view(Side::Both), cores, 4);
}

fn drain(space: CheckedSpace) {
    let Start { space, cores, mut port } = start(space, Unlock::Store);
    let mut m = space.view(Side::Nic);
    port.deliver(&mut m, 0);
    port.nic.stop(&mut m);
    let drain = |mut core: Core<HostHalf<_>>| {
        let mut m = space.view(Side::Host);
        spawn(move || {
            core.poll(&mut m);
            core.host.drain(&mut m, &mut core.spares);
            core.spares.0
        })
    };
    let cores: Vec<_> = cores.into_iter().map(drain).collect();
    let mut all: Vec<_> = cores.into_iter().flat_map(|core| core.join().unwrap()).collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq((0..4).map(Buf)), "buffers at the end: {all:?}");
}

#[test]
fn frames_that_are_delivered_together_arrive_once_and_intact() {
    crate::passes(TOGETHER);
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(SHARED);
}

#[test]
fn a_lock_that_is_freed_by_a_swap_guards_as_well() {
    crate::passes(SWAPPED);
}

#[test]
fn the_last_core_takes_back_what_is_posted() {
    crate::passes(DRAINED);
}
