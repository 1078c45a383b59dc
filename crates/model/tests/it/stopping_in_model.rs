//! Queues of every interface that stop, drain, start and fill in the model, receive and transmit queues, with frames
//! for all of them all the time. What a drain finds is struck from the books; all else arrives once, in order, intact.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::caches::Chance;
use crate::port::{BISECT, BUFFERS, Core, FRAMES, QUEUES, REST, arrive, hand_out, interfaces, rest};
use crate::world::{Out, World, server};
use memory::{Class, Memory, Ps, Side};
use model::{Agent, PoolId, View, Words};
use rings::oracle::{self, Ledger, MARK};
use rings::tx::{self, NicTx};
use rings::{Host, Interface, Nic, Outcome, pool, rxbisect};
use rings::{TxHost as _, TxNic as _};

/// Turns of a card between two changes of a queue.
const TURNS: u32 = 10;
/// The longest time between two polls in vain, ns. Without it, one of three cores that polls in vain keeps the others
/// out of the lock of a shared ring for good: it takes it again before they have seen that it is free.
const REST_NS: u32 = 300;
/// Times that each queue of a run stops and starts, at least.
const EACH: u64 = 3;

/// The hand-shake that the caller of `stop_queue` and `start_queue` owes, between a card and a core. Its words come and
/// go as those of the rings do.
struct Line<T> {
    /// Wishes so far: the core drains for an odd one and goes on for an even one.
    asked: Words<1>,
    /// Wishes that are done.
    done: Words<1>,
    /// What the last drain found.
    found: Rc<RefCell<Option<T>>>,
}

impl<T> Clone for Line<T> {
    fn clone(&self) -> Self {
        Line { found: self.found.clone(), ..*self }
    }
}

impl<T> Line<T> {
    fn new(w: &mut World) -> Line<T> {
        Line { asked: w.words(Class::Signal, Side::Nic, 1), done: w.bell(), found: Rc::default() }
    }
}

/// What a card does to a queue, and what the drain of a core finds.
trait Control {
    type Found;
    fn stop(&mut self, m: &mut View, queue: u16);
    fn found(&mut self, queue: u16, found: Self::Found);
    fn start(&mut self, m: &mut View, queue: u16);
}

/// Where a card stands: one queue at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Running,
    Draining,
    Drained,
    Filling,
}

/// One queue after the other stops and starts.
struct Cycles<T> {
    lines: Vec<Line<T>>,
    state: State,
    queue: usize,
    turns: u32,
    wishes: Vec<u64>,
}

impl<T> Cycles<T> {
    fn new(lines: &[Line<T>]) -> Cycles<T> {
        let wishes = vec![0; lines.len()];
        Cycles { lines: lines.to_vec(), state: State::Running, queue: 0, turns: 0, wishes }
    }

    /// Cycles that are complete, of the queue that has the fewest.
    fn fewest(&self) -> u64 {
        self.wishes.iter().min().unwrap() / 2
    }

    /// A turn of the card; `on` is whether another queue may stop.
    fn turn(&mut self, m: &mut View, on: bool, control: &mut impl Control<Found = T>) {
        self.turns += 1;
        let (line, queue) = (self.lines[self.queue].clone(), self.queue as u16);
        match self.state {
            State::Running if on && self.turns >= TURNS => {
                control.stop(m, queue);
                self.ask(m, State::Draining);
            }
            State::Draining if self.is_done(m) => {
                control.found(queue, line.found.take().unwrap());
                self.go_on(State::Drained);
            }
            State::Drained if self.turns >= TURNS => {
                control.start(m, queue);
                self.ask(m, State::Filling);
            }
            State::Filling if self.is_done(m) => {
                self.go_on(State::Running);
                self.queue = (self.queue + 1) % self.lines.len();
            }
            _ => {}
        }
    }

    fn ask(&mut self, m: &mut View, state: State) {
        self.wishes[self.queue] += 1;
        m.release(self.lines[self.queue].asked, 0, self.wishes[self.queue]);
        self.go_on(state);
    }

    fn is_done(&self, m: &mut View) -> bool {
        m.acquire(self.lines[self.queue].done, 0) == self.wishes[self.queue]
    }

    fn go_on(&mut self, state: State) {
        self.state = state;
        self.turns = 0;
    }
}

/// The receive half of a card, for one turn.
struct Rx<'a, N> {
    nic: &'a mut N,
    offered: &'a mut oracle::Offered,
    /// Of each queue, whether its frames are its core's and no other's.
    alone: &'a [bool],
}

impl<N: Nic<View>> Control for Rx<'_, N> {
    type Found = (Ledger, u64);

    fn stop(&mut self, m: &mut View, queue: u16) {
        self.nic.stop_queue(m, queue);
    }

    fn found(&mut self, queue: u16, (received, unread): (Ledger, u64)) {
        if self.alone.get(usize::from(queue)) == Some(&true) {
            self.offered.cut(queue, &received, unread).unwrap();
        }
    }

    fn start(&mut self, m: &mut View, queue: u16) {
        self.nic.start_queue(m, queue);
    }
}

