//! One core, one NIC.

use memory::Side;
use memory::checked::{CheckedSpace, Scenario, spawn};
use rings::privring::{Sizes, build};

use crate::oracle::{Core, Port, Spares, buffers};

pub(crate) const RING: Scenario = Scenario { name: "privring, ring 2, 3 frames", run };

fn run(mut space: CheckedSpace) {
    let b = buffers(&mut space, 3);
    let (mut hosts, nic) = build(&mut space, &Sizes { ring: 2 }, 1, b).unwrap();
    let space = space.share();
    let mut m = space.view(Side::Host);
    let mut core = Core::filled(&mut m, (0, hosts.remove(0)), b, Spares::new(0, 3));
    let core = spawn(move || {
        core.receive(&mut m, 3);
        core
    });
    let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 1));
    (0..3).for_each(|_| port.deliver(&mut m, 0));
    port.settle(&mut space.view(Side::Both), vec![core.join().unwrap()], 3);
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(RING);
}
