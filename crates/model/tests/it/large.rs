//! Runs of as many agents as there may be: 128 cores, 16 ports, a core that plays the NIC of each, and antagonists.

use apps::{Antagonist, AntagonistKind};
use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Setting, run};
use rings::{Interface, corec, ddring, privring, rxbisect, shring};
use traffic::{Rate, Workload};

const PORTS: u32 = 16;
const CORES: u32 = 128;

/// A run of `gbps` over all ports.
fn report(interface: Interface, gbps: f64, change: impl Fn(&mut Scenario)) -> Report {
    let mut server = Server::by_name("rxbisect-testbed").unwrap();
    (server.cores, server.nic.ports) = (CORES, PORTS);
    server.constants.dram.peak_gbytes.value = 1200.0;
    server.caches.slices = CORES;
    let workload = Workload::Generated("fixed:1500,flows=1000000".parse().unwrap());
    let mut scenario = Scenario {
        window: server.window(),
        setting: Setting { limit: Ps::from_us(6_000), ..Setting::new(server, interface, App::L3fwd) },
        sources: (0..PORTS).map(|p| workload.source(p, PORTS, Rate::Gbps(gbps), 1)).collect(),
        port_cores: vec![CORES / PORTS; PORTS as usize],
        peers: Vec::new(),
    };
    change(&mut scenario);
    run(&mut scenario).unwrap()
}

fn conserved(r: &Report) {
    let c = &r.conservation;
    assert_eq!(c.offered, c.delivered + c.dropped + c.in_nic);
    assert_eq!(c.buffers, c.buffers_free, "buffers in use");
}

#[test]
fn every_interface_forwards_on_128_cores() {
    for interface in [
        Interface::PrivRing(privring::Sizes { ring: 256 }),
        Interface::ShRing(shring::Sizes { shared_by: CORES / PORTS, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { bx: 256, ..Default::default() }),
        Interface::Corec(corec::Sizes::default()),
        Interface::DdRing(ddring::Sizes { ring: 256, ..Default::default() }),
    ] {
        let r = report(interface.clone(), 400.0, |_| ());
        conserved(&r);
        assert_eq!(r.per_core.len(), CORES as usize, "{interface:?}");
        let sent = r.throughput_gbps / r.offered_gbps;
        assert!((0.99..1.01).contains(&sent), "{interface:?}: {sent:.3} of what is offered");
        assert!(r.per_core.iter().all(|core| core.busy_pct > 0.0), "{interface:?}: {:?}", r.per_core);
    }
}

#[test]
fn a_core_shares_one_ring_with_127_others() {
    let all = Interface::ShRing(shring::Sizes { ring: 4096, shared_by: CORES, ..Default::default() });
    let r = report(all, 40.0, |s| {
        s.port_cores = vec![CORES];
        s.sources.truncate(1);
    });
    conserved(&r);
    assert!(r.conservation.delivered > 10_000);
}

#[test]
fn nics_of_all_ports_are_emulated_beside_antagonists() {
    let emulated = |s: &mut Scenario| {
        s.emulated = true;
        s.antagonist = Some(Antagonist { kind: AntagonistKind::Stream, threads: 16 });
    };
    let interface = Interface::RxBisect(rxbisect::Sizes { bx: 256, ..Default::default() });
    let r = report(interface.clone(), 100.0, emulated);
    conserved(&r);
    assert!(r.conservation.delivered > 10_000);
    assert_eq!(format!("{r:?}"), format!("{:?}", report(interface, 100.0, emulated)), "a run repeats");
}
