//! Two cores share a ring, one NIC: frames 1 and 3 for core 0, frame 2 for core 1.

use memory::Side;
use memory::checked::{CheckedSpace, Scenario, spawn};
use rings::Host;
use rings::shring::{Sizes, build};

use crate::oracle::{Spares, buffers, conserved, deliver, receive};

pub const SHARED: Scenario = Scenario { name: "shring, 2 cores, ring 2, 3 frames", run };

fn run(mut space: CheckedSpace) {
    let b = buffers(&mut space, 4);
    let sizes = Sizes { ring: 2, shared_by: 2, completions: 2 };
    let (hosts, mut nic) = build(&mut space, &sizes, 2, b).unwrap();
    let space = space.share();
    let wanted: [&[u8]; 2] = [&[1, 3], &[2]];
    let mut setup = space.view(Side::Host);
    let mut cores = Vec::new();
    for (at, mut host) in (0..).zip(hosts) {
        let mut spares = Spares::new(2 * at, 2 * at + 2);
        assert_eq!(host.fill(&mut setup, &mut spares), 0);
        cores.push((host, spares, wanted[at as usize]));
    }
    let cores: Vec<_> = cores
        .into_iter()
        .map(|(mut host, mut spares, want)| {
            let mut m = space.view(Side::Host);
            spawn(move || {
                receive(&mut m, &mut host, &mut spares, b, want);
                (host, spares)
            })
        })
        .collect();
    let mut port = space.view(Side::Nic);
    for (queue, n) in [(0, 1), (1, 2), (0, 3)] {
        deliver(&mut port, &mut nic, queue, n);
    }
    let hosts: Vec<_> = cores.into_iter().map(|core| core.join().unwrap()).collect();
    conserved(&mut space.view(Side::Both), &mut nic, hosts, 4);
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(SHARED);
}
