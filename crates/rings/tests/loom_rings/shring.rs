//! Two cores share a ring, one NIC: frames 1 and 3 for core 0, frame 2 for core 1.

use memory::checked::{Checked, CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Buf, Side};
use rings::shring::{HostHalf, NicHalf, Sizes, build};
use rings::{Host, Nic};

use crate::oracle::{Spares, buffers, conserved, deliver, poll, receive};

pub(crate) const SHARED: Scenario = Scenario { name: "shring, 2 cores, ring 2, 3 frames", run };

/// The NIC has stopped; both cores drain at once.
pub(crate) const DRAINED: Scenario = Scenario { name: "shring, 2 cores drain", run: drain };

const SIZES: Sizes = Sizes { ring: 2, shared_by: 2, completions: 2 };
/// What each core gets.
const WANTED: [&[u8]; 2] = [&[1, 3], &[2]];

type Core = (HostHalf<CheckedView>, Spares);

/// A filled port of two cores.
fn start(mut space: CheckedSpace) -> (Checked, CheckedBuffers, Vec<Core>, NicHalf<CheckedView>) {
    let b = buffers(&mut space, 4);
    let (hosts, nic) = build(&mut space, &SIZES, 2, b).unwrap();
    let space = space.share();
    let mut setup = space.view(Side::Host);
    let mut cores = Vec::new();
    for (at, mut host) in (0..).zip(hosts) {
        let mut spares = Spares::new(2 * at, 2 * at + 2);
        assert_eq!(host.fill(&mut setup, &mut spares), 0);
        cores.push((host, spares));
    }
    (space, b, cores, nic)
}

fn run(space: CheckedSpace) {
    let (space, b, cores, mut nic) = start(space);
    let cores: Vec<_> = cores
        .into_iter()
        .zip(WANTED)
        .map(|((mut host, mut spares), want)| {
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

fn drain(space: CheckedSpace) {
    let (space, b, cores, mut nic) = start(space);
    let mut port = space.view(Side::Nic);
    deliver(&mut port, &mut nic, 0, 1);
    nic.stop(&mut port);
    let cores: Vec<_> = cores
        .into_iter()
        .map(|(mut host, mut spares)| {
            let mut m = space.view(Side::Host);
            spawn(move || {
                poll(&mut m, &mut host, &mut spares, b, &mut Vec::new());
                host.drain(&mut m, &mut spares);
                spares.0
            })
        })
        .collect();
    let mut all: Vec<_> = cores.into_iter().flat_map(|core| core.join().unwrap()).collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq((0..4).map(Buf)), "buffers at the end: {all:?}");
}

#[test]
fn frames_arrive_once_and_intact() {
    crate::passes(SHARED);
}

#[test]
fn the_last_core_takes_back_what_is_posted() {
    crate::passes(DRAINED);
}
