//! Two cores with an Ax and a Bx ring each, one NIC.

use memory::checked::{CheckedSpace, Scenario, spawn};
use memory::{Ps, Side};
use rings::Host;
use rings::rxbisect::{Sizes, build};

use crate::oracle::{Spares, buffers, conserved, deliver, poll, receive};

/// Each core gets frames of its own, from its own Ax ring while it lasts.
pub(crate) const COMBINED: Scenario =
    Scenario { name: "rxbisect, 2 cores, rings 2, 3 frames", run: |space| run(space, [&[1, 3], &[2]]) };

/// Core 0 gets all frames, more than its Ax ring holds: core 1 learns of its buffer by a split notice.
pub(crate) const FOREIGN: Scenario = Scenario {
    name: "rxbisect, 2 cores, rings 2, 3 frames for one",
    run: |space| run(space, [&[1, 2, 3], &[]]),
};

fn run(mut space: CheckedSpace, wanted: [&'static [u8]; 2]) {
    let b = buffers(&mut space, 6);
    let sizes = Sizes { ax: 2, bx: 2, group: 0, batch: 1, timeout: Ps::from_us(1), alloc_queues: 0 };
    let (hosts, mut nic) = build(&mut space, &sizes, 2, b).unwrap();
    let space = space.share();
    let mut setup = space.view(Side::Host);
    let mut cores = Vec::new();
    for (at, mut host) in (0..).zip(hosts) {
        let mut spares = Spares::new(3 * at, 3 * at + 3);
        assert_eq!(host.fill(&mut setup, &mut spares), 0);
        cores.push((host, spares, wanted[at as usize]));
    }
    let cores: Vec<_> = cores
        .into_iter()
        .map(|(mut host, mut spares, want)| {
            let mut m = space.view(Side::Host);
            spawn(move || {
                receive(&mut m, &mut host, &mut spares, b, want);
                // A core with nothing to receive polls all the same, and reads notices.
                poll(&mut m, &mut host, &mut spares, b, &mut Vec::new());
                (host, spares)
            })
        })
        .collect();
    let mut port = space.view(Side::Nic);
    for n in 1..=3 {
        let queue = u16::from(wanted[1].contains(&n));
        deliver(&mut port, &mut nic, queue, n);
    }
    let hosts: Vec<_> = cores.into_iter().map(|core| core.join().unwrap()).collect();
    conserved(&mut space.view(Side::Both), &mut nic, hosts, 6);
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(COMBINED);
}

#[test]
fn buffers_of_another_core_are_told_of() {
    crate::passes(FOREIGN);
}
