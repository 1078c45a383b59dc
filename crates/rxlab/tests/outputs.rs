//! Files that commands write: what must not be replaced is refused before the run, and what is written is whole.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use common::{Line, one_frame, program, refused, shown, word};

const RUN: &str = "compare --cores 1 --ports 1 --placements 1 --no-search --limit-ms 4 --interfaces privring";

const PLAN: &str = r#"
id = "test/plan"
title = "t"
source = "s"
kind = "queue"
notes = []
options = "--servers 2 --customers 4000 --load 0.3"
fields = ["sojourn_mean"]
[[series]]
id = "q"
label = "M/M/2"
"#;

/// Commands that would write `target`, one of which measures this machine.
fn all(target: &str, plan: &str) -> [String; 4] {
    [
        format!("{RUN} --html {target}"),
        format!("advise --cores 1 --ports 1 --html {target}"),
        format!("experiment run {plan} --html {target}"),
        format!("calibrate --rounds 1 --out {target}"),
    ]
}

/// Every command refuses the target, naming it and every part.
fn all_refuse(dir: &Path, target: &Path, parts: &[&str]) {
    let plan = dir.join("plan.toml");
    fs::write(&plan, PLAN).unwrap();
    for line in all(word(target), word(&plan)) {
        refused(&line, &[parts, &[word(target)]].concat());
    }
    fs::remove_file(plan).unwrap();
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_input_survives_by_whichever_name() {
    let dir = TempDir::new().unwrap();
    let pcap = dir.path().join("x.pcap");
    let bytes = one_frame();
    fs::write(&pcap, &bytes).unwrap();
    let hard = dir.path().join("hard.html");
    fs::hard_link(&pcap, &hard).unwrap();
    let around = dir.path().join("sub/../x.pcap");
    fs::create_dir(dir.path().join("sub")).unwrap();
    let soft = dir.path().join("soft.pcap");
    symlink(&pcap, &soft).unwrap();
    for (input, target) in [(&pcap, &pcap), (&pcap, &hard), (&pcap, &around), (&soft, &pcap)] {
        let (input, target) = (word(input), word(target));
        for command in [RUN, "advise --cores 1 --ports 1"] {
            let line = format!("{command} --pcap {input} --html {target}");
            refused(&line, &["--html", target, "is the input", input]);
        }
        assert_eq!(fs::read(&pcap).unwrap(), bytes);
    }
    let files = ["plan.toml", "server.toml", "sizes.cdf"].map(|name| dir.path().join(name));
    let [plan, server, cdf] = files.each_ref().map(|file| word(file));
    fs::write(plan, PLAN).unwrap();
    refused(&format!("experiment run {plan} --html {plan}"), &["is the input", plan]);
    fs::write(server, "").unwrap();
    refused(&format!("{RUN} --server {server} --html {server}"), &["is the input", server]);
    fs::write(cdf, "1 0\n1000 1\n").unwrap();
    refused(&format!("{RUN} --workload empirical:{cdf},flows=5 --html {cdf}"), &["is the input", cdf]);
}

#[test]
fn no_link_device_pipe_socket_or_directory_is_replaced() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("kept"), "kept").unwrap();
    symlink(at("kept"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let _socket = UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    all_refuse(dir.path(), &at("link"), &["symbolic link"]);
    all_refuse(dir.path(), &at("dangling"), &["symbolic link"]);
    all_refuse(dir.path(), &at("fifo"), &["a pipe"]);
    all_refuse(dir.path(), &at("socket"), &["a socket"]);
    all_refuse(dir.path(), &at("directory"), &["is a directory"]);
    all_refuse(dir.path(), &at("new/"), &["is a directory"]);
    all_refuse(dir.path(), Path::new("/dev/null"), &["a device"]);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(fs::symlink_metadata(at("fifo")).unwrap().file_type().is_fifo());
    assert_eq!(fs::read_to_string(at("link")).unwrap(), "kept");
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert_eq!(names(dir.path()), ["dangling", "directory", "fifo", "kept", "link", "socket"]);
}

#[test]
fn what_cannot_be_written_is_told_before_the_run() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("kept.html"), "kept").unwrap();
    // Root may write it all the same: the mode counts.
    fs::set_permissions(at("kept.html"), Permissions::from_mode(0o444)).unwrap();
    all_refuse(dir.path(), &at("kept.html"), &["read-only"]);
    assert_eq!(fs::read_to_string(at("kept.html")).unwrap(), "kept");
    assert_eq!(fs::metadata(at("kept.html")).unwrap().mode() & 0o777, 0o444);
    all_refuse(dir.path(), &at("none/r.html"), &["none does not exist"]);
    all_refuse(dir.path(), &at("kept.html/r.html"), &["no directory"]);
    fs::create_dir(at("closed")).unwrap();
    fs::set_permissions(at("closed"), Permissions::from_mode(0o555)).unwrap();
    all_refuse(dir.path(), &at("closed/r.html"), &["closed is read-only"]);
    // No mode says so: only trying tells.
    all_refuse(dir.path(), Path::new("/proc/rxlab.html"), &["/proc"]);
    assert_eq!(names(dir.path()), ["closed", "kept.html"]);
    assert!(names(&at("closed")).is_empty());
}

