//! Applications that answer: a store whose values are sent from where they lie, one behind eRPC, an echo, the end of tunnels.
//! Runs over cards and over a core that plays one.

use crate::world::soft_server;
use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Setting, run};
use packet::SteerBy;
use packet::kv::Objects;
use rings::{Interface, ccnic, privring};
use traffic::{Line, Rate, Workload};

const KEYS: u64 = 20_000;

/// Requests at `gbps` for `server`, whose buffers hold the longest of them.
fn serve(mut server: Server, interface: Interface, objects: Objects, put: u32, gbps: f64) -> Report {
    server.buffers = server.buffers.holding(objects.longest_frame().into());
    let spec = format!("kv:put={put},objects={},keys={KEYS},partitions=2", objects.name());
    answer(server, interface, App::Kv { keys: KEYS, objects }, &spec, gbps)
}

/// Two cores that run `app` under `spec`.
fn answer(server: Server, interface: Interface, app: App, spec: &str, gbps: f64) -> Report {
    let spec: traffic::Spec = spec.parse().unwrap();
    let steer = if spec.partitions > 0 { SteerBy::Port } else { SteerBy::Rss };
    let workload = Workload::Generated(spec);
    let window = server.window();
    run(&mut Scenario {
        window,
        setting: Setting {
            steer,
            sampling: 1,
            limit: Ps::from_us(40_000),
            ..Setting::new(server, interface, app)
        },
        port_cores: vec![2],
        sources: vec![workload.source_on(Line { port: 0, loads: &[1], gbps: 100.0 }, Rate::Gbps(gbps), 1)],
        peers: Vec::new(),
    })
    .unwrap()
}

/// Mean bytes of an answer to a get, keys alike.
fn mean_answer(objects: Objects) -> f64 {
    let parts = 100_000u32;
    let at = |k| u32::from(objects.value_at(k * (1_000_000 / parts) + 5)) + 58;
    f64::from((0..parts).map(|k| at(k).max(60)).sum::<u32>()) / f64::from(parts)
}

#[test]
fn values_follow_their_headers_over_every_way_to_send() {
    let privring = Interface::PrivRing(privring::Sizes::default());
    let soft = [privring.clone(), Interface::CcNic(ccnic::Sizes::default())];
    let card = Server::by_name("icx").unwrap();
    let setups = soft.map(|interface| (soft_server(), interface)).into_iter().chain([(card, privring)]);
    for (server, interface) in setups {
        for objects in [Objects::Ads, Objects::Geo] {
            let (name, kind) = (interface.name(), server.nic.kind);
            let r = serve(server.clone(), interface.clone(), objects, 0, 1.0);
            assert_eq!(r.drop_pct, 0.0, "{name} {kind:?} {objects:?}: {:?}", r.drops);
            assert_eq!((r.counters["tx_faults"], r.counters["values_kept"]), (0, 0), "{name} {kind:?}");
            assert_eq!(r.conservation.buffers, r.conservation.buffers_free, "{name} {kind:?}");
            // Gets of 74 B on the wire come at 1 Gbps, and their answers are as long as the keys say.
            let rate = 1e3 / (8.0 * f64::from(traffic::wire_bytes(74)));
            assert!((r.mpps / rate - 1.0).abs() < 0.02, "{name} {kind:?}: {} Mpps", r.mpps);
            let bytes = r.throughput_gbps * 1e3 / 8.0 / r.mpps;
            let expected = mean_answer(objects);
            assert!((bytes / expected - 1.0).abs() < 0.05, "{name} {kind:?}: {bytes} B for {expected}");
        }
    }
}

#[test]
fn a_value_costs_its_core_nothing_but_a_longer_put() {
    let cycles = |objects, put| {
        let interface = Interface::PrivRing(privring::Sizes::default());
        serve(Server::by_name("icx").unwrap(), interface, objects, put, 1.0).cycles_per_packet
    };
    // Geo's values are twice as long.
    let (ads, geo) = (cycles(Objects::Ads, 0), cycles(Objects::Geo, 0));
    assert!((geo / ads - 1.0).abs() < 0.03, "gets: {ads} and {geo} cycles");
    let (ads, geo) = (cycles(Objects::Ads, 100), cycles(Objects::Geo, 100));
    assert!(geo > ads * 1.05, "puts: {ads} and {geo} cycles");
}

/// Whatever receives: all is answered, in frames of the right length.
#[test]
fn echo_tunnels_and_erpc_answer_all_over_every_interface() {
    let erpc = App::ErpcKv { keys: 1000, objects: Objects::Small(64) };
    let cases = [
        (App::UdpEcho, "fixed:512,flows=64", 512.0),
        (App::Vxlan, "fixed:100,flows=64,tunnel=vxlan", 100.0),
        // Answers to gets have a value, those to puts have none.
        (erpc, "erpc:put=50,keys=1000,partitions=2", (130.0 + 66.0) / 2.0),
    ];
    for interface in Interface::usual().iter().map(|interface| interface.over(2)) {
        let about = interface.about();
        for (app, spec, bytes) in cases {
            if about.many_pollers && app == erpc {
                continue; // each core has a partition of its own
            }
            let server =
                if about.coherent { soft_server() } else { Server::by_name("ceio-testbed").unwrap() };
            let r = answer(server, interface.clone(), app, spec, 1.0);
            let (name, kind) = (about.name, app.kind().unwrap().name());
            assert_eq!((r.drop_pct, r.counters["tx_faults"]), (0.0, 0), "{name} {kind}: {:?}", r.drops);
            assert_eq!(r.conservation.buffers, r.conservation.buffers_free, "{name} {kind}");
            let mean = r.throughput_gbps * 1e3 / 8.0 / r.mpps;
            assert!((mean / bytes - 1.0).abs() < 0.02, "{name} {kind}: {mean} B");
        }
    }
}
