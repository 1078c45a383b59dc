//! Threads of the other socket on this one's memory, and pauses of the cores.

use apps::{Antagonist, AntagonistKind};
use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Setting, Span, run};
use rings::{Interface, privring};
use traffic::{Line, Rate, Spec, Workload};

/// One core forwards one flow at `gbps` through a ring of `ring`.
fn one_core(ring: u32, gbps: f64, span: Option<Span>, antagonist: Option<Antagonist>) -> Report {
    let server = Server::by_name("rxbisect-testbed").unwrap();
    let spec: Spec = "fixed:1500,flows=1".parse().unwrap();
    let line = Line { port: 0, loads: &[1], gbps: server.nic.port_gbps };
    let source = Workload::Generated(spec).source_on(line, Rate::Gbps(gbps), 1);
    run(&mut Scenario {
        window: server.window(),
        setting: Setting {
            span,
            pauses: span.is_some(),
            antagonist,
            ..Setting::new(server, Interface::PrivRing(privring::Sizes { ring }), App::L3fwd)
        },
        port_cores: vec![1],
        sources: vec![source],
        peers: Vec::new(),
    })
    .unwrap()
}

#[test]
fn a_pause_fills_rings_and_only_in_trials() {
    // 20 Gbps are 1.63 M frames a second: 163 in a pause of 100 us.
    let trial = Some(Span {
        late: Ps::ZERO,
        warm: Ps::from_us(6_000),
        part: Ps::from_us(5_000),
        parts: 4,
        agree: 0,
        step: Ps::ZERO,
        until_loss: false,
    });
    let lost = |ring, trial| one_core(ring, 20.0, trial, None).drops.values().sum::<u64>();
    assert_eq!(lost(256, trial), 0);
    let pauses = 2;
    let short = lost(128, trial);
    assert!((pauses * 25..=pauses * 45).contains(&short), "{short} frames lost");
    assert_eq!(lost(128, None), 0);
}

#[test]
fn threads_share_what_the_memory_gives() {
    let press = |kind, threads| {
        let r = one_core(1024, 1.0, None, Some(Antagonist { kind, threads }));
        assert_eq!(r.conservation.buffers, r.conservation.buffers_free);
        r.antagonist_gbps
    };
    for kind in AntagonistKind::ALL {
        let alone = press(kind, 1);
        // Little's law: ten to sixteen lines of 64 B under way, some 160 ns each.
        assert!((25.0..100.0).contains(&alone), "{}: {alone} Gbps", kind.name());
        let many = press(kind, 16);
        assert!(many > 4.0 * alone && many < 15.0 * alone, "{}: {alone}, {many}", kind.name());
        let usable = 93.9 * 0.68 * 8.0;
        assert!(many < usable, "{}: {many} Gbps of {usable}", kind.name());
    }
    assert_eq!(press(AntagonistKind::Stream, 0), 0.0);
}
