//! Every interface between real threads: one is the NIC, the others are cores that receive, send and
//! free. The load is skewed, so buffers change cores and locks meet.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::thread;

use memory::{Backing, Geometry, Memory, NativeView, Ps, Region, Space};
use rings::dynamic::judge::Mode;
use rings::mock::{MockHost, MockNic};
use rings::shring::Unlock;
use rings::{
    Interface, ccnic, ceio, corec, ddring, dynamic, pool, privring, receive, rxbisect, shring, transmit, tx,
};

const QUEUES: u32 = 3;
const BUFFERS: u32 = 512;
const FRAMES: u64 = if cfg!(miri) { 200 } else { 20_000 };

/// Offers until enough was delivered: three of four frames go to queue 0.
fn wire(nic: &mut MockNic<NativeView<'_>>) -> u64 {
    let mut delivered = 0;
    let mut step = 0u64;
    while delivered < FRAMES {
        step += 1;
        let queue = if step % 4 < 3 { 0 } else { 1 + (step / 4) as u16 % 2 };
        let n = nic.arrive(queue, 1 + (step % 13) as usize, 64).unwrap();
        let sent = nic.send(8).unwrap();
        nic.poll();
        delivered += n as u64;
        if n + sent == 0 {
            nic.m.idle();
        }
    }
    delivered
}

/// Receives until the NIC is done and nothing is left.
fn core(host: &mut MockHost<NativeView<'_>>, done: &AtomicBool) {
    let mut step = 0u64;
    loop {
        let stop = done.load(Acquire); // pairs with the NIC's store: what it delivered is visible below
        let n = host.poll(32).unwrap();
        step += 1;
        if step.is_multiple_of(16) {
            host.ask(Mode::after(step / 16)); // heard by `dynamic` alone
        }
        let worked = if step.is_multiple_of(3) { host.free(32) } else { host.send(24) };
        if n + worked == 0 {
            host.m.idle();
        }
        if stop && n == 0 && host.poll(32).unwrap() == 0 {
            return;
        }
    }
}

type Counters = Vec<(&'static str, u64)>;

/// The counters of the NIC half and of all host halves.
fn run(interface: &Interface) -> (Counters, Counters) {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    let mut space = &region;
    let geometry = Geometry::plain(BUFFERS, 128);
    let buffers = space.buffers(&geometry).unwrap();
    let (hosts, rx) = receive(&mut space, interface, QUEUES, buffers).unwrap();
    let count = hosts.len() as u32;
    let (host_tx, nic_tx) =
        transmit(&mut space, interface, tx::Sizes { ring: 32, complete_every: 8 }, count).unwrap();
    let pools = pool::build(&mut space, BUFFERS, count, 16).unwrap();
    let view = region.view();
    let mut nic = MockNic::new(view.clone(), (rx, nic_tx), buffers, (interface, QUEUES));
    let mut cores: Vec<_> = (0..)
        .zip(hosts.into_iter().zip(host_tx).zip(pools))
        .map(|(q, ((rx, tx), pool))| MockHost::new(view.clone(), interface.ring_of(q), rx, tx, pool, buffers))
        .collect();
    for host in &mut cores {
        assert_eq!(host.fill(), 0);
    }

    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for host in &mut cores {
            scope.spawn(|| core(host, &done));
        }
        wire(&mut nic);
        nic.stop();
        while nic.poll().is_some() {
            nic.m.idle(); // a card that keeps frames hands them out
        }
        done.store(true, Release); // pairs with the acquire in `core`
    });

    nic.offered().judge(cores.iter().map(MockHost::received)).unwrap();
    cores.iter_mut().for_each(MockHost::drain);
    assert_eq!(cores[0].count(), Ok(u64::from(BUFFERS)), "buffers in use at the end");
    let counters: Vec<_> = cores.iter().flat_map(MockHost::counters).collect();
    assert!(counters.iter().all(|(name, n)| *name != "faults" || *n == 0));
    (nic.counters(), counters)
}

#[test]
fn privring_between_threads() {
    run(&Interface::PrivRing(privring::Sizes { ring: 64 }));
}

