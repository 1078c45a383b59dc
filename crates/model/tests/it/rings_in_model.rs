//! The rings between a modelled card and modelled cores: every frame that was delivered is received
//! once, in order, with its payload, sent again in order, and every buffer comes home.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::cell::Cell;
use std::rc::Rc;

use crate::port::{BISECT, BUFFERS, Core, FRAMES, QUEUES, REST, arrive, hand_out, interfaces, rest};
use crate::world::{Out, World, server};
use memory::{Memory, Ps};
use model::hierarchy::Counts;
use model::{Agent, PoolId, View};
use nic::{TxConfig, TxPort};
use rings::oracle::Ledger;
use rings::pool::{self, CoreCache};
use rings::tx::{self, NicTx};
use rings::{AnyHost, Host, Interface, Nic, Outcome, rxbisect};

/// What one run shows.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Frames by outcome.
    outcomes: [u64; Outcome::ALL.len()],
    /// Frames sent, and when the last one was on the wire.
    sent: u64,
    end: Ps,
    counts: Counts,
}

/// The transmit half: what each queue sent, and when the last frame was on the wire.
fn send(m: &mut View, nic: NicTx<View>, buffers: PoolId) -> (Vec<Ledger>, Ps) {
    let mut port = TxPort::new(nic, buffers, TxConfig::default());
    let (mut sent, mut end) = (vec![Ledger::default(); QUEUES as usize], Ps::ZERO);
    while !m.stopped() {
        let note = |s: nic::Sent<'_>| {
            let number = u64::from_le_bytes(s.head[..8].try_into().unwrap());
            sent[usize::from(s.queue)].note(number).unwrap();
            end = s.at;
        };
        if !port.send(m, note) {
            port.idle(m);
        }
    }
    assert_eq!(port.faults(), 0);
    (sent, end)
}

/// Cards and cores over one interface.
fn run(interface: &Interface, seed: u64) -> Seen {
    let mut server = server();
    server.keep_frames().unwrap();
    let mut w = World::new(server);
    w.seed(seed);
    let buffers = w.buffers(BUFFERS);
    let (hosts, mut rx) = rings::receive(&mut w.space, interface, QUEUES, buffers).unwrap();
    let sizes = tx::Sizes { ring: 32, complete_every: 8 };
    let (mut host_txs, nic_tx) = tx::build(&mut w.space, sizes, QUEUES).unwrap();
    let cores = hosts.len() as u32;
    let mut pools = pool::build(&mut w.space, BUFFERS, cores + 1, 32).unwrap();
    let auditor = pools.pop().unwrap();

    let (books, sent, received) = (Out::default(), Out::default(), Out::default());
    let done = Rc::new(Cell::new(false));
    let (over, offered, ports) = (done.clone(), books.clone(), interface.clone());
    w.nic(move |m| {
        m.pause(Ps::from_us(20), false); // the cores fill their rings
        offered.push(arrive(m, (&ports, &mut rx), seed, |_, _, _| {}));
        hand_out(m, &mut rx);
        rest(m, &mut rx, REST);
        rx.stop(m);
        over.set(true);
    });
    let wire = sent.clone();
    w.agent(Agent::NicTx(0), move |m| wire.push(send(m, nic_tx, buffers)));
    for (i, (host, pool)) in hosts.into_iter().zip(pools).enumerate() {
        let (queue, out) = (interface.ring_of(i as u16), received.clone());
        if host_txs.is_empty() {
            w.core(i as u32, move |m| allocate(m, host, pool));
            continue;
        }
        let tx = host_txs.remove(0);
        let core = Core::new(queue, host, tx, pool, buffers);
        w.core(i as u32, move |m| out.push((i, queue, serve(m, core))));
    }
    let mut engine = w.run_while_not(&done);

    let offered = books.all().pop().unwrap();
    let mut received = received.all();
    received.sort_unstable_by_key(|r| r.0);
    offered.judge(received.iter().map(|(_, queue, ledger)| (*queue, ledger))).unwrap();
    let received: Vec<Ledger> = received.into_iter().map(|r| r.2).collect();
    let (sent, end) = sent.all().pop().unwrap();
    assert_eq!(sent, received, "what was received was sent, in order");
    let mut m = engine.set_up(Agent::Core(0));
    assert_eq!(auditor.shared(&mut m), u64::from(BUFFERS), "buffers in use");
    Seen {
        outcomes: Outcome::ALL.map(|o| offered.count(o)),
        sent: sent.iter().map(Ledger::count).sum(),
        end,
        counts: engine.sim().counts(),
    }
}

/// A core receives, works and sends until the run is over; what it received.
fn serve(m: &mut View, mut core: Core) -> Ledger {
    core.host.fill(m, &mut core.pool);
    while !m.stopped() {
        if core.receive(m) + core.send(m) == 0 {
            m.idle();
        }
    }
    core.empty(m)
}

/// A dedicated allocator: it receives nothing but keeps the allocation rings full.
fn allocate(m: &mut View, mut host: AnyHost<View>, mut pool: CoreCache<View>) {
    host.fill(m, &mut pool);
    while !m.stopped() {
        if host.rx_burst(m, &mut pool, &mut []) == 0 {
            m.idle();
        }
    }
    host.drain(m, &mut pool);
    pool.flush(m);
}

fn check(interface: &Interface) {
    for seed in 0..3 {
        let seen = run(interface, seed);
        println!("{} {:?}, seed {seed}: {seen:?}", interface.name(), interface.params());
        let delivered = seen.outcomes[Outcome::Delivered as usize];
        let dropped = FRAMES - delivered;
        assert_eq!(seen.outcomes.iter().sum::<u64>(), FRAMES);
        assert_eq!(seen.sent, delivered);
        assert!(delivered > FRAMES / 3 && dropped > 0, "bursts overflow the rings, gaps do not");
    }
}

#[test]
fn nothing_is_lost_doubled_or_reordered() {
    interfaces().iter().for_each(check);
}

/// Its polls take buffers from the shared pool: notices arrive while it holds the pool's lock.
#[test]
fn a_dedicated_allocator_does_not_sleep_through_a_notice() {
    check(&Interface::RxBisect(rxbisect::Sizes { alloc_queues: 1, ..BISECT }));
}

#[test]
fn a_run_repeats_exactly() {
    for interface in interfaces() {
        assert_eq!(run(&interface, 9), run(&interface, 9), "{}", interface.name());
    }
}
