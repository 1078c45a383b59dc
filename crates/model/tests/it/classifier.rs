//! A card's tables: what look-ups and operations on rules cost, and runs whose frames meet them.

use memory::Ps;
use model::classifier::{Ip, Kind, LookUp, Operations, Place};
use model::profile::{Server, Tables};
use model::{App, Report, RuleCore, Rules, Scenario, Setting, Span, Updates, run};
use rings::{Interface, privring};
use traffic::{Line, Rate, Workload};

const FLOWS: u64 = 10_000;

fn server() -> Server {
    Server::by_name("nic-testbed-cx5").unwrap()
}

fn tables() -> Tables {
    server().tables().unwrap().clone()
}

/// ns of a look-up.
fn look_up(place: Place, rules: u64) -> f64 {
    LookUp::new(&tables(), place, FLOWS).time(rules).0 as f64 / 1e3
}

fn operations(place: Place, kind: Kind) -> Operations {
    Operations::new(&tables(), place, kind)
}

#[test]
fn a_root_table_takes_longer_with_each_rule_and_falls_off_its_index() {
    let at = |rules| look_up(Place::Root, rules);
    let t = tables();
    assert!((at(0) - t.root.frame_ns.value).abs() < 1e-3);
    for rules in (0..65_536).step_by(512) {
        assert!(at(rules + 512) > at(rules), "{rules}");
    }
    let edge = (t.root.indexed.value * t.root.entries.value) as u64;
    let slope = |rules| (at(rules + 512) - at(rules)) / 512.0;
    assert!(slope(edge + 1) > 1000.0 * slope(edge - 1024), "no cliff at {edge}");
}

#[test]
fn a_chain_takes_longer_with_each_table_and_as_buckets_fill() {
    for rules in [100_000, 4_000_000] {
        let took = [1, 2, 4, 8, 16].map(|n| look_up(Place::Chained(n), rules));
        assert!(took.is_sorted(), "{rules} rules: {took:?}");
    }
    // From one step of growth to the next.
    let c = tables().chained;
    let full = |buckets: f64| (c.full.value * buckets) as u64;
    let (low, high) = (full(65_536.0) + 1, full(262_144.0));
    let at = |rules| look_up(Place::Chained(1), rules);
    assert!(at(high) > at((low + high) / 2) && at((low + high) / 2) > at(low + 1));
    // Tables without rules are not looked into, and buckets that all fit are never fetched.
    assert_eq!(look_up(Place::Chained(16), 15), c.frame_ns.value);
    let few = LookUp::new(&tables(), Place::Chained(4), 16).time(4_000).0 as f64 / 1e3;
    assert!(few - c.frame_ns.value < 1.0, "{few}");
}

#[test]
fn a_rule_costs_its_entries() {
    let kinds = |ip, tunnel, actions| Kind { vlan: false, ip, ports: false, tunnel, actions };
    let at = |kind| operations(Place::Chained(1), kind).insert(40_000);
    let eth = at(kinds(Ip::No, false, 1));
    assert!(eth < at(kinds(Ip::V4, false, 1)) && at(kinds(Ip::V4, false, 1)) < at(kinds(Ip::V6, false, 1)));
    assert!(at(kinds(Ip::V4, true, 1)) > at(kinds(Ip::V6, false, 1)));
    let actions = [1, 2, 3, 4].map(|n| at(kinds(Ip::No, false, n)) - eth);
    let r = tables().rules;
    assert!((actions[1] - r.action_us.value).abs() < 1e-9, "two fit: {actions:?}");
    assert!(actions[2] - actions[1] > r.entry_us.value && actions[3] - actions[2] < r.entry_us.value);
}

#[test]
fn a_table_that_grows_moves_its_rules_once() {
    let ops = operations(Place::Chained(1), Kind::CONNECTION);
    let (t, all) = (tables(), 400_000);
    let full = (t.chained.full.value * 262_144.0) as u64;
    let usual = ops.insert(full - 1);
    let moved = ops.insert(full) - usual;
    assert!((moved - full as f64 * t.rules.move_us.value).abs() < 1e-6 * moved, "{moved}");
    let steps = (20_000..all).filter(|rules| ops.insert(*rules) > 2.0 * usual).count();
    assert_eq!(steps, 2, "at 76 000 and 304 000 rules");
    // An update in place costs less than another rule, and most where buckets are full.
    assert!(ops.update(full) < ops.replace(full) && ops.update(full) > ops.update(full + 1));
    assert!(ops.delete(full) < ops.replace(full));
}

#[test]
fn firmware_slows_down_behind_the_index_and_a_full_root_table_takes_no_more() {
    let ops = operations(Place::Root, Kind::CONNECTION);
    assert!(ops.insert(65_535) > 100.0 * ops.insert(50_000));
    assert!(ops.has_room(65_535) && !ops.has_room(65_536));
    let v6 = operations(Place::Root, Kind { ip: Ip::V6, ..Kind::CONNECTION });
    assert!(v6.insert(65_535) < ops.insert(50_000), "the driver's own way has no cliff");
    assert!(operations(Place::Chained(1), Kind::CONNECTION).has_room(1 << 29));
}

#[test]
fn tables_that_make_no_sense_are_refused() {
    let text = include_str!("../../../../profiles/nic-testbed-cx5.toml");
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Server::parse(&text.replace(from, to)).unwrap_err().to_string()
    };
    let line = text.lines().find(|l| l.starts_with("growth")).unwrap();
    assert!(
        refused(line, "").contains("tables.chained.growth is missing; allowed: all of [tables], or none")
    );
    assert!(refused("growth = { value = 4,", "growth = { value = 1,").contains("allowed: 2 to 64 times"));
    assert!(refused("indexed = { value = 0.8645,", "indexed = { value = 86,").contains("of the entries"));
    assert!(refused("entries = { value = 65536,", "entries = { value = 6.5,").contains("whole number"));
    assert!(refused("[tables.root]\n", "[tables.root]\nspeed = 3\n").contains("speed"));
}