/// The transmit half: what it sent, and what the cores took back unsent.
struct Tx {
    nic: NicTx<View>,
    unsent: Vec<u64>,
}

impl Control for Tx {
    type Found = u64;

    fn stop(&mut self, m: &mut View, queue: u16) {
        self.nic.stop_queue(queue);
        self.nic.tell(m);
    }

    fn found(&mut self, queue: u16, unsent: u64) {
        self.unsent[usize::from(queue)] += unsent;
    }

    fn start(&mut self, m: &mut View, queue: u16) {
        self.nic.start_queue(m, queue);
    }
}

/// What the transmit half of a card leaves.
struct Wire {
    sent: Vec<Ledger>,
    unsent: Vec<u64>,
    cycles: u64,
}

/// Sends until the run is over; its queues stop while `on`. Queue `q` sends frames of `rings[q]`.
fn send(
    m: &mut View,
    (nic, buffers): (NicTx<View>, PoolId),
    (lines, rings): (&[Line<u64>], &[u16]),
    on: &Cell<bool>,
) -> Wire {
    let (mut cycles, mut frame) = (Cycles::new(lines), Vec::new());
    let mut tx = Tx { nic, unsent: vec![0; lines.len()] };
    let mut sent = vec![Ledger::default(); lines.len()];
    while !m.stopped() {
        cycles.turn(m, on.get(), &mut tx);
        let Some((queue, count)) = tx.nic.collect(m, &mut frame) else {
            let next = m.now() + Ps::from_ns(500);
            m.pause(next, false);
            continue;
        };
        let mut bytes = [0; MARK];
        let buf = m.check(buffers, frame[0].buf.0, frame[0].len.into()).unwrap();
        m.get(buffers, buf, frame[0].off.into(), &mut bytes, frame[0].len.into());
        tx.nic.sent(m, queue, count);
        let (queue, number) = (usize::from(queue), u64::from_le_bytes(*bytes.first_chunk().unwrap()));
        assert_eq!(bytes, oracle::mark(rings[queue], number), "a frame of another core");
        sent[queue].note(number).unwrap();
    }
    assert_eq!(cycles.state, State::Running);
    Wire { sent, unsent: tx.unsent, cycles: cycles.fewest() }
}

/// A core whose queues stop.
struct Stopping {
    core: Core,
    rx: (Line<(Ledger, u64)>, u64),
    tx: (Line<u64>, u64),
    chance: Chance,
}

impl Stopping {
    fn run(mut self, m: &mut View) -> Ledger {
        self.core.host.fill(m, &mut self.core.pool);
        while !m.stopped() {
            self.hear(m);
            let mut n = 0;
            if self.rx.1.is_multiple_of(2) {
                n += self.core.receive(m);
            }
            if self.tx.1.is_multiple_of(2) {
                n += self.core.send(m);
            }
            if n == 0 {
                m.idle();
                let next = m.now() + Ps::from_ns(self.chance.below(REST_NS).into());
                m.pause(next, false);
            }
        }
        self.core.empty(m)
    }

    /// Does what the cards ask for.
    fn hear(&mut self, m: &mut View) {
        let Core { host, tx, pool, ledger, .. } = &mut self.core;
        let (line, heard) = &mut self.rx;
        let asked = m.acquire(line.asked, 0);
        if asked != *heard {
            *heard = asked;
            if asked.is_multiple_of(2) {
                host.fill(m, pool);
            } else {
                let unread = host.waiting(m);
                host.drain(m, pool);
                *line.found.borrow_mut() = Some((ledger.clone(), unread));
            }
            m.ring(line.done, asked);
        }
        let (line, heard) = &mut self.tx;
        let asked = m.acquire(line.asked, 0);
        if asked != *heard {
            *heard = asked;
            if !asked.is_multiple_of(2) {
                *line.found.borrow_mut() = Some(tx.unread(m).into());
                tx.drain(m, pool);
            }
            m.ring(line.done, asked);
        }
    }
}

/// What a run shows.
struct Seen {
    delivered: u64,
    stopped: u64,
    unsent: u64,
    /// Of the receive queue and the transmit queue that have the fewest.
    cycles: [u64; 2],
}