#[test]
fn shring_between_threads() {
    for unlock in [Unlock::Store, Unlock::Swap] {
        let (_, cores) =
            run(&Interface::ShRing(shring::Sizes { ring: 64, shared_by: 3, completions: 32, unlock }));
        let locks: u64 = cores.iter().filter(|(name, _)| *name == "lock_taken").map(|(_, n)| n).sum();
        assert!(locks > 0);
    }
}

#[test]
fn rxbisect_between_threads() {
    let sizes = rxbisect::Sizes { ax: 16, bx: 64, batch: 4, timeout: Ps::from_us(5), ..Default::default() };
    for sizes in [sizes, rxbisect::Sizes { batch: 1, ..sizes }, rxbisect::Sizes { alloc_queues: 1, ..sizes }]
    {
        let (nic, _) = run(&Interface::RxBisect(sizes));
        // Under Miri there are too few frames for it.
        let foreign = nic.iter().any(|(name, n)| *name == "foreign" && *n > 0);
        assert!(cfg!(miri) || foreign, "{nic:?}");
    }
}

/// Cores ask for one kind of ring and the other, against each other.
#[test]
fn dynamic_between_threads() {
    let sizes = dynamic::Sizes {
        ring: 64,
        shared_by: 3,
        completions: 32,
        report: 4,
        round: Ps::from_us(1),
        ..Default::default()
    };
    let (_, cores) = run(&Interface::Dynamic(sizes));
    let sum = |name: &str| cores.iter().filter(|(n, _)| *n == name).map(|(_, n)| n).sum::<u64>();
    assert!(sum("by_shared") > 0 && sum("by_private") > 0 && sum("switches") > 1, "{cores:?}");
}

/// Each thread receives from the ring of all.
#[test]
fn corec_between_threads() {
    for ring in [2, 64] {
        let (_, cores) = run(&Interface::Corec(corec::Sizes { ring, shared_by: 3, ..Default::default() }));
        let sum = |name: &str| cores.iter().filter(|(n, _)| *n == name).map(|(_, n)| n).sum::<u64>();
        assert!(sum("claims") > 0, "{cores:?}");
    }
    run(&Interface::Corec(corec::Sizes { ring: 128, shared_by: 2, ..Default::default() })); // and one alone
}

/// Every layout, each way to tell of an entry and to give it back.
fn lanes(ring: u32) -> impl Iterator<Item = Interface> {
    use ccnic::{Back, Layout, Signal};
    let layouts = [Layout::Group, Layout::Pad, Layout::Pack];
    let ways =
        [(Signal::Inline, Back::Clear), (Signal::Inline, Back::Credit), (Signal::Register, Back::Credit)];
    let all = layouts.into_iter().flat_map(move |layout| ways.map(|(signal, back)| (layout, signal, back)));
    all.map(move |(layout, signal, back)| {
        Interface::CcNic(ccnic::Sizes { ring, layout, signal, back, ..Default::default() })
    })
}

#[test]
fn ccnic_between_threads() {
    // Under Miri the paper's layout, and one with registers.
    let every = if cfg!(miri) { 5 } else { 1 };
    lanes(64).step_by(every).for_each(|interface| drop(run(&interface)));
}

/// Few credits, so that flows change their paths all the time; none, so that all frames are kept; little memory.
#[test]
fn ceio_between_threads() {
    for (credits, slots) in [(20, 200), (0, 200), (20, 40)] {
        let nic_memory = ceio::NicMemory { slots };
        let sizes = ceio::Sizes { ring: 64, credits, nic_memory, release: 4, ..Default::default() };
        let (nic, _) = run(&Interface::Ceio(sizes));
        let of = |name: &str| nic.iter().find(|(n, _)| *n == name).unwrap().1;
        assert!(cfg!(miri) || of("kept") > 0, "{nic:?}");
        assert_eq!(of("nic_memory_slots"), 0, "{nic:?}");
    }
}

#[test]
fn ddring_between_threads() {
    for (shared_by, refill) in
        [(1, ddring::Refill::Each), (1, ddring::Refill::Bulk), (3, ddring::Refill::Bulk)]
    {
        run(&Interface::DdRing(ddring::Sizes { ring: 64, shared_by, refill }));
    }
}
