//! Two cores with an Ax and a Bx ring each, one NIC.

use memory::checked::{CheckedSpace, Scenario, spawn};
use memory::{Memory, Ps, Side};
use rings::rxbisect::{Sizes, build};

use crate::oracle::{Core, Port, Spares, buffers};

/// Each core gets frames of its own, from its own Ax ring while it lasts.
pub(crate) const COMBINED: Scenario =
    Scenario { name: "rxbisect, 2 cores, rings 2, 3 frames", run: |space| run(space, [0, 1, 0], 1) };

/// Core 0 gets all frames, more than its Ax ring holds: core 1 learns of its buffer by a split notice.
pub(crate) const FOREIGN: Scenario =
    Scenario { name: "rxbisect, 2 cores, rings 2, 3 frames for one", run: |space| run(space, [0; 3], 1) };

/// The same in one call: two completions are written together, the third frame finds its buffer elsewhere.
pub(crate) const TOGETHER: Scenario =
    Scenario { name: "rxbisect, the same, 3 frames together", run: |space| together(space, 3) };

/// The same with notices held back, until the other Ax ring is empty or the NIC stops.
pub(crate) const HELD: Scenario =
    Scenario { name: "rxbisect, the same, notices held back", run: |space| run(space, [0; 3], 2) };

/// One core receives, the other only allocates: the third frame waits for a buffer that it posts.
pub(crate) const DEDICATED: Scenario =
    Scenario { name: "rxbisect, 1 core and 1 allocator, rings 2, 3 frames", run: dedicated };

fn run(space: CheckedSpace, queues: [u16; 3], batch: u32) {
    frames(space, &queues.map(|queue| (queue, 1)), batch);
}

fn together(space: CheckedSpace, count: usize) {
    frames(space, &[(0, count)], 1);
}

/// Calls, each with so many frames for a queue.
fn frames(mut space: CheckedSpace, calls: &[(u16, usize)], batch: u32) {
    let b = buffers(&mut space, 6);
    let sizes = Sizes { ax: 2, bx: 2, group: 0, batch, timeout: Ps::from_us(1), alloc_queues: 0 };
    let (hosts, nic) = build(&mut space, &sizes, 2, b).unwrap();
    let space = space.share();
    let mut m = space.view(Side::Host);
    let spares = [Spares::new(0, 3), Spares::new(3, 6)];
    let cores = (0..).zip(hosts).zip(spares).map(|(half, spares)| Core::filled(&mut m, half, b, spares));
    let receive = |(queue, mut core): (u16, Core<_>)| {
        let mut m = space.view(Side::Host);
        let mine = calls.iter().filter(|(q, _)| *q == queue);
        let want = mine.map(|(_, count)| *count as u64).sum();
        spawn(move || {
            core.receive(&mut m, want);
            core.poll(&mut m); // a core with nothing to receive polls all the same, and reads notices
            core
        })
    };
    let cores: Vec<_> = (0..).zip(cores).map(receive).collect();
    let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 2));
    calls.iter().for_each(|(queue, count)| port.deliver_together(&mut m, *queue, *count));
    let cores = cores.into_iter().map(|core| core.join().unwrap()).collect();
    port.settle(&mut space.view(Side::Both), cores, 6);
}

fn dedicated(mut space: CheckedSpace) {
    let b = buffers(&mut space, 3);
    let sizes = Sizes { ax: 2, bx: 2, group: 0, batch: 1, timeout: Ps::from_us(1), alloc_queues: 1 };
    let (hosts, nic) = build(&mut space, &sizes, 1, b).unwrap();
    let space = space.share();
    let mut m = space.view(Side::Host);
    let spares = [Spares::new(0, 0), Spares::new(0, 3)];
    let cores = (0..).zip(hosts).zip(spares).map(|(half, spares)| Core::filled(&mut m, half, b, spares));
    let mut cores: Vec<_> = cores.collect();
    let (mut allocator, mut m) = (cores.remove(1), space.view(Side::Host));
    let allocator = spawn(move || {
        while allocator.poll(&mut m) == 0 && !allocator.spares.0.is_empty() {
            m.idle();
        }
        allocator
    });
    let (mut core, mut m) = (cores.remove(0), space.view(Side::Host));
    let core = spawn(move || {
        core.receive(&mut m, 3);
        core
    });
    let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 1));
    (0..3).for_each(|_| port.deliver(&mut m, 0));
    let cores = [core, allocator].map(|core| core.join().unwrap()).into();
    port.settle(&mut space.view(Side::Both), cores, 3);
}

#[test]
fn a_dedicated_core_allocates() {
    crate::passes(DEDICATED);
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(COMBINED);
}

#[test]
fn buffers_of_another_core_are_told_of() {
    crate::passes(FOREIGN);
}

#[test]
fn frames_that_are_delivered_together_use_both_ways() {
    crate::passes(TOGETHER);
}

#[test]
fn notices_may_be_held_back() {
    crate::passes(HELD);
}