/// 100 Gbps of 1500 B for one core, from empty rings, with `rules`.
fn scenario(rules: Option<Rules>, span: Span) -> Scenario {
    let workload = Workload::Generated("fixed:1500,flows=10000".parse().unwrap());
    let source = workload.source_on(Line { port: 0, loads: &[1], gbps: 100.0 }, Rate::Gbps(100.0), 1);
    let server = server();
    Scenario {
        window: server.window(),
        setting: Setting {
            limit: Ps::from_us(1_000_000),
            span: Some(span),
            rules,
            ..Setting::new(server, Interface::PrivRing(privring::Sizes { ring: 256 }), App::L3fwd)
        },
        port_cores: vec![1],
        sources: vec![source],
        peers: Vec::new(),
    }
}

/// So many parts of a millisecond, behind what it takes for caches to warm.
fn span(parts: u32) -> Span {
    let part = Ps::from_us(1_000);
    Span { late: Ps::ZERO, warm: Ps::from_us(5_000), part, parts, agree: 0, step: part, until_loss: false }
}

fn report(place: Place, installed: u64, updates: Option<Updates>, parts: u32) -> Report {
    let rules = Rules { place, installed, flows: FLOWS, updates };
    let r = run(&mut scenario(Some(rules), span(parts))).unwrap();
    let c = r.conservation;
    assert_eq!(c.offered, c.delivered + c.dropped + c.in_nic, "{place:?}");
    assert_eq!(c.buffers, c.buffers_free, "{place:?}");
    assert_eq!(r.counted.dropped, r.drops.values().sum::<u64>(), "{place:?}");
    r
}

fn drops(r: &Report) -> Vec<String> {
    r.drops.keys().map(ToString::to_string).collect()
}

#[test]
fn look_ups_limit_a_run_and_frames_wait_before_them() {
    let usual = run(&mut scenario(None, span(4))).unwrap();
    let free = report(Place::Chained(1), 1000, None, 4);
    assert!((free.throughput_gbps - usual.throughput_gbps).abs() < 0.1, "{}", free.throughput_gbps);
    let slow = report(Place::Chained(16), 4_000_000, None, 8);
    let took = look_up(Place::Chained(16), 4_000_000);
    let gbps = 12_000.0 / took;
    assert!((slow.throughput_gbps / gbps - 1.0).abs() < 0.01, "{} of {gbps}", slow.throughput_gbps);
    assert_eq!(drops(&slow), ["nic_buffer_full"]);
    // The buffer is as full as it can be all the time.
    let waits = tables().chained.buffer_kib.value * 1024.0 / 1500.0 * took / 1e3;
    let more = slow.latency_us.p50 - free.latency_us.p10;
    assert!((more / waits - 1.0).abs() < 0.3, "{more} us of {waits}");
}

#[test]
fn a_core_that_inserts_does_not_receive_and_another_core_disturbs_nobody() {
    let updates = |core| Updates { first: Ps::from_us(7_000), gap: Ps::ZERO, number: Some(20), core };
    let same = report(Place::Root, 0, Some(updates(RuleCore::Same)), 12);
    assert_eq!(same.counters["rules_inserted"], 20);
    assert_eq!(drops(&same), ["ring_full"]);
    // Before the batch the core is at line rate; then it writes rules for some 5 ms.
    let parts: Vec<f64> = same.parts.iter().map(|p| p.throughput_gbps).collect();
    assert!(parts[1] > 97.0 && parts[3] < 1.0 && parts[5] < 1.0 && parts[11] > 97.0, "{parts:?}");
    let other = report(Place::Root, 0, Some(updates(RuleCore::Other)), 8);
    assert_eq!((other.counters["rules_inserted"], drops(&other).len()), (20, 0));
}

#[test]
fn the_interval_to_the_next_rule_begins_when_one_is_done() {
    let gap = Ps::from_us(200);
    let updates = Updates { first: gap, gap, number: None, core: RuleCore::Same };
    let r = report(Place::Root, 0, Some(updates), 40);
    let ops = operations(Place::Root, Kind::CONNECTION);
    let cost = ops.insert(50) * ops.beside();
    let expected = 45_000.0 / (200.0 + cost);
    let done = r.counters["rules_inserted"] as f64;
    assert!((done - expected).abs() < 6.0, "{done} of {expected}");
}

#[test]
fn rules_that_have_no_place_are_refused() {
    let refused = |rules: Rules, change: fn(&mut Scenario)| {
        let mut s = scenario(Some(rules), span(1));
        change(&mut s);
        run(&mut s).unwrap_err().to_string()
    };
    let rules = |place, installed| Rules { place, installed, flows: FLOWS, updates: None };
    assert!(refused(rules(Place::Root, 65_537), |_| {}).contains("allowed: up to 65536"));
    assert!(refused(rules(Place::Chained(0), 1), |_| {}).contains("allowed: 1 to 64"));
    assert!(refused(rules(Place::Chained(1), 1 << 40), |_| {}).contains("rules; allowed: up to"));
    let other = Server::by_name("ddio-bench").unwrap();
    assert!(other.tables().is_none());
    let elsewhere = refused(rules(Place::Root, 1), |s| s.server = Server::by_name("ddio-bench").unwrap());
    assert!(elsewhere.contains("ddio-bench has no tables"), "{elsewhere}");
}
