//! `rxlab flow`: what is shown, and what is refused.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::common::{one_frame, refused, shown, word};

/// A folder with a capture of one frame and rule files of these names and texts.
fn folder(files: &[(&str, &[u8])]) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let pcap = dir.path().join("x.pcap");
    fs::write(&pcap, one_frame()).unwrap();
    (dir, pcap)
}

const RULES: &[u8] = b"\
flow create 0 priority 1 ingress pattern eth / end actions count / queue index 3 / end
flow create 0 priority 2 ingress pattern eth / ipv4 / end actions drop / end
flow create 0 group 4 ingress pattern eth / end actions drop / end
";

#[test]
fn rules_endings_and_what_never_matches_are_shown() {
    let (dir, pcap) = folder(&[("x.flow", RULES)]);
    let (rules, page) = (dir.path().join("x.flow"), dir.path().join("x.html"));
    let line = format!("flow {} --pcap {} --repeat 1 --html {}", word(&rules), word(&pcap), word(&page));
    let text = shown(&line);
    for part in [
        "3 rules, 3 masks",
        "1 frame, 60 bytes without FCS",
        "queue 3",
        "100.00",
        "eth ",
        "count / queue index 3",
        "No frame for 2 rules: 1 (line 2), 2 (line 3)",
        "Shadowed, so that no frame can reach it: rule 1 by 0 (line 1)",
        "told by the limits",
        "ns a frame, the only pass",
        "all frames, 65536 times over in bursts of 32",
    ] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    assert!(
        text.lines().filter(|l| !l.contains("x.flow") && !l.contains("x.pcap")).all(|l| l.len() < 130),
        "{text}"
    );
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<table>") && page.contains("count / queue index 3"), "{page}");
    let group = shown(&format!("flow {} --pcap {} --repeat 0 --group 4", word(&rules), word(&pcap)));
    assert!(!group.contains("Look-up") && group.contains("No frame for 1 rule: 2 (line 3)"), "{group}");
}

#[test]
fn faults_are_told_in_one_line_and_nothing_is_written() {
    let bad = b"# fine\nflow create 0 ingress pattern eth / ipv5 / end actions drop / end\n";
    let (dir, pcap) = folder(&[("x.flow", RULES), ("bad.flow", bad), ("bytes.flow", b"# fine\n\xff\xfe")]);
    let path = |name: &str| word(&dir.path().join(name)).to_string();
    let (page, pcap) = (path("r.html"), word(&pcap));
    let with = |rules: &str, more: &str| format!("flow {} --pcap {pcap} --html {page}{more}", path(rules));
    refused(&with("bad.flow", ""), &["bad.flow: line 2, column 37: `ipv5`", "allowed: void, any, eth"]);
    refused(&with("bytes.flow", ""), &["bytes.flow: line 2: not UTF-8"]);
    refused(&with("none.flow", ""), &["none.flow", "No such file"]);
    refused(&with(".", ""), &["directory", "rule file"]);
    refused(&with("x.flow", " --repeat 1001"), &["--repeat 1001", "0 to 1000"]);
    refused(&with("x.flow", " --group 9"), &["--group 9", "allowed: 0, 4"]);
    refused(&format!("flow {} --html {page}", path("x.flow")), &["--pcap"]);
    refused(&format!("flow {0} --pcap {0} --html {page}", path("x.flow")), &["x.flow: not a capture"]);
    assert!(!dir.path().join("r.html").exists());
    let over = format!("flow {} --pcap {pcap} --html {}", path("x.flow"), path("x.flow"));
    refused(&over, &["--html", "is the input"]);
}
