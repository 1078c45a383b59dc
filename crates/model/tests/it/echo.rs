//! The TCP server of crate `apps` in the modelled server, and its client at the other end of the wire.

use std::cell::RefCell;
use std::rc::Rc;

use apps::echo::{Found, Order};
use model::profile::Server;
use model::{App, Caller, Report, Scenario, Setting, WINDOW, serve};
use rings::{Interface, dynamic, privring, rxbisect, shring};

/// What the client takes to react.
const DELAY: u64 = 2_000_000;
const CYCLES: u32 = 1200;

fn scenario(interface: Interface, cores: u32, flows: u32, cycles: u32) -> Scenario {
    Scenario {
        window: WINDOW,
        setting: Setting::new(Server::by_name("icx").unwrap(), interface, App::TcpEcho { flows, cycles }),
        port_cores: vec![cores],
        sources: Vec::new(),
        peers: Vec::new(),
    }
}

fn interfaces(cores: u32) -> [Interface; 4] {
    let shared_by = cores;
    [
        Interface::PrivRing(privring::Sizes { ring: 256 }),
        Interface::ShRing(shring::Sizes { ring: 256, shared_by, completions: 256, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { ax: 256, bx: 512, ..Default::default() }),
        Interface::Dynamic(dynamic::Sizes { ring: 256, shared_by, ..Default::default() }),
    ]
}

/// Every answer must come, and no frame or buffer be lost to the books; the rate, and what was found.
fn carry(mut s: Scenario, flows: u32, requests: u64) -> (f64, Found, Report) {
    let order = Order { flows, requests, loss_ppm: 0, seed: 1 };
    let caller = Rc::new(RefCell::new(Caller::new(&order, 100.0, DELAY).unwrap()));
    s.peers = vec![caller.clone()];
    let (report, done) = serve(&mut s).unwrap();
    assert!(done, "{report:?}");
    let c = report.conservation;
    assert_eq!(c.offered, c.delivered + c.dropped + c.in_nic, "{c:?}");
    assert_eq!((c.buffers, c.dropped), (c.buffers_free, 0), "{c:?}");
    let found = caller.borrow().found();
    assert_eq!((found.asked, found.answered, found.corrupt, found.broken), (requests, requests, 0, 0));
    assert_eq!(found.repeated, [0, 0]);
    let rate = caller.borrow().per_second();
    (rate, found, report)
}

#[test]
fn every_request_is_answered_over_every_interface() {
    for cores in [1, 3] {
        for interface in interfaces(cores) {
            let (rate, found, _) = carry(scenario(interface, cores, 96, CYCLES), 96, 3000);
            // What the host takes to react is in every answer.
            assert!(found.ns[1] > DELAY as f64 / 1000.0 && rate > 0.0, "{found:?}");
        }
    }
}

#[test]
fn one_core_is_limited_by_its_cycles_and_four_are_faster() {
    let [private, ..] = interfaces(1);
    let rate = |cores, cycles| carry(scenario(private.clone(), cores, 96, cycles), 96, 10_000).0;
    let ghz = Server::by_name("icx").unwrap().ghz;
    let (slow, fast, four) = (rate(1, 4 * CYCLES), rate(1, CYCLES), rate(4, CYCLES));
    let most = ghz * 1e9 / f64::from(4 * CYCLES);
    assert!(slow < most && slow > 0.8 * most, "{slow} of {most}");
    assert!(fast > 2.5 * slow && four > 1.8 * fast, "{slow} {fast} {four}");
}

#[test]
fn one_request_at_a_time_takes_the_way_there_and_back() {
    let [private, ..] = interfaces(1);
    let (_, found, report) = carry(scenario(private, 1, 1, CYCLES), 1, 200);
    let [mean, median, ..] = found.ns;
    assert!((mean - median).abs() < 0.1 * median, "{found:?}");
    // The host's time, the frame's on the server, and hardly anything else.
    assert!(median > 2000.0 + 500.0 && median < 2000.0 + 6000.0, "{found:?} {report:?}");
}

#[test]
fn a_service_is_for_one_host() {
    let [private, ..] = interfaces(1);
    assert!(serve(&mut scenario(private, 1, 1, 0)).is_err(), "there is no host");
}
