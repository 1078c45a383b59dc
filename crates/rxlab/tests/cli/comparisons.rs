//! Comparisons: what they hold, what their options do, what runs again.

use std::fs;

use tempfile::TempDir;

use crate::common::{again, json, program, refused, rxlab, shown, word};
use crate::{SMALL, small};

#[test]
fn an_emulated_nic_says_so_and_runs_again() {
    let args = small(&["--emulated", "--interfaces", "privring", "--ring", "128"]);
    let first = json(&args);
    let row = &first["results"][0];
    assert_eq!(row["params"]["emulated"], 1);
    assert!(row["nic_busy_pct"].as_f64().unwrap() > 0.0);
    assert!(row["reproduce"].as_str().unwrap().split(' ').any(|word| word == "--emulated"));
    assert_eq!(again(&row["reproduce"], &["--no-search"])["results"], first["results"]);
    let rows = small(&["--emulated", "--interfaces", "rxbisect", "--ax", "8192", "--bx", "8192"]);
    let rows: Vec<_> = rows.into_iter().chain(["--ports", "1"]).collect();
    refused(&rows, &["rxbisect", "physical ring of an emulated port", "16384", "64 to 8192"]);
}

#[test]
fn ports_that_differ_are_told_apart_and_run_again() {
    let args =
        "compare --cores 4 --port-load 3:1 --placements 1 --no-search --rate 20 --interfaces shring,corec";
    let found = json(args);
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
    let first = &found["results"][0];
    assert_eq!(again(&first["reproduce"], &["--no-search"])["results"][0], *first);
    assert!(json(&small(&["--interfaces", "privring"]))["results"][0].get("per_port").is_none());
}

#[test]
fn an_interface_is_said_with_its_parameters() {
    let short =
        small(&["--interfaces", "shring,ddring", "--ring", "128", "--unlock", "swap", "--shared-by", "1"]);
    let long = "shring:ring=128,unlock=swap,shared_by=1,ddring:shared_by=1,ring=128";
    let (short, long) = (json(&short), json(&small(&["--interfaces", long])));
    assert_eq!(short["results"], long["results"]);
    let again_short = again(&short["results"][0]["reproduce"], &["--no-search"]);
    assert_eq!(again_short["results"][0], short["results"][0]);
    let said = short["results"][0]["reproduce"].as_str().unwrap();
    assert!(
        said.contains(" --interfaces shring:ring=128,shared_by=1,completions=1024,unlock=swap "),
        "{said}"
    );
}

#[test]
fn two_of_one_interface_are_told_apart() {
    let list = ["--interfaces", "privring,shring:ring=64,unlock=swap,shring:ring=256"];
    let met = "shring:ring=256.circulating_buffers>0";
    let out = program().args(small(&list)).args(["--json", "--fail-if", met]).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("is met by shring:ring=256"), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let rows = found["results"].as_array().unwrap();
    let of = |name: &str| rows.iter().filter(|row| row["label"] == name).collect::<Vec<_>>();
    for (label, ring) in [("privring", 1024), ("shring:ring=64,unlock=swap", 64), ("shring:ring=256", 256)] {
        let mine = of(label);
        assert!(mine.len() == 2 && mine.iter().all(|row| row["params"]["ring"] == ring), "{label}");
        assert!(mine.iter().all(|row| label.starts_with(row["interface"].as_str().unwrap())));
    }
    let table = shown(&small(&["--interfaces", "shring:unlock=store,shring:unlock=swap,ring=256"]));
    let starts = |line: &str, row| line.split_whitespace().take(3).eq(row);
    for row in [["shring:unlock=store", "no", "1024"], ["shring:unlock=swap", "no", "256"]] {
        assert!(table.lines().any(|line| starts(line, row)), "{row:?}: {table}");
    }
    let first = of("shring:ring=64,unlock=swap")[0];
    let alone = again(&first["reproduce"], &["--no-search"]);
    assert_eq!(alone["results"][0]["throughput_gbps"], first["throughput_gbps"]);
}

#[test]
fn a_comparison_has_the_documented_shape() {
    let out = json(&small(&[]));
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
    let out = json("compare --cores 2 --placements 1 --rate 10 --interfaces privring");
    let result = &out["results"][0];
    let (found, offered) =
        (result["no_drop_gbps"].as_f64().unwrap(), result["offered_gbps"].as_f64().unwrap());
    assert!(found > 0.0 && found <= offered * 1.01, "{found} of {offered}");
}

#[test]
fn a_point_runs_again_from_its_own_command_line() {
    let first = json(&small(&["--json", "--interfaces", "shring,rxbisect", "--ax", "64"]));
    for at in [0, 2] {
        let rows = &first["results"].as_array().unwrap()[at..at + 2];
        let command = &rows[0]["reproduce"];
        // The window is the one that all had; alone it would look for another.
        assert!(command.as_str().unwrap().contains(" --window "), "{command}");
        assert_eq!(again(command, &["--no-search"])["results"].as_array().unwrap(), rows);
    }
}

#[test]
fn a_report_is_one_file_that_needs_no_other() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("r.html");
    let made = |epoch: &str| {
        let args = [&SMALL[..], &["--html", word(&path)]].concat();
        assert!(program().args(args).env("SOURCE_DATE_EPOCH", epoch).output().unwrap().status.success());
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
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A core that plays the card has no line rate: what one interface sends when far more comes is nearly what is offered.
#[test]
fn a_card_in_software_is_offered_what_an_interface_of_it_carries() {
    let base = "compare --server genoa,nic=soft --cores 1 --ports 1 --interfaces privring --best none --placements 1";
    let run = |more: &str| {
        let words = format!("{base} --other-arrivals 0 --no-search --limit-ms 20 --json {more}");
        json(&words.split_whitespace().collect::<Vec<_>>())
    };
    let says = |out: &serde_json::Value| out["notes"].to_string().contains("has no line rate");
    let chosen = run("");
    let row = &chosen["results"][0];
    let (offered, lost) = (row["offered_gbps"].as_f64().unwrap(), row["drop_pct"].as_f64().unwrap());
    assert!(says(&chosen) && (1.0..400.0).contains(&offered) && lost < 0.1, "{offered} Gbps, {lost}% lost");
    let most = run("--rate 900");
    let row = &most["results"][0];
    let sent = row["throughput_gbps"].as_f64().unwrap();
    assert!(!says(&most) && row["drop_pct"].as_f64().unwrap() > 10.0);
    assert!((0.8..1.0).contains(&(offered / sent)), "{offered} offered, {sent} sent when far more comes");
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
    refused("compare --interfaces dynamic --emulated", &["dynamic cannot be emulated", "shring"]);
}

/// Whoever waits for the lock looks; swaps that cannot succeed would take its line from who has it.
#[test]
fn eleven_waiters_do_not_hold_up_the_lock_of_a_shared_ring() {
    let base = "compare --cores 12 --ports 1 --rate 100 --placements 1 --limit-ms 20 --no-search";
    let out = json(&format!("{base} --interfaces shring"));
    for row in out["results"].as_array().unwrap() {
        let waits = row["counters"]["lock_waits"].as_f64().unwrap();
        assert!(waits > 0.1 * row["counters"]["lock_taken"].as_f64().unwrap(), "contended: {row}");
        assert!(row["throughput_gbps"].as_f64().unwrap() > 90.0, "{row}");
    }
}
