//! `rxlab why` on what staged programs told, and on what their counters could have been.
//!
//! `tests/dumps` has what `--record` wrote of the stages of `dpdk/tests/cases/why.sh`, three looks of each.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use common::{json as asked, rxlab, shown, word};

fn dump(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dumps").join(format!("{name}.json"))
}

/// Causes and their ports, the first first.
fn causes(found: &Value) -> Vec<String> {
    let one = |c: &Value| format!("{} {}", c["cause"].as_str().unwrap(), c["port"]);
    found["causes"].as_array().unwrap().iter().map(one).collect()
}

fn holds(found: &Value) {
    let schema: Value = serde_json::from_str(&shown("schema why")).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(found).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(faults, [""; 0]);
}

#[test]
fn staged_programs_have_the_right_cause_first() {
    for (name, cause, line) in [
        ("pool-rxlab", "pool_too_small 0", "--total-num-mbufs=4095"),
        ("pool-tap", "pool_too_small 0", "--total-num-mbufs=4095"),
        ("queue-testpmd", "queue_imbalance 0", "--rxq=4 --txq=4 --nb-cores=4"),
        ("core-l3fwd", "slow_core 0", "--lcores"),
        ("transmit-testpmd", "transmit_blocked 1", "flow control"),
        ("long-openvswitch", "frames_too_long 1", "mtu_request"),
        ("down-tap", "port_down 1", "set link-up port 1"),
    ] {
        let found = asked(&["why", "--telemetry", word(&dump(name)), "--json"]);
        holds(&found);
        assert_eq!(causes(&found)[0], cause, "{name}: {found}");
        let set = found["causes"][0]["set"].as_str().unwrap();
        assert!(set.contains(line), "{name}: {set}");
        assert!(!found["causes"][0]["evidence"].as_array().unwrap().is_empty(), "{name}");
        assert_eq!(found["prediction"], Value::Null, "{name}: no server was given");
    }
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    for name in ["well-testpmd", "well-l3fwd", "well-openvswitch"] {
        let found = asked(&["why", "--telemetry", word(&dump(name)), "--json"]);
        holds(&found);
        assert_eq!(
            (causes(&found).len(), found["lost"].as_array().unwrap().len()),
            (0, 0),
            "{name}: {found}"
        );
        assert!(shown(&["why", "--telemetry", word(&dump(name))]).contains("Nothing is dropped"), "{name}");
    }
}

/// The server of the stage, whose caches are small.
fn small(dir: &Path) -> PathBuf {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles/corec-testbed.toml"));
    let lines = text.unwrap();
    let changed = lines.lines().map(|line| match line.split(" = ").next().unwrap() {
        "name" => "name = \"small\"".to_string(),
        "slices" => "slices = 4".to_string(),
        "peak_gbytes" => "peak_gbytes = { value = 0.8, origin = \"assumed: staged\" }".to_string(),
        _ => line.to_string(),
    });
    let path = dir.join("small.toml");
    fs::write(&path, changed.collect::<Vec<_>>().join("\n")).unwrap();
    path
}

#[test]
fn large_rings_are_the_cause_where_the_cache_is_small() {
    let dir = TempDir::new().unwrap();
    let ask = |server: &str| {
        let dump = dump("rings-testpmd");
        let found = asked(&["why", "--telemetry", word(&dump), "--server", server, "--json"]);
        holds(&found);
        found
    };
    let found = ask(word(&small(dir.path())));
    assert_eq!(causes(&found)[0], "rings_beyond_ddio 0");
    let prediction = &found["prediction"];
    let number = |at: &str| prediction.pointer(at).unwrap().as_f64().unwrap();
    assert!(number("/now/io_working_set_mib") > number("/ddio_mib"), "{prediction}");
    assert!(number("/change/outcome/frame_cycles") < 0.8 * number("/now/frame_cycles"), "{prediction}");
    // The same program on a server whose memory has room.
    let found = ask("spr");
    assert_eq!(causes(&found)[0], "too_little_cpu 0");
    assert_eq!(found["prediction"]["change"]["what"], "cores");
}

