//! The default mode against the exact one, repeatability, and the cost of a longer run.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::sync::OnceLock;

use memory::Ps;
use model::profile::Server;
use model::{App, Report, SAMPLING, Scenario, Setting, Start, WINDOW, run};
use rings::{Interface, corec, ddring, privring, rxbisect, shring};
use traffic::{Rate, Workload};

fn scenario(interface: Interface, sampling: u32, seed: u64) -> Scenario {
    scenario_on(Server::by_name("rxbisect-testbed").unwrap(), interface, sampling, seed)
}

fn scenario_on(server: Server, interface: Interface, sampling: u32, seed: u64) -> Scenario {
    let workload: Workload =
        Workload::Generated("fixed:1500,flows=10000000,arrivals=constant".parse().unwrap());
    Scenario {
        window: WINDOW,
        setting: Setting {
            start: Start::Full,
            seed,
            sampling,
            limit: Ps::from_us(60_000),
            ..Setting::new(server, interface, App::Lb)
        },
        port_cores: vec![8; 2],
        sources: (0..2).map(|p| workload.source(p, 2, Rate::Gbps(199.0), seed)).collect(),
        peers: Vec::new(),
    }
}

fn private(ring: u32) -> Interface {
    Interface::PrivRing(privring::Sizes { ring })
}

/// Which of a frame's lines a sample has differs from seed to seed: misses of the LLC by 3.8 points (standard
/// deviation), so that a mean of 8 is sure to 1.4 only, and one of 24 to 0.8 of the 2 that they are held to.
const SAMPLED: u64 = 24;
/// Without sampling they differ by 0.06.
const EXACT: u64 = 8;
/// Both of a pair have the same seed, so they sample the same lines: the spread of samples is no part of what they differ by.
const PAIRS: u64 = 8;

/// Mean of something over seeds.
fn mean(reports: &[Report], of: impl Fn(&Report) -> f64) -> f64 {
    reports.iter().map(of).sum::<f64>() / reports.len() as f64
}

/// Holds `a` to 1% of `b` in throughput, 2 points in hit rates and 5% in DRAM traffic, averaged over seeds.
fn agree(what: &str, a: &[Report], b: &[Report]) {
    let both = |of: fn(&Report) -> f64| (mean(a, of), mean(b, of));
    let (x, y) = both(|r| r.throughput_gbps);
    println!("{what}: {x:.2} Gbps against {y:.2}");
    assert!((x / y - 1.0).abs() <= 0.01, "{what}: throughput {x:.2} against {y:.2} Gbps");
    for (name, of) in [
        ("DDIO hits", (|r: &Report| r.ddio_hit_pct) as fn(&Report) -> f64),
        ("LLC misses", |r: &Report| r.llc_miss_pct),
    ] {
        let (x, y) = both(of);
        println!("{what}: {name} {x:.2}% against {y:.2}%");
        assert!((x - y).abs() <= 2.0, "{what}: {name} {x:.2} against {y:.2}%");
    }
    let (x, y) = both(|r| r.dram_gbps.read + r.dram_gbps.write);
    println!("{what}: DRAM {x:.1} Gbps against {y:.1}");
    assert!((x / y - 1.0).abs() <= 0.05, "{what}: DRAM {x:.1} against {y:.1} Gbps");
}

/// Those of the default mode, which two tests hold something against.
fn usual(at: usize) -> &'static [Report] {
    static FOUND: [OnceLock<Vec<Report>>; 4] = [const { OnceLock::new() }; 4];
    FOUND[at].get_or_init(|| reports(&points()[at], SAMPLING, WINDOW, SAMPLED))
}

/// One report for each seed.
fn reports(point: &Interface, sampling: u32, window: Ps, seeds: u64) -> Vec<Report> {
    each_seed(seeds, |seed| Scenario { window, ..scenario(point.clone(), sampling, seed) })
}

fn each_seed(seeds: u64, scenario: impl Fn(u64) -> Scenario) -> Vec<Report> {
    (1..=seeds).map(|seed| run(&mut scenario(seed)).unwrap()).collect()
}

fn points() -> [Interface; 4] {
    [private(128), private(512), private(1024), Interface::RxBisect(rxbisect::Sizes::default())]
}

#[test]
fn default_mode_agrees_with_the_exact_one() {
    for (at, point) in points().iter().enumerate() {
        agree(&format!("{point:?}"), usual(at), &reports(point, 1, WINDOW, EXACT));
    }
}

/// L2s of 1280 sets, ten slices of 1792 sets and 20 ways: a sample has as large a part of the sets, not the same ones.
#[test]
fn so_it_does_for_caches_of_any_shape() {
    let mut server = Server::by_name("rxbisect-testbed").unwrap();
    let c = &mut server.caches;
    (c.l2_kib, c.l2_ways) = (1280, 16);
    (c.slices, c.sets_per_slice, c.ways) = (10, 1792, 20);
    let of =
        |sampling, seeds| each_seed(seeds, |seed| scenario_on(server.clone(), private(512), sampling, seed));
    agree("1792 sets", &of(SAMPLING, SAMPLED), &of(1, EXACT));
}

