//! One core, one NIC.

use memory::checked::{CheckedSpace, Scenario, spawn};
use memory::{Buf, Side};
use rings::privring::{Sizes, build};

use crate::oracle::{Core, Port, Spares, buffers};

pub(crate) const RING: Scenario = Scenario { name: "privring, ring 2, 3 frames", run: |s| run(s, 1, None) };

/// Two frames lie in their buffers before the first of their completions is written.
pub(crate) const TOGETHER: Scenario =
    Scenario { name: "privring, ring 2, 2 frames together and 1", run: |s| run(s, 2, None) };

/// The buffer that the core has posted is the NIC's next one: both write and read the same bytes in turn.
pub(crate) const PASSED: Scenario =
    Scenario { name: "privring, ring 2, 3 frames, pointers passed", run: |s| run(s, 1, Some(Buf(3))) };

fn run(mut space: CheckedSpace, together: usize, own: Option<Buf>) {
    let count = 3 + u32::from(own.is_some());
    let b = buffers(&mut space, count);
    let (mut hosts, nic) = build(&mut space, &Sizes { ring: 2 }, 1, b).unwrap();
    let space = space.share();
    let mut m = space.view(Side::Host);
    let mut core = Core::filled(&mut m, (0, hosts.remove(0)), b, Spares::new(0, 3));
    let core = spawn(move || {
        core.receive(&mut m, 3);
        core
    });
    let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 1));
    if let Some(own) = own {
        port = port.passing(b, own);
    }
    port.deliver_together(&mut m, 0, together);
    (together..3).for_each(|_| port.deliver(&mut m, 0));
    port.settle(&mut space.view(Side::Both), vec![core.join().unwrap()], count.into());
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(RING);
}

#[test]
fn frames_that_are_delivered_together_arrive_once_and_intact() {
    crate::passes(TOGETHER);
}

#[test]
fn a_buffer_that_changes_hands_is_never_in_two() {
    crate::passes(PASSED);
}
