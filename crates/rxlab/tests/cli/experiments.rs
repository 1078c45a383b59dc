//! Plans: how they are judged, and which are refused.

use std::fs;

use tempfile::TempDir;

use crate::common::{json, met, refused, shown, word};

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
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("plan.toml");
    fs::write(&path, PLAN).unwrap();
    let out = json(&["experiment", "run", word(&path)]);
    let points = out["series"][0]["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|p| p["x"].as_f64().unwrap()).collect::<Vec<_>>(), [64.0, 128.0]);
    assert!(points[0]["reproduce"].as_str().unwrap().contains("privring:ring=64 "));
    let claim = |id: &str| out["claims"].as_array().unwrap().iter().find(|c| c["id"] == id).unwrap().clone();
    assert_eq!(claim("holds")["holds"], true);
    assert_eq!(claim("fails")["holds"], false);
    let full = points[1]["results"].as_array().unwrap().iter().find(|r| r["start"] == "full").unwrap();
    assert_eq!(claim("fails")["obtained"], full["throughput_gbps"]);
    for key in ["published", "rule", "tolerance", "deviation"] {
        assert!(!claim("fails")[key].is_null(), "{key}");
    }
}

#[test]
fn claims_and_points_of_an_experiment_are_conditions() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("plan.toml");
    fs::write(&path, PLAN).unwrap();
    let plan = word(&path);
    let run = |more: &[&'static str]| [&["experiment", "run", plan][..], more].concat();
    met(&run(&["--fail-if", "claims"]), &["claims", "do not hold: fails"]);
    met(&run(&["--fail-if", "p.sent<400", "--json"]), &["test/plan: private 64", "and 1 more"]);
    met(&run(&["--fail-if", "claims", "--fail-if", "privring.sent>1"]), &["fails; 'privring.sent>1'"]);
    shown(&run(&["--fail-if", "sent>400"]));
    refused(&run(&["--fail-if", "q.sent>1"]), &["`q`", "p, privring"]);
    let text = PLAN.replacen("published = \"400\"", "published = \"9.8\"", 1);
    fs::write(&path, text).unwrap();
    shown(&run(&["--fail-if", "claims"]));
}

#[test]
fn a_wrong_plan_is_refused() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("plan.toml");
    let plan = word(&path);
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
}

#[test]
fn a_plan_of_queues_is_judged_by_theory() {
    let dir = TempDir::new().unwrap();
    let (plan, html) = (dir.path().join("p.toml"), dir.path().join("p.html"));
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
    let plan = word(&plan);
    let found = json(&["experiment", "run", plan, "--html", word(&html)]);
    assert_eq!(found["claims"][0]["holds"], true, "{found}");
    assert_eq!(found["series"][0]["points"][1]["x"], 0.5);
    assert!(fs::read_to_string(&html).unwrap().contains("rxlab queue --servers 2"));
    let bad = dir.path().join("bad.toml");
    fs::write(&bad, text.replace("--servers 2", "--servers 65")).unwrap();
    refused(&["experiment", "run", word(&bad)], &["test/queues", "series up", "--servers 65"]);
    fs::write(&bad, text.replace("scale =", "search = true\nscale =")).unwrap();
    refused(&["experiment", "run", word(&bad)], &["search", "kind compare"]);
}
