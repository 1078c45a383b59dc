//! Two hosts that talk TCP through the modelled server.

use std::cell::RefCell;
use std::rc::Rc;

use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Setting, WINDOW, transfer};
use rings::{Interface, corec, ddring};
use tcp::{Host, Job, Totals, US};

/// What a host takes to answer.
const DELAY: u64 = 10 * US;

fn server() -> Server {
    let mut server = Server::by_name("rxbisect-testbed").unwrap();
    server.nic.port_gbps = 10.0;
    server
}

fn scenario(interface: Interface, cores: u32, sampling: u32) -> Scenario {
    Scenario {
        window: WINDOW,
        setting: Setting {
            sampling,
            limit: Ps::from_us(10_000_000),
            ..Setting::new(server(), interface, App::L3fwd)
        },
        port_cores: vec![cores.div_ceil(2), cores / 2],
        sources: Vec::new(),
        peers: Vec::new(),
    }
}

struct Found {
    times: Vec<u64>,
    totals: [Totals; 2],
    report: Report,
}

/// Transfers between two hosts; everything must close, and no frame or buffer be lost to the books.
fn carry(mut s: Scenario, job: Job) -> Found {
    let client = Rc::new(RefCell::new(Host::client(job, 10.0, DELAY)));
    let server = Rc::new(RefCell::new(Host::server(job, 10.0, DELAY)));
    s.peers = vec![client.clone(), server.clone()];
    let (report, done) = transfer(&mut s).unwrap();
    assert!(done, "{report:?}");
    let c = report.conservation;
    assert_eq!(c.offered, c.delivered + c.dropped + c.in_nic, "{c:?}");
    assert_eq!(c.buffers, c.buffers_free, "{c:?}");
    let totals = [client.borrow().totals(), server.borrow().totals()];
    assert_eq!(totals.map(|t| t.strange), [0, 0], "frames cross over to the other host, headers intact");
    assert_eq!(c.offered, totals.iter().map(|t| t.sent).sum::<u64>(), "what is sent arrives at a card");
    let times = client.borrow().times();
    Found { times, totals, report }
}

fn out() -> Interface {
    let refill = ddring::Refill::Each;
    Interface::DdRing(ddring::Sizes { ring: 512, shared_by: 1, refill })
}

fn up(threads: u32) -> Interface {
    Interface::Corec(corec::Sizes { ring: 512, shared_by: threads, ..Default::default() })
}

#[test]
fn many_flows_close_through_one_ring_and_through_many() {
    let job = Job { flows: 64, bytes: 10_000, rounds: 4, seed: 1 };
    for (interface, cores) in [(out(), 2), (out(), 8), (up(1), 2), (up(4), 8)] {
        let name = format!("{} on {cores}", interface.name());
        let found = carry(scenario(interface.clone(), cores, 32), job);
        assert_eq!(found.times.len() as u64, job.connections(), "{name}");
        assert_eq!(found.report.drop_pct, 0.0, "{name}");
        assert_eq!(found.totals.map(|t| t.timeouts), [0, 0], "{name}");
        // Two round trips at the least, and the wire for all at the most twice.
        let wire = 64 * (6 * 1538 + 1400) * 800;
        let (least, most) = (found.times.iter().min().unwrap(), found.times.iter().max().unwrap());
        assert!(*least > 4 * DELAY && *most < 2 * wire, "{name}: {least} {most}");
        assert_eq!(carry(scenario(interface, cores, 32), job).times, found.times, "{name}: the same again");
    }
}

#[test]
fn one_flow_fills_the_wire() {
    let bytes = 20_000_000;
    let job = Job { flows: 1, bytes, rounds: 1, seed: 1 };
    let wire = bytes.div_ceil(1448) * 1538 * 800;
    let one = carry(scenario(up(1), 2, 32), job);
    assert!(one.times[0] > wire && one.times[0] < wire * 103 / 100, "{} of {wire}", one.times[0]);
    assert_eq!((one.totals[0].retransmitted, one.totals[1].late), (0, 0), "one thread reorders nothing");
    let exact = carry(scenario(up(1), 2, 1), job);
    let off = one.times[0].abs_diff(exact.times[0]);
    assert!(off < exact.times[0] / 100, "sampled and exact: {} {}", one.times[0], exact.times[0]);
}

#[test]
fn what_no_transfer_is_is_refused() {
    let hosts = |delay: u64| -> Vec<Rc<RefCell<dyn traffic::Peer>>> {
        let job = Job { flows: 1, bytes: 1, rounds: 1, seed: 1 };
        vec![
            Rc::new(RefCell::new(Host::client(job, 10.0, delay))),
            Rc::new(RefCell::new(Host::server(job, 10.0, delay))),
        ]
    };
    let refused = |s: &mut Scenario| transfer(s).unwrap_err().to_string();
    assert!(refused(&mut scenario(out(), 2, 32)).contains("two hosts"));
    let odd = Scenario { peers: hosts(DELAY), ..scenario(out(), 3, 32) };
    assert!(refused(&mut { odd }).contains("3 cores"));
    let quick = Scenario { peers: hosts(WINDOW.0), ..scenario(out(), 2, 32) };
    assert!(refused(&mut { quick }).contains("more than the window"));
    let steady = Scenario { peers: hosts(DELAY), ..scenario(out(), 2, 32) };
    assert!(model::run(&mut { steady }).unwrap_err().to_string().contains("a transfer"));
}
