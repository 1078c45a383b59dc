//! Both paths of a queue, and its way from one to the other and back.

use memory::Side;
use memory::checked::{CheckedSpace, Scenario, spawn};
use rings::ceio::{NicMemory, Sizes, build};

use crate::oracle::{Core, Port, Spares, buffers};
use crate::stopping::Cycle;

/// The second frame finds no credit unless the first one's came back: the flow leaves the fast path.
pub(crate) const PHASES: Scenario =
    Scenario { name: "ceio, ring 2, 1 credit, 2 frames", run: |s| run(s, sizes(1), 1, 2) };

/// The third frame comes while the second one is kept, drained or taken: the flow may be back on the fast path.
const RETURNED: Scenario =
    Scenario { name: "ceio, ring 2, 1 credit, 2 frames together and 1", run: |s| run(s, sizes(1), 2, 3) };

/// Two credits, each released while the next frame is steered.
const RELEASED: Scenario =
    Scenario { name: "ceio, ring 2, 2 credits, 3 frames", run: |s| run(s, sizes(2), 1, 3) };

/// No credit: the card keeps all frames.
pub(crate) const KEPT: Scenario =
    Scenario { name: "ceio, ring 2, no credit, 2 frames", run: |s| run(s, sizes(0), 1, 2) };

/// The queue stops with a frame on each path, and starts again.
pub(crate) const RESTARTED: Scenario =
    Scenario { name: "ceio, ring 2, 1 credit, stopped after 2 frames, 1 more", run: restarted };

fn sizes(credits: u32) -> Sizes {
    let nic_memory = NicMemory { slots: 4 };
    Sizes { ring: 2, credits, nic_memory, release: 1, drain: 2, ..Sizes::default() }
}

fn run(mut space: CheckedSpace, sizes: Sizes, together: usize, frames: usize) {
    let b = buffers(&mut space, 3);
    let (mut hosts, nic) = build(&mut space, &sizes, 1, b).unwrap();
    let space = space.share();
    let mut m = space.view(Side::Host);
    let mut core = Core::filled(&mut m, (0, hosts.remove(0)), b, Spares::new(0, 3));
    let core = spawn(move || {
        core.receive(&mut m, frames as u64);
        core
    });
    let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 1));
    port.deliver_together(&mut m, 0, together);
    (together..frames).for_each(|_| port.deliver(&mut m, 0));
    port.hand_out(&mut m);
    port.settle(&mut space.view(Side::Both), vec![core.join().unwrap()], 3);
}

fn restarted(mut space: CheckedSpace) {
    let b = buffers(&mut space, 3);
    let (mut hosts, nic) = build(&mut space, &sizes(1), 1, b).unwrap();
    let cycle = Cycle { b, count: 3, before: 2, after: 1 };
    cycle.run(space, (hosts.remove(0), nic), |_, _| {});
}

#[test]
fn frames_keep_their_order_as_a_flow_leaves_the_fast_path() {
    crate::passes(PHASES);
}

#[test]
#[ignore = "80 309 executions take 10 s: make long-loom"]
fn frames_keep_their_order_there_and_back() {
    crate::passes(RETURNED);
}

#[test]
fn credits_come_back_while_they_are_spent() {
    crate::passes(RELEASED);
}

#[test]
fn kept_frames_arrive_once_and_intact() {
    crate::passes(KEPT);
}

#[test]
fn a_queue_starts_again_where_it_stopped() {
    crate::passes(RESTARTED);
}
