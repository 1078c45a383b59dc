//! The order in which frames leave a server whose cores receive from one ring.

use std::collections::BTreeMap;

use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Setting, run};
use rings::{Interface, corec, ddring};
use traffic::{Line, Rate, Spec, Workload};

/// Four cores run `app` on frames of 60 B of `flows` flows, at so many million a second.
fn four_cores(interface: Interface, app: App, flows: u32, mpps: f64) -> Report {
    let server = Server::by_name("rxbisect-testbed").unwrap();
    let spec: Spec = format!("fixed:60,flows={flows},arrivals=poisson").parse().unwrap();
    let line = Line { port: 0, loads: &[1], gbps: server.nic.port_gbps };
    let source = Workload::Generated(spec).source_on(line, Rate::Gbps(mpps * 84.0 * 8e-3), 1);
    run(&mut Scenario {
        window: server.window(),
        setting: Setting { limit: Ps::from_us(20_000), ..Setting::new(server, interface, app) },
        port_cores: vec![4],
        sources: vec![source],
        peers: Vec::new(),
    })
    .unwrap()
}

fn corec(shared_by: u32) -> Interface {
    Interface::Corec(corec::Sizes { ring: 1024, shared_by, ..Default::default() })
}

fn reordering(r: &Report) -> BTreeMap<&'static str, f64> {
    let found = r.reordering.clone().unwrap();
    assert!(found["unfollowed"] < 1e-3 * r.packets as f64 && found["beyond_window"] == 0.0, "{found:?}");
    found
}

#[test]
fn frames_overtake_where_cores_share_a_ring_and_are_busy() {
    let one_flow = reordering(&four_cores(corec(4), App::L3fwd, 1, 10.0));
    assert!(one_flow["reordered_pct"] > 0.1 && one_flow["extent_max"] >= 1.0, "{one_flow:?}");
    assert_eq!(one_flow["reordered_pct"], one_flow["flow_reordered_pct"], "one flow is all there is");
    let many = reordering(&four_cores(corec(4), App::L3fwd, 10_000, 10.0));
    assert!(many["flow_reordered_pct"] < many["reordered_pct"] / 10.0, "{many:?}");
    let seldom = reordering(&four_cores(corec(4), App::L3fwd, 1, 0.1));
    assert!(seldom["reordered_pct"] < one_flow["reordered_pct"] / 4.0, "{seldom:?}, {one_flow:?}");
}

#[test]
fn it_is_told_only_where_cores_share_a_ring() {
    let own = Interface::DdRing(ddring::Sizes { ring: 1024, shared_by: 1, refill: ddring::Refill::Bulk });
    assert_eq!(four_cores(own, App::L3fwd, 100, 1.0).reordering, None);
    assert_eq!(four_cores(corec(1), App::L3fwd, 100, 1.0).reordering, None);
    assert!(four_cores(corec(2), App::L3fwd, 100, 1.0).reordering.is_some());
}

#[test]
fn the_gateway_sends_two_thirds_and_its_frames_grow() {
    let r = four_cores(corec(4), App::Ipsec, 10_000, 1.0);
    let dropped = r.drops[&apps::Fate::App(None)] as f64
        / (r.conservation.offered as f64 * r.measured_s / (r.measured_s + r.warmup_s));
    assert!((0.3..0.37).contains(&dropped), "{dropped}");
    // A third as it came, a third of 46 B of packet in 100 B and a link header.
    let grown = r.throughput_gbps / r.offered_gbps;
    assert!((grown - (1.0 + 114.0 / 60.0) / 3.0).abs() < 0.03, "{grown}");
    assert_eq!(r.conservation.buffers, r.conservation.buffers_free);
}