fn run(interface: &Interface, seed: u64) -> Seen {
    let mut server = server();
    server.keep_frames().unwrap();
    let mut w = World::new(server);
    w.seed(seed);
    let buffers = w.buffers(BUFFERS);
    let (hosts, mut rx) = rings::receive(&mut w.space, interface, QUEUES, buffers).unwrap();
    let count = hosts.len() as u32; // with dedicated allocators, which stop too
    let (host_txs, nic_tx) =
        tx::build(&mut w.space, tx::Sizes { ring: 32, complete_every: 8 }, count).unwrap();
    let mut pools = pool::build(&mut w.space, BUFFERS, count + 1, 32).unwrap();
    let auditor = pools.pop().unwrap();
    let rx_lines: Vec<_> = (0..count).map(|_| Line::new(&mut w)).collect();
    let tx_lines: Vec<_> = (0..count).map(|_| Line::new(&mut w)).collect();
    let rings: Vec<u16> = (0..count as u16).map(|q| interface.ring_of(q)).collect();
    let alone = |q: &u16| rings[..QUEUES as usize].iter().filter(|r| *r == q).count() == 1;
    let alone: Vec<bool> = rings[..QUEUES as usize].iter().map(alone).collect();

    let (books, wires, received) = (Out::default(), Out::default(), Out::default());
    let (done, on) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(true)));
    let (over, offers, going, lines, port) =
        (done.clone(), books.clone(), on.clone(), rx_lines.clone(), interface.clone());
    w.nic(move |m| {
        m.pause(Ps::from_us(20), false); // the cores fill their rings
        let mut cycles = Cycles::new(&lines);
        let mut offered = arrive(m, (&port, &mut rx), seed, |m, nic, offered| {
            cycles.turn(m, true, &mut Rx { nic, offered, alone: &alone });
        });
        going.set(false);
        while cycles.state != State::Running {
            cycles.turn(m, false, &mut Rx { nic: &mut rx, offered: &mut offered, alone: &alone });
            rest(m, &mut rx, Ps::from_us(1));
        }
        hand_out(m, &mut rx);
        rest(m, &mut rx, REST);
        rx.stop(m);
        offers.push((offered, cycles.fewest()));
        over.set(true);
    });
    let (wire, lines, from) = (wires.clone(), tx_lines.clone(), rings.clone());
    w.agent(Agent::NicTx(0), move |m| wire.push(send(m, (nic_tx, buffers), (&lines, &from), &on)));
    let halves = hosts.into_iter().zip(host_txs).zip(pools).zip(rx_lines.into_iter().zip(tx_lines));
    for (i, (((host, tx), pool), (rx_line, tx_line))) in (0..).zip(halves) {
        let (out, ring) = (received.clone(), rings[i as usize]);
        let core = Core::new(ring, host, tx, pool, buffers);
        let core = Stopping {
            core,
            rx: (rx_line, 0),
            tx: (tx_line, 0),
            chance: Chance::new(seed << 8 | u64::from(i)),
        };
        w.core(i, move |m| out.push((i, ring, core.run(m))));
    }
    let mut engine = w.run_while_not(&done);

    let (offered, cycles) = books.all().pop().unwrap();
    let mut received = received.all();
    received.sort_unstable_by_key(|r| r.0);
    offered.judge(received.iter().map(|(_, ring, ledger)| (*ring, ledger))).unwrap();
    let wire = wires.all().pop().unwrap();
    for ((_, _, received), (sent, unsent)) in received.iter().zip(wire.sent.iter().zip(&wire.unsent)) {
        assert_eq!(received.count(), sent.count() + unsent, "received, and sent or taken back");
    }
    let mut m = engine.set_up(Agent::Core(0));
    assert_eq!(auditor.shared(&mut m), u64::from(BUFFERS), "buffers in use");
    let count = |outcome| offered.count(outcome);
    assert_eq!(Outcome::ALL.map(count).iter().sum::<u64>(), FRAMES);
    Seen {
        delivered: count(Outcome::Delivered),
        stopped: count(Outcome::QueueStopped),
        unsent: wire.unsent.iter().sum(),
        cycles: [cycles, wire.cycles],
    }
}

fn check(interface: &Interface, alone: bool) {
    for seed in 0..3 {
        let Seen { delivered, stopped, unsent, cycles } = run(interface, seed);
        println!(
            "{} {:?}, seed {seed}: {delivered} delivered, {stopped} to a stopped queue, {unsent} unsent, at least {cycles:?} cycles",
            interface.name(),
            interface.params()
        );
        assert!(delivered > FRAMES / 4 && unsent > 0);
        assert!(cycles.iter().all(|n| *n >= EACH), "cycles of receive and transmit queues: {cycles:?}");
        // Where others poll the same ring it does not stop.
        assert_eq!(stopped > 0, alone, "frames for a stopped queue");
    }
}

#[test]
fn queues_stop_and_start_in_the_model() {
    for interface in interfaces() {
        let shares = interface.ring_of(1) == 0;
        let all = shares && interface.ring_of(2) == 0;
        check(&interface, !all);
    }
}

/// A dedicated allocator stops and starts as well.
#[test]
fn a_dedicated_allocator_stops_and_starts() {
    check(&Interface::RxBisect(rxbisect::Sizes { alloc_queues: 1, ..BISECT }), true);
}

/// Each layout of `ccnic`, each way to tell of an entry and to give it back.
#[test]
fn lanes_of_every_layout_stop_and_start_in_the_model() {
    use rings::ccnic::{Back, Homing, Layout, Signal, Sizes};
    let ways =
        [(Signal::Inline, Back::Clear), (Signal::Inline, Back::Credit), (Signal::Register, Back::Credit)];
    for layout in [Layout::Group, Layout::Pad, Layout::Pack] {
        for (signal, back) in ways {
            check(&Interface::CcNic(Sizes { ring: 64, layout, signal, back, homing: Homing::Host }), true);
        }
    }
}
