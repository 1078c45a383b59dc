//! Senders that answer to congestion: what a server's drops and marks make of their rates.

use std::cell::RefCell;
use std::rc::Rc;

use memory::Ps;
use model::profile::Server;
use model::{App, Bypass, Placed, Report, Scenario, Setting, Span, run};
use packet::SteerBy;
use rings::{Interface, ceio, privring};
use traffic::{Line, Network, Rate, Sender, Senders, Spec, Workload};

/// The round trip, ps.
const RTT: u64 = 10_000_000;

/// Cores, the application's cycles for a frame, how long frames are, and the windows with which senders begin.
struct Load(u32, f64, &'static str, Option<u32>);

fn network() -> Network {
    Network::new(200.0, RTT)
}

/// What is run: a sender for each core of `ceio-testbed`, 2 ms behind 4 ms.
fn senders(load: &Load, interface: Interface, network: Network, bypass: Vec<Bypass>) -> Report {
    let Load(cores, cycles, frames, window) = *load;
    let mut server = Server::by_name("ceio-testbed").unwrap();
    server.apps.own_cycles(App::L3fwd.kind().unwrap()).unwrap().value = cycles;
    let spec = Spec { partitions: cores, ..frames.parse().unwrap() };
    let line = Line { port: 0, loads: &[1], gbps: server.nic.port_gbps };
    let frames = Workload::Generated(spec).source_on(line, Rate::Own, 1);
    let each = |core| Sender { core: core as u16, from: 0, until: u64::MAX, window };
    let senders = Senders::new(network, &(0..cores).map(each).collect::<Vec<_>>(), frames, true);
    let span = Span {
        late: Ps::ZERO,
        warm: Ps::from_us(4_000),
        part: Ps::from_us(2_000),
        parts: 1,
        agree: 0,
        step: Ps::ZERO,
        until_loss: false,
    };
    run(&mut Scenario {
        window: server.window(),
        setting: Setting {
            steer: SteerBy::Port,
            span: Some(span),
            bypass,
            ..Setting::new(server, interface, App::L3fwd)
        },
        port_cores: vec![cores],
        sources: Vec::new(),
        peers: vec![Rc::new(RefCell::new(senders))],
    })
    .unwrap()
}

fn private(ring: u32) -> Interface {
    Interface::PrivRing(privring::Sizes { ring })
}

const SLOW: Load = Load(2, 3000.0, "fixed:1500,flows=64", None);

#[test]
fn senders_find_the_rate_of_a_slow_server_by_losses_and_that_of_a_fast_one_by_marks() {
    let slow = senders(&SLOW, private(256), network(), Vec::new());
    // Two cores of 3.6 GHz, 3000 cycles and what the frame costs beside.
    assert!((2.0..2.4).contains(&slow.mpps), "{} Mpps", slow.mpps);
    assert!(slow.counters["lost_by_server"] > 0 && slow.drop_pct < 3.0, "{} %", slow.drop_pct);
    assert_eq!(slow.conservation.offered, slow.conservation.delivered + slow.conservation.dropped);

    let fast = senders(&Load(8, 50.0, "fixed:1500,flows=64", None), private(1024), network(), Vec::new());
    assert!(fast.throughput_gbps > 190.0, "{} Gbps", fast.throughput_gbps);
    assert!(fast.counters["marked_by_switch"] > 0 && fast.drops.is_empty(), "{:?}", fast.drops);
}

#[test]
fn ceio_has_senders_slow_down_before_its_memory_fills() {
    let sizes = ceio::Sizes { credits: 128, ..ceio::Sizes::default() };
    let load = Load(2, 3000.0, "fixed:1500,flows=64", Some(4096));
    let r = senders(&load, Interface::Ceio(sizes), network(), Vec::new());
    assert!(r.drops.is_empty() && (1.9..2.4).contains(&r.mpps), "{} Mpps, {:?}", r.mpps, r.drops);
    assert!(r.counters["marked_by_host"] > 0 && r.counters["slow"] > 0, "{:?}", r.counters);
    // Of 32768 slots.
    assert!(r.counters["nic_memory_most"] < 8192, "{:?}", r.counters);
}

#[test]
fn hostcc_marks_where_lines_stay_long_in_the_iio_buffer() {
    // 8 x 4096 buffers are more than the cache has; a line that is written has another one leave for memory first.
    let load = Load(8, 600.0, "fixed:1500,flows=64", None);
    let watched = Network { watched: 5_000_000, ..network() };
    let r = senders(&load, private(4096), watched.clone(), Vec::new());
    assert!(r.counters["marked_by_host"] > 0, "{:?}", r.counters);
    let idle = senders(&Load(2, 600.0, "fixed:1500,flows=64", None), private(64), watched, Vec::new());
    // Two cores do not fill the slot: what is marked is the burst of the slow start alone.
    let [much, little] = [&r, &idle].map(|r| r.counters["marked_by_host"]);
    assert!(little * 10 < much, "{little} of {much}");
}

#[test]
fn ceio_keeps_writes_that_no_core_receives_out_of_the_cache() {
    let flow = Bypass {
        port: 0,
        gbps: 50.0,
        message: 65_536,
        batch: 8,
        region: 16 << 20,
        placed: Placed::Cache,
        keeps_credits: false,
        files: false,
        from: Ps::ZERO,
        until: Ps::from_us(1_000_000),
    };
    let load = Load(4, 600.0, "fixed:512,flows=64", None);
    let others = vec![(0, u64::MAX, 100.0)];
    let run = |interface, keeps_credits| {
        let flows = vec![Bypass { keeps_credits, ..flow }; 2];
        senders(&load, interface, Network { others: others.clone(), ..network() }, flows)
    };
    let base = run(private(1024), false);
    let [given, kept] = [false, true].map(|kept| run(Interface::Ceio(ceio::Sizes::default()), kept));
    let payload = 100.0 * 1024.0 / 1106.0;
    for r in [&base, &given, &kept] {
        let got = r.bypass_gbps.unwrap();
        assert!((got - payload).abs() < 0.05 * payload, "{got} Gbps of {payload}");
    }
    assert!(given.dram_gbps.write > 0.9 * payload, "all of it goes to memory: {:?}", given.dram_gbps);
    // 3000 credits of six flows: 500 packets of the 512 of each batch.
    let share = kept.counters["bypass_kept"] as f64 / (kept.counters["bypass_writes"] as f64 * 64.0);
    assert!((0.01..0.05).contains(&share), "{share}");
    assert!(given.counters["bypass_kept"] == given.counters["bypass_writes"] * 64);
}
