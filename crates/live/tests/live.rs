//! Short runs of every interface between real threads. The long ones are `rxlab live`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a run that fails fails its test")]

use apps::{Cause, Fate, Kind};
use live::{Config, LiveError, LiveReport, Work, run};
use memory::Ps;
use rings::{Interface, ccnic, ceio, corec, ddring, dynamic, privring, rxbisect, shring};

const PACKETS: u64 = 200_000;

fn interfaces(workers: u16) -> [Interface; 7] {
    let split = rxbisect::Sizes { ax: 64, bx: 256, ..rxbisect::Sizes::default() };
    [
        Interface::PrivRing(privring::Sizes { ring: 256 }),
        Interface::ShRing(shring::Sizes {
            ring: 256,
            shared_by: workers.into(),
            completions: 256,
            ..Default::default()
        }),
        Interface::RxBisect(split),
        Interface::RxBisect(rxbisect::Sizes { alloc_queues: 1, ..split }),
        Interface::Dynamic(dynamic::Sizes {
            ring: 256,
            shared_by: workers.into(),
            ..dynamic::Sizes::default()
        }),
        Interface::CcNic(ccnic::Sizes { ring: 256, ..Default::default() }),
        Interface::Ceio(ceio::Sizes { ring: 256, credits: 100, ..Default::default() }),
    ]
}