#[test]
fn a_file_is_replaced_whole_and_keeps_its_permissions() {
    let dir = TempDir::new().unwrap();
    let out = &dir.path().join("r.html");
    let line = format!("{RUN} --html {}", word(out));
    shown(&line);
    let umask = fs::metadata(out).unwrap().mode() & 0o777;
    assert_eq!(umask & 0o600, 0o600, "a new file is as any other program makes it: {umask:o}");
    fs::write(out, "old").unwrap();
    fs::set_permissions(out, Permissions::from_mode(0o640)).unwrap();
    shown(&line);
    assert!(fs::read_to_string(out).unwrap().ends_with("</html>\n"));
    assert_eq!(fs::metadata(out).unwrap().mode() & 0o777, 0o640);
    assert_eq!(names(dir.path()), ["r.html"]);
}

#[test]
fn stdout_is_not_replaced_and_its_failure_costs_no_report() {
    let dir = TempDir::new().unwrap();
    let report = dir.path().join("r.html");
    let line = format!("{RUN} --html {}", word(&report));
    let to =
        |file: fs::File| program().args(line.words()).stdout(file).stderr(Stdio::piped()).output().unwrap();
    let out = to(fs::File::create(&report).unwrap());
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("where results are printed to"));
    fs::remove_file(&report).unwrap();
    let out = to(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("stdout"));
    assert!(fs::read_to_string(&report).unwrap().ends_with("</html>\n"), "minutes of work are kept");
}

/// What comes in the way while the run goes on: results are printed, the file is named, the code is 2.
#[test]
#[allow(clippy::disallowed_methods, reason = "the test waits for a process")]
fn a_failure_after_the_run_names_the_file_behind_the_results() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (plan, report) = (at("plan.toml"), at("r.html"));
    fs::write(&plan, PLAN.replace("--customers 4000", "--customers 60000000")).unwrap();
    fs::write(at("kept"), "kept").unwrap();
    fs::File::open(dir.path()).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let line = format!("experiment run {} --html {}", word(&plan), word(&report));
    let child = program().args(line.words()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The last check makes a file beside the target and removes it. What follows is the run, a second or more.
    for _ in 0..60_000 {
        if fs::metadata(dir.path()).unwrap().mtime() > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    symlink(at("kept"), &report).unwrap();
    let out = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{error}");
    assert!(error.contains(word(&report)) && error.contains("symbolic link"), "{error}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("M/M/2"), "results come first");
    assert_eq!(fs::read_to_string(at("kept")).unwrap(), "kept");
}

#[test]
fn a_directory_of_reports_is_checked_as_a_file_is() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let refuse = |pages: &Path, parts: &[&str]| {
        refused(&format!("experiment run ddio-bench --all --html {}", word(pages)), parts);
    };
    fs::write(at("file"), "kept").unwrap();
    fs::create_dir(at("pages")).unwrap();
    symlink(at("pages"), at("link")).unwrap();
    refuse(&at("file"), &["file", "is no directory"]);
    refuse(&at("link"), &["link", "symbolic link"]);
    refuse(&at("link/"), &["link", "symbolic link"]);
    refuse(&at("file/pages"), &["file", "directory"]);
    refuse(Path::new("/proc/rxlab/pages"), &["/proc"]);
    symlink(at("file"), at("pages/index.html")).unwrap();
    refuse(&at("pages"), &["pages/index.html", "symbolic link"]);
    fs::remove_file(at("pages/index.html")).unwrap();
    fs::write(at("pages/descriptors.html"), "kept").unwrap();
    fs::set_permissions(at("pages/descriptors.html"), Permissions::from_mode(0o400)).unwrap();
    refuse(&at("pages"), &["pages/descriptors.html", "read-only"]);
    fs::remove_file(at("pages/descriptors.html")).unwrap();
    fs::set_permissions(at("pages"), Permissions::from_mode(0o555)).unwrap();
    refuse(&at("pages"), &["pages is read-only"]);
    fs::set_permissions(at("pages"), Permissions::from_mode(0o755)).unwrap();
    assert!(names(&at("pages")).is_empty());
    assert!(!at("new").exists(), "what is refused leaves no directory");
}