/// A port of a driver that counts `xstats`, before and after; `basic` are basic counters.
fn card(xstats: &[(&str, u64)], basic: &[(&str, u64)], more: &Value) -> Value {
    let look = |at: u64| {
        let counts = |all: &[(&str, u64)]| -> Value {
            all.iter()
                .map(|(name, n)| (name.to_string(), json!(n * at)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let mut stats = counts(basic);
        stats["ipackets"] = json!(1_000_000 * at);
        stats["opackets"] = json!(1_000_000 * at);
        stats["q_ipackets"] = json!([500_000 * at, 500_000 * at]);
        let mut port = json!({
            "info": {"name": "0000:3b:00.0", "nb_rx_queues": 2, "dev_started": 1, "mtu": 1500},
            "link": {"status": "UP", "speed": 100_000},
            "stats": stats,
            "xstats": counts(xstats),
        });
        port.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"at_s": at, "ports": {"0": port}})
    };
    json!({"program": {"eal_params": ["router"]}, "looks": [look(0), look(1), look(2)]})
}

fn explained(dump: &Value) -> Value {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("dump.json");
    fs::write(&path, dump.to_string()).unwrap();
    let found = asked(&["why", "--telemetry", word(&path), "--json"]);
    holds(&found);
    found
}

#[test]
fn counters_of_vendors_say_where() {
    let none = json!({});
    let narrow = json!({"pcie": {"speed_gts": 8.0, "max_speed_gts": 16.0, "width": 8, "max_width": 16}});
    let wide = json!({"pcie": {"speed_gts": 16.0, "max_speed_gts": 16.0, "width": 16, "max_width": 16}});
    let mlx5 = ("rx_out_of_buffer", 0);
    let ice = ("rx_len_errors", 0);
    for (xstats, basic, more, driver, cause) in [
        (vec![("rx_out_of_buffer", 900)], vec![("imissed", 900)], &none, "mlx5", "too_little_cpu 0"),
        (vec![mlx5, ("rx_phy_discard_packets", 900)], vec![], &none, "mlx5", "card_buffer 0"),
        (vec![mlx5, ("rx_phy_discard_packets", 900)], vec![], &wide, "mlx5", "card_buffer 0"),
        (vec![mlx5, ("rx_phy_discard_packets", 900)], vec![], &narrow, "mlx5", "pcie_width 0"),
        // The port's own buffer, and what is left: no descriptor.
        (vec![ice, ("rx_dropped_packets", 900)], vec![("imissed", 900)], &none, "ice", "card_buffer 0"),
        (vec![ice, ("rx_dropped_packets", 0)], vec![("imissed", 900)], &none, "ice", "too_little_cpu 0"),
        (
            vec![ice, ("rx_dropped_packets", 0), ("rx_oversize_errors", 900)],
            vec![("ierrors", 900)],
            &none,
            "ice",
            "frames_too_long 0",
        ),
        (
            vec![("rx_size_error_packets", 900), ("rx_dropped_packets", 0)],
            vec![("ierrors", 900)],
            &none,
            "i40e",
            "frames_too_long 0",
        ),
        (
            vec![("rx_total_missed_packets", 0), ("rx_crc_errors", 900)],
            vec![("ierrors", 900)],
            &none,
            "ixgbe",
            "bad_frames 0",
        ),
        (
            // A priority is no queue.
            vec![("rx_total_missed_packets", 0), ("rx_priority0_dropped", 900)],
            vec![("imissed", 900)],
            &none,
            "ixgbe",
            "too_little_cpu 0",
        ),
        (vec![("wd_expired", 0), ("bw_in_allowance_exceeded", 900)], vec![], &none, "ena", "allowance 0"),
        (
            vec![("wd_expired", 0), ("bw_in_allowance_exceeded", 0), ("rx_q0_bad_desc_num", 900)],
            vec![],
            &none,
            "ena",
            "frames_too_long 0",
        ),
        (
            vec![("rx_q0_good_packets", 1), ("rx_q0_size_1519_max_packets", 0)],
            vec![("rx_nombuf", 900)],
            &none,
            "virtio",
            "pool_too_small 0",
        ),
    ] {
        let found = explained(&card(&xstats, &basic, more));
        assert_eq!(found["ports"][0]["driver"], driver, "{xstats:?}");
        assert_eq!(causes(&found), [cause], "{xstats:?}: {found}");
        let frames: u64 =
            found["lost"].as_array().unwrap().iter().map(|l| l["frames"].as_u64().unwrap()).sum();
        assert_eq!(frames, 1800, "each once: {found}");
    }
}

#[test]
fn what_is_wrong_is_told_in_one_line() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        word(&path).to_string()
    };
    let empty = file("empty.json", "{}");
    let one = file("one.json", r#"{"looks":[{"at_s":0}]}"#);
    let back = file("back.json", r#"{"looks":[{"at_s":1},{"at_s":0}]}"#);
    let list = file("list.json", "[1, 2]");
    let nobody = word(&dir.path().join("dpdk_telemetry.v2")).to_string();
    for (words, told) in [
        (["--telemetry", &empty], "no looks"),
        (["--telemetry", &one], "one look"),
        (["--telemetry", &back], "order of time"),
        (["--telemetry", &list], "list.json"),
        (["--telemetry", "/nonexistent"], "No such file"),
        (["--socket", &nobody], "no program answers"),
        (["--file-prefix", "no-such-program"], "no DPDK program with --file-prefix no-such-program"),
        (["--seconds", "0"], "--seconds 0: allowed"),
        (["--looks", "1"], "--looks 1: allowed"),
        (["--ring", "0"], "--ring 0: allowed"),
        (["--server", "nowhere"], "--server"),
    ] {
        let out = rxlab(&["why", words[0], words[1]]);
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(stderr.contains(told) && stderr.lines().count() == 1, "{words:?}: {stderr}");
        assert!(out.stdout.is_empty(), "{words:?}");
    }
}
