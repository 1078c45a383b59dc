//! The other commands: advice, queues, TCP, threads, the bench of the model.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{again, json, refused, shown, word};

#[test]
fn advice_names_sizes_reasons_and_what_breaks() {
    let line =
        "advise --nics 1 --cores 2 --rate 34 --placements 1 --trial-ms 10 --limit-ms 40 --resolution 4";
    let dir = TempDir::new().unwrap();
    let html = dir.path().join("advice.html");
    let found = json(&format!("{line} --html {}", word(&html)));
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
    let row = &found["results"][1];
    assert_eq!(again(&row["reproduce"], &[])["results"][1], *row);
    assert!(fs::read_to_string(&html).unwrap().contains("all-to-all among 2 cores"));
    let text = shown(line);
    for part in
        ["setting", "entries", "holds", "DDIO", "circulate", "metastable", "shring with its best ring"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn queues_are_held_against_theory_and_run_again() {
    let found = json("queue --servers 2 --load 0.5 --customers 400000");
    // Erlang C of two servers at half load is 1/3.
    assert!((found["theory_mean"].as_f64().unwrap() - 4.0 / 3.0).abs() < 1e-12);
    assert!(found["mean_off_pct"].as_f64().unwrap() < 1.0, "{found}");
    assert_eq!(again(&found["reproduce"], &[]), found);
    refused("queue --load 1", &["--load 1", "0.01 to 0.98"]);
    refused("queue --load NaN", &["--load NaN"]);
    refused("queue --servers 0", &["--servers 0", "1 to 64"]);
    refused("queue --layout heap", &["--layout heap", "shared, split"]);
    refused("queue --service slow", &["--service slow", "exponential, deterministic"]);
    refused("queue --customers 1", &["--customers 1", "3200"]);
}

#[test]
fn transfers_close_and_run_again() {
    let found = json("tcp --flows 8 --bytes 10000 --cores 2 --rounds 2");
    assert_eq!((found["connections"].as_f64(), found["timeouts"].as_f64()), (Some(16.0), Some(0.0)));
    let of = |name: &str| found[name].as_f64().unwrap();
    assert!(of("fct_p50_us") <= of("fct_p99_us") && of("fct_p99_us") <= of("fct_max_us"), "{found}");
    // Two round trips of two answers at the least.
    assert!(of("fct_mean_us") > 40.0 && of("fct_mean_us") < 1000.0, "{found}");
    assert_eq!(again(&found["reproduce"], &[]), found);
    refused("tcp --cores 5", &["--cores 5", "1 to 4"]);
    refused("tcp --flows 0", &["--flows 0", "1 to 64511"]);
    refused("tcp --ring 100", &["--ring 100", "power of two"]);
    refused("tcp --interface tokenring", &["tokenring", "corec"]);
    refused("tcp --limit-s 0", &["--limit-s 0", "1 to 100"]);
}

#[test]
fn a_live_run_loses_nothing() {
    let out = json("live --packets 20000 --workers 2");
    let runs = out.as_array().unwrap();
    assert_eq!(
        runs.iter().map(|r| r["interface"].as_str().unwrap()).collect::<Vec<_>>(),
        ["privring", "shring", "rxbisect"]
    );
    for r in runs {
        assert_eq!((r["delivered"].as_u64(), r["buffers_in_use"].as_u64()), (Some(20_000), Some(0)));
    }
    let text = shown("live --packets 5000 --workers 1 --app nat --interfaces rxbisect");
    assert!(text.contains("rxbisect"));
    let rates = json("bench threads --packets 5000 --repeats 1");
    assert_eq!(rates.as_array().unwrap().len(), 3);
    assert_eq!(rates[0]["against_privring"].as_f64(), Some(1.0));
}

#[test]
fn a_bench_has_the_documented_shape() {
    let out = json("bench model --cores 2 --rate 10 --repeats 1");
    for key in ["scenario", "mode", "sampling", "packets", "wall_s", "packets_per_wall_s", "peak_rss_mib"] {
        assert!(!out[key].is_null(), "{key}");
    }
    assert!(out["packets"].as_u64().unwrap() > 1000);
}
