//! Queues that stop: what the NIC half tells before, what the core takes back, what the others get.
//!
//! A gate is the hand-shake that the caller of `stop_queue` and `start_queue` owes.

use std::sync::{Arc, Mutex};

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Class, Field, Memory, Ps, Side, Space};
use rings::oracle::Ledger;
use rings::{Host, Nic, privring, rxbisect, shring};

use crate::oracle::{Core, Port, Spares, buffers};

/// One core whose queue is stopped, drained, started and filled.
pub(crate) const RESTARTED: Scenario =
    Scenario { name: "privring, ring 2, stopped after 1 frame, 2 more", run: restarted };

/// Core 0 drains what fills the ring: core 1's frame needs one of its slots.
pub(crate) const LEFT: Scenario =
    Scenario { name: "shring, 2 cores, ring 2, one drains and leaves its slots", run: left };

/// Core 1's Ax ring has given a buffer to queue 0 and core 1 is not told, when its queue stops.
pub(crate) const TOLD: Scenario =
    Scenario { name: "rxbisect, 2 cores, rings 2, one drains and learns of its notice", run: told };

/// A word that one side raises and the other waits for.
pub(crate) type Gate = <CheckedView as Memory>::Words<1>;

pub(crate) fn gate(space: &mut CheckedSpace, name: &'static str, writer: Side, reader: Side) -> Gate {
    space
        .words(&Field { name, len: 1, width: 1, class: Class::Signal, writer, reader, home: Side::Host }, 0)
        .unwrap()
}

pub(crate) fn raised(m: &mut CheckedView, gate: Gate, value: u64) {
    while m.acquire(gate, 0) < value {
        m.idle();
    }
}

/// Polls until the gate is raised.
fn poll_until<H: Host<CheckedView>>(core: &mut Core<H>, m: &mut CheckedView, gate: Gate) {
    while m.acquire(gate, 0) == 0 {
        if core.poll(m) == 0 {
            m.idle();
        }
    }
}

/// What a drain found, on its way to the NIC's books; the gates order it.
type Found = Arc<Mutex<Option<(Ledger, u64)>>>;

fn restarted(mut space: CheckedSpace) {
    let b = buffers(&mut space, 3);
    let (mut hosts, nic) = privring::build(&mut space, &privring::Sizes { ring: 2 }, 1, b).unwrap();
    let cycle = Cycle { b, count: 3, before: 1, after: 2 };
    cycle.run(space, (hosts.remove(0), nic), |_, _| {});
}

/// One queue that stops and starts: its buffers, and the frames before and after.
pub(crate) struct Cycle {
    pub(crate) b: CheckedBuffers,
    pub(crate) count: u64,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

impl Cycle {
    /// The core does `first`, polls once, drains, fills and receives the rest. The NIC never waits for room before the stop.
    pub(crate) fn run<H, N>(
        self,
        mut space: CheckedSpace,
        (host, nic): (H, N),
        first: fn(&mut H, &mut CheckedView),
    ) where
        H: Host<CheckedView> + Send + 'static,
        N: Nic<CheckedView>,
    {
        let Cycle { b, count, before, after } = self;
        let control = gate(&mut space, "test.control", Side::Nic, Side::Host);
        let drained = gate(&mut space, "test.drained", Side::Host, Side::Nic);
        let space = space.share();
        let mut m = space.view(Side::Host);
        let mut core = Core::filled(&mut m, (0, host), b, Spares::new(0, count));
        let found = Found::default();
        let finds = Arc::clone(&found);
        let core = spawn(move || {
            first(&mut core.host, &mut m);
            core.poll(&mut m);
            raised(&mut m, control, 1);
            let result = core.drain(&mut m);
            assert_eq!(core.spares.0.len() as u64, count, "every buffer came back");
            let received = result.0.count();
            *finds.lock().unwrap() = Some(result);
            m.release(drained, 0, 1);
            raised(&mut m, control, 2);
            assert_eq!(core.host.fill(&mut m, &mut core.spares), 0);
            core.receive(&mut m, received + after);
            core
        });
        let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 1));
        (0..before).for_each(|_| port.deliver(&mut m, 0));
        port.nic.stop_queue(&mut m, 0);
        m.release(control, 0, 1);
        raised(&mut m, drained, 1);
        let (received, unread) = found.lock().unwrap().take().unwrap();
        port.cut(0, &received, unread);
        port.nic.start_queue(&mut m, 0);
        m.release(control, 0, 2);
        (0..after).for_each(|_| port.deliver(&mut m, 0));
        port.hand_out(&mut m);
        port.settle(&mut space.view(Side::Both), vec![core.join().unwrap()], count);
    }
}

