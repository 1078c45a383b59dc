//! A TCP server over rings between real threads, and its client on the other side of the card.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a run that fails fails its test")]

use live::{Calls, Config, Faults, LiveError, LiveReport, Work, run};
use rings::{Interface, ccnic, corec, ddring, dynamic, privring, rxbisect, shring};

fn interfaces(workers: u16) -> Vec<Interface> {
    let shared_by = u32::from(workers);
    let mut all = vec![
        Interface::PrivRing(privring::Sizes { ring: 64 }),
        Interface::ShRing(shring::Sizes { ring: 64, shared_by, completions: 64, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { ax: 64, bx: 256, ..Default::default() }),
        Interface::Dynamic(dynamic::Sizes { ring: 64, shared_by, ..Default::default() }),
        Interface::CcNic(ccnic::Sizes { ring: 64, ..Default::default() }),
    ];
    if workers == 1 {
        all.push(Interface::Corec(corec::Sizes { ring: 64, shared_by: 1, ..Default::default() }));
        all.push(Interface::DdRing(ddring::Sizes { ring: 64, shared_by: 1, refill: ddring::Refill::Bulk }));
    }
    all
}

fn base(interface: Interface) -> Config {
    Config { work: Work::TcpEcho, flows: 48, packets: 5000, ..Config::new(interface) }
}

fn held(config: &Config) -> (LiveReport, Calls) {
    let report = run(config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
    assert_eq!(report.holds(), Ok(()));
    assert_eq!(
        (report.checked, report.faults, report.buffers_in_use),
        (config.packets, Faults::default(), 0)
    );
    let calls = report.calls.clone().unwrap();
    assert_eq!((calls.requests, calls.flows), (config.packets, config.flows));
    // Every answer was sent back by the server: nothing else made up bytes.
    assert_eq!(report.counters["echoed_bytes"], config.packets * calls.message_len as u64);
    (report, calls)
}

#[test]
fn every_request_is_answered_over_every_interface() {
    for workers in [1, 3] {
        for interface in interfaces(workers) {
            let (report, calls) = held(&Config { workers, ..base(interface) });
            assert!(report.received.iter().all(|n| *n > 0), "{:?}", report.received);
            assert_eq!((calls.client_lost, calls.server_lost), (0, 0));
            assert!(
                calls.per_second > 0.0 && calls.p50_us > 0.0 && calls.p99_us <= calls.max_us,
                "{calls:?}"
            );
        }
    }
}

/// A lost segment is sent again after a second at the least, so there are few.
#[test]
fn what_the_wire_loses_is_sent_again_and_every_answer_comes() {
    for interface in [
        Interface::PrivRing(privring::Sizes { ring: 64 }),
        Interface::CcNic(ccnic::Sizes { ring: 64, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { ax: 64, bx: 256, ..Default::default() }),
    ] {
        let config = Config { loss_ppm: 15_000, packets: 2000, workers: 2, ..base(interface) };
        let (report, calls) = held(&config);
        assert!(calls.client_lost > 0 && calls.server_lost > 0, "{calls:?}");
        // What is lost carries bytes, but for an acknowledgement now and then.
        assert!(calls.client_retransmissions + calls.server_retransmissions > 0, "{calls:?}");
        assert!(calls.server_retransmissions > 0 && report.counters["made"] > 0, "{report:?}");
        assert!(calls.max_us > 900_000.0, "the timer of a segment is a second: {calls:?}");
    }
}

#[test]
fn frames_that_a_full_ring_drops_are_sent_again() {
    // The first segments of all connections come together, and there is room for half of them.
    let interface = Interface::PrivRing(privring::Sizes { ring: 16 });
    let config = Config { lossless: false, packets: 500, flows: 32, ..base(interface) };
    let (report, calls) = held(&config);
    assert!(report.dropped.values().sum::<u64>() > 0, "{report:?}");
    assert!(calls.client_retransmissions > 0, "{calls:?}");
}

#[test]
fn connections_have_a_worker_of_their_own() {
    let interface = Interface::Corec(corec::Sizes { ring: 64, shared_by: 2, ..Default::default() });
    let refused = run(&Config { workers: 2, ..base(interface) });
    assert!(matches!(refused, Err(LiveError::Config(what)) if what.contains("connections of its own")));
}
