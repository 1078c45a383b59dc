//! The confidence intervals that a run reports hold what they say: other arrivals give means inside.

use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Setting, Span, run};
use rings::{Interface, privring};
use traffic::{Line, Rate, Workload};

/// Rings of 512 entries on four cores: some frames fall out of the cache before they are read.
const SPAN: Span = Span {
    late: Ps::ZERO,
    warm: Ps::from_us(4_000),
    part: Ps::from_us(500),
    parts: 4,
    agree: 0,
    step: Ps::ZERO,
    until_loss: false,
};

/// One placement under the arrivals of a seed.
fn report(arrivals: u64) -> Report {
    let workload = Workload::Generated("fixed:1500,flows=4096,arrivals=poisson".parse().unwrap());
    let source = workload.source_on(Line { port: 0, loads: &[1], gbps: 100.0 }, Rate::Gbps(70.0), arrivals);
    let server = Server::by_name("rxbisect-testbed").unwrap();
    let interface = Interface::PrivRing(privring::Sizes { ring: 512 });
    let mut scenario = Scenario {
        window: server.window(),
        setting: Setting { span: Some(SPAN), ..Setting::new(server, interface, App::Lb) },
        port_cores: vec![8],
        sources: vec![source],
        peers: Vec::new(),
    };
    run(&mut scenario).unwrap()
}

#[test]
fn most_intervals_cover_the_mean_over_all_arrivals() {
    const SEEDS: usize = 32;
    let reports: Vec<Report> = (0..SEEDS as u64).map(report).collect();
    let means: [fn(&Report) -> f64; 3] =
        [|r| r.throughput_gbps, |r| r.ddio_hit_pct, |r| r.dram_gbps.read + r.dram_gbps.write];
    for (rate, of) in means.into_iter().enumerate() {
        let truth = reports.iter().map(of).sum::<f64>() / SEEDS as f64;
        let half_width = |r: &Report| {
            let c = r.confidence.unwrap();
            [c.throughput_gbps, c.ddio_hit_pct, c.dram_gbps][rate]
        };
        let covered = reports.iter().filter(|r| (of(r) - truth).abs() <= half_width(r)).count();
        let widest = reports.iter().map(half_width).fold(0.0, f64::max);
        println!("rate {rate}: {truth}, {covered} of {SEEDS} cover, at most {widest}");
        assert!(covered * 100 >= SEEDS * 84, "rate {rate}: {covered} of {SEEDS} cover {truth}");
        assert!(widest > 0.0 && widest < 0.1 * truth, "rate {rate}: {widest} beside {truth}");
    }
}
