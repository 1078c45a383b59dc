//! One core, one NIC.

use memory::Side;
use memory::checked::{CheckedSpace, Scenario, spawn};
use rings::Host;
use rings::privring::{Sizes, build};

use crate::oracle::{Spares, buffers, conserved, deliver, receive};

pub(crate) const RING: Scenario = Scenario { name: "privring, ring 2, 3 frames", run };

fn run(mut space: CheckedSpace) {
    let b = buffers(&mut space, 3);
    let (mut hosts, mut nic) = build(&mut space, &Sizes { ring: 2 }, 1, b).unwrap();
    let space = space.share();
    let (mut host, mut spares) = (hosts.remove(0), Spares::new(0, 3));
    assert_eq!(host.fill(&mut space.view(Side::Host), &mut spares), 0);
    let mut core = space.view(Side::Host);
    let core = spawn(move || {
        receive(&mut core, &mut host, &mut spares, b, &[1, 2, 3]);
        (host, spares)
    });
    let mut port = space.view(Side::Nic);
    for n in 1..=3 {
        deliver(&mut port, &mut nic, 0, n);
    }
    let host = core.join().unwrap();
    conserved(&mut space.view(Side::Both), &mut nic, [host], 3);
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(RING);
}
