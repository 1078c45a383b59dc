//! Profiles in files, as a user writes them: what is refused, and a server of 128 cores.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::fs;

use tempfile::NamedTempFile;

use common::{json, rxlab, word};

/// A profile of the test's own, gone with it.
struct Profile(NamedTempFile);

impl Profile {
    /// The built-in profile of rxbisect's testbed with lines changed: what a line begins with, and the line.
    fn new(lines: &[(&str, &str)]) -> Profile {
        let text = include_str!("../../../profiles/rxbisect-testbed.toml");
        let changed = text.lines().map(|line| {
            let new = lines.iter().find(|(key, _)| line.starts_with(&format!("{key} = ")));
            new.map_or(line, |(_, new)| new).to_owned() + "\n"
        });
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        fs::write(file.path(), changed.collect::<String>()).unwrap();
        Profile(file)
    }

    /// The comparison on it, without more options.
    fn compare(&self) -> String {
        format!("compare --server {}", word(self.0.path()))
    }
}

#[test]
fn a_wrong_unit_ends_in_one_line_with_code_2() {
    for (key, line, told) in [
        ("ghz", "ghz = 2100", "ghz is 2100 GHz; allowed: 0.1 to 10 GHz"),
        ("port_gbps", "port_gbps = 400000.0", "nic.port_gbps is 400000 Gbps; allowed: 0.1 to 1600 Gbps"),
        (
            "usable",
            "usable = { value = 68, origin = \"assumed: A3\" }",
            "dram.usable is 68 of the peak; allowed: 0.05 to 1 of the peak",
        ),
        (
            "gbytes",
            "gbytes = { value = 0, origin = \"published: a test\" }",
            "pcie.gbytes is 0 GB/s; allowed: 0.2 to 256 GB/s",
        ),
        ("cores", "cores = -1", "cores is -1 cores; allowed: 1 to 128 cores, a whole number"),
        ("l2_ways", "l2_ways = 40", "caches.l2_ways is 40 ways; allowed: 1 to 32 ways, a whole number"),
    ] {
        let profile = Profile::new(&[(key, line)]);
        let out = rxlab(&profile.compare());
        let error = String::from_utf8_lossy(&out.stderr);
        assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{line}: {error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        assert!(error.trim_end().ends_with(told) && error.contains("--server"), "{error}");
    }
}

#[test]
fn a_server_of_128_cores_is_compared() {
    let large = Profile::new(&[
        ("cores", "cores = 128"),
        ("ports", "ports = 16"),
        ("l2_kib", "l2_kib = 1280"),
        ("l2_ways", "l2_ways = 20"),
        ("slices", "slices = 40"),
        ("ways", "ways = 12"),
    ]);
    let quick = "--cores 128 --interfaces privring --rate 300 --no-search --placements 1 --limit-ms 4";
    let found = json(&format!("{} {quick}", large.compare()));
    assert!(found.to_string().contains("\"cores\":128"), "{found}");
}
