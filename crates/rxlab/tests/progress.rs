//! On a terminal, whatever may take long says what it does and how far it is.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod common;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use common::one_frame;

/// What a terminal gets to see of a command line; none where no terminal can be made.
#[expect(clippy::explicit_write, reason = "what eprintln writes is seen of tests that fail alone")]
fn seen(args: &str) -> Option<String> {
    let line = format!("{} {args}", env!("CARGO_BIN_EXE_rxlab"));
    let script = Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output();
    let Ok(out) = script else {
        writeln!(std::io::stderr(), "skipped: no program `script`, which makes a terminal").unwrap();
        return None;
    };
    assert!(out.status.success(), "{args}: {}", String::from_utf8_lossy(&out.stdout));
    Some(String::from_utf8_lossy(&out.stdout).into_owned())
}

const PLAN: &str = r#"
id = "test/plan"
title = "t"
source = "s"
kind = "queue"
notes = []
options = "--servers 2 --customers 400000"
x = "load"
scale = "linear"
fields = ["sojourn_mean"]
[[series]]
id = "q"
label = "M/M/2"
sweep = { option = "--load {}", values = [0.2, 0.3, 0.4] }
"#;

#[test]
fn every_long_command_tells_what_it_does() {
    let dir = TempDir::new().unwrap();
    let (plan, pcap) = (dir.path().join("plan.toml"), dir.path().join("x.pcap"));
    fs::write(&plan, PLAN).unwrap();
    fs::write(&pcap, one_frame()).unwrap();
    let rules = dir.path().join("x.flow");
    fs::write(&rules, "flow create 0 pattern eth / end actions drop / end\n").unwrap();
    let (plan, pcap, rules) = (plan.display(), pcap.display(), rules.display());
    let small = "--cores 1 --ports 1 --placements 1 --limit-ms 4 --trial-ms 1 --rate 3";
    for (args, parts) in [
        (format!("experiment run {plan}"), &["simulating", "/3"][..]),
        (format!("compare {small} --interfaces privring"), &["comparing", "/"]),
        (format!("compare {small} --interfaces privring --pcap {pcap}"), &["reading", "100 B", "comparing"]),
        (format!("trace {pcap}"), &["reading", "100 B", "counting"]),
        (format!("flow {rules} --pcap {pcap} --repeat 3"), &["reading", "100 B", "looking up", "/3"]),
        ("queue --customers 400000".into(), &["simulating"]),
        ("tcp --bytes 10000".into(), &["simulating"]),
        ("live --packets 5000 --interfaces privring".into(), &["running live", "/1"]),
        ("bench model --cores 1 --ports 1 --rate 3 --packets 1000 --repeats 1".into(), &["simulating", "/1"]),
        ("bench threads --packets 5000 --repeats 1".into(), &["running live", "/3"]),
        ("experiment run rxbisect/fig4".into(), &["counting"]),
    ] {
        let Some(text) = seen(&args) else { return };
        for part in parts {
            assert!(text.contains(part), "{args}: `{part}` is not in: {text}");
        }
        assert!(!text.contains("0/0"), "{args}: {text}");
    }
}