/// What every run without loss must show.
fn lossless(config: &Config) -> LiveReport {
    let report = run(config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
    assert_eq!(report.offered, config.packets);
    assert_eq!(report.delivered, config.packets);
    assert_eq!(report.checked, config.packets);
    assert_eq!(report.received.len(), usize::from(config.workers));
    assert!(report.dropped.is_empty() && report.app_dropped.is_empty(), "{report:?}");
    assert_eq!((report.faults, report.buffers_in_use), (live::Faults::default(), 0));
    report
}

#[test]
fn every_interface_moves_every_frame_to_one_to_three_workers() {
    for workers in 1..=3 {
        for interface in interfaces(workers) {
            let skew_pct = if workers == 1 { 0 } else { 70 };
            let config = Config { workers, skew_pct, packets: PACKETS, ..Config::new(interface.clone()) };
            let report = lossless(&config);
            if workers > 1 {
                assert!(report.received[0] * 2 > PACKETS, "worker 0 gets most: {:?}", report.received);
                assert!(report.received.iter().all(|n| *n > 0));
            }
        }
    }
}

#[test]
fn applications_send_every_frame_back_with_right_checksums() {
    for interface in interfaces(2) {
        for kind in Kind::ALL.into_iter().filter(|k| k.protocol().is_none() && *k != Kind::Ipsec) {
            // What looks up nothing has done all after a few rounds.
            let few = if matches!(kind, Kind::UdpEcho | Kind::Vxlan) { 16 } else { 4 };
            let config = Config {
                workers: 2,
                packets: PACKETS / few,
                work: Work::App(kind),
                frame_len: 100,
                ..Config::new(interface.clone())
            };
            lossless(&config);
        }
    }
}

/// Rings that several workers poll: without a lock, and under one.
fn shared(ring: u32, shared_by: u32) -> [Interface; 2] {
    [
        Interface::Corec(corec::Sizes { ring, shared_by, ..Default::default() }),
        Interface::DdRing(ddring::Sizes { ring, shared_by, refill: ddring::Refill::Bulk }),
    ]
}

#[test]
fn workers_of_one_ring_take_every_frame_once() {
    for workers in 1..=4 {
        for interface in shared(64, workers.into()).into_iter().chain(shared(256, workers.min(2).into())) {
            let config = Config { workers, packets: PACKETS, ..Config::new(interface) };
            lossless(&config);
            let report = lossless(&Config { work: Work::App(Kind::L3fwd), ..config.clone() });
            assert_eq!(report.reordering.contains_key("reordered_pct"), workers > 1, "{report:?}");
        }
    }
}

#[test]
fn workers_of_one_ring_lose_no_frame_uncounted_where_the_card_drops() {
    for interface in shared(64, 3) {
        for work in [Work::Check, Work::App(Kind::L3fwd)] {
            let config = Config {
                workers: 3,
                packets: PACKETS,
                lossless: false,
                work,
                tx_ring: 64,
                ..Config::new(interface.clone())
            };
            let report = run(&config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
            assert_eq!((report.faults.late, report.faults.corrupt, report.buffers_in_use), (0, 0, 0));
        }
    }
}

#[test]
fn workers_leave_a_ring_and_come_back() {
    for interface in shared(64, 3) {
        let config = Config { workers: 3, packets: PACKETS, shift: 1000, ..Config::new(interface) };
        for work in [Work::Check, Work::App(Kind::L3fwd)] {
            // A machine that is busy may leave all frames to the first worker, but not every time.
            let mut runs = (0..50).map(|_| lossless(&Config { work, ..config.clone() }));
            assert!(runs.any(|report| report.counters["left"] > 0), "{config:?}");
        }
    }
    let alone =
        Config { workers: 2, shift: 10, ..Config::new(Interface::PrivRing(privring::Sizes::default())) };
    let error = run(&alone).unwrap_err().to_string();
    assert_eq!(error, "workers of privring cannot leave: allowed where several poll one ring");
}

#[test]
fn the_gateway_drops_a_third_of_all_flows_and_seals_a_third() {
    for frame_len in [60, 1000] {
        let config = Config {
            workers: 2,
            packets: PACKETS / 4,
            work: Work::App(Kind::Ipsec),
            frame_len,
            ..Config::new(Interface::PrivRing(privring::Sizes { ring: 256 }))
        };
        let report = run(&config).unwrap_or_else(|e| panic!("{e}"));
        let dropped = report.app_dropped[&Fate::App(Some(Cause::Policy))];
        assert_eq!((report.app_dropped.len(), report.checked + dropped), (1, config.packets));
        let third = config.packets / 4..config.packets / 2;
        assert!(third.contains(&dropped) && third.contains(&report.counters["opened"]), "{report:?}");
        assert_eq!((report.faults.corrupt, report.faults.late, report.buffers_in_use), (0, 0, 0));
    }
}

#[test]
fn an_overloaded_rxbisect_worker_takes_the_buffers_of_others() {
    let sizes = rxbisect::Sizes { ax: 32, bx: 1024, ..rxbisect::Sizes::default() };
    let config =
        Config { workers: 3, skew_pct: 80, packets: PACKETS, ..Config::new(Interface::RxBisect(sizes)) };
    assert!(lossless(&config).counters["foreign"] > 0);
}

#[test]
fn a_card_that_does_not_wait_drops_and_counts() {
    for interface in interfaces(2) {
        for work in [Work::Check, Work::App(Kind::Lb)] {
            let config = Config {
                workers: 2,
                packets: PACKETS,
                lossless: false,
                work,
                tx_ring: 64,
                ..Config::new(interface.clone())
            };
            let report = run(&config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
            let dropped: u64 = report.dropped.values().sum();
            assert_eq!(report.offered, PACKETS);
            assert_eq!(report.delivered + dropped, PACKETS);
            assert!(report.refused.is_empty());
        }
    }
}

#[test]
fn long_frames_and_odd_counts() {
    let config = Config {
        workers: 2,
        packets: 12_345,
        frame_len: 1514,
        flows: 77,
        burst: 5,
        ..Config::new(Interface::PrivRing(privring::Sizes { ring: 32 }))
    };
    lossless(&config);
    lossless(&Config { work: Work::App(Kind::Nat), ..config });
}

#[test]
fn few_buffers_are_enough() {
    for interface in interfaces(2) {
        let buffers = interface.posted_buffers(2) as u32 + 2 * 32;
        let config = Config { workers: 2, packets: 20_000, buffers, ..Config::new(interface) };
        lossless(&config);
        let error = run(&Config { buffers: buffers - 1, ..config }).unwrap_err().to_string();
        assert!(error.contains(&format!("allowed: {buffers} to")), "{error}");
    }
}

#[test]
fn a_run_without_patience_ends_with_a_dump() {
    let sizes = privring::Sizes::default();
    let config = Config {
        packets: 1 << 40,
        flows: 1 << 16,
        patience: Ps::ZERO,
        ..Config::new(Interface::PrivRing(sizes))
    };
    match run(&config) {
        Err(LiveError::Stalled { dump, .. }) => {
            assert!(dump.contains("worker 0") && dump.contains("card"), "{dump}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_configurations_are_named() {
    let sizes = privring::Sizes { ring: 100 };
    let error = run(&Config::new(Interface::PrivRing(sizes))).unwrap_err().to_string();
    assert!(error.contains("100") && error.contains("power of two"), "{error}");
    let fine = Config::new(Interface::PrivRing(privring::Sizes::default()));
    for bad in [
        Config { workers: 0, ..fine.clone() },
        Config { frame_len: 20, ..fine.clone() },
        Config { frame_len: 3000, ..fine.clone() },
        Config { packets: 0, ..fine.clone() },
        Config { tx_ring: 3, ..fine },
    ] {
        let error = run(&bad).unwrap_err().to_string();
        assert!(error.contains("allowed"), "{error}");
    }
}

/// Requests, and what every answer to them has to be.
fn asked(interface: Interface, workers: u16, spec: &str) -> Config {
    let requests = Some(spec.parse().unwrap());
    Config { workers, packets: PACKETS / 4, work: Work::App(Kind::Kv), requests, ..Config::new(interface) }
}

#[test]
fn a_store_answers_every_request_with_the_value_put_last() {
    for objects in ["ads", "geo", "fixed"] {
        for interface in interfaces(2) {
            let spec = format!("kv:put=30,objects={objects},keys=2k,zipf=0.75");
            let config = asked(interface, 2, &spec);
            let report = run(&config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
            assert_eq!((report.faults, report.buffers_in_use), (live::Faults::default(), 0));
            // Each key is put once before.
            assert_eq!((report.checked, report.offered), (config.packets + 2000, config.packets + 2000));
            let counter = |name: &str| report.counters[name];
            assert!(counter("gets").abs_diff(config.packets * 7 / 10) < config.packets / 50);
            if objects != "fixed" {
                assert_eq!(counter("hits"), counter("gets"), "nothing is forgotten");
                // A small store, all of whose pages are being sent from: what is given up waits, and room runs out.
                assert!(counter("puts_refused") < config.packets / 100, "{report:?}");
            }
            assert!(counter("value_bytes") > counter("gets") * 100);
        }
    }
}

#[test]
fn a_store_behind_erpc_answers_every_request_with_the_value_put_last() {
    for interface in interfaces(2) {
        let base = asked(interface, 2, "erpc:put=50,keys=1000");
        let config = Config { work: Work::App(Kind::ErpcKv), packets: PACKETS / 16, ..base };
        let report = run(&config).unwrap_or_else(|e| panic!("{config:?}: {e}"));
        assert_eq!((report.faults, report.buffers_in_use), (live::Faults::default(), 0));
        assert_eq!((report.checked, report.offered), (config.packets + 1000, config.packets + 1000));
        let [gets, hits, bytes] = ["gets", "hits", "value_bytes"].map(|name| report.counters[name]);
        assert!(gets.abs_diff(config.packets / 2) < config.packets / 50, "{report:?}");
        assert!(hits * 100 > gets * 95 && bytes == hits * 64, "a full bucket forgets few: {report:?}");
    }
}

#[test]
fn a_store_whose_answers_may_be_dropped_never_tears_one() {
    for interface in [Interface::PrivRing(privring::Sizes { ring: 64 }), {
        Interface::CcNic(ccnic::Sizes { ring: 64, ..Default::default() })
    }] {
        let config = asked(interface, 3, "kv:put=50,objects=geo,keys=100,zipf=0.99");
        // Answers find the transmit ring full, and requests the receive ring.
        let report = run(&Config { lossless: false, tx_ring: 64, ..config }).unwrap();
        assert_eq!((report.faults.corrupt, report.buffers_in_use), (0, 0), "{report:?}");
        let dropped: u64 = report.dropped.values().chain(report.app_dropped.values()).sum();
        assert_eq!(report.faults.missing, dropped);
    }
}

#[test]
fn what_a_store_needs_is_said() {
    let refused = |config: &Config| match run(config) {
        Err(LiveError::Config(what)) => what,
        other => panic!("{other:?}"),
    };
    let base = asked(Interface::PrivRing(privring::Sizes { ring: 64 }), 1, "kv:put=5,objects=ads,keys=10");
    let none = refused(&Config { requests: None, ..base.clone() });
    assert_eq!(none, "kv answers requests; allowed: with a workload kv:put=PERCENT");
    let check = refused(&Config { work: Work::Check, ..base.clone() });
    assert_eq!(check, "requests are for a store; allowed: with the applications kv and erpc-kv");
    let other = refused(&Config { work: Work::App(Kind::ErpcKv), ..base.clone() });
    assert_eq!(other, "erpc-kv does not know requests of kv; allowed: those of erpc");
    let mixed = Config { workers: 2, interface: shared(64, 2)[0].clone(), ..base.clone() };
    assert!(refused(&mixed).contains("share rings"));
    let many = "kv:put=5,objects=ads,keys=20M".parse().ok();
    assert!(refused(&Config { requests: many, ..base }).contains("allowed: 1 to 16777216"));
}
