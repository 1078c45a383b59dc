//! The rings between a modelled card and modelled cores: every frame that was delivered is received
//! once, in order, with its payload, sent again in order, and every buffer comes home.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod caches;
mod world;

use std::cell::Cell;
use std::rc::Rc;

use caches::Chance;
use memory::{Buf, Memory, Ps};
use model::hierarchy::Counts;
use model::{Agent, PoolId, View};
use nic::{TxConfig, TxPort};
use rings::oracle::{self, Ledger, MARK, Offered};
use rings::pool::{self, CoreCache};
use rings::tx::{self, HostTx, NicTx};
use rings::{
    AnyHost, AnyNic, Buffers, Completion, Host, Interface, Nic, Outcome, Segment, corec, ddring, dynamic,
    privring, rxbisect, shring,
};
use world::{Out, World, server};

const QUEUES: u32 = 3;
const FRAMES: u64 = 3000;
const BURST: usize = 16;
const BUFFERS: u32 = 1024;
/// Work on a frame, cycles of 0.5 ns.
const WORK: u32 = 1000;

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

/// The receive half of the card: frames of random queue and size, in bursts that the cores cannot follow
/// and gaps in which they catch up.
fn arrive(m: &mut View, (interface, nic): (&Interface, &mut AnyNic<View>), seed: u64) -> Offered {
    let (mut chance, mut offered) = (Chance::new(seed), Offered::new(QUEUES));
    for n in 0..FRAMES {
        let gap = if n / 300 % 2 == 0 { 100_000 } else { 1_000 };
        rest(m, nic, Ps(u64::from(chance.below(2 * gap))));
        let queue = chance.below(QUEUES * 2).min(QUEUES - 1) as u16; // the last queue has the most
        let len = MARK as u32 + chance.below(1500);
        let ring = interface.ring_of(queue); // in whose books the frame stands
        let number = offered.next(ring);
        let mark = oracle::mark(ring, number);
        let mut outcome = [Outcome::BadFrame];
        nic.deliver(m, queue, &[oracle::frame(&mark, len as u16)], &mut outcome);
        offered.ended(ring, number, outcome[0]).unwrap();
    }
    // What is in the rings is received and sent.
    rest(m, nic, Ps::from_us(500));
    offered
}

/// Passes time, and sends the notices that fall due.
fn rest(m: &mut View, nic: &mut AnyNic<View>, span: Ps) {
    let end = m.now() + span;
    while let Some(due) = nic.poll(m)
        && due < end
    {
        let next = m.now() + Ps(1);
        m.pause(due.max(next), false);
    }
    m.pause(end, false);
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

/// One core: its receive ring, its transmit ring, its buffers, and frames that wait for room.
struct Core {
    queue: u16,
    host: AnyHost<View>,
    tx: HostTx<View>,
    pool: CoreCache<View>,
    buffers: PoolId,
    ledger: Ledger,
    waiting: Vec<Segment>,
}

impl Core {
    /// Receives, works, sends until the run is over; what it received.
    fn run(mut self, m: &mut View) -> Ledger {
        self.host.fill(m, &mut self.pool);
        while !m.stopped() {
            if self.poll(m) == 0 {
                m.idle();
            }
        }
        let held: Vec<Buf> = self.waiting.iter().map(|s| s.buf).collect();
        self.pool.give(m, &held);
        self.tx.drain(m, &mut self.pool);
        self.host.drain(m, &mut self.pool);
        self.pool.flush(m);
        self.ledger
    }

    fn poll(&mut self, m: &mut View) -> usize {
        let mut got = [Completion { buf: Buf(0), len: 0, rss: 0, kind: 0 }; BURST];
        let n = self.host.rx_burst(m, &mut self.pool, &mut got);
        for c in &got[..n] {
            let mut payload = [0; MARK];
            m.get(self.buffers, c.buf, 0, &mut payload, u32::from(c.len));
            self.ledger.receive(self.queue, *c, &payload).unwrap();
            m.work(WORK);
            self.waiting.push(Segment { buf: c.buf, off: 0, len: c.len, last: true });
        }
        let taken = self.tx.tx_burst(m, &mut self.pool, &self.waiting);
        self.waiting.drain(..taken);
        n + taken
    }
}

/// Cards and cores over one interface.
fn run(interface: &Interface, seed: u64) -> Seen {
    let mut w = World::new(server());
    w.seed(seed);
    let buffers = w.buffers(BUFFERS);
    let (hosts, mut rx) = rings::build(&mut w.space, interface, QUEUES, buffers).unwrap();
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
        offered.push(arrive(m, (&ports, &mut rx), seed));
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
        let (ledger, waiting) = (Ledger::default(), Vec::new());
        let core = Core { queue, host, tx, pool, buffers, ledger, waiting };
        w.core(i as u32, move |m| out.push((i, queue, core.run(m))));
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

const BISECT: rxbisect::Sizes =
    rxbisect::Sizes { ax: 16, bx: 64, group: 0, batch: 4, timeout: Ps::from_us(1), alloc_queues: 0 };

/// Judges every 20 us, so that bursts are trials.
const DYNAMIC: dynamic::Sizes = dynamic::Sizes {
    ring: 64,
    shared_by: 2,
    completions: 64,
    unlock: shring::Unlock::Store,
    report: 4,
    round: Ps::from_us(20),
};

fn interfaces() -> [Interface; 9] {
    let shring = shring::Sizes { ring: 64, shared_by: 2, completions: 64, ..Default::default() };
    [
        Interface::PrivRing(privring::Sizes { ring: 64 }),
        Interface::ShRing(shring),
        Interface::ShRing(shring::Sizes { unlock: shring::Unlock::Swap, ..shring }),
        Interface::RxBisect(BISECT),
        Interface::Dynamic(DYNAMIC),
        Interface::DdRing(ddring::Sizes { ring: 64, shared_by: 1, refill: ddring::Refill::Each }),
        Interface::DdRing(ddring::Sizes { ring: 64, shared_by: 3, refill: ddring::Refill::Bulk }),
        Interface::Corec(corec::Sizes { ring: 64, shared_by: 3, ..Default::default() }),
        Interface::Corec(corec::Sizes { ring: 32, shared_by: 2, ..Default::default() }),
    ]
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