#[test]
fn running_ahead_agrees_with_strict_order() {
    for (at, point) in points().iter().enumerate().rev() {
        agree(&format!("{point:?}"), &usual(at)[..PAIRS as usize], &reports(point, SAMPLING, Ps(0), PAIRS));
    }
    let shared = Interface::ShRing(shring::Sizes::default());
    let [ahead, strict] = [WINDOW, Ps(0)].map(|window| reports(&shared, SAMPLING, window, PAIRS));
    agree(&format!("{shared:?}"), &ahead, &strict);
}

/// `cores` of corec's testbed, the card on the other node, and frames of 64 B; every cache set is simulated.
fn short_frames(interface: Interface, cores: u32, window: Ps, seed: u64) -> Report {
    let mut server = Server::by_name("corec-testbed").unwrap();
    server.nic.remote = true;
    let frames: Workload = Workload::Generated("fixed:60,flows=10000,arrivals=poisson".parse().unwrap());
    let asked = scenario(interface, 1, seed);
    run(&mut Scenario {
        setting: Setting { server, app: App::L3fwd, ..asked.setting },
        port_cores: vec![cores],
        sources: vec![frames.source(0, 1, Rate::Gbps(20.0), seed)],
        window,
        ..asked
    })
    .unwrap()
}

/// A core with 64 B frames is behind all the time, and its bursts take 3 us: run ahead by two of those, it found
/// that nothing had been sent meanwhile, and was 2% too fast.
#[test]
fn short_bursts_keep_strict_order() {
    let rate = |window| short_frames(Interface::DdRing(ddring::Sizes::default()), 1, window, 1).mpps;
    let (ahead, strict) = (rate(WINDOW), rate(Ps(0)));
    println!("{ahead:.2} Mpps against {strict:.2}");
    assert!((ahead / strict - 1.0).abs() <= 0.01, "{ahead:.2} against {strict:.2} Mpps");
}

/// Cores that keep up wait for what the card does next. The window makes their latencies 1.3% longer, a card that goes
/// a doorbell's way ahead of them 3%.
#[test]
fn cards_wait_for_cores_that_keep_up() {
    let latency = |window| {
        let reports: Vec<Report> = (1..=4)
            .map(|seed| short_frames(Interface::Corec(corec::Sizes::default()), 4, window, seed))
            .collect();
        mean(&reports, |r| r.latency_us.mean)
    };
    let (ahead, strict) = (latency(WINDOW), latency(Ps(0)));
    println!("{ahead:.3} us against {strict:.3}");
    assert!((ahead / strict - 1.0).abs() <= 0.02, "{ahead:.3} against {strict:.3} us");
}

#[test]
fn equal_inputs_give_equal_reports() {
    let text = |seed| format!("{:?}", run(&mut scenario(private(256), SAMPLING, seed)).unwrap());
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8), "the seed changes placement and flows");
}

#[test]
fn frames_and_buffers_are_conserved() {
    for interface in [private(64), Interface::RxBisect(rxbisect::Sizes::default())] {
        let r = run(&mut scenario(interface, SAMPLING, 1)).unwrap().conservation;
        assert_eq!(r.offered, r.delivered + r.dropped + r.in_nic);
        assert_eq!(r.buffers, r.buffers_free, "buffers in use");
        assert!(r.delivered > 100_000);
    }
}

#[test]
fn numbers_that_cannot_be_run_are_named() {
    let mut zero = scenario(private(128), SAMPLING, 1);
    zero.port_cores = vec![16, 0];
    assert!(run(&mut zero).unwrap_err().to_string().contains("allowed on rxbisect-testbed: 1 to 16"));
    let odd = run(&mut scenario(private(100), SAMPLING, 1)).unwrap_err().to_string();
    assert!(odd.contains("power of two"), "{odd}");
    let small = run(&mut scenario(private(32), SAMPLING, 1)).unwrap_err().to_string();
    assert!(small.contains("allowed on ConnectX-5: 64 to 8192"), "{small}");
    let mut poor = scenario(private(1024), SAMPLING, 1);
    poor.pool = Some(1000);
    let poor = run(&mut poor).unwrap_err().to_string();
    assert!(poor.contains("allowed: at least 16896"), "{poor}");
}

#[test]
fn idle_cores_are_not_busy() {
    let mut light = scenario(private(128), SAMPLING, 1);
    light.sources =
        vec![Workload::Generated("fixed:1500".parse().unwrap()).source(0, 1, Rate::Gbps(0.01), 1)];
    light.port_cores = vec![16];
    light.limit = Ps::NEVER;
    let r = run(&mut light).unwrap();
    // 820 frames a second over 16 cores: the cycles are those of a frame, and of the polls around it.
    assert!((500.0..5_000.0).contains(&r.cycles_per_packet), "{} cycles", r.cycles_per_packet);
    assert!(r.per_core.iter().all(|c| c.busy_pct < 1.0), "{:?}", r.per_core);
}
