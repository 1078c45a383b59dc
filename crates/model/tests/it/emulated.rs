//! The emulated NIC: what accesses across the nodes cost, to the picosecond, and whole runs of it.

use crate::world::price::{DRAM, L2, LLC, LOADS, NS, OP, REMOTE, SNOOP, cost, until};
use crate::world::{World, server, soft_server};
use memory::{Buf, Class, Memory, Ps, Side, Touch};
use model::profile::{NicKind, Server};
use model::{App, Report, Scenario, Setting, Start, WINDOW, run};
use rings::{Interface, privring, rxbisect, shring};
use traffic::{Line, Rate, Workload};

/// A line of a core's own node that is on the other one: the directory lies in DRAM, then it is asked for there.
const AWAY: u64 = DRAM + REMOTE + LLC;

/// A world whose fields have a core on the other node for their NIC.
fn emulated() -> World {
    let mut w = World::new(server());
    w.space = w.space.served_by(NicKind::Core);
    w
}

#[test]
fn cost_33_a_line_from_the_other_node() {
    let mut w = emulated();
    let f = w.words::<1>(Class::Body, Side::Host, 16);
    let g = w.words::<1>(Class::Signal, Side::Nic, 1);
    let t = w.table(1);
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| m.write(f, 0, [1])), OP);
        until(m, 2_000 * NS);
        m.idle();
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(g, 0), 7)), OP + AWAY);
        assert_eq!(cost(m, |m| m.write(f, 0, [2])), OP);
        assert_eq!(cost(m, |m| m.touch(t, 0, Touch::Read)), DRAM, "its own memory is here");
    });
    w.far_core(move |m| {
        until(m, 1_000 * NS);
        m.idle();
        assert_eq!(cost(m, |m| assert_eq!(m.read(f, 0), [1])), OP + SNOOP + REMOTE);
        assert_eq!(cost(m, |m| _ = m.read(f, 1)), OP, "the same line");
        let more = cost(m, |m| _ = m.read(f, 8));
        assert_eq!(more, OP + (DRAM + REMOTE) / LOADS, "the next one comes meanwhile, all memory is there");
        assert_eq!(cost(m, |m| m.release(g, 0, 7)), OP);
    });
    w.run();
}

#[test]
fn cost_34_a_store_crosses_before_it_shows() {
    let shows = 500 * NS + OP + SNOOP + REMOTE;
    for (early, seen) in [(1, 0), (0, 1)] {
        let mut w = emulated();
        let f = w.words::<1>(Class::Signal, Side::Nic, 1);
        w.core(0, move |m| {
            assert_eq!(m.acquire(f, 0), 0);
            until(m, shows - early - OP);
            m.idle();
            let took = cost(m, |m| assert_eq!(m.acquire(f, 0), seen, "{early} ps early"));
            assert_eq!(took, OP + seen * AWAY);
        });
        w.far_core(move |m| {
            until(m, 500 * NS);
            m.release(f, 0, 1);
        });
        w.run();
    }
}

#[test]
fn cost_35_an_emulated_doorbell_is_a_posted_write_and_a_word() {
    let mut w = emulated();
    let bell = w.bell();
    w.far_core(move |m| assert_eq!(m.acquire(bell, 0), 0));
    w.core(0, move |m| {
        until(m, 1_000 * NS);
        assert_eq!(cost(m, |m| m.ring(bell, 3)), OP + OP);
    });
    w.run();
}

#[test]
fn cost_36_what_a_far_l2_gives_up_stays_on_its_node() {
    // Lines 1024 apart share a set of 16; buffers are 37 lines apart.
    const APART: u64 = 1024;
    let mut w = emulated();
    let b = w.buffers(17 * APART as u32);
    w.far_core(move |m| {
        let mut read = |k: u64| cost(m, |m| m.meta(b, Buf(k * APART), 0, Touch::Read));
        (0..17).for_each(|k| assert_eq!(read(k), DRAM + REMOTE));
        assert_eq!(read(16), L2);
        assert_eq!(read(0), LLC, "its own node's");
    });
    w.core(0, move |m| {
        until(m, 200_000 * NS); // the marks' load is forgotten
        let mut read = |k: u64| cost(m, |m| m.meta(b, Buf(k * APART), 0, Touch::Read));
        assert_eq!(read(1), AWAY, "from the far LLC");
        assert_eq!(read(16), AWAY, "from the far L2");
        assert_eq!(read(1), L2);
    });
    let counts = w.run().sim().counts();
    assert_eq!(
        (counts.dram_writes, counts.llc_hits),
        (17, 0),
        "a mark each; nothing came through the near LLC"
    );
    assert_eq!(counts.dram_reads, 17 + 2, "and two looks for those that came back");
}

