//! Runs whose times are laid down: they count the same arrivals over the same window, whatever receives them.

use crate::world::soft_server;
use memory::Ps;
use model::profile::{Constant, Server};
use model::{App, Report, Scenario, Setting, Span, Start, run};
use rings::{Interface, corec, dynamic, privring, rxbisect, shring};
use traffic::{Arrival, Line, Rate, Source, Workload};

/// 7 ms in which nothing counts, then four parts of half a millisecond.
const SPAN: Span = Span {
    late: Ps::ZERO,
    warm: Ps::from_us(7_000),
    part: Ps::from_us(500),
    parts: 4,
    agree: 2,
    step: Ps::from_us(500),
    until_loss: false,
};
const STARTS: [Start; 2] = [Start::Empty, Start::Full];

/// What plays the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nic {
    Card,
    Emulated,
    Core,
}

fn interfaces() -> [Interface; 4] {
    [
        Interface::PrivRing(privring::Sizes::default()),
        Interface::ShRing(shring::Sizes { ring: 256, shared_by: 2, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { ax: 64, bx: 512, ..Default::default() }),
        Interface::Corec(corec::Sizes { ring: 128, shared_by: 2, ..Default::default() }),
    ]
}

/// Frames of three sizes at uneven times: hardly two windows have equally many frames and bytes.
fn source(gbps: f64) -> Box<dyn Source> {
    let workload = Workload::Generated("imix,flows=4096,arrivals=bursty:16".parse().unwrap());
    workload.source_on(Line { port: 0, loads: &[1], gbps: 100.0 }, Rate::Gbps(gbps), 1)
}

fn scenario(nic: Nic, interface: &Interface, start: Start, gbps: f64, span: Span) -> Scenario {
    let server = match nic {
        Nic::Core => soft_server(),
        Nic::Card | Nic::Emulated => Server::by_name("rxbisect-testbed").unwrap(),
    };
    let window = server.window();
    Scenario {
        window,
        setting: Setting {
            emulated: nic == Nic::Emulated,
            start,
            limit: Ps::from_us(30_000),
            span: Some(span),
            ..Setting::new(server, interface.clone(), App::L3fwd)
        },
        port_cores: vec![2],
        sources: vec![source(gbps)],
        peers: Vec::new(),
    }
}

/// Frames and bytes that arrive from `from` on and before `to`, ps.
fn arrivals(gbps: f64, from: u64, to: u64) -> (u64, u64) {
    let (mut source, mut a, mut all) = (source(gbps), Arrival::EMPTY, (0, 0));
    while source.next(&mut a) && a.at < to {
        if a.at >= from {
            all = (all.0 + 1, all.1 + u64::from(a.len));
        }
    }
    all
}

/// No frame is sent or dropped that has not come.
fn closes(r: &Report, what: &str) {
    let c = r.counted;
    assert!(c.sent + c.dropped <= c.offered + c.waiting_before, "{what}: {c:?}");
    assert_eq!(c.dropped, r.drops.values().sum::<u64>(), "{what}");
    assert_eq!(r.conservation.buffers, r.conservation.buffers_free, "{what}");
}

#[test]
fn all_count_the_arrivals_of_the_window() {
    let (from, to) = SPAN.window();
    for (nic, gbps) in [
        (Nic::Card, 12.0),
        (Nic::Card, 90.0),
        (Nic::Emulated, 12.0),
        (Nic::Emulated, 90.0),
        (Nic::Core, 12.0),
    ] {
        let expected = arrivals(gbps, from, to);
        assert!(expected.0 > 5_000, "{expected:?}");
        for interface in interfaces() {
            if nic == Nic::Emulated && !interface.passes_pointers() {
                continue; // the model refuses it
            }
            for start in STARTS {
                let what = format!("{nic:?} {gbps} Gbps {} {}", interface.name(), start.name());
                let r = run(&mut scenario(nic, &interface, start, gbps, SPAN)).unwrap();
                assert_eq!((r.counted.offered, r.counted.offered_bytes), expected, "{what}");
                assert_eq!((r.counted.from_us, r.warmup_s), (7_000.0, 7e-3), "{what}");
                assert!((r.measured_s - 2e-3).abs() < 1e-12, "{what}: {} s", r.measured_s);
                closes(&r, &what);
                // Not asked to be steady, only to have moved: else equal counts would be those of two idle runs.
                assert!(r.counted.sent > 0, "{what}");
            }
        }
    }
}

#[test]
fn a_run_that_begins_late_counts_the_same_arrivals() {
    let (from, to) = SPAN.window();
    let expected = arrivals(12.0, from, to);
    let span = Span { late: Ps::from_us(3_000), warm: Ps::from_us(4_000), ..SPAN };
    for (nic, start) in [(Nic::Card, Start::Full), (Nic::Core, Start::Empty)] {
        for interface in interfaces() {
            let what = format!("{nic:?} {}", interface.name());
            let r = run(&mut scenario(nic, &interface, start, 12.0, span)).unwrap();
            assert_eq!((r.counted.offered, r.counted.offered_bytes), expected, "{what}");
            assert_eq!((r.counted.from_us, r.warmup_s), (7_000.0, 4e-3), "{what}");
            closes(&r, &what);
        }
    }
}

/// Its card and its cores are behind by more frames than a ring holds when the window ends.
#[test]
fn frames_that_a_slow_nic_core_has_not_taken_count_as_offered() {
    let (from, to) = SPAN.window();
    let expected = arrivals(20.0, from, to);
    for interface in interfaces().into_iter().take(3) {
        let mut s = scenario(Nic::Core, &interface, Start::Empty, 20.0, SPAN);
        s.server.constants.nic.classify_cycles =
            Constant { value: 4_000.0, origin: "measured: a test".into() };
        let r = run(&mut s).unwrap();
        assert_eq!((r.counted.offered, r.counted.offered_bytes), expected, "{}", interface.name());
        assert!(r.counted.sent < expected.0 / 2, "{}: {:?}", interface.name(), r.counted);
        closes(&r, interface.name());
    }
}

#[test]
fn parts_are_the_window() {
    for interface in interfaces() {
        let r = run(&mut scenario(Nic::Card, &interface, Start::Full, 60.0, SPAN)).unwrap();
        let name = interface.name();
        assert_eq!(r.parts.len(), 4, "{name}");
        let mean = |of: fn(&model::PartReport) -> f64| r.parts.iter().map(of).sum::<f64>() / 4.0;
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1e-3);
        assert!(near(mean(|p| p.throughput_gbps), r.throughput_gbps), "{name}: {:?}", r.parts);
        assert!(near(mean(|p| p.dram_gbps), r.dram_gbps.read + r.dram_gbps.write), "{name}: {:?}", r.parts);
        let most = r.parts.iter().map(|p| p.latency_p99_us).fold(0.0, f64::max);
        assert!(r.latency_us.p99 <= most, "{name}: {} of {most} us", r.latency_us.p99);
        let one = Span { part: Ps::from_us(2_000), parts: 1, ..SPAN };
        let whole = run(&mut scenario(Nic::Card, &interface, Start::Full, 60.0, one)).unwrap();
        assert!(whole.parts.is_empty(), "{name}");
        let offered = |r: &Report| (r.counted.offered, r.counted.offered_bytes);
        assert_eq!(offered(&whole), offered(&r), "{name}: cut or not, it is the same window");
    }
}

