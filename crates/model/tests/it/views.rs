//! Views outside fibres: a card and cores take turns on one thread, each over the world that all of them share. Small
//! enough for Miri, which watches how their borrows of the world overlap. Fibres do not run there.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use crate::world::{World, server};
use memory::{Geometry, Memory, Ps, Space};
use model::profile::Server;
use model::{Agent, Engine, View};
use rings::mock::{MockHost, MockNic};
use rings::{Interface, Outcome, corec, ddring, dynamic, pool, privring, rxbisect, shring, tx};

const QUEUES: u16 = 2;
const BUFFERS: u32 = 64;
const TURNS: u64 = if cfg!(miri) { 4 } else { 200 };
/// From one turn to the next: what one side stores shows to the other by then.
const TURN: Ps = Ps::from_us(10);

/// A side goes on at `at`. Outside a fibre a view does not pause; it works.
fn go_on(m: &mut View, at: Ps) {
    let cycles = at.saturating_sub(m.now()).0 / 500;
    m.work(cycles as u32);
}

/// A card and its cores.
struct Port {
    engine: Engine,
    nic: MockNic<View>,
    cores: Vec<MockHost<View>>,
}

fn build(server: Server, interface: &Interface) -> Port {
    let mut w = World::new(server);
    let geometry = Geometry::plain(BUFFERS, 256);
    let b = w.space.buffers(&geometry).unwrap();
    let queues = u32::from(QUEUES);
    let sizes = tx::Sizes { ring: 4, complete_every: 2 };
    let port = rings::build(&mut w.space, interface, queues, (sizes, queues), b).unwrap();
    let pools = pool::build(&mut w.space, BUFFERS, QUEUES.into(), 4).unwrap();
    let mut engine = w.start(Ps::ZERO);
    let nic =
        MockNic::new(engine.set_up(Agent::NicRx(0)), (port.nic, port.tx_nic), b, (interface, QUEUES.into()));
    let core = |(i, ((rx, tx), pool))| {
        let view = engine.set_up(Agent::Core(u32::from(i)));
        MockHost::new(view, interface.ring_of(i), rx, tx, pool, b)
    };
    let cores = (0..).zip(port.hosts.into_iter().zip(port.tx_hosts).zip(pools)).map(core).collect();
    Port { engine, nic, cores }
}

impl Port {
    /// Every side does something at the same time.
    fn turn(&mut self, turn: u64) {
        let at = Ps(TURN.0 * (turn + 1));
        go_on(&mut self.nic.m, at);
        self.nic.arrive((turn % u64::from(QUEUES)) as u16, 3, 100).unwrap();
        self.nic.send(4).unwrap();
        self.nic.poll();
        for core in &mut self.cores {
            go_on(&mut core.m, at);
            if core.poll(4).unwrap() + core.send(2) == 0 {
                core.m.idle();
            }
        }
    }

    /// What is in the rings is received, and every frame and buffer is there once.
    fn settle(mut self) {
        self.nic.stop();
        for core in &mut self.cores {
            go_on(&mut core.m, Ps(TURN.0 * (TURNS + 1)));
            while core.poll(4).unwrap() + core.free(4) > 0 {}
        }
        self.nic.offered().judge(self.cores.iter().map(MockHost::received)).unwrap();
        assert!(self.nic.offered().count(Outcome::Delivered) >= 2 * TURNS);
        self.cores.iter_mut().for_each(MockHost::drain);
        assert_eq!(self.cores[0].count(), Ok(u64::from(BUFFERS)), "buffers in use");
        let counts = self.engine.sim().counts();
        assert!(counts.l2_hits > 0 && counts.dma_write_hits + counts.dma_write_misses > 0, "{counts:?}");
    }
}

fn run(server: Server, interface: &Interface) {
    let mut port = build(server, interface);
    port.cores.iter_mut().for_each(|core| assert_eq!(core.fill(), 0));
    (0..TURNS).for_each(|turn| port.turn(turn));
    port.settle();
}

#[test]
fn views_take_turns_over_one_world() {
    let mut server = server();
    // Small caches: Miri makes every set of them.
    server.caches.sets_per_slice = 64;
    server.caches.l2_kib = 64;
    let timeout = Ps::from_us(1);
    let shring = shring::Sizes { ring: 8, shared_by: 2, completions: 8, ..Default::default() };
    let dynamic = dynamic::Sizes {
        ring: 8,
        shared_by: 2,
        completions: 8,
        report: 2,
        round: timeout,
        ..Default::default()
    };
    let bisect = rxbisect::Sizes { ax: 8, bx: 8, group: 0, batch: 2, timeout, alloc_queues: 0 };
    for interface in [
        Interface::PrivRing(privring::Sizes { ring: 8 }),
        Interface::ShRing(shring),
        Interface::RxBisect(bisect),
        Interface::Dynamic(dynamic),
        Interface::DdRing(ddring::Sizes { ring: 8, shared_by: 2, refill: ddring::Refill::Bulk }),
        Interface::Corec(corec::Sizes { ring: 8, shared_by: 2, ..Default::default() }),
    ] {
        run(server.clone(), &interface);
        println!("{}", interface.name());
    }
}
