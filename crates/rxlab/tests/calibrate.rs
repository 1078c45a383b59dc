//! `rxlab calibrate` as a user meets it: its options, and a profile that the other commands take.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod common;

use tempfile::TempDir;

use common::{json, refused, rxlab, word};

#[test]
fn bad_values_are_told_in_one_line() {
    refused("calibrate --cpus 0,0", &["--cpus", "two different"]);
    refused("calibrate --cpus 0", &["--cpus", "two different"]);
    refused("calibrate --cpus 0,100000", &["--cpus", "two different"]);
    refused("calibrate --rounds 0", &["--rounds 0", "1 to 1000"]);
    refused("calibrate --from rxbisect-testbed", &["--predict"]);
    refused("calibrate --from rxbisect-testbed --predict", &["card", "nic.kind"]);
    refused("calibrate --from nowhere.toml --predict", &["nowhere.toml"]);
    refused("compare --server nowhere.toml", &["--server", "nowhere.toml"]);
}

/// A profile of this machine, measured in `path`; false where it has one CPU alone, or CPUs that never stay.
fn calibrated(path: &str) -> bool {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        println!("one CPU: nothing measured");
        return false;
    }
    // A machine that is shared with others may move its CPUs in every round.
    let tries = (0..10).map(|_| rxlab(&["calibrate", "--rounds", "2", "--out", path, "--json"]));
    let mut moved = tries.map_while(|out| {
        let error = String::from_utf8_lossy(&out.stderr).to_string();
        assert!(out.status.success() || error.contains("moved in every round"), "{error}");
        (!out.status.success()).then_some(())
    });
    let settled = moved.by_ref().count() < 10;
    if !settled {
        println!("the CPUs move all the time: nothing measured");
    }
    settled
}

#[test]
fn what_is_measured_is_a_profile() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("here.toml");
    let path = word(&file);
    if calibrated(path) {
        let server = json(&["profile", "show", path]);
        assert_eq!(server["nic"]["kind"], "core");
        let constants = &server["constants"];
        let components =
            constants.as_object().unwrap().values().flat_map(|c| c.as_object().unwrap().values());
        let measured = components.filter(|c| c["origin"].as_str().unwrap().starts_with("measured: "));
        let siblings = server["caches"].get("l1_kib").is_none();
        assert_eq!(measured.count(), if siblings { 17 } else { 25 }, "lines of the LLC and of an L1");
        assert!(constants.get("pcie").is_none(), "no card");
        let value = |place: &str| constants.pointer(&format!("{place}/value")).unwrap().as_f64().unwrap();
        assert!(value("/caches/l2_hit_ns") < value("/dram/idle_ns"));
        assert!(value("/fetch/load_lines") >= 1.0 && value("/fetch/store_lines") >= 1.0);

        let predict = ["calibrate", "--from", path, "--predict"];
        let predictions = json(&predict);
        assert_eq!(predictions, json(&predict), "the model repeats");
        let rows = predictions["predictions"].as_array().unwrap();
        assert_eq!(rows.len(), 6);
        for row in rows {
            assert!(row["mpps"].as_f64().unwrap() > 0.0, "{row}");
            let busy = |name: &str| row[name].as_f64().unwrap();
            assert!(
                busy("nic_busy_pct").max(busy("receiver_busy_pct")) > 90.0,
                "one of the cores is the limit: {row}"
            );
        }
        let small = "--cores 1 --placements 1 --no-search --rate 5 --app l3fwd";
        let report = json(&format!("compare --server {path} {small}"));
        assert!(report.to_string().contains("privring"));
        refused(&["compare", "--server", path, "--app", "lb", "--rate", "5"], &["apps.lb.cycles"]);
    }
}