#[test]
fn a_trial_ends_with_the_part_that_loses() {
    let until = Span { agree: 0, until_loss: true, ..SPAN };
    let [private, ..] = interfaces();
    let (from, _) = SPAN.window();
    let lossy = run(&mut scenario(Nic::Card, &private, Start::Empty, 90.0, until)).unwrap();
    assert!(lossy.counted.dropped > 0 && (lossy.measured_s - 5e-4).abs() < 1e-12, "{lossy:?}");
    // Nobody knew the end before: what a card had taken off the wire ahead of it counts, a few microseconds' frames.
    let [counts, more] = [0, 2_000_000].map(|ps| arrivals(90.0, from, from + SPAN.part.0 + ps).0);
    assert!((counts..=more).contains(&lossy.counted.offered), "{counts} to {more}: {lossy:?}");
    closes(&lossy, "lossy");
    let calm = run(&mut scenario(Nic::Card, &private, Start::Empty, 2.0, until)).unwrap();
    assert!(calm.counted.dropped == 0 && (calm.measured_s - 2e-3).abs() < 1e-12, "{calm:?}");
}

/// It decides, stalls in the ways that it has chosen, and counts what all others count.
#[test]
fn dynamic_counts_the_same_arrivals() {
    let round = Interface::Dynamic(dynamic::Sizes { ring: 256, shared_by: 2, ..Default::default() });
    let (from, to) = SPAN.window();
    for start in STARTS {
        let r = run(&mut scenario(Nic::Card, &round, start, 12.0, SPAN)).unwrap();
        assert_eq!((r.counted.offered, r.counted.offered_bytes), arrivals(12.0, from, to));
        closes(&r, start.name());
    }
}

#[test]
fn a_window_too_short_to_judge_does_not_call_itself_settled() {
    let [private, ..] = interfaces();
    let short = Span { late: Ps::ZERO, warm: Ps::from_us(500), agree: 4, ..SPAN };
    assert!(!run(&mut scenario(Nic::Card, &private, Start::Empty, 12.0, short)).unwrap().settled);
    assert!(run(&mut scenario(Nic::Card, &private, Start::Empty, 12.0, SPAN)).unwrap().settled);
}
