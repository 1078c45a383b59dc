//! Flows that no core receives: what reaches memory, what they take from others, and when they come and go.

use memory::Ps;
use model::profile::Server;
use model::{App, Bypass, Placed, Report, Scenario, Setting, Span, run};
use rings::{Interface, privring};
use traffic::{Line, Phases, Rate, Source, Spec, Workload};

/// A flow of 64 KiB writes into 16 MiB, eight to an immediate, over the whole run.
fn flow(gbps: f64, placed: Placed) -> Bypass {
    let (from, until) = (Ps::ZERO, Ps::from_us(1_000_000));
    Bypass {
        port: 0,
        gbps,
        message: 65_536,
        batch: 8,
        region: 16 << 20,
        placed,
        keeps_credits: false,
        files: false,
        from,
        until,
    }
}

fn frames(server: &Server, gbps: f64, seed: u64) -> Box<dyn Source> {
    sized(server, "fixed:512,flows=64", gbps, seed)
}

fn sized(server: &Server, spec: &str, gbps: f64, seed: u64) -> Box<dyn Source> {
    let spec: Spec = spec.parse().unwrap();
    let line = Line { port: 0, loads: &[1], gbps: server.nic.port_gbps };
    Workload::Generated(spec).source_on(line, Rate::Gbps(gbps), seed)
}

/// Cores and the entries of their rings.
#[derive(Clone, Copy)]
struct Rings(u32, u32);

/// What is run beside `bypass`: cores that forward, in a window of 4 ms behind 2 ms, in parts of 1 ms.
fn beside(
    server: Server,
    Rings(cores, ring): Rings,
    source: Box<dyn Source>,
    bypass: Vec<Bypass>,
) -> Result<Report, model::Error> {
    let ms = Ps::from_us(1_000);
    let span = Span {
        late: Ps::ZERO,
        warm: Ps(ms.0 * 2),
        part: ms,
        parts: 4,
        agree: 0,
        step: Ps::ZERO,
        until_loss: false,
    };
    run(&mut Scenario {
        window: server.window(),
        setting: Setting {
            span: Some(span),
            bypass,
            ..Setting::new(server, Interface::PrivRing(privring::Sizes { ring }), App::L3fwd)
        },
        port_cores: vec![cores],
        sources: vec![source],
        peers: Vec::new(),
    })
}

fn testbed() -> Server {
    Server::by_name("ceio-testbed").unwrap()
}

const IDLE: Rings = Rings(4, 1024);

/// Beside 20 Gbps of frames.
fn with(bypass: Vec<Bypass>) -> Report {
    let server = testbed();
    let source = frames(&server, 20.0, 1);
    beside(server, IDLE, source, bypass).unwrap()
}

#[test]
fn writes_to_the_cache_push_frames_out_and_writes_to_memory_do_not() {
    let none = with(Vec::new());
    let [cache, memory] = [Placed::Cache, Placed::Memory].map(|placed| with(vec![flow(75.0, placed); 2]));
    assert_eq!(none.bypass_gbps, None);
    for r in [&cache, &memory] {
        // 1024 of 1106 B on the wire are payload.
        let payload = 150.0 * 1024.0 / 1106.0;
        let got = r.bypass_gbps.unwrap();
        assert!((got - payload).abs() < 0.01 * payload, "{got} Gbps of {payload}");
        let (writes, immediates) = (r.counters["bypass_writes"], r.counters["bypass_immediates"]);
        assert!(writes > 1000 && writes / 8 - immediates <= 2, "{writes} writes, {immediates} immediates");
        assert_eq!(r.conservation.buffers, r.conservation.buffers_free);
        assert_eq!(r.throughput_gbps.round(), none.throughput_gbps.round(), "four cores have time to spare");
    }
    // A region of 16 MiB does not fit into 6 MiB of ways: what is written there goes on to DRAM.
    assert!(none.dram_gbps.write < 1.0, "{:?}", none.dram_gbps);
    for r in [&cache, &memory] {
        let payload = r.bypass_gbps.unwrap();
        assert!((0.9..1.3).contains(&(r.dram_gbps.write / payload)), "{:?} for {payload}", r.dram_gbps);
    }
    let hits = [&none, &cache, &memory].map(|r| r.ddio_hit_pct);
    assert!(hits[0] > 90.0 && hits[1] < 30.0 && (hits[0] - hits[2]).abs() < 5.0, "{hits:?} percent");
}

#[test]
fn a_core_that_is_behind_finds_its_frames_in_memory() {
    // One core that is offered more than it forwards: each frame waits behind a full ring. Its buffers do not fit
    // into the two ways to which lines move that a core has read, so that it depends on those of DDIO.
    let runs = [Vec::new(), vec![flow(65.0, Placed::Memory); 2], vec![flow(65.0, Placed::Cache); 2]];
    let [none, memory, cache] = runs.map(|bypass| {
        let mut server = testbed();
        server.apps.l3fwd.cycles.value = 800.0;
        let source = sized(&server, "fixed:1500,flows=64", 60.0, 1);
        beside(server, Rings(1, 2048), source, bypass).unwrap()
    });
    assert!(none.drop_pct > 5.0, "{} percent dropped", none.drop_pct);
    let missed = [&none, &memory, &cache].map(|r| r.llc_miss_pct);
    assert!(missed[1] < missed[0] + 3.0 && missed[2] > missed[1] + 5.0, "{missed:?} percent");
    let sent = [&none, &memory, &cache].map(|r| r.mpps);
    assert!(sent[2] < 0.99 * sent[1], "{sent:?} Mpps");
}

