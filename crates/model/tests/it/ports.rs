//! Ports that differ in their traffic and in their cores.

use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Setting, Start, run};
use proptest::prelude::*;
use rings::{Interface, corec, ddring, dynamic, privring, rxbisect, shring};
use traffic::{Line, Rate, Workload};

/// Ports with a part of `gbps` and cores each.
fn scenario(interface: Interface, ports: &[(u16, u32)], gbps: f64, seed: u64) -> Scenario {
    let mut server = Server::by_name("rxbisect-testbed").unwrap();
    server.nic.ports = 4;
    let workload = Workload::Generated("fixed:1500,flows=100000,arrivals=poisson".parse().unwrap());
    let loads: Vec<u16> = ports.iter().map(|p| p.0).collect();
    let source = |port| {
        let line = Line { port, loads: &loads, gbps: server.nic.port_gbps };
        workload.source_on(line, Rate::Gbps(gbps), seed)
    };
    let sources = (0..ports.len() as u32).map(source).collect();
    Scenario {
        window: server.window(),
        setting: Setting {
            start: Start::Full,
            seed,
            limit: Ps::from_us(20_000),
            ..Setting::new(server, interface, App::L3fwd)
        },
        sources,
        port_cores: ports.iter().map(|p| p.1).collect(),
        peers: Vec::new(),
    }
}

/// Every interface; where cores share a ring, up to `shared_by` of them.
fn interfaces(ring: u32, shared_by: u32) -> [Interface; 7] {
    let refill = ddring::Refill::Bulk;
    [
        Interface::PrivRing(privring::Sizes { ring }),
        Interface::ShRing(shring::Sizes { ring, shared_by, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { ax: ring, ..Default::default() }),
        Interface::Dynamic(dynamic::Sizes { ring, shared_by, ..Default::default() }),
        Interface::Corec(corec::Sizes { ring, shared_by, ..Default::default() }),
        Interface::DdRing(ddring::Sizes { ring, shared_by, refill }),
        Interface::DdRing(ddring::Sizes { ring, shared_by: 1, refill }),
    ]
}

/// Nothing is lost to the books, of the whole and of each port.
fn conserved(r: &Report, s: &Scenario) {
    let (c, what) = (r.conservation, format!("{} on {:?}", s.interface.name(), s.port_cores));
    assert_eq!(c.offered, c.delivered + c.dropped + c.in_nic, "{what}");
    assert_eq!(c.buffers, c.buffers_free, "{what}");
    assert_eq!(r.per_core.len() as u32, s.cores(), "{what}");
    assert_eq!(r.per_port.iter().map(|p| p.cores).collect::<Vec<_>>(), s.port_cores, "{what}");
    assert_eq!(r.per_port.iter().map(|p| p.drops).sum::<u64>(), r.drops.values().sum::<u64>(), "{what}");
    let sum = |of: fn(&model::PortReport) -> f64| r.per_port.iter().map(of).sum::<f64>();
    assert!((sum(|p| p.offered_gbps) - r.offered_gbps).abs() < 1e-6, "{what}");
    assert!((sum(|p| p.throughput_gbps) - r.throughput_gbps).abs() < 1e-6, "{what}");
    for port in &r.per_port {
        let first = r.per_core.iter().filter(|c| c.first && c.core == port.first_core).count();
        assert_eq!(first, 1, "{what}: port {}", port.port);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn random_loads_on_random_cores_are_conserved(
        ports in prop::collection::vec((1..=9u16, 1..=4u32), 1..=4),
        gbps in 10.0..150.0f64,
        which in 0..7usize,
        shared_by in 1..=4u32,
        emulated: bool,
        seed in 0..1000u64,
    ) {
        let most = ports.iter().map(|p| p.1).max().unwrap();
        let interface = interfaces(128, shared_by.min(most))[which].clone();
        let emulated = emulated && matches!(which, 0..=2);
        let mut s = scenario(interface, &ports, gbps, seed);
        s.setting.emulated = emulated;
        let r = run(&mut s).unwrap();
        conserved(&r, &s);
        let all: f64 = ports.iter().map(|p| f64::from(p.0)).sum();
        for (port, (load, _)) in r.per_port.iter().zip(&ports) {
            let wire = (gbps * f64::from(*load) / all).min(100.0);
            let asked = wire * 1500.0 / 1524.0;
            // Poisson arrivals, and an emulator decides later than the card takes: a look of a few ms.
            prop_assert!((port.offered_gbps / asked - 1.0).abs() < 0.15, "port {}: {} of {asked}", port.port, port.offered_gbps);
        }
    }
}

#[test]
fn a_ring_is_shared_by_the_cores_that_a_port_has() {
    for interface in interfaces(256, 3) {
        let mut s = scenario(interface, &[(3, 3), (1, 1)], 40.0, 1);
        let r = run(&mut s).unwrap();
        conserved(&r, &s);
        assert!(r.drop_pct < 0.1, "{}: {}%", s.interface.name(), r.drop_pct);
    }
    let [_, shared, ..] = interfaces(256, 4);
    let refused = run(&mut scenario(shared, &[(3, 3), (1, 1)], 40.0, 1)).unwrap_err().to_string();
    assert!(refused.contains("shared_by is 4; allowed: 1 to 3"), "{refused}");
}

#[test]
fn a_port_without_cores_or_without_traffic_is_refused() {
    let [private, ..] = interfaces(256, 1);
    let refused = |s: &mut Scenario| run(s).unwrap_err().to_string();
    let none = refused(&mut scenario(private.clone(), &[(3, 3), (1, 0)], 40.0, 1));
    assert!(none.contains("at least one for each port"), "{none}");
    let mut s = scenario(private, &[(3, 3), (1, 1)], 40.0, 1);
    s.sources.pop();
    assert!(refused(&mut s).contains("1 ports with traffic; allowed: 2"));
}
