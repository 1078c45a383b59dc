//! Every interface between real threads while its queues stop, drain, start and fill in turn: receive
//! and transmit queues, with frames for all of them all the time.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use memory::{Backing, Geometry, Memory, NativeView, Ps, Region, Space};
use rings::dynamic::judge::Mode;
use rings::mock::{MockHost, MockNic};
use rings::oracle::Ledger;
use rings::{
    Interface, Outcome, TxNic, ccnic, ceio, corec, ddring, dynamic, pool, privring, receive, rxbisect,
    shring, transmit, tx,
};

const QUEUES: u16 = 3;
const BUFFERS: u32 = 512;
/// Times that each core's queue stops and starts.
const CYCLES: u64 = if cfg!(miri) { 2 } else { 200 };
/// Steps of the NIC in each state of a cycle, at least.
const STEPS: u64 = if cfg!(miri) { 4 } else { 40 };

/// What a control thread asks of a core.
enum Ask {
    Drain,
    Fill,
}

/// A core has done what it was asked for; what it found, if it drained.
struct Done {
    received: Ledger,
    unread: u64,
}

/// The far end of a core.
type Line = (Sender<Ask>, Receiver<Done>);

/// The NIC, and where the cycle of one queue stands.
struct Card<'r> {
    nic: MockNic<NativeView<'r>>,
    lines: Vec<Line>,
    /// Whether a queue's frames are its core's and no other's.
    alone: Vec<bool>,
    step: u64,
    delivered: u64,
}

impl Card<'_> {
    /// One step of the wire: frames for a queue, some frames out.
    fn turn(&mut self) {
        self.step += 1;
        let queue = (self.step / 3 % u64::from(QUEUES)) as u16;
        let n = self.nic.arrive(queue, 1 + (self.step % 13) as usize, 64).unwrap();
        let sent = self.nic.send(8).unwrap();
        self.nic.poll();
        self.delivered += n as u64;
        if n + sent == 0 {
            self.nic.m.idle();
        }
    }

    /// The core does what it is asked for while the NIC goes on.
    fn ask(&mut self, core: u16, what: Ask) -> Done {
        self.lines[usize::from(core)].0.send(what).unwrap();
        loop {
            self.turn();
            match self.lines[usize::from(core)].1.try_recv() {
                Ok(done) => return done,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => panic!("core {core} is gone"),
            }
        }
    }

    fn turns(&mut self) {
        (0..STEPS).for_each(|_| self.turn());
    }

    fn cycle(&mut self, core: u16) {
        self.nic.stop_queue(core);
        self.nic.parts().2.stop_queue(core);
        self.turns();
        let found = self.ask(core, Ask::Drain);
        if self.alone.get(usize::from(core)) == Some(&true) {
            self.nic.drained(core, &found.received, found.unread).unwrap();
        }
        self.turns();
        self.nic.start_queue(core);
        let (m, _, tx) = self.nic.parts();
        tx.start_queue(m, core);
        self.ask(core, Ask::Fill);
        self.turns();
    }
}

/// Receives, sends, frees, and does what it is asked for, until the NIC is done and nothing is left.
fn core(host: &mut MockHost<NativeView<'_>>, (asks, done): (Receiver<Ask>, Sender<Done>), end: &AtomicBool) {
    let (mut step, mut running) = (0u64, true);
    loop {
        let stop = end.load(Acquire); // pairs with the NIC's store: what it delivered is visible below
        if let Ok(ask) = asks.try_recv() {
            let mut unread = 0;
            running = matches!(ask, Ask::Fill);
            if running {
                host.fill();
            } else {
                unread = host.drain_queue();
                host.drain_tx();
            }
            done.send(Done { received: host.received().1.clone(), unread }).unwrap();
        }
        let n = if running { host.poll(1 + (step % 32) as usize).unwrap() } else { 0 };
        step += 1;
        if running && step.is_multiple_of(16) {
            host.ask(Mode::after(step / 16)); // heard by `dynamic` alone
        }
        let worked = if step.is_multiple_of(3) || !running { host.free(32) } else { host.send(24) };
        if n + worked == 0 {
            host.m.idle();
        }
        if stop && n == 0 && host.poll(32).unwrap() == 0 {
            return;
        }
    }
}