fn left(mut space: CheckedSpace) {
    let b = buffers(&mut space, 4);
    let sizes = shring::Sizes { ring: 2, shared_by: 2, completions: 2, ..Default::default() };
    let (hosts, nic) = shring::build(&mut space, &sizes, 2, b).unwrap();
    two(space, hosts, nic, Plan { b, count: 4, before: &[0, 0], stopped: 0, after: &[1] });
}

fn told(mut space: CheckedSpace) {
    let b = buffers(&mut space, 6);
    let timeout = Ps::from_us(1);
    let sizes = rxbisect::Sizes { ax: 2, bx: 4, group: 0, batch: 2, timeout, alloc_queues: 0 };
    let (hosts, nic) = rxbisect::build(&mut space, &sizes, 2, b).unwrap();
    two(space, hosts, nic, Plan { b, count: 6, before: &[0, 0, 0], stopped: 1, after: &[0] });
}

/// Frames for queues, one of which stops between them.
struct Plan {
    b: CheckedBuffers,
    count: u64,
    before: &'static [u16],
    stopped: u16,
    after: &'static [u16],
}

/// Two cores, one of which drains while the other receives.
fn two<H, N>(mut space: CheckedSpace, hosts: Vec<H>, nic: N, plan: Plan)
where
    H: Host<CheckedView> + Send + 'static,
    N: Nic<CheckedView>,
{
    let control = gate(&mut space, "test.control", Side::Nic, Side::Host);
    let space = space.share();
    let mut m = space.view(Side::Host);
    let half = plan.count / 2;
    let spares = [Spares::new(0, half), Spares::new(half, plan.count)];
    let cores: Vec<_> = (0..).zip(hosts).zip(spares).collect();
    let cores = cores.into_iter().map(|(half, spares)| Core::filled(&mut m, half, plan.b, spares));
    let run = |(queue, mut core): (u16, Core<H>)| {
        let mut m = space.view(Side::Host);
        let want = plan.before.iter().chain(plan.after).filter(|&&q| q == queue).count() as u64;
        spawn(move || {
            if queue != plan.stopped {
                core.receive(&mut m, want);
                return (core, None);
            }
            poll_until(&mut core, &mut m, control);
            let found = core.drain(&mut m);
            (core, Some(found))
        })
    };
    let cores: Vec<_> = (0..).zip(cores).map(run).collect();
    let (mut m, mut port) = (space.view(Side::Nic), Port::new(nic, 2));
    plan.before.iter().for_each(|queue| port.deliver(&mut m, *queue));
    port.nic.stop_queue(&mut m, plan.stopped);
    m.release(control, 0, 1);
    plan.after.iter().for_each(|queue| port.deliver(&mut m, *queue));
    let mut back = Vec::new();
    for core in cores {
        let (core, found) = core.join().unwrap();
        if let Some((received, unread)) = found {
            port.cut(plan.stopped, &received, unread);
        }
        back.push(core);
    }
    port.settle(&mut space.view(Side::Both), back, plan.count);
}

#[test]
fn a_queue_starts_again_where_it_stopped() {
    crate::passes(RESTARTED);
}

#[test]
fn slots_that_a_core_leaves_serve_the_other() {
    crate::passes(LEFT);
}

#[test]
fn a_stopped_queue_is_told_of_its_notices() {
    crate::passes(TOLD);
}
