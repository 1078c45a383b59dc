//! What a comparison promises: the same frames for all, no lead that is none, settings that help.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use traffic::{Arrival, Rate, Source, Workload, write_pcap};

use common::{json, refused, shown, word};

/// Two cores of one port, one placement, short trials.
const QUICK: &str = "compare --ports 1 --cores 2 --placements 1 --other-arrivals 1 --trial-ms 2 --limit-ms 20 --resolution 4 --best none";

/// The same on so many cores.
fn on(cores: u32) -> String {
    QUICK.replace("--cores 2", &format!("--cores {cores}"))
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is no number"))
}

fn rows(found: &Value) -> &Vec<Value> {
    found["results"].as_array().unwrap()
}

/// A row from full rings.
fn row<'a>(found: &'a Value, label: &str) -> &'a Value {
    rows(found).iter().find(|r| r["label"] == label && r["start"] == "full").unwrap()
}

fn standing<'a>(found: &'a Value, label: &str) -> &'a Value {
    found["verdict"]["carries"].as_array().unwrap().iter().find(|s| s["label"] == label).unwrap()
}

fn notes(found: &Value) -> String {
    let notes = found["notes"].as_array().unwrap();
    notes.iter().map(|n| n.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn headline(found: &Value) -> &str {
    found["verdict"]["headline"].as_str().unwrap()
}

/// Frames whose times are what `at` makes of their number, ns.
struct Timed<F> {
    frames: Box<dyn Source>,
    next: u64,
    at: F,
}

impl<F: FnMut(u64) -> u64 + Send> Source for Timed<F> {
    fn next(&mut self, out: &mut Arrival) -> bool {
        let more = self.frames.next(out);
        out.at = (self.at)(self.next) * 1000;
        self.next += 1;
        more
    }
}

/// A capture of `frames` of three sizes in `flows` flows.
fn capture(dir: &Path, frames: u64, flows: u32, at: impl FnMut(u64) -> u64 + Send) -> String {
    let workload = Workload::Generated(format!("imix,flows={flows}").parse().unwrap());
    let mut timed = Timed { frames: workload.source(0, 1, Rate::Own, 1), next: 0, at };
    let path = dir.join("c.pcap");
    assert_eq!(write_pcap(&path, &mut timed, frames).unwrap(), frames);
    word(&path).to_string()
}

/// Thrice as fast in its last third as in its first.
fn varying(n: u64) -> u64 {
    let (slow, fast) = (n.min(6000), n.saturating_sub(6000));
    1_000 + slow * 900 + fast * 300
}

#[test]
fn all_are_offered_the_same_frames_and_nobody_wins_in_throughput() {
    let dir = TempDir::new().unwrap();
    let path = capture(dir.path(), 9000, 64, varying);
    let all = "--interfaces privring,shring,rxbisect,corec,ddring,dynamic";
    let found = json(&format!(
        "{} --no-search --rate 4 {all} --pcap {path}",
        QUICK.replace("--placements 1", "--placements 2")
    ));
    let first = &rows(&found)[0]["counted"];
    assert!(number(&first["offered"]) >= 9000.0, "a lap at least: {first}");
    assert_eq!(rows(&found).len(), 12);
    for r in rows(&found) {
        let c = &r["counted"];
        let what = format!("{} from {}: {c}", r["label"], r["start"]);
        for field in ["from_us", "offered", "offered_bytes"] {
            assert_eq!(c[field], first[field], "{what}: {field}");
        }
        assert_eq!(r["offered_gbps"], rows(&found)[0]["offered_gbps"], "{what}");
        assert!(
            number(&c["sent"]) + number(&c["dropped"])
                <= number(&c["offered"]) + number(&c["waiting_before"])
        );
        assert_eq!(number(&c["dropped"]), 0.0, "{what}");
        let sent = number(&r["throughput_gbps"]) / number(&r["offered_gbps"]);
        assert!((sent - 1.0).abs() < 0.01, "{what}: {sent} of what came");
    }
    let by = found["verdict"]["decided_by"].as_str().unwrap();
    assert!(["latency_p99_us", "dram_gbps", "circulating_buffers", "none"].contains(&by), "{by}");
    assert!(
        !headline(&found).contains("throughput") && !headline(&found).contains("%: "),
        "{}",
        headline(&found)
    );
}

#[test]
fn a_capture_without_times_is_paced_evenly_and_says_so() {
    let dir = TempDir::new().unwrap();
    let path = capture(dir.path(), 3000, 64, |_| 5_000);
    let line = format!("{} --no-search --interfaces privring --rate 98 --pcap {path}", on(8));
    let found = json(&line);
    assert!(
        notes(&found).contains("has no timing") && notes(&found).contains("paced evenly"),
        "{}",
        notes(&found)
    );
    assert!(shown(&line).contains("- the capture has no timing"));
    for r in rows(&found) {
        // Frames alone: the wire has FCS, preamble and gap besides.
        assert!(number(&r["throughput_gbps"]) < 98.0 && number(&r["offered_gbps"]) < 98.0, "{r}");
    }
    let told = json(&format!("{line} --arrivals poisson"));
    assert!(notes(&told).contains("time stamps are overridden: arrivals poisson"), "{}", notes(&told));
    refused(
        &format!("{QUICK} --rate own --pcap {path}"),
        &["--rate own", "same time stamp", "a rate in Gbps"],
    );
}

#[test]
fn own_timing_needs_times_of_its_own() {
    let dir = TempDir::new().unwrap();
    let path = capture(dir.path(), 300, 8, |n| n * 1000);
    refused(&format!("{QUICK} --rate own"), &["--rate own", "generated traffic"]);
    refused(
        &format!("{QUICK} --rate own --arrivals constant --pcap {path}"),
        &["--rate own", "--arrivals overrides"],
    );
    refused(&format!("{QUICK} --arrivals sometimes"), &["--arrivals", "poisson"]);
    shown(&format!("{QUICK} --no-search --interfaces privring --rate own --pcap {path}"));
}

#[test]
fn captures_of_hours_run_at_their_own_rate_and_of_days_they_are_refused() {
    let dir = TempDir::new().unwrap();
    // A frame a minute: five hours, and eight days.
    let hours = capture(dir.path(), 300, 8, |n| n * 60_000_000_000);
    let found = json(&format!("{QUICK} --interfaces privring --rate own --pcap {hours}"));
    assert_eq!(standing(&found, "privring")["carries"], "yes", "{found}");
    let days = capture(dir.path(), 12_000, 8, |n| n * 60_000_000_000);
    refused(
        &format!("{QUICK} --interfaces privring --rate own --pcap {days}"),
        &["whole laps", "hours", "a higher rate in Gbps"],
    );
}

#[test]
fn what_was_done_to_the_times_of_a_capture_is_told() {
    let told = |rate: &str, at: fn(u64) -> u64, parts: &[&str]| {
        let dir = TempDir::new().unwrap();
        let path = capture(dir.path(), 400, 8, at);
        let found = json(&format!("{QUICK} --no-search --interfaces privring --rate {rate} --pcap {path}"));
        for part in parts {
            assert!(notes(&found).contains(part), "`{part}` is not in: {}", notes(&found));
        }
    };
    told("5", |n| 1_000 * (1 + n / 40), &["400 frames have only 10 different time stamps", "spread evenly"]);
    // Every tenth is stamped 2 us before the one before it.
    told("5", |n| 10_000 + n * 1_000 - if n % 10 == 5 { 3_000 } else { 0 }, &["40 of 400 frames", "sorted"]);
    told(
        "5",
        |n| n * 10_000 + if n < 200 { 0 } else { 5_000_000_000 },
        &["idle time is left out: 1 gaps of 5.00 s"],
    );
    told("5", |n| n * 10_000, &["compressed in time by a factor of", "its own rate is"]);
    told("0.05", |n| n * 1_000, &["stretched in time by a factor of"]);
}

#[test]
fn an_overload_of_small_frames_is_told_with_the_cores_that_it_takes() {
    let found = json(&format!("{QUICK} --workload rfc2544:64 --rate 60 --no-search"));
    assert!(headline(&found).contains("one carries") && headline(&found).contains("without loss"));
    let found =
        json(&format!("{QUICK} --workload rfc2544:64 --rate 60 --interfaces privring,shring,rxbisect"));
    let head = headline(&found);
    assert!(head.to_lowercase().contains("none carries"), "{head}");
    assert!(head.contains("2 cores carry") && head.contains("or a lower rate"), "{head}");
    for label in ["privring", "shring", "rxbisect"] {
        assert_eq!(standing(&found, label)["carries"], "no", "{label}");
    }
    let rate = |label: &str| number(&row(&found, label)["no_drop_gbps"]);
    let most = ["privring", "shring", "rxbisect"].map(rate).into_iter().fold(0.0, f64::max);
    if let Some(winner) = found["verdict"]["winner"].as_str() {
        // Level ones, within the resolution, are told apart by what they lose.
        let offered = number(&row(&found, winner)["offered_gbps"]);
        assert!(rate(winner) >= most - 0.08 * offered, "{winner} carries {}, another {most}", rate(winner));
        let by_rate = found["verdict"]["decided_by"] == "no_drop_gbps";
        assert!(!by_rate || rate(winner) == most, "{head}");
    }
}

/// One flow's bursts are larger than a small private ring: it carries nothing, and no percentage is named.
#[test]
fn a_lead_over_nothing_is_no_percentage() {
    let line = format!(
        "{} --interfaces privring,rxbisect --ring 64 --ax 512 --rate 60 --workload fixed:1500,flows=4,arrivals=bursty:1024",
        on(4)
    );
    let found = json(&line);
    assert!(number(&row(&found, "privring")["no_drop_gbps"]) < 0.1, "{}", headline(&found));
    if let Some(pct) = found["verdict"]["margin"]["pct"].as_f64() {
        assert!(pct <= 1000.0, "{pct}");
    }
    let long = |word: &str| word.trim_end_matches(['%', '.', ',']).parse::<f64>().is_ok_and(|n| n > 1e4);
    let mut words = headline(&found).split_whitespace();
    assert!(words.all(|w| !w.contains('e') || !w.ends_with('%') && !long(w)), "{}", headline(&found));
}

/// Cores that share a ring take turns with one flow: below an overload its frames overtake.
#[test]
fn what_reorders_at_the_load_it_carries_is_left_out_unless_order_does_not_matter() {
    let line = format!("{} --interfaces privring,corec --workload fixed:1500,flows=1 --rate 60", on(4));
    let strict = json(&line);
    let corec = standing(&strict, "corec");
    assert_eq!(corec["left_out"], true, "{corec}");
    assert!(number(&corec["flow_reordered_pct"]) > 0.01, "{corec}");
    assert!(headline(&strict).contains("corec is left out"), "{}", headline(&strict));
    assert_ne!(strict["verdict"]["winner"], "corec");
    let any = json(&format!("{line} --order any"));
    assert_eq!(standing(&any, "corec")["left_out"], false);
    assert_eq!(standing(&any, "privring")["left_out"], false);
    assert!(!headline(&any).contains("left out"), "{}", headline(&any));
    refused(&format!("{QUICK} --order loose"), &["--order", "strict, any"]);
}

#[test]
fn what_to_set_is_named_and_ends_the_loss() {
    let base = "compare --ports 1 --cores 4 --placements 1 --other-arrivals 0 --trial-ms 2 --limit-ms 20 --resolution 8 --workload fixed:1500,flows=10k,arrivals=bursty:1024 --rate 30 --interfaces privring";
    let found = json(&format!("{base} --ring 64 --best none"));
    assert_eq!(standing(&found, "privring")["carries"], "no");
    let remedy = &found["remedies"][0];
    assert_eq!(remedy["label"], "privring");
    let set = remedy["set"].as_str().unwrap_or_else(|| panic!("{remedy}"));
    assert!(set.starts_with("--ring "), "{set}");
    assert_eq!(remedy["tried"].as_array().unwrap().last().unwrap(), set, "the last one tried helps");
    assert!(shown(&format!("{base} --ring 64 --best none")).contains(&format!("privring: set {set}: ")));
    let again = json(&format!("{base} --best none {set}"));
    assert_eq!(standing(&again, "privring")["carries"], "yes", "{}", headline(&again));
    // The best of its sizes is a row of its own, that carries it as well.
    let best = json(&format!("{base} --ring 64"));
    let label = best["verdict"]["carries"][1]["label"].as_str().unwrap().to_string();
    let ring: u64 = label.strip_prefix("privring:ring=").unwrap().parse().unwrap();
    assert!(ring > 64 && ring.is_power_of_two(), "{label}");
    assert_eq!(row(&best, &label)["params"]["ring"], ring);
    assert_eq!(standing(&best, &label)["carries"], "yes");
    assert_eq!((&best["verdict"]["winner"], &best["verdict"]["decided_by"]), (&label.into(), &"loss".into()));
    refused(&format!("{base} --best rxbisect"), &["--best rxbisect", "privring, shring"]);
}

#[test]
fn at_line_rate_a_note_tells_of_the_backlog_and_the_default_is_below_it() {
    let full = json(&format!("{} --no-search --interfaces privring --rate 100", on(8)));
    assert!(
        notes(&full).contains("a backlog never drains") && notes(&full).contains("--rate 98"),
        "{}",
        notes(&full)
    );
    let usual = json(&format!("{} --no-search --interfaces privring", on(8)));
    assert_eq!(number(&usual["defaults"]["rate"]), 98.0, "of one port's 100");
    assert!(!notes(&usual).contains("backlog"), "{}", notes(&usual));
}

#[test]
fn what_one_can_buy_today_is_told_of_each() {
    let all = "privring,shring,rxbisect,dynamic,corec,ddring";
    let line = format!("{QUICK} --no-search --rate 5 --interfaces {all}");
    let found = json(&line);
    let shown = shown(&line);
    for (label, today) in all.split(',').zip(["yes", "no", "no", "no", "driver", "yes"]) {
        assert_eq!(row(&found, label)["today"], today, "{label}");
        let line = shown.lines().find(|l| l.starts_with(&format!("{label} "))).unwrap();
        assert_eq!(line.split_whitespace().nth(1), Some(today), "{line}");
    }
}

#[test]
fn cycles_of_ones_own_application_count() {
    let cycles = |more: &str| {
        let found = json(&format!("{QUICK} --no-search --rate 5 --interfaces privring --app l3fwd{more}"));
        (number(&row(&found, "privring")["cycles_per_packet"]), found["defaults"]["app_cycles"].clone())
    };
    let (few, many) = (cycles(" --app-cycles 200"), cycles(" --app-cycles 1200"));
    assert!((many.0 - few.0 - 1000.0).abs() < 100.0, "{few:?} {many:?}");
    assert_eq!((few.1, many.1, cycles("").1), (200.into(), 1200.into(), Value::Null));
    for app in ["kv --steer port --workload kv:put=50", "ipsec"] {
        refused(
            &format!("{QUICK} --app-cycles 900 --app {app}"),
            &["--app-cycles 900", "l3fwd, lb, nat, nf, udp-echo, udp-ack or vxlan"],
        );
    }
    refused(&format!("{QUICK} --app-cycles 0"), &["--app-cycles 0", "1 to 10000000"]);
}

#[test]
fn a_sweep_has_every_load_and_interface() {
    let line = format!("{QUICK} --no-search --rate 40 --interfaces privring,shring --sweep rate");
    let found = json(&line);
    let loads = found["sweep"]["loads"].as_array().unwrap();
    assert_eq!(found["sweep"]["labels"], serde_json::json!(["privring", "shring"]));
    let gbps: Vec<f64> = loads.iter().map(|l| number(&l["gbps"])).collect();
    assert!(gbps.len() == 8 && gbps.is_sorted(), "{gbps:?}");
    let offered = number(&rows(&found)[0]["offered_gbps"]);
    assert!((gbps[7] / offered - 1.0).abs() < 0.01, "{gbps:?} up to {offered}");
    let lost = |at: usize, i: usize| number(&loads[at]["lost_pct"][i]);
    for i in 0..2 {
        assert!(lost(0, i) == 0.0 && lost(7, i) > 0.0, "two cores do not carry 40 Gbps, but 4: {loads:?}");
        assert!(loads.iter().all(|l| number(&l["latency_p99_us"][i]) > 0.0));
    }
    assert_eq!(shown(&line).lines().filter(|l| l.contains("  shring  ")).count(), 8);
    refused(&format!("{QUICK} --sweep ring"), &["--sweep ring", "rate"]);
    assert!(json(&format!("{QUICK} --no-search --rate 5 --interfaces privring"))["sweep"].is_null());
}

#[test]
fn verbose_lists_commands_and_constants_and_else_a_line_does() {
    let line = format!("{QUICK} --no-search --rate 5 --interfaces privring,rxbisect");
    let (short, long) = (shown(&line), shown(&format!("{line} --verbose")));
    let commands = |t: &str| t.lines().filter(|l| l.starts_with("  rxlab compare ")).count();
    assert_eq!((commands(&short), commands(&long)), (0, 2));
    // Wherever lines break.
    let [short, long] = [short, long].map(|t| t.split_whitespace().collect::<Vec<_>>().join(" "));
    assert!(short.contains("--verbose lists them and every command") && !long.contains("--verbose lists"));
    assert!(long.contains("constants not published for this server:") && long.contains("sampling 32"));
}

/// The widest rows: an interface with two sizes, the longest names, values of many digits; and a second best.
#[test]
fn tables_and_sentences_fit_a_terminal() {
    let over = "--rate 98 --interfaces rxbisect,privring,dynamic --ax 4096 --bx 8192 --ring 8192";
    for more in [
        "--no-search",
        "--no-search --workload rfc2544:64",
        "--no-search --workload rfc2544:64 --emulated --interfaces privring",
    ] {
        let shown = if more.contains("emulated") {
            shown(&format!("{QUICK} --rate 60 --ring 256 {more}"))
        } else {
            shown(&format!("{QUICK} {over} {more}"))
        };
        let wide: Vec<&str> = shown.lines().filter(|l| l.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{more}: {wide:#?}");
        assert!(shown.contains("interface") && shown.contains("no-drop"), "{shown}");
    }
}

#[test]
fn a_report_of_a_verdict_has_its_headline() {
    let dir = TempDir::new().unwrap();
    let page = dir.path().join("r.html");
    let line = format!("{QUICK} --no-search --rate 5 --html {}", word(&page));
    let found = json(&line);
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains(headline(&found)), "{}", headline(&found));
}