fn run(interface: &Interface) {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    let mut space = &region;
    let geometry = Geometry::plain(BUFFERS, 128);
    let buffers = space.buffers(&geometry).unwrap();
    let (hosts, rx) = receive(&mut space, interface, QUEUES.into(), buffers).unwrap();
    let count = hosts.len() as u32;
    let (host_tx, nic_tx) =
        transmit(&mut space, interface, tx::Sizes { ring: 32, complete_every: 8 }, count).unwrap();
    let pools = pool::build(&mut space, BUFFERS, count, 16).unwrap();
    let view = region.view();
    let nic = MockNic::new(view.clone(), (rx, nic_tx), buffers, (interface, QUEUES.into()));
    let mut cores: Vec<_> = (0..)
        .zip(hosts.into_iter().zip(host_tx).zip(pools))
        .map(|(q, ((rx, tx), pool))| MockHost::new(view.clone(), interface.ring_of(q), rx, tx, pool, buffers))
        .collect();
    for host in &mut cores {
        assert_eq!(host.fill(), 0);
    }

    let alone =
        |queue| (0..QUEUES).filter(|&q| interface.ring_of(q) == interface.ring_of(queue)).count() == 1;
    let alone: Vec<_> = (0..QUEUES).map(alone).collect();
    let some_alone = alone.contains(&true);
    let mut card = Card { nic, lines: Vec::new(), alone, step: 0, delivered: 0 };
    let end = AtomicBool::new(false);
    thread::scope(|scope| {
        for host in &mut cores {
            let ((ask, asks), (done, dones)) = (channel(), channel());
            card.lines.push((ask, dones));
            let end = &end;
            scope.spawn(move || core(host, (asks, done), end));
        }
        for cycle in 0..CYCLES * u64::from(count) {
            card.cycle((cycle % u64::from(count)) as u16);
        }
        card.nic.stop();
        while card.nic.poll().is_some() {
            card.nic.m.idle(); // a card that keeps frames hands them out
        }
        end.store(true, Release); // pairs with the acquire in `core`
    });

    let offered = card.nic.offered();
    offered.judge(cores.iter().map(MockHost::received)).unwrap();
    let stopped = offered.count(Outcome::QueueStopped);
    assert_eq!(stopped > CYCLES, some_alone, "queues were stopped while frames came: {stopped}");
    assert!(card.delivered > CYCLES * u64::from(count));
    cores.iter_mut().for_each(MockHost::drain);
    assert_eq!(cores[0].count(), Ok(u64::from(BUFFERS)), "buffers in use at the end");
    let counters = cores.iter().flat_map(MockHost::counters);
    assert!(counters.into_iter().all(|(name, n)| name != "faults" || n == 0));
}

#[test]
fn privring_queues_cycle() {
    run(&Interface::PrivRing(privring::Sizes { ring: 64 }));
}

#[test]
fn shring_queues_cycle() {
    run(&Interface::ShRing(shring::Sizes { ring: 64, shared_by: 3, completions: 32, ..Default::default() }));
    run(&Interface::ShRing(shring::Sizes { ring: 16, shared_by: 2, completions: 16, ..Default::default() })); // and one alone
}

#[test]
fn rxbisect_queues_cycle() {
    let sizes = rxbisect::Sizes { ax: 16, bx: 64, batch: 4, timeout: Ps::from_us(5), ..Default::default() };
    run(&Interface::RxBisect(sizes));
    run(&Interface::RxBisect(rxbisect::Sizes { alloc_queues: 1, ..sizes }));
}

#[test]
fn dynamic_queues_cycle() {
    let sizes = dynamic::Sizes {
        ring: 32,
        shared_by: 3,
        completions: 32,
        report: 4,
        round: Ps::from_us(1),
        ..Default::default()
    };
    run(&Interface::Dynamic(sizes));
    run(&Interface::Dynamic(dynamic::Sizes { ring: 16, shared_by: 2, ..sizes })); // and one alone
}

/// Threads leave and join while the others go on with the frames of all: nothing is stopped (and one alone is).
#[test]
fn corec_threads_cycle() {
    run(&Interface::Corec(corec::Sizes { ring: 64, shared_by: 3, ..Default::default() }));
    run(&Interface::Corec(corec::Sizes { ring: 2, shared_by: 3, ..Default::default() }));
    run(&Interface::Corec(corec::Sizes { ring: 128, shared_by: 2, ..Default::default() }));
}

#[test]
fn ccnic_queues_cycle() {
    run(&Interface::CcNic(ccnic::Sizes { ring: 64, ..Default::default() }));
    run(&Interface::CcNic(ccnic::Sizes { back: ccnic::Back::Credit, ring: 16, ..Default::default() }));
    run(&Interface::CcNic(ccnic::Sizes::e810(64)));
}

#[test]
fn ceio_queues_cycle() {
    for credits in [20, 0] {
        let nic_memory = ceio::NicMemory { slots: 200 };
        run(&Interface::Ceio(ceio::Sizes {
            ring: 64,
            credits,
            nic_memory,
            release: 4,
            ..Default::default()
        }));
    }
}

#[test]
fn ddring_queues_cycle() {
    for (shared_by, refill) in
        [(1, ddring::Refill::Each), (2, ddring::Refill::Bulk), (3, ddring::Refill::Bulk)]
    {
        run(&Interface::DdRing(ddring::Sizes { ring: 64, shared_by, refill }));
    }
}
