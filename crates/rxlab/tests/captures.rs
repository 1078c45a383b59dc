//! Real captures through all interfaces: no error, nothing lost, the same bytes twice.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::fs;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

use serde_json::Value;

use common::{shown, word};

const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");

/// The captures at hand; none where the folder is not.
fn captures() -> Vec<PathBuf> {
    let entries = fs::read_dir(DIR).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "pcap"));
    files.sort();
    files
}

/// Says that `test` found no `what`: seen although the test passes, which `eprintln` is not.
#[expect(clippy::explicit_write, reason = "what eprintln writes is seen of tests that fail alone")]
fn skipped(test: &str, what: &str) {
    writeln!(stderr(), "skipped: {test}: no {what} in {DIR}").unwrap();
}

/// The capture of this name for `test`, if it is at hand.
fn capture(test: &str, name: &str) -> Option<PathBuf> {
    let found = captures().into_iter().find(|c| c.ends_with(name));
    if found.is_none() {
        skipped(test, name);
    }
    found
}

fn compare(capture: &Path, more: &str) -> String {
    shown(&format!("compare --json --no-search --placements 1 --pcap {} {more}", word(capture)))
}

/// A coarse sample of the caches and a short time, so that it ends soon in a debug build; all cores, all the rate.
const SHORT: &str = "--sampling 64 --limit-ms 12";

#[test]
fn every_capture_is_conserved_and_repeats() {
    let captures = captures();
    if captures.is_empty() {
        skipped("every_capture_is_conserved_and_repeats", "captures");
    }
    for capture in captures {
        let text = compare(&capture, SHORT);
        assert_eq!(text, compare(&capture, SHORT), "{}", capture.display());
        let out: Value = serde_json::from_str(&text).unwrap();
        let results = out["results"].as_array().unwrap();
        assert_eq!(results.len(), 6);
        for r in results {
            let of = |key: &str| r["conservation"][key].as_u64().unwrap();
            let what = format!("{}: {} from {}", capture.display(), r["interface"], r["start"]);
            assert!(of("offered") > 0, "{what}");
            assert_eq!(of("offered"), of("delivered") + of("dropped") + of("in_nic"), "{what}");
            assert_eq!(of("buffers"), of("buffers_free"), "{what}");
        }
    }
}

#[test]
fn another_server_another_verdict() {
    let Some(skewed) = capture("another_server_another_verdict", "nprint443_2k_bigendian.pcap") else {
        return;
    };
    // Eight flows: four cores cannot share them evenly, one core takes them all.
    let verdict = |cores: u32, rate: u32| -> Value {
        let options = format!("--cores {cores} --rate {rate} {SHORT} --interfaces privring,shring");
        serde_json::from_str::<Value>(&compare(&skewed, &options)).unwrap()["verdict"].clone()
    };
    let mechanism = |v: &Value| v["diagnoses"][0]["mechanism"].as_str().unwrap().to_string();
    let (many, one) = (verdict(8, 60), verdict(1, 60));
    assert_ne!(mechanism(&many), mechanism(&one), "{many} {one}");
    let text = |v: &Value| v["diagnoses"][0]["text"].as_str().unwrap().to_string();
    assert!(text(&one).contains("too little CPU"), "{one}");
    assert!(text(&many).contains("RSS imbalance"), "{many}");
}

#[test]
fn another_profile_another_winner() {
    let Some(volume) = capture("another_profile_another_winner", "ndpi_overlay_60s.pcap") else {
        return;
    };
    let verdict = |options: &str| -> Value {
        let text = compare(&volume, &format!("{options} {SHORT}"));
        serde_json::from_str::<Value>(&text).unwrap()["verdict"].clone()
    };
    // Sixteen slower cores under two ports have no time left: shared buffers win. Eighteen faster ones under
    // one port do, and what is left to lose is lost to bursts at single cores.
    let two = verdict("--server rxbisect-testbed --cores 16 --rate 200");
    let one = verdict("--server ddio-bench --cores 18 --rate 100");
    assert_ne!(two["winner"], one["winner"], "{two} {one}");
    for (verdict, cause) in [(&two, "too little CPU"), (&one, "RSS imbalance")] {
        let texts = verdict["diagnoses"].as_array().unwrap().iter().map(|d| d["text"].as_str().unwrap());
        let found = texts.into_iter().any(|t| t.contains("of the frames drop") && t.contains(cause));
        assert!(found, "{verdict}");
    }
}

#[test]
fn every_capture_goes_through_rules() {
    const TEST: &str = "every_capture_goes_through_rules";
    let captures = captures();
    if captures.is_empty() {
        skipped(TEST, "captures");
    }
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/flow/example.flow");
    for capture in captures {
        let line = format!("flow {rules} --repeat 0 --json --pcap {}", word(&capture));
        let text = shown(&line);
        assert_eq!(text, shown(&line), "{}", capture.display());
        let out: Value = serde_json::from_str(&text).unwrap();
        let sum = |list: &str, of: &dyn Fn(&Value) -> bool| -> u64 {
            let all = out[list].as_array().unwrap().iter().filter(|one| of(one));
            all.map(|one| one["frames"].as_u64().unwrap()).sum()
        };
        let frames = out["capture"]["frames"].as_u64().unwrap();
        assert!(frames > 0 && frames == sum("endings", &|_| true), "{}", capture.display());
        assert_eq!(frames, sum("groups", &|group| group["group"] == 0), "{}", capture.display());
        assert!(sum("rules", &|rule| rule["group"] == 0) > frames / 2, "{}", capture.display());
    }
}