fn interfaces(ring: u32) -> [Interface; 3] {
    [
        Interface::PrivRing(privring::Sizes { ring }),
        Interface::ShRing(shring::Sizes { ring, shared_by: 2, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { ax: ring, ..Default::default() }),
    ]
}

/// Two cores of a port with emulated or real NIC under frames of 1500 B.
fn scenario(interface: Interface, emulated: bool, gbps: f64) -> Scenario {
    let workload = Workload::Generated("fixed:1500,flows=4096".parse().unwrap());
    let line = Line { port: 0, loads: &[1], gbps: 100.0 };
    Scenario {
        window: WINDOW,
        setting: Setting {
            emulated,
            start: Start::Full,
            sampling: 1,
            limit: Ps::from_us(30_000),
            ..Setting::new(Server::by_name("rxbisect-testbed").unwrap(), interface, App::L3fwd)
        },
        port_cores: vec![2],
        sources: vec![workload.source_on(line, Rate::Gbps(gbps), 1)],
        peers: Vec::new(),
    }
}

fn report(interface: &Interface, emulated: bool, gbps: f64) -> Report {
    run(&mut scenario(interface.clone(), emulated, gbps)).unwrap()
}

#[test]
fn nothing_is_lost_and_every_buffer_comes_back() {
    for interface in interfaces(64) {
        for gbps in [20.0, 100.0] {
            let name = interface.name();
            let c = report(&interface, true, gbps).conservation;
            assert_eq!(c.offered, c.delivered + c.dropped + c.in_nic, "{name}");
            assert_eq!(c.buffers, c.buffers_free, "{name}");
            assert!(c.delivered > 10_000 && c.dropped > 0, "{name}: the stall drops some: {c:?}");
        }
    }
}

#[test]
fn twice_as_many_buffers_circulate() {
    for interface in interfaces(256) {
        let (native, emulated) = (report(&interface, false, 20.0), report(&interface, true, 20.0));
        let (name, posted) = (interface.name(), interface.posted_buffers(2));
        let more = emulated.conservation.buffers - native.conservation.buffers;
        assert_eq!(more, posted, "{name}: a physical ring as large as the virtual ones");
        // What is not posted is on its way through cores and transmit rings, in both alike but for the
        // frames that the emulator has just taken.
        let more = emulated.circulating_buffers - native.circulating_buffers;
        let off = more - posted as f64;
        assert!(off.abs() <= 64.0, "{name}: {more} more go round than the {posted} of a real NIC");
        assert!(emulated.nic_busy_pct.unwrap() > 0.0 && native.nic_busy_pct.is_none());
        assert!(emulated.latency_us.mean > native.latency_us.mean, "{name}: a detour takes time");
    }
}

#[test]
fn a_slow_emulator_drops_as_the_nic_that_it_is() {
    for interface in interfaces(256) {
        let mut s = scenario(interface, true, 50.0);
        s.server.constants.nic.emulator_cycles.value = 2_100.0; // a frame in a microsecond, of the four that come
        let r = run(&mut s).unwrap();
        let name = s.interface.name();
        assert!((0.8..1.0).contains(&r.mpps), "{name}: {} Mpps", r.mpps);
        assert!(r.nic_busy_pct.unwrap() > 99.0, "{name}");
        assert_eq!(
            r.drops.keys().collect::<Vec<_>>(),
            [&apps::Fate::Card(rings::Outcome::NicBufferFull)],
            "{name}: {:?}",
            r.drops
        );
    }
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    for interface in interfaces(128) {
        let text = || format!("{:?}", report(&interface, true, 100.0));
        assert_eq!(text(), text());
    }
}

#[test]
fn where_no_nic_can_be_emulated_it_says_so() {
    let refused = |s: &mut Scenario| run(s).unwrap_err().to_string();
    let [private, ..] = interfaces(64);
    let mut s = scenario(private, true, 20.0);
    s.server = soft_server();
    assert_eq!(
        refused(&mut s),
        "an emulated NIC passes on what a card receives; the NIC of rxbisect-testbed is a core"
    );
    let [.., bisect] = interfaces(8192);
    let mut s = scenario(bisect, true, 20.0);
    assert_eq!(
        refused(&mut s),
        "the physical ring of an emulated port has 16384 entries; allowed on ConnectX-5: 64 to 8192"
    );
}
