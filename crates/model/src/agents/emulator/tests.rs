//! The emulated NIC between a card and cores that are too slow for it.

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Ps, Space};
use rings::{pool, privring, rxbisect, shring};

use super::*;
use crate::agents::meter::Meter;
use crate::engine::Engine;
use crate::engine::agent::Agent;
use crate::engine::sim::Sim;
use crate::engine::space::ModelSpace;
use crate::machine::layout::PoolId;
use crate::profile::{NicKind, Server, WINDOW};
use crate::scenario::app::App;
use crate::scenario::{BURST, Setting};

const QUEUES: u32 = 2;
const BUFFERS: u32 = 1024;
const FRAMES: u64 = 2000;
const FLOWS: u64 = 8;
const END: Ps = Ps::from_us(1_000);

/// What a core received: queue, flow, number.
type Seen = Rc<RefCell<Vec<(u16, u64, u64)>>>;

fn scenario(interface: Interface) -> Scenario {
    Scenario {
        window: WINDOW,
        setting: Setting {
            emulated: true,
            sampling: 1,
            limit: END,
            ..Setting::new(Server::by_name("rxbisect-testbed").unwrap(), interface, App::L3fwd)
        },
        port_cores: vec![QUEUES],
        sources: Vec::new(),
        peers: Vec::new(),
    }
}

fn hash(flow: u64) -> u32 {
    (flow as u32).wrapping_mul(0x9e37_79b9) >> 7
}

/// The card: frames faster than the cores follow; what becomes of them there.
fn arrive(m: &mut View, mut card: CardRings, steer: &packet::Steer, book: &Book) {
    m.pause(Ps::from_us(50), false); // rings are filled
    for n in 0..FRAMES {
        let next = m.now() + Ps::from_ns(150);
        m.pause(next, false);
        let flow = n * 7 % FLOWS;
        let mut head = [0; 16];
        head[..8].copy_from_slice(&flow.to_le_bytes());
        head[8..].copy_from_slice(&n.to_le_bytes());
        let (queue, mut out) = (steer.queue(hash(flow)), [Outcome::BadFrame]);
        let frame = Frame::new(&head, 1500, hash(flow), 0).marked(flow as u32 + 1);
        card.deliver(m, queue, &[frame], &mut out);
        let mut meter = book.meter.borrow_mut();
        match out[0] {
            Outcome::Delivered => meter.passing += 1,
            fate => meter.fates.count(usize::from(queue), fate),
        }
    }
    m.pause(END + END, false);
}

fn work<H: Host<View>>(m: &mut View, b: PoolId, queue: u16, mut host: H, mut pool: CoreCache<View>) -> Seen {
    let seen = Seen::default();
    host.fill(m, &mut pool);
    while !m.stopped() {
        let mut got = [Completion::none(); BURST as usize];
        let n = host.rx_burst(m, &mut pool, &mut got);
        for frame in &got[..n] {
            let mut head = [0; 16];
            m.get(b, frame.buf, 0, &mut head, 16);
            let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
            assert_eq!(u64::from(frame.mark), word(0) + 1, "its mark passes the emulator as well");
            seen.borrow_mut().push((queue, word(0), word(8)));
            m.work(1600);
            pool.give(m, &[frame.buf]);
        }
        if n == 0 {
            m.idle();
        }
    }
    host.drain(m, &mut pool);
    pool.flush(m);
    seen
}

fn check(interface: Interface) {
    let s = scenario(interface);
    let name = s.interface.name();
    let mut space = ModelSpace::new();
    let b = space.buffers(&s.server.buffers.geometry(BUFFERS)).unwrap();
    let (hosts, nic) = rings::receive(&mut space.served_by(NicKind::Core), &s.interface, QUEUES, b).unwrap();
    let physical = Physical::build(&mut space, &s.interface, QUEUES, b).unwrap();
    let mut pools = pool::build(&mut space, BUFFERS, QUEUES + 2, 32).unwrap();
    let plug = Plug { port: 0, queues: QUEUES as u16, first: 0, buffers: b };
    let (emulator, card) = Emulator::new(&s, plug, physical, nic);
    let sim = Sim::new(&s.server, space.finish(), 1, 1).emulated(&s.server, 1);
    let mut engine = Engine::new(sim, Ps::ZERO);
    let meter = Rc::new(RefCell::new(Meter::new(16, None).unwrap()));
    let book = Book { meter, orders: Rc::default(), counters: Rc::default() };
    let (steer, card_book, own_book) = (s.steer.over(QUEUES as u16), book.clone(), book.clone());
    let steered = steer.clone();
    engine.spawn(Agent::NicRx(0), move |m| arrive(m, card, &steered, &card_book)).unwrap();
    let (auditor, own) = (pools.pop().unwrap(), pools.pop().unwrap());
    engine.spawn(Agent::NicCore(16), move |m| emulator.serve(m, own, &own_book)).unwrap();
    let all: Rc<RefCell<Vec<Seen>>> = Rc::default();
    for (queue, (host, pool)) in (0..).zip(hosts.into_iter().zip(pools)) {
        let all = all.clone();
        let body = move |m: &mut View| {
            let seen = work(m, b, queue, host, pool);
            all.borrow_mut().push(seen);
        };
        engine.spawn(Agent::Core(queue.into()), body).unwrap();
    }
    engine.run_until(END).unwrap();
    engine.stop().unwrap();

    let mut next = [0; FLOWS as usize];
    let mut received = 0;
    for seen in all.borrow().iter() {
        for &(queue, flow, n) in seen.borrow().iter() {
            assert_eq!(queue, steer.queue(hash(flow)), "{name}: flow {flow}");
            assert!(n >= next[flow as usize], "{name}: frame {n} of flow {flow} is late or came again");
            next[flow as usize] = n + 1;
            received += 1;
        }
    }
    let meter = book.meter.borrow();
    let delivered = meter.fates.delivered();
    assert_eq!((received, meter.fates.decided(), meter.passing), (delivered, FRAMES, 0), "{name}");
    assert!(delivered < FRAMES && delivered > FRAMES / 2, "{name}: {delivered}, the cores are behind");
    let mut m = engine.set_up(Agent::Core(0));
    assert_eq!(auditor.shared(&mut m), u64::from(BUFFERS), "{name}: buffers in use");
}

#[test]
fn each_flow_arrives_at_its_queue_in_order() {
    check(Interface::PrivRing(privring::Sizes { ring: 64 }));
    check(Interface::ShRing(shring::Sizes { ring: 64, shared_by: 2, completions: 64, ..Default::default() }));
    check(Interface::RxBisect(rxbisect::Sizes { ax: 32, bx: 64, ..Default::default() }));
}