#[test]
fn a_flow_starts_and_stops_and_another_kind_takes_its_place() {
    let server = testbed();
    let at = |ms: u64| Ps::from_us(ms * 1_000);
    // 20 Gbps of frames until 4 ms, 10 from there on; 40 Gbps of writes from there to 5 ms.
    let phases = vec![(0, frames(&server, 20.0, 1)), (at(4).0, frames(&server, 10.0, 2))];
    let writes = Bypass { from: at(4), until: at(5), ..flow(40.0, Placed::Cache) };
    let r = beside(server, IDLE, Box::new(Phases::new(phases)), vec![writes]).unwrap();
    let sent: Vec<f64> = r.parts.iter().map(|p| p.throughput_gbps).collect();
    let [a, b, c, d] = sent[..] else { panic!("{sent:?}") };
    let near = |x: f64, y: f64| (x - y).abs() < 0.05 * y;
    assert!(near(a, b) && near(c, a / 2.0) && near(d, c), "{sent:?}");
    // One part of four has writes; each carries 1024 of 1106 B.
    let mean = 40.0 * 1024.0 / 1106.0 / 4.0;
    assert!(near(r.bypass_gbps.unwrap(), mean), "{:?} for {mean}", r.bypass_gbps);
}

#[test]
fn what_no_card_could_write_is_refused() {
    let good = flow(10.0, Placed::Cache);
    let said = |server: Server, bad: Bypass| {
        let source = frames(&testbed(), 1.0, 1);
        beside(server, IDLE, source, vec![bad]).unwrap_err().to_string()
    };
    for (bad, what) in [
        (Bypass { port: 1, ..good }, "at port 1; allowed: below 1"),
        (Bypass { gbps: 0.0, ..good }, "of 0 Gbps; allowed: above 0, up to 200"),
        (Bypass { gbps: f64::NAN, ..good }, "NaN Gbps; allowed"),
        (Bypass { batch: 0, ..good }, "0 to an immediate"),
        (Bypass { message: 0, ..good }, "writes 0 B"),
        (Bypass { region: 1000, ..good }, "into 1000 B; allowed"),
        (Bypass { until: Ps::ZERO, ..good }, "allowed: an end behind its start"),
    ] {
        let error = said(testbed(), bad);
        assert!(error.contains(what), "{error}");
    }
    let mut far = testbed();
    far.nic.remote = true;
    assert!(said(far, good).contains("a card on the cores' node"));
}

/// LineFS's host: every chunk is copied once, and sent on once; a host that is slower than its flow holds it back.
#[test]
fn a_host_of_files_copies_and_replicates_what_is_written_and_holds_back_more() {
    let with = |gbps| Bypass { files: true, batch: 4, region: 1 << 20, ..flow(gbps, Placed::Cache) };
    let server = testbed();
    let run = |gbps| beside(server.clone(), IDLE, frames(&server, 1.0, 1), vec![with(gbps); 2]).unwrap();
    for gbps in [10.0, 90.0] {
        let r = run(gbps);
        let count = |name: &str| r.counters[name];
        let (chunks, bytes) = (count("linefs_chunks"), count("linefs_bytes"));
        assert_eq!((bytes, count("linefs_batches")), (chunks * 65_536, chunks / 4));
        let behind = bytes - count("linefs_replicated_bytes");
        assert!(behind <= 16 * 262_144, "{behind} B of {bytes} not sent on");
        let written = count("bypass_writes");
        assert!(written >= chunks && written - chunks <= 2 * (16 + 4), "a region each: {written} {chunks}");
        assert_eq!(r.conservation.buffers, r.conservation.buffers_free);
        let (got, offered) = (r.bypass_gbps.unwrap(), 2.0 * gbps * 1024.0 / 1106.0);
        let copies = count("linefs_bytes") as f64 * 8.0 / ((r.measured_s + r.warmup_s) * 1e9);
        if gbps < 50.0 {
            assert!((got - offered).abs() < 0.02 * offered, "{got} Gbps of {offered}");
        } else {
            assert!(got < 0.9 * offered && (copies - got).abs() < 0.1 * got, "{got} of {offered}: {copies}");
        }
    }
    let many = vec![with(5.0); 5];
    let refused = beside(server.clone(), IDLE, frames(&server, 1.0, 1), many).unwrap_err().to_string();
    assert!(refused.contains("4 cores receive and 5 take files; allowed on ceio-testbed: 8"), "{refused}");
}
