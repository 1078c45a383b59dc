//! The command line as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn rxlab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rxlab")).args(args).output().unwrap()
}

/// A directory of this test's own.
fn dir(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("rxlab-{name}-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn json(args: &[&str]) -> Value {
    let out = rxlab(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// A small comparison: two cores, one placement, no search.
const SMALL: [&str; 8] = ["compare", "--cores", "2", "--placements", "1", "--no-search", "--rate", "20"];

fn small(more: &[&'static str]) -> Vec<&'static str> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn an_emulated_nic_says_so_and_runs_again() {
    let args = small(&["--emulated", "--interfaces", "privring", "--ring", "128", "--json"]);
    let first = json(&args);
    let row = &first["results"][0];
    assert_eq!(row["params"]["emulated"], 1);
    assert!(row["nic_busy_pct"].as_f64().unwrap() > 0.0);
    let again: Vec<_> = row["reproduce"].as_str().unwrap().split(' ').skip(1).collect();
    assert!(again.contains(&"--emulated"));
    let again: Vec<_> = again.into_iter().chain(["--no-search", "--json"]).collect();
    assert_eq!(json(&again)["results"], first["results"]);
    let rows = small(&["--emulated", "--interfaces", "rxbisect", "--ax", "8192", "--bx", "8192"]);
    let rows: Vec<_> = rows.into_iter().chain(["--ports", "1"]).collect();
    refused(&rows, &["rxbisect", "physical ring of an emulated port", "16384", "64 to 8192"]);
}

#[test]
fn ports_that_differ_are_told_apart_and_run_again() {
    let args = small(&["--port-load", "3:1", "--cores", "4", "--interfaces", "shring,corec", "--json"]);
    let args: Vec<_> =
        args.into_iter().enumerate().filter(|(i, _)| !matches!(i, 1 | 2)).map(|a| a.1).collect();
    let found = json(&args);
    let defaults = &found["defaults"];
    assert_eq!((&defaults["port_load"], &defaults["port_cores"]), (&"3:1".into(), &"3:1".into()));
    for row in found["results"].as_array().unwrap() {
        let ports = row["per_port"].as_array().unwrap();
        let value = |p: usize, name: &str| ports[p][name].as_f64().unwrap();
        assert_eq!(ports.len(), 2);
        assert_eq!((value(0, "cores"), value(1, "cores"), value(1, "first_core")), (3.0, 1.0, 3.0));
        assert!((value(0, "offered_gbps") / value(1, "offered_gbps") - 3.0).abs() < 0.05, "{ports:?}");
        assert_eq!(row["params"]["shared_by"], 3);
        assert_eq!(row["conservation"]["buffers"], row["conservation"]["buffers_free"]);
    }
    let again: Vec<_> = found["results"][0]["reproduce"].as_str().unwrap().split(' ').skip(1).collect();
    let again: Vec<_> = again.into_iter().chain(["--no-search", "--json"]).collect();
    assert_eq!(json(&again)["results"][0], found["results"][0]);
    assert!(json(&small(&["--interfaces", "privring", "--json"]))["results"][0].get("per_port").is_none());
}

#[test]
fn advice_names_sizes_reasons_and_what_breaks() {
    let words =
        "advise --nics 1 --cores 2 --rate 34 --placements 1 --trial-ms 10 --limit-ms 40 --resolution 4";
    let args: Vec<_> = words.split(' ').collect();
    let html = dir("advise").join("advice.html");
    let with_page: Vec<_> =
        args.iter().copied().chain(["--json", "--html", html.to_str().unwrap()]).collect();
    let found = json(&with_page);
    // One NIC of 100 Gbps: a burst of 1024 frames by two cores.
    assert_eq!(found["guideline"], serde_json::json!({"ax": 512, "bx": 1024}));
    let advice = &found["advice"];
    assert_eq!(advice["pool"], found["results"][1]["conservation"]["buffers"]);
    let tried = found["tried"].as_array().unwrap();
    let of = |ax: &Value, bx: &Value| tried.iter().find(|t| t["ax"] == *ax && t["bx"] == *bx).unwrap();
    let (at, from) = (of(&advice["ax"], &advice["bx"]), of(&512.into(), &1024.into()));
    let least = |t: &Value| t["no_drop_gbps"].as_f64().unwrap().min(t["throughput_gbps"].as_f64().unwrap());
    assert!(least(at) >= 0.98 * least(from), "{at} {from}");
    // 2 x 512 x 1536 B of 4 MiB, or what the sizes that were chosen instead make of it.
    let posted = 2.0 * advice["ax"].as_f64().unwrap() * 1536.0;
    let margin = (1.0 - posted / f64::from(4 << 20)) * 100.0;
    assert!((found["ddio_margin_pct"].as_f64().unwrap() - margin).abs() < 1e-9);
    assert!(found["breaks"]["gbps"].as_f64().unwrap() > at["no_drop_gbps"].as_f64().unwrap());
    assert_eq!(found["breaks"]["diagnosis"]["interface"], "rxbisect");
    assert_eq!(found["others"].as_array().unwrap().len(), 2);
    assert_eq!(found["lost"].as_array().unwrap().len(), 2);
    // The command beside a result runs it again.
    let again: Vec<_> = found["results"][1]["reproduce"].as_str().unwrap().split(' ').skip(1).collect();
    let again = json(&again.into_iter().chain(["--json"]).collect::<Vec<_>>());
    assert_eq!(again["results"][1], found["results"][1]);
    assert!(fs::read_to_string(&html).unwrap().contains("all-to-all among 2 cores"));
    fs::remove_dir_all(html.parent().unwrap()).unwrap();
    let text = String::from_utf8(rxlab(&args).stdout).unwrap();
    for part in
        ["setting", "entries", "holds", "DDIO", "circulate", "metastable", "shring with its best ring"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Fails with code 2, nothing on stdout, and one line on stderr that holds every part.
fn refused(args: &[&str], parts: &[&str]) {
    let out = rxlab(args);
    let line = String::from_utf8_lossy(&out.stderr).to_string();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {line}");
    assert!(out.stdout.is_empty(), "{args:?}");
    assert_eq!(line.trim_end().lines().count(), 1, "{args:?}: {line}");
    for part in parts {
        assert!(line.contains(part), "{args:?}: `{part}` is not in: {line}");
    }
}

#[test]
fn bad_values_are_told_in_one_line() {
    refused(&["compare", "--ring", "100"], &["--ring 100", "power of two", "64"]);
    refused(&["compare", "--ax", "1"], &["--ax 1", "power of two"]);
    refused(&["compare", "--tx-ring", "100"], &["--tx-ring 100"]);
    refused(&["compare", "--pool", "10"], &["pool of 10", "at least"]);
    refused(&["compare", "--server", "cray"], &["cray", "rxbisect-testbed"]);
    refused(&["compare", "--cores", "0"], &["--cores 0", "1 to 16"]);
    refused(&["compare", "--cores", "17"], &["--cores 17", "1 to 16"]);
    refused(&["compare", "--cores", "3"], &["--cores 3", "multiple of the 2 ports"]);
    refused(&["compare", "--port-load", "3:0"], &["--port-load 3:0", "whole number from 1 to 1000"]);
    refused(&["advise", "--port-load", "3:1:1"], &["--ports 3", "1 to 2"]);
    refused(&["compare", "--port-load", "3:1", "--ports", "1"], &["--port-load 3:1", "1 numbers"]);
    refused(&["compare", "--port-cores", "12:5"], &["--cores 17", "1 to 16"]);
    refused(&["compare", "--port-cores", "8:4", "--cores", "16"], &["--port-cores 8:4", "16 cores"]);
    refused(&["compare", "--port-load", "3:1", "--rate", "150"], &["--rate 150", "3:1", "133.3"]);
    let one = ["compare", "--port-load", "3:1", "--workload", "fixed:1500,flows=1"];
    refused(&one, &["--port-load 3:1", "2 flows or more"]);
    refused(&["bench", "model", "--port-load", "x"], &["--port-load x"]);
    refused(&["compare", "--cores", "many"], &["--cores", "many"]);
    refused(&["compare", "--cores", "-1"], &["--cores", "-1"]);
    refused(&["compare", "--rate", "-5"], &["--rate", "-5", "own"]);
    refused(&["compare", "--workload", "imix,flows=5,flows=6"], &["flows=6", "once"]);
    refused(&["live", "--marks", "some"], &["--marks", "each, waiting"]);
    refused(&["compare", "--interfaces", "tokenring"], &["tokenring", "privring, shring, rxbisect"]);
    refused(&["compare", "--app", "doom"], &["doom", "l3fwd, lb, nat, nf, kv"]);
    refused(&["compare", "--workload", "sometimes"], &["sometimes", "imix"]);
    refused(&["compare", "--app", "kv"], &["--app kv", "kv:put=PERCENT"]);
    refused(&["compare", "--workload", "kv:put=95"], &["kv:put=95", "--steer port"]);
    refused(&["compare", "--workload", "kv:put=x"], &["put=PERCENT"]);
    refused(&["live", "--app", "kv"], &["requests"]);
    refused(&["compare", "--target-reads", "5"], &["--target-reads 5", "--app nf"]);
    refused(
        &["compare", "--app", "nf", "--target-reads", "100001"],
        &["--target-reads 100001", "0 to 100000"],
    );
    refused(&["compare", "--steer", "dice"], &["--steer", "dice", "rss, port"]);
    refused(&["compare", "--workload", "imix,target=gbps:1"], &["target", "--steer port"]);
    let target = ["compare", "--steer", "port", "--workload", "imix,target=gbps:60", "--rate", "100"];
    refused(&target, &["target=gbps:60", "at most the 50 Gbps"]);
    refused(&[&target[..], &["--cores", "2"]].concat(), &["2 cores of a port"]);
    refused(&["compare", "--rate", "-3"], &["-3"]);
    refused(&["compare", "--rate", "1000"], &["--rate 1000", "on 2 ports", "200 Gbps"]);
    refused(&["compare", "--workload", "fixed:2049"], &["fixed:2049", "up to 2048 bytes"]);
    refused(&["compare", "--rate", "fast"], &["fast", "own"]);
    refused(&["compare", "--ddio-ways", "12"], &["--ddio-ways 12", "1 to 11"]);
    refused(&["compare", "--sampling", "3"], &["--sampling 3", "power of two"]);
    refused(&["compare", "--placements", "0"], &["--placements 0"]);
    refused(&["compare", "--bogus"], &["--bogus"]);
    refused(&["compare", "--pcap", "a", "--workload", "imix"], &["--pcap", "--workload"]);
    refused(&["experiment", "run", "rxbisect/fig99"], &["fig99", "rxbisect/fig2"]);
    refused(&["experiment", "run", "nobody", "--all"], &["nobody", "rxbisect"]);
    refused(&["profile", "show", "cray"], &["cray", "rxbisect-testbed"]);
    refused(&["advise", "--ax", "256"], &["--ax 256", "advise finds it"]);
    refused(&["advise", "--pool", "9000"], &["--pool 9000", "advise finds it"]);
    refused(&["advise", "--emulated"], &["--emulated", "compare"]);
    refused(&["advise", "--nics", "3"], &["--ports 3", "1 to 2"]);
    refused(&["trace", "x", "--cores", "0"], &["--cores 0"]);
    refused(&["bench", "model", "--repeats", "0"], &["--repeats 0"]);
    refused(&["bench", "threads", "--repeats", "0"], &["--repeats 0"]);
    refused(&["bench", "live", "--only", "tokenring"], &["--only tokenring", "memif", "rxbisect-pair"]);
    refused(&["bench", "live", "--measure", "warmth"], &["warmth", "stream", "cycles"]);
    refused(&["bench", "live", "--sizes", "63"], &["63", "64"]);
    refused(&["bench", "live", "--only", "memif", "--measure", "cycles"], &["nothing to measure"]);
    refused(&["bench", "live", "--build", "/nowhere"], &["/nowhere/bench/rxbench", "make dpdk"]);
    refused(&["live", "--workers", "0"], &["--workers 0", "1 to 64"]);
    refused(&["live", "--ring", "100"], &["100", "power of two"]);
    refused(&["live", "--app", "doom"], &["doom", "check, l3fwd, lb, nat"]);
    refused(&["live", "--interfaces", "tokenring"], &["tokenring"]);
    refused(&["live", "--pool", "10"], &["10", "allowed"]);
    refused(&["live", "--skew", "101"], &["101"]);
    refused(&[], &["--help"]);
}

#[test]
fn bad_captures_are_told_in_one_line() {
    let dir = dir("captures");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    // A pcap header and a record that promises 64 bytes and holds 3.
    let header = [0xd4u8, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
    let mut truncated = header.to_vec();
    truncated.extend([0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0, 1, 2, 3]);
    let (empty, text, truncated) = (
        file("empty.pcap", b""),
        file("text.pcap", b"no capture at all, just words"),
        file("t.pcap", &truncated),
    );
    for command in [&["trace"][..], &["compare", "--pcap"]] {
        let with = |name: &'static str, parts: &[&str], path: &str| {
            let args: Vec<&str> = command.iter().copied().chain([path]).collect();
            let parts: Vec<&str> = parts.iter().copied().chain([name]).collect();
            refused(&args, &parts);
        };
        with("none.pcap", &["No such file"], "none.pcap");
        with("empty.pcap", &["empty", "pcap or pcapng"], &empty);
        with("text.pcap", &["not a capture"], &text);
        with("t.pcap", &["no usable frame"], &truncated);
    }
    // One whole frame, then half of another.
    let mut half = header.to_vec();
    half.extend([0, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 60, 0, 0, 0]);
    half.extend([0; 60]);
    half.extend([0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0, 1, 2, 3]);
    let half = file("half.pcap", &half);
    refused(
        &["compare", "--pcap", &half],
        &["half.pcap", "ends inside a record", "--allow-truncated", "1 whole"],
    );
    assert!(rxlab(&["trace", &half]).status.success(), "counted and told");
    let taken = small(&["--limit-ms", "5", "--interfaces", "privring", "--allow-truncated", "--pcap"]);
    assert!(rxlab(&[&taken[..], &[&half]].concat()).status.success());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_failed_run_leaves_no_report() {
    let dir = dir("report");
    let path = dir.join("r.html");
    let html = path.to_str().unwrap();
    refused(&["compare", "--ring", "100", "--html", html], &["--ring 100"]);
    refused(&["compare", "--html", dir.join("none/r.html").to_str().unwrap()], &["does not exist"]);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_comparison_has_the_documented_shape() {
    let out = json(&small(&["--json"]));
    for key in ["server", "traffic", "notes", "defaults", "seed", "verdict", "results", "remedies", "assumed"]
    {
        assert!(!out[key].is_null(), "{key}");
    }
    let verdict = &out["verdict"];
    for key in ["decided_by", "load_gbps", "carries", "headline", "diagnoses", "edges"] {
        assert!(!verdict[key].is_null(), "{key}");
    }
    // A winner has a margin, and without one there is what would separate the best.
    let won = !verdict["winner"].is_null();
    assert_eq!((verdict["margin"].is_null(), verdict["separates"].is_null()), (!won, won), "{verdict}");
    assert_eq!(won, verdict["decided_by"] != "none");
    if won {
        for key in ["value", "next_value", "next", "unit"] {
            assert!(!verdict["margin"][key].is_null(), "{key}");
        }
    }
    let carries = verdict["carries"].as_array().unwrap();
    let labels: Vec<_> = carries.iter().map(|c| c["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["privring", "shring", "rxbisect"]);
    assert!(carries.iter().all(|c| c["carries"] == "yes" && c["left_out"] == false), "{verdict}");
    let results = out["results"].as_array().unwrap();
    let seen: Vec<_> =
        results.iter().map(|r| (r["interface"].as_str().unwrap(), r["start"].as_str().unwrap())).collect();
    let expected = ["privring", "shring", "rxbisect"].map(|i| [(i, "empty"), (i, "full")]);
    assert_eq!(seen, expected.concat());
    for r in results {
        for key in [
            "label",
            "today",
            "posted_buffers",
            "placements",
            "other_arrivals",
            "counted",
            "params",
            "offered_gbps",
            "throughput_gbps",
            "mpps",
            "drop_pct",
            "drops",
            "latency_us",
            "ddio_hit_pct",
            "llc_miss_pct",
            "dram_gbps",
            "io_working_set_mib",
            "circulating_buffers",
            "tx_ring_mean",
            "cycles_per_packet",
            "range",
            "per_core",
        ] {
            assert!(!r[key].is_null(), "{key}");
        }
        for key in ["mean", "p50", "p90", "p99", "p999", "max"] {
            assert!(r["latency_us"][key].as_f64().unwrap() > 0.0, "{key}");
        }
        let c = &r["conservation"];
        let of = |key: &str| c[key].as_u64().unwrap();
        assert_eq!(of("offered"), of("delivered") + of("dropped") + of("in_nic"));
        assert_eq!(of("buffers"), of("buffers_free"));
    }
}

#[test]
fn a_target_is_the_first_core_of_each_port() {
    let target = ["--cores", "8", "--steer", "port", "--workload", "fixed:1500,target=gbps:1"];
    let base =
        ["compare", "--placements", "1", "--no-search", "--rate", "62", "--interfaces", "privring", "--json"];
    let v = json(&[&base[..], &target[..]].concat());
    let report = &v["results"][0];
    let rate = |core: usize| report["per_core"][core]["mpps"].as_f64().unwrap() * 1524.0 * 8e-3;
    for core in 0..8 {
        let expected = if core % 4 == 0 { 1.0 } else { 10.0 };
        assert!((rate(core) / expected - 1.0).abs() < 0.05, "core {core}: {} Gbps", rate(core));
    }
}

/// Every request is answered by the core of its key: none is dropped, and puts are answered by short frames.
#[test]
fn a_key_value_store_answers_every_request() {
    let base = ["compare", "--placements", "1", "--no-search", "--rate", "20", "--cores", "8", "--json"];
    let kv =
        ["--interfaces", "rxbisect", "--app", "kv", "--steer", "port", "--workload", "kv:put=95,zipf=0.99"];
    let v = json(&[&base[..], &kv[..]].concat());
    let run = &v["results"][0];
    assert_eq!(run["drop_pct"], 0.0);
    let mpps = run["mpps"].as_f64().unwrap();
    // 95% are 1234 B on the wire, 5% are 210 B.
    assert!((mpps / (20e3 / 8.0 / (0.95 * 1234.0 + 0.05 * 210.0)) - 1.0).abs() < 0.02, "{mpps} Mpps");
    let sent = run["throughput_gbps"].as_f64().unwrap() * 1e3 / 8.0 / mpps;
    assert!((sent / (0.95 * 60.0 + 0.05 * 1082.0) - 1.0).abs() < 0.05, "{sent} B a reply");
}

#[test]
fn the_target_alone_reads_more() {
    let base = ["compare", "--placements", "1", "--no-search", "--rate", "20", "--cores", "4", "--json"];
    let v = json(&[&base[..], &["--interfaces", "privring", "--app", "nf", "--target-reads", "20"]].concat());
    let busy = |core: usize| v["results"][0]["per_core"][core]["busy_pct"].as_f64().unwrap();
    for target in [0, 2] {
        assert!(busy(target) > 1.5 * busy(target + 1), "{} against {}", busy(target), busy(target + 1));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_does_not() {
    let run = |seed| rxlab(&small(&["--json", "--seed", seed])).stdout;
    assert!(!run("7").is_empty());
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

#[test]
fn a_search_stays_within_what_was_offered() {
    let out = json(&[
        "compare",
        "--cores",
        "2",
        "--placements",
        "1",
        "--rate",
        "10",
        "--interfaces",
        "privring",
        "--json",
    ]);
    let result = &out["results"][0];
    let (found, offered) =
        (result["no_drop_gbps"].as_f64().unwrap(), result["offered_gbps"].as_f64().unwrap());
    assert!(found > 0.0 && found <= offered * 1.01, "{found} of {offered}");
}

#[test]
fn a_report_is_one_file_that_needs_no_other() {
    let dir = dir("html");
    let path = dir.join("r.html");
    let made = |epoch: &str| {
        let args = [&SMALL[..], &["--html", path.to_str().unwrap()]].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rxlab"));
        assert!(command.args(args).env("SOURCE_DATE_EPOCH", epoch).output().unwrap().status.success());
        fs::read_to_string(&path).unwrap()
    };
    let text = made("1800000000");
    assert_eq!(text, made("1800000000"), "the date alone may differ");
    assert_ne!(text, made("1800000060"));
    assert!(text.contains("<svg") && text.contains("rxbisect") && text.contains("rxlab compare"));
    let foot =
        format!("2027-01-15 08:00 UTC by rxlab {}: <code>rxlab compare --cores 2", env!("CARGO_PKG_VERSION"));
    for part in [&foot, "prefers-color-scheme:dark", "<meta name=\"viewport\"", "class=\"wide\"><table"] {
        assert!(text.contains(part), "{part}");
    }
    for fetch in ["src=", "href=", "@import", "url("] {
        assert!(!text.contains(fetch), "{fetch}");
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn output_is_plain_where_it_is_no_terminal() {
    for args in [small(&[]), vec!["profile", "list"], vec!["experiment", "list"], vec!["--help"]] {
        let out = rxlab(&args);
        assert!(out.status.success(), "{args:?}");
        assert!(!out.stdout.contains(&0x1b), "{args:?}");
        assert!(out.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_point_runs_again_from_its_own_command_line() {
    let first = json(&small(&["--json", "--interfaces", "shring,rxbisect", "--ax", "64"]));
    for at in [0, 2] {
        let rows = &first["results"].as_array().unwrap()[at..at + 2];
        let command = rows[0]["reproduce"].as_str().unwrap();
        // The window is the one that all had; alone it would look for another.
        assert!(command.contains(" --window "), "{command}");
        let args: Vec<&str> = command.split(' ').skip(1).chain(["--no-search", "--json"]).collect();
        assert_eq!(json(&args)["results"].as_array().unwrap(), rows);
    }
}

/// A plan of one small series, to run in a moment.
const PLAN: &str = r#"
id = "test/plan"
title = "t"
source = "s"
notes = []
options = "--cores 2 --app l3fwd --workload fixed:1500 --rate 10 --placements 1"
x = "ring"
fields = ["throughput_gbps"]
[[series]]
id = "p"
label = "private"
interface = "privring"
sweep = { option = "--ring {}", values = [64, 128] }
[[claims]]
id = "holds"
what = "w"
published = "1"
unit = "ratio"
rule = "ratio"
tolerance = 0.05
metric = ["min(p.throughput_gbps) / p.offered_gbps@64"]
[[claims]]
id = "fails"
what = "w"
published = "400"
unit = "Gbps"
rule = "ratio"
tolerance = 0.1
metric = ["p.throughput_gbps@128"]
"#;

#[test]
fn an_experiment_is_judged_from_its_raw_values() {
    let dir = dir("plan");
    let path = dir.join("plan.toml");
    fs::write(&path, PLAN).unwrap();
    let out = json(&["experiment", "run", path.to_str().unwrap(), "--json"]);
    let points = out["series"][0]["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|p| p["x"].as_f64().unwrap()).collect::<Vec<_>>(), [64.0, 128.0]);
    assert!(points[0]["reproduce"].as_str().unwrap().contains("--ring 64"));
    let claim = |id: &str| out["claims"].as_array().unwrap().iter().find(|c| c["id"] == id).unwrap().clone();
    assert_eq!(claim("holds")["holds"], true);
    assert_eq!(claim("fails")["holds"], false);
    let full = points[1]["results"].as_array().unwrap().iter().find(|r| r["start"] == "full").unwrap();
    assert_eq!(claim("fails")["obtained"], full["throughput_gbps"]);
    for key in ["published", "rule", "tolerance", "deviation"] {
        assert!(!claim("fails")[key].is_null(), "{key}");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// Ends with code 1, results on stdout, and one line on stderr that holds every part.
fn met(args: &[&str], parts: &[&str]) {
    let out = rxlab(args);
    let line = String::from_utf8_lossy(&out.stderr).to_string();
    assert_eq!(out.status.code(), Some(1), "{args:?}: {line}");
    assert!(!out.stdout.is_empty(), "{args:?}: results are shown all the same");
    assert_eq!(line.trim_end().lines().count(), 1, "{args:?}: {line}");
    for part in parts {
        assert!(line.contains(part), "{args:?}: `{part}` is not in: {line}");
    }
}

#[test]
fn a_condition_that_is_met_ends_with_one() {
    let with = |more: &[&'static str]| {
        small(&[&["--limit-ms", "10", "--interfaces", "privring,shring"], more].concat())
    };
    let page = dir("fail-if").join("r.html");
    let html = page.to_str().unwrap();
    let args = with(&["--fail-if", "shring.sent>1", "--fail-if", "drops>100"]);
    met(
        &[&args[..], &["--html", html]].concat(),
        &["--fail-if", "'shring.sent>1'", "shring", "throughput_gbps 1"],
    );
    assert!(page.exists(), "the report is written all the same");
    fs::remove_dir_all(page.parent().unwrap()).unwrap();
    met(&with(&["--json", "--fail-if", "mpps>0"]), &["privring", " more"]);
    let good = rxlab(&with(&["--fail-if", "drops>100", "--fail-if", "p99<0"]));
    assert!(good.status.success() && good.stderr.is_empty(), "{good:?}");
    refused(&["compare", "--fail-if", "drips>0"], &["drips", "drops, p99, sent, no_drop, offered_gbps"]);
    refused(&["compare", "--fail-if", "drops"], &["drops", "NAME OP NUMBER"]);
    refused(&["compare", "--fail-if", "corec.drops>0"], &["corec", "privring, shring, rxbisect"]);
    // A rate that was not searched meets nothing, and is not said to.
    let out = rxlab(&with(&["--fail-if", "no_drop<1000"]));
    assert_eq!((out.status.code(), out.stdout.is_empty()), (Some(2), false));
    assert!(String::from_utf8_lossy(&out.stderr).contains("no row has a value of no_drop_gbps"));
}

#[test]
fn claims_and_points_of_an_experiment_are_conditions() {
    let dir = dir("fail-if-plan");
    let path = dir.join("plan.toml");
    fs::write(&path, PLAN).unwrap();
    let plan = path.to_str().unwrap();
    let run = |more: &[&'static str]| [&["experiment", "run", plan][..], more].concat();
    met(&run(&["--fail-if", "claims"]), &["claims", "do not hold: fails"]);
    met(&run(&["--fail-if", "p.sent<400", "--json"]), &["test/plan: private 64", "and 1 more"]);
    met(&run(&["--fail-if", "claims", "--fail-if", "privring.sent>1"]), &["fails; 'privring.sent>1'"]);
    assert!(rxlab(&run(&["--fail-if", "sent>400"])).status.success());
    refused(&run(&["--fail-if", "q.sent>1"]), &["`q`", "p, privring"]);
    let text = PLAN.replacen("published = \"400\"", "published = \"9.8\"", 1);
    fs::write(&path, text).unwrap();
    let good = rxlab(&run(&["--fail-if", "claims"]));
    assert!(good.status.success(), "{good:?}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_wrong_plan_is_refused() {
    let dir = dir("wrong-plan");
    let path = dir.join("plan.toml");
    let plan = path.to_str().unwrap();
    for (from, to, part) in [
        ("p.throughput_gbps@128", "q.throughput_gbps@128", "`q`"),
        ("\"privring\"", "\"tokenring\"", "tokenring"),
        ("[64, 128]", "[64, 100]", "100"),
        ("--cores 2", "--cores 99", "99"),
        ("--cores 2", "--kernels 2", "--kernels"),
        ("values = [64, 128]", "values = [128, 64]", "ascending"),
        ("--ring {}", "--ring", "{}"),
        ("rule = \"ratio\"", "rule = \"luck\"", "luck"),
    ] {
        fs::write(&path, PLAN.replacen(from, to, 1)).unwrap();
        refused(&["experiment", "run", plan], &[part]);
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_bench_has_the_documented_shape() {
    let out = json(&["bench", "model", "--cores", "2", "--rate", "10", "--repeats", "1", "--json"]);
    for key in ["scenario", "mode", "sampling", "packets", "wall_s", "packets_per_wall_s", "peak_rss_mib"] {
        assert!(!out[key].is_null(), "{key}");
    }
    assert!(out["packets"].as_u64().unwrap() > 1000);
}

#[test]
fn a_live_run_loses_nothing() {
    let out = json(&["live", "--packets", "20000", "--workers", "2", "--json"]);
    let runs = out.as_array().unwrap();
    assert_eq!(
        runs.iter().map(|r| r["interface"].as_str().unwrap()).collect::<Vec<_>>(),
        ["privring", "shring", "rxbisect"]
    );
    for r in runs {
        assert_eq!((r["delivered"].as_u64(), r["buffers_in_use"].as_u64()), (Some(20_000), Some(0)));
    }
    let text =
        rxlab(&["live", "--packets", "5000", "--workers", "1", "--app", "nat", "--interfaces", "rxbisect"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("rxbisect"));
    let rates = json(&["bench", "threads", "--packets", "5000", "--repeats", "1", "--json"]);
    assert_eq!(rates.as_array().unwrap().len(), 3);
    assert_eq!(rates[0]["against_privring"].as_f64(), Some(1.0));
}

#[test]
fn every_command_has_help_with_examples() {
    for command in [&["compare"][..], &["trace"], &["experiment"], &["profile"], &["live"], &["bench"], &[]] {
        let args: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
        let help = String::from_utf8(rxlab(&args).stdout).unwrap();
        assert!(help.contains("Examples:"), "{command:?}");
    }
    let help = String::from_utf8(rxlab(&["compare", "--help"]).stdout).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for old in ["nics", "nic-load", "nic-cores"] {
        assert!(!help.contains(old), "{old}");
        // What an old command line says is taken all the same, and refused by the new name.
        refused(&["compare", &format!("--{old}"), "0"], &["--port"]);
    }
    for default in [
        "[default: 1024]",
        "[default: 128]",
        "[default: rxbisect-testbed]",
        "[default: fixed:1500,flows=10M]",
    ] {
        assert!(help.contains(default), "{default}");
    }
}

/// Under balance and with a slow core for each port, from empty and from full rings.
#[test]
fn dynamic_does_as_well_as_the_better_kind_of_ring() {
    let base = ["compare", "--cores", "4", "--ring", "256", "--no-search", "--placements", "1", "--json"];
    let which = ["--interfaces", "privring,shring,dynamic"];
    let slow = ["--rate", "60", "--app", "nf", "--steer", "port", "--target-reads", "100"];
    for (load, switches) in [(&["--rate", "40"][..], 0), (&slow[..], 2)] {
        let out = json(&[&base[..], &which, load].concat());
        let rows = out["results"].as_array().unwrap();
        for start in ["empty", "full"] {
            let row =
                |name: &str| rows.iter().find(|r| r["interface"] == name && r["start"] == start).unwrap();
            let sent = |name: &str| row(name)["throughput_gbps"].as_f64().unwrap();
            let best = sent("privring").max(sent("shring"));
            let dynamic = sent("dynamic");
            assert!(dynamic > 0.98 * best, "{load:?} from {start}: {dynamic} of {best} Gbps");
        }
        // Beside rings whose rates never settle it runs for longer, and tries the other kind now and then.
        let alone = json(&[&base[..], &["--interfaces", "dynamic"], load].concat());
        for row in alone["results"].as_array().unwrap() {
            assert_eq!(row["counters"]["switches"], switches, "{load:?} from {}", row["start"]);
        }
    }
    refused(&["compare", "--interfaces", "dynamic", "--emulated"], &["dynamic cannot be emulated", "shring"]);
}

/// Whoever waits for the lock looks; swaps that cannot succeed would take its line from who has it.
#[test]
fn eleven_waiters_do_not_hold_up_the_lock_of_a_shared_ring() {
    let base = "compare --cores 12 --ports 1 --rate 100 --placements 1 --limit-ms 20 --no-search --json";
    let out = json(&[&base.split(' ').collect::<Vec<_>>()[..], &["--interfaces", "shring"]].concat());
    for row in out["results"].as_array().unwrap() {
        let waits = row["counters"]["lock_waits"].as_f64().unwrap();
        assert!(waits > 0.1 * row["counters"]["lock_taken"].as_f64().unwrap(), "contended: {row}");
        assert!(row["throughput_gbps"].as_f64().unwrap() > 90.0, "{row}");
    }
}

#[test]
fn queues_are_held_against_theory_and_run_again() {
    let args = ["queue", "--servers", "2", "--load", "0.5", "--customers", "400000", "--json"];
    let found = json(&args);
    // Erlang C of two servers at half load is 1/3.
    assert!((found["theory_mean"].as_f64().unwrap() - 4.0 / 3.0).abs() < 1e-12);
    assert!(found["mean_off_pct"].as_f64().unwrap() < 1.0, "{found}");
    let again: Vec<_> = found["reproduce"].as_str().unwrap().split(' ').skip(1).collect();
    assert_eq!(json(&again.into_iter().chain(["--json"]).collect::<Vec<_>>()), found);
    refused(&["queue", "--load", "1"], &["--load 1", "0.01 to 0.98"]);
    refused(&["queue", "--load", "NaN"], &["--load NaN"]);
    refused(&["queue", "--servers", "0"], &["--servers 0", "1 to 64"]);
    refused(&["queue", "--layout", "heap"], &["--layout heap", "shared, split"]);
    refused(&["queue", "--service", "slow"], &["--service slow", "exponential, deterministic"]);
    refused(&["queue", "--customers", "1"], &["--customers 1", "3200"]);
}

#[test]
fn a_plan_of_queues_is_judged_by_theory() {
    let dir = dir("queues");
    let (plan, html) = (dir.join("p.toml"), dir.join("p.html"));
    let text = r#"
id = "test/queues"
title = "two servers"
source = "a test"
kind = "queue"
notes = []
options = "--servers 2 --customers 400000"
x = "load"
scale = "linear"
fields = ["sojourn_mean", "mean_off_pct"]
[[series]]
id = "up"
label = "M/M/2"
sweep = { option = "--load {}", values = [0.2, 0.5] }
[[claims]]
id = "c"
what = "as theory says"
published = "theory"
unit = "ratio"
rule = "ratio"
tolerance = 0.01
metric = ["up.mean_ratio"]
"#;
    fs::write(&plan, text).unwrap();
    let plan = plan.to_str().unwrap();
    let found = json(&["experiment", "run", plan, "--json", "--html", html.to_str().unwrap()]);
    assert_eq!(found["claims"][0]["holds"], true, "{found}");
    assert_eq!(found["series"][0]["points"][1]["x"], 0.5);
    assert!(fs::read_to_string(&html).unwrap().contains("rxlab queue --servers 2"));
    let bad = dir.join("bad.toml");
    fs::write(&bad, text.replace("--servers 2", "--servers 65")).unwrap();
    refused(&["experiment", "run", bad.to_str().unwrap()], &["test/queues", "series up", "--servers 65"]);
    fs::write(&bad, text.replace("scale =", "search = true\nscale =")).unwrap();
    refused(&["experiment", "run", bad.to_str().unwrap()], &["search", "kind compare"]);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn transfers_close_and_run_again() {
    let args = ["tcp", "--flows", "8", "--bytes", "10000", "--cores", "2", "--rounds", "2", "--json"];
    let found = json(&args);
    assert_eq!((found["connections"].as_f64(), found["timeouts"].as_f64()), (Some(16.0), Some(0.0)));
    let of = |name: &str| found[name].as_f64().unwrap();
    assert!(of("fct_p50_us") <= of("fct_p99_us") && of("fct_p99_us") <= of("fct_max_us"), "{found}");
    // Two round trips of two answers at the least.
    assert!(of("fct_mean_us") > 40.0 && of("fct_mean_us") < 1000.0, "{found}");
    let again: Vec<_> = found["reproduce"].as_str().unwrap().split(' ').skip(1).collect();
    assert_eq!(json(&again.into_iter().chain(["--json"]).collect::<Vec<_>>()), found);
    refused(&["tcp", "--cores", "5"], &["--cores 5", "1 to 4"]);
    refused(&["tcp", "--flows", "0"], &["--flows 0", "1 to 64511"]);
    refused(&["tcp", "--ring", "100"], &["--ring 100", "power of two"]);
    refused(&["tcp", "--interface", "tokenring"], &["tokenring", "corec"]);
    refused(&["tcp", "--limit-s", "0"], &["--limit-s 0", "1 to 100"]);
}
