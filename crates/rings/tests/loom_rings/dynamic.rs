//! Queues that turn from the shared ring to their own, and cores that decide at the same time.

use memory::checked::{Checked, CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Ps, Side};
use rings::dynamic::judge::Mode;
use rings::dynamic::{HostHalf, NicHalf, Sizes, build};

use crate::oracle::{Core, Port, Spares, buffers};
use crate::stopping::Cycle;

/// The core asks for its own ring after the first frame, and for the shared one after the second.
pub(crate) const TURNED: Scenario =
    Scenario { name: "dynamic, 1 core, rings 2, 3 frames, 2 turns", run: turned };

/// Two cores judge whenever they look, while frames come.
pub(crate) const JUDGED: Scenario = Scenario { name: "dynamic, 2 cores judge", run: judged };

/// The queue stops while a turn is asked for, told of or taken, and starts again.
pub(crate) const RESTARTED: Scenario =
    Scenario { name: "dynamic, 1 core, rings 2, stopped after 2 frames and a wish, 1 more", run: restarted };

struct Start {
    space: Checked,
    cores: Vec<Core<HostHalf<CheckedView>>>,
    port: Port<NicHalf<CheckedView>>,
}

/// A filled port, a spare for each core.
fn start(mut space: CheckedSpace, cores: u32, round: Ps) -> Start {
    let b: CheckedBuffers = buffers(&mut space, BUFFERS * cores);
    let sizes = Sizes { ring: 2, shared_by: cores, completions: 2, report: 2, round, ..Default::default() };
    let (hosts, nic) = build(&mut space, &sizes, cores, b).unwrap();
    let space = space.share();
    let mut m = space.view(Side::Host);
    let spares = |i: u64| Spares::new(i * u64::from(BUFFERS), (i + 1) * u64::from(BUFFERS));
    let cores = (0..).zip(hosts).map(|(q, half)| Core::filled(&mut m, (q, half), b, spares(q.into())));
    Start { cores: cores.collect(), port: Port::new(nic, 2), space }
}

/// Of one core: two rings of 2, and one in hand.
const BUFFERS: u32 = 5;

fn turned(space: CheckedSpace) {
    let Start { space, mut cores, mut port } = start(space, 1, Ps::NEVER);
    let (mut core, mut m) = (cores.remove(0), space.view(Side::Host));
    let core = spawn(move || {
        core.receive(&mut m, 1);
        core.host.ask(&mut m, Mode::Private);
        core.receive(&mut m, 2);
        core.host.ask(&mut m, Mode::Shared);
        core.receive(&mut m, 3);
        core
    });
    let mut m = space.view(Side::Nic);
    (0..3).for_each(|_| port.deliver(&mut m, 0));
    port.settle(&mut space.view(Side::Both), vec![core.join().unwrap()], BUFFERS.into());
}

fn restarted(mut space: CheckedSpace) {
    let b = buffers(&mut space, BUFFERS);
    let sizes =
        Sizes { ring: 2, shared_by: 1, completions: 2, report: 2, round: Ps::NEVER, ..Default::default() };
    let (mut hosts, nic) = build(&mut space, &sizes, 1, b).unwrap();
    let cycle = Cycle { b, count: BUFFERS.into(), before: 2, after: 1 };
    cycle.run(space, (hosts.remove(0), nic), |host, m| host.ask(m, Mode::Private));
}

fn judged(space: CheckedSpace) {
    let Start { space, cores, mut port } = start(space, 2, Ps::ZERO);
    let receive = |mut core: Core<_>| {
        let mut m = space.view(Side::Host);
        spawn(move || {
            core.receive(&mut m, 1);
            core
        })
    };
    let cores: Vec<_> = cores.into_iter().map(receive).collect();
    let mut m = space.view(Side::Nic);
    (0..2).for_each(|queue| port.deliver(&mut m, queue));
    let cores = cores.into_iter().map(|core| core.join().unwrap()).collect();
    port.settle(&mut space.view(Side::Both), cores, 2 * u64::from(BUFFERS));
}

#[test]
fn frames_keep_their_order_across_turns() {
    crate::passes(TURNED);
}

#[test]
fn a_queue_starts_again_where_it_stopped() {
    crate::passes(RESTARTED);
}

#[test]
fn cores_judge_one_at_a_time() {
    crate::passes(JUDGED);
}
