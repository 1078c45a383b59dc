//! What `--json` writes is what its schema says, and what a schema does not say is not written.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;

use common::{PCAP, record, rxlab, shown, word};

/// The schema that the program prints of a command.
fn schema(command: &str) -> Value {
    serde_json::from_str(&shown(&format!("schema {command}"))).unwrap()
}

fn validator(command: &str) -> Validator {
    jsonschema::draft202012::new(&schema(command)).unwrap()
}

/// Everything that is wrong with `value`.
fn faults(command: &str, value: &Value) -> Vec<String> {
    validator(command).iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

/// Runs `line`, a command and its options, and holds what it writes against the schema of `command`.
fn holds(command: &str, line: &str) -> Value {
    let value = common::json(line);
    assert_eq!(faults(command, &value), [""; 0], "{line}");
    value
}

/// A capture of 400 frames of 60 B, a microsecond apart, of four flows.
fn capture(dir: &Path) -> String {
    let mut bytes = PCAP.to_vec();
    for n in 0..400u32 {
        let mut frame = [0u8; 60];
        frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
        frame[26..38].copy_from_slice(&[10, 0, 0, n as u8 % 4, 10, 1, 0, 1, 0, 7, 0, 9]);
        frame[39] = 26;
        bytes.extend(record(n, 60, &frame));
    }
    let path = dir.join("small.pcap");
    fs::write(&path, bytes).unwrap();
    word(&path).to_string()
}

const COMMANDS: [&str; 25] = [
    "advise",
    "advise flows",
    "bench flow",
    "bench live",
    "bench model",
    "bench threads",
    "calibrate",
    "compare",
    "experiment list",
    "experiment run",
    "fit",
    "flow",
    "link",
    "live",
    "loopback",
    "profile check",
    "profile detect",
    "profile explain",
    "profile list",
    "profile show",
    "queue",
    "rules",
    "tcp",
    "trace",
    "why",
];

/// Panics where a property below `schema` has no description, or an object takes what is not described.
fn described(schema: &Value, path: &str) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let closed = ["additionalProperties", "unevaluatedProperties"].iter().any(|k| schema[*k] == false);
        // What others add to is closed by them.
        assert!(closed || path.contains("/$defs/"), "{path}: takes any property");
        for (name, property) in properties {
            let text = property["description"].as_str().or_else(|| property["$ref"].as_str());
            assert!(text.is_some_and(|text| text.len() > 5), "{path}/{name}: no description");
        }
    }
    match schema {
        Value::Object(map) => {
            map.iter().for_each(|(name, inner)| described(inner, &format!("{path}/{name}")))
        }
        Value::Array(all) => all.iter().for_each(|inner| described(inner, path)),
        _ => {}
    }
}

#[test]
fn schemas_are_listed_valid_whole_and_described() {
    let list = shown("schema");
    assert_eq!(list.lines().count(), COMMANDS.len() + 2, "and the headings: {list}");
    for command in COMMANDS {
        assert!(list.contains(command), "{command}: {list}");
        let schema = schema(command);
        assert!(jsonschema::meta::is_valid(&schema), "{command}");
        assert!(!schema.to_string().contains("common.json"), "{command} needs another file");
        described(&schema, command);
    }
}

#[test]
fn an_unknown_command_is_told_in_one_line() {
    for command in ["doom", "experiment", "schema"] {
        let out = rxlab(&["schema", command]);
        let line = String::from_utf8_lossy(&out.stderr).to_string();
        assert_eq!((out.status.code(), out.stdout.len(), line.lines().count()), (Some(2), 0, 1), "{line}");
        assert!(
            line.contains(&format!("`{command}`")) && line.contains("experiment run, fit, flow, link, live"),
            "{line}"
        );
    }
}

const SMALL: &str = "compare --cores 2 --placements 1 --rate 20 --limit-ms 5";

#[test]
fn comparisons() {
    let rates = holds("compare", &format!("{SMALL} --no-search"));
    assert_eq!(rates["defaults"]["rate"].as_f64(), Some(20.0), "a number, not a word");
    // Loss, with its remedies, a winner, what other arrivals do, every load.
    let lossy = "--cores 2 --placements 1 --rate 60 --resolution 10 --trial-ms 2 --limit-ms 5 --sweep rate";
    let found = holds("compare", &format!("compare {lossy} --other-arrivals 1 --interfaces privring,shring"));
    assert!(!found["remedies"].as_array().unwrap().is_empty() && !found["sweep"].is_null(), "{found}");
    holds("compare", &format!("{SMALL} --no-search --emulated --interfaces rxbisect --app nf"));
    holds("compare", &format!("{SMALL} --no-search --interfaces corec,ddring,dynamic --antagonist stream:1"));
    let drawn =
        format!("{SMALL} --resolution 50 --trial-ms 1 --interfaces privring --best none --other-arrivals 0");
    let found = holds("compare", &format!("{drawn} --uncertainty=8 --sensitivity"));
    let (sure, moves) = (&found["uncertainty"], &found["sensitivity"]["constants"]);
    // A row alone leads nobody.
    assert_eq!((&sure["draws"], &sure["same"], &sure["level"]), (&json!(8), &json!(8), &json!(8)));
    assert!(sure["rows"][0]["intervals"].as_array().unwrap().len() > 5, "{sure}");
    assert_eq!(sure["constants"].as_array().unwrap().len(), moves.as_array().unwrap().len());
    let means: Vec<f64> = moves.as_array().unwrap().iter().map(|c| c["mean_pct"].as_f64().unwrap()).collect();
    assert!(means.is_sorted_by(|a, b| a >= b) && means[0] > 0.0, "{means:?}");
    let found =
        holds("compare", &format!("{SMALL} --no-search --interfaces privring --bypass 1:5,to=memory"));
    let beside = found["results"][0]["bypass_gbps"].as_f64().unwrap();
    assert!((8.0..10.0).contains(&beside) && found["defaults"]["bypass"] == "1:5,to=memory", "{found}");
    let ports = "compare --cores 4 --port-load 3:1 --placements 1 --rate 20 --limit-ms 5 --no-search";
    let found = holds("compare", &format!("{ports} --interfaces privring"));
    assert_eq!(found["results"][0]["per_port"].as_array().unwrap().len(), 2);
}

#[test]
fn captures() {
    let dir = TempDir::new().unwrap();
    let path = capture(dir.path());
    let found = holds("trace", &format!("trace {path}"));
    assert_eq!(found["flows"]["count"], 4);
    let own =
        holds("compare", &format!("compare --pcap {path} --rate own --no-search --cores 2 --placements 1"));
    assert_eq!((&own["defaults"]["rate"], &own["traffic"]["info"]["packets"]), (&json!("own"), &json!(400)));
}

#[test]
fn flow_rules() {
    let dir = TempDir::new().unwrap();
    let (pcap, rules) = (capture(dir.path()), dir.path().join("x.flow"));
    let text = "flow create 0 pattern eth / ipv4 src is 10.0.0.1 src last 10.0.0.2 / end actions count / queue index 1 / end\n\
        flow create 0 priority 1 pattern ipv4 src is 10.0.0.3 / end actions jump group 7 / end\n\
        flow create 0 priority 2 pattern eth / ipv4 src is 10.0.0.1 / end actions rss queues 1 2 end / end\n\
        set verbose 1\nflow query 0 0 count\n";
    fs::write(&rules, text).unwrap();
    let line = format!("flow {} --pcap {pcap}", word(&rules));
    let found = holds("flow", &format!("{line} --repeat 0"));
    let shares: Vec<_> = found["rules"].as_array().unwrap().iter().map(|rule| &rule["frames"]).collect();
    assert_eq!(shares, [&json!(200), &json!(100), &json!(0)]);
    assert_eq!((&found["rules"][0]["entries"], &found["rules"][2]["shadowed_by"]), (&json!(2), &json!(0)));
    assert_eq!((&found["lookup"], &found["ignored_lines"]), (&Value::Null, &json!(1)));
    let missed: Vec<_> = found["groups"].as_array().unwrap().iter().map(|group| &group["missed"]).collect();
    assert_eq!(missed, [&json!(100), &json!(100)]);
    assert_eq!(found, common::json(&format!("{line} --repeat 0")), "the same bytes");
    let timed = holds("flow", &format!("{line} --repeat 2 --group 0"));
    assert_eq!((&timed["lookup"]["lookups"], &timed["lookup"]["repeats"]), (&json!(65600), &json!(2)));
}

#[test]
fn advice() {
    let small = "--cores 2 --rate 34 --placements 1 --trial-ms 2 --limit-ms 5 --resolution 10";
    let found = holds("advise", &format!("advise --ports 1 {small} --uncertainty=8"));
    assert_eq!(found["uncertainty"]["rows"].as_array().unwrap().len(), 3);
    holds("advise flows", "advise flows --rate 36000");
}

const PLAN: &str = r#"
id = "test/plan"
title = "t"
source = "s"
notes = ["n"]
options = "--cores 2 --workload fixed:1500 --rate 10 --placements 1 --limit-ms 5"
x = "ring"
fields = ["throughput_gbps"]
[[series]]
id = "p"
label = "private"
interface = "privring"
sweep = { option = "--ring {}", values = [64, 128] }
[[claims]]
id = "many"
what = "w"
published = "9 10"
unit = "Gbps"
rule = "ratio"
tolerance = 0.1
metric = ["p.throughput_gbps"]
[[claims]]
id = "nothing"
what = "w"
published = "9"
unit = "Gbps"
rule = "input"
tolerance = 0
metric = ["p.throughput_gbps@3"]
[[findings]]
id = "f"
what = "w"
unit = "Gbps"
metric = ["p.mpps@64"]
"#;
/// Plans of the other kinds: the lines that differ.
const OTHERS: [(&str, &str, &str); 7] = [
    ("kind = \"queue\"", "--servers 2 --customers 40000", "--load {}\", values = [0.2"),
    ("kind = \"tcp\"", "--flows 2 --bytes 5000", "--ring {}\", values = [64"),
    ("slices = 3", "--cores 2 --rate 10", ""),
    ("kind = \"link\"", "--measure stores --case mmio", "--count {}\", values = [25"),
    ("kind = \"rules\"", "--tables root", "--count {}\", values = [100"),
    ("runs = \"once\"", "--cores 1 --rate 10 --limit-ms 5", "--ring {}\", values = [64"),
    ("runs = \"parts\"", "--cores 1 --rate 10 --window 100000:100000:2:0:0", ""),
];

/// One core that is short of cycles: what it sends depends on the application's.
const BUSY: &str = r#"
id = "test/busy"
title = "t"
source = "s"
notes = ["n"]
options = "--cores 1 --ports 1 --app lb --workload fixed:1500,flows=100 --rate 60 --limit-ms 5"
fields = ["throughput_gbps"]
[[series]]
id = "p"
label = "private"
interface = "privring"
options = "--ring 64"
[[claims]]
id = "sent"
what = "w"
published = "PUBLISHED"
unit = "Gbps"
rule = "ratio"
tolerance = 0.02
metric = ["p.throughput_gbps"]
"#;

#[test]
fn fits() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("busy.toml");
    let line = format!("fit {} --members 12", word(&path));
    let of = |published: f64| {
        fs::write(&path, BUSY.replace("PUBLISHED", &format!("{published:.3}"))).unwrap();
        holds("fit", &line)
    };
    let own = of(10.0)["claims"][0]["before"][0].as_f64().unwrap();
    let found = of(1.12 * own);
    let (claim, constants) = (&found["claims"][0], found["constants"].as_array().unwrap());
    assert_eq!((&claim["held"], &found["summary"]["claims"]), (&json!(false), &json!(1)));
    let after = claim["after"][0].as_f64().unwrap();
    assert!((1.06 * own..1.18 * own).contains(&after), "{own}: {found}");
    let cycles = constants.iter().find(|c| c["name"] == "lb_cycles").unwrap();
    let [value, fitted] = ["value", "fitted"].map(|key| cycles[key].as_f64().unwrap());
    assert!(fitted < 0.97 * value && cycles["pulls"][0]["by"].as_f64().unwrap() < -0.3, "{cycles}");
    // Left out, it is predicted by nothing but the prior.
    let left_out = holds("fit", &format!("{line} --leave-out figure"));
    assert_eq!((&left_out["left_out"], &left_out["claims"][0]["holds"]), (&json!("figure"), &json!(false)));
}

#[test]
fn experiments() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("plan.toml");
    let line = format!("experiment run {}", word(&path));
    fs::write(&path, PLAN).unwrap();
    let found = holds("experiment run", &line);
    let claims = &found["claims"];
    assert!(claims[0]["obtained"].is_array() && claims[1]["obtained"].is_null(), "{claims}");
    for (kind, options, sweep) in OTHERS {
        let interface = match kind.split([' ', '"']).next() {
            _ if kind.contains("tcp") => "interface = \"corec\"",
            Some("runs") => "interface = \"privring\"",
            _ => "",
        };
        let sweep =
            if sweep.is_empty() { String::new() } else { format!("sweep = {{ option = \"{sweep}] }}") };
        let plan = format!(
            "id = \"test/other\"\ntitle = \"t\"\nsource = \"s\"\nnotes = []\n{kind}\noptions = \"{options}\"\n\
             fields = []\n[[series]]\nid = \"s\"\nlabel = \"l\"\n{interface}\n{sweep}\n"
        );
        fs::write(&path, plan).unwrap();
        let found = holds("experiment run", &line);
        assert!(!found["series"][0]["points"].as_array().unwrap().is_empty(), "{kind}");
        let curve = "[[curves]]\nid = \"c\"\nwhat = \"w\"\nunit = \"Gbps\"\naxis = \"full\"\ntolerance = 0.1\n\
                     metric = \"s.throughput_gbps\"\nx = [0.0002, 0.0003]\ny = [10, 0]\n";
        if kind.contains("parts") {
            fs::write(&path, fs::read_to_string(&path).unwrap() + curve).unwrap();
            let found = holds("experiment run", &line);
            assert_eq!(found["curves"][0]["points"], 2, "{found}");
        }
        // What `--all` writes.
        assert_eq!(faults("experiment run", &json!([found, found])), [""; 0]);
    }
    holds("experiment list", "experiment list");
}

#[test]
fn threads() {
    holds("live", "live --packets 5000 --interfaces privring,rxbisect,dynamic --antagonist stream:1");
    holds("live", "live --packets 5000 --interfaces corec,ddring --app l3fwd --drop");
    holds("live", "live --packets 500 --interfaces privring,ccnic --app tcp-echo");
    holds("bench threads", "bench threads --packets 2000 --repeats 1");
}

#[test]
fn systems_and_servers() {
    holds("queue", "queue --servers 2 --load 0.5 --customers 4000");
    holds("rules", "rules --count 1000");
    let waited = holds("link", "link --profile spr");
    assert_eq!((&waited["server"], &waited["points"][3]["case"]), (&json!("spr"), &json!("remote-l2-rh")));
    holds("link", "link --measure ping-pong");
    holds("link", "link --measure writes --bytes 64,256");
    holds("link", "link --measure stores --count 1,30");
    let streamed = holds("link", "link --measure stream --pairs 2");
    assert_eq!((streamed["points"].as_array().unwrap().len(), &streamed["points"][0]["x"]), (3, &json!(2)));
    let short = "loopback --pairs 1 --warm-us 20 --span-us 20";
    let found = holds("loopback", &format!("{short} --signal register --prefetch off --link-gbytes 40"));
    assert!(found["mpps"].as_f64() > Some(1.0) && found["lost"] == 0.0, "{found}");
    let counted = holds("loopback", "loopback --pairs 1 --frames 256:512 --tx-burst 8 --in-flight 96");
    assert!(counted["mpps"].is_null() && counted["nic_reads"].as_f64() > Some(1.0), "{counted}");
    let rules = "--server nic-testbed-cx5 --tables 2 --rules 100 --rule-rate 1000";
    let found = holds(
        "compare",
        &format!("compare {rules} --placements 1 --cores 1 --limit-ms 5 --no-search --best none"),
    );
    assert_eq!(found["defaults"]["rule_core"], "same");
    holds("tcp", "tcp --flows 2 --bytes 10000");
    // One that does not end has no times.
    let cut = holds("tcp", "tcp --bytes 10000000000 --limit-s 1 --cores 1 --sampling 64");
    assert!(cut["fct_mean_us"].is_null() && cut["unfinished"] == 1.0, "{cut}");
    holds("bench model", "bench model --cores 2 --rate 10 --repeats 1 --packets 20000");
    holds("profile check", "profile check icelake-6346,nic=cx6dx:2");
    holds("profile explain", "profile explain caches");
    holds("profile show", "profile show turin-sdci,nic=soft");
    let list = holds("profile list", "profile list");
    for server in list.as_array().unwrap() {
        assert_eq!(server["schema_version"], 2, "an array stays one, each of its elements has the version");
        holds("profile show", &format!("profile show {}", server["name"].as_str().unwrap()));
    }
}

#[test]
fn measurements() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("here.toml");
    let path = word(&path);
    let line = format!("calibrate --rounds 1 --predict --out {path} --json");
    // Where CPUs move in every round nothing is measured, as tests/calibrate.rs says.
    let several = std::thread::available_parallelism().unwrap().get() > 1;
    let measured = (0..if several { 10 } else { 0 }).map(|_| rxlab(&line)).find(|out| out.status.success());
    if let Some(out) = measured {
        let value: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(faults("calibrate", &value), [""; 0]);
        holds("calibrate", &format!("calibrate --from {path} --predict"));
        holds("profile show", &format!("profile show {path}"));
    } else {
        println!("nothing measured");
    }
}

#[test]
fn what_is_not_described_or_of_another_type_is_refused() {
    let good = holds("compare", &format!("{SMALL} --no-search --interfaces privring"));
    let refused = |at: &str, name: &str, value: Value| {
        let mut bad = good.clone();
        bad.pointer_mut(at).unwrap()[name] = value;
        let found = faults("compare", &bad);
        assert!(found.len() == 1 && found[0].contains(name), "{at}/{name}: {found:?}");
    };
    refused("", "undocumented", json!(1));
    refused("/results/0", "undocumented", json!(1));
    refused("/results/0/latency_us", "undocumented", json!(1));
    refused("/results/0", "mpps", json!("1.5"));
    refused("/defaults", "rate", json!("20"));
    refused("", "schema_version", json!(1));
    let mut short = good.clone();
    short["results"][0].as_object_mut().unwrap().remove("mpps");
    assert!(faults("compare", &short)[0].contains("mpps"));
    let mut queue = holds("queue", "queue --servers 1 --load 0.5 --customers 4000");
    queue["undocumented"] = json!(1);
    assert_eq!(faults("queue", &queue).len(), 1, "where properties come from several schemas too");
}

#[test]
fn constants_are_described_as_they_are_declared() {
    let profile = &schema("profile show")["$defs"]["profile"]["properties"];
    let mut described = 0;
    for declared in model::profile::declared() {
        let keys: Vec<&str> = declared.place.split('.').collect();
        let [root, component, key] = keys[..] else { panic!("{}", declared.place) };
        let component = &profile[root]["properties"][component];
        let text = format!("{} Allowed: {}.", declared.about(), declared.range);
        assert_eq!(component["properties"][key]["description"], text, "{}", declared.place);
        let required = component["required"].as_array().is_some_and(|all| all.contains(&json!(key)));
        assert_eq!(required, declared.is_everywhere(), "{}", declared.place);
        described += 1;
    }
    let components =
        ["constants", "apps", "tables"].into_iter().flat_map(|root| profile[root]["properties"].as_object());
    let keys = components.flatten().map(|(_, c)| c["properties"].as_object().map_or(0, |keys| keys.len()));
    assert_eq!(keys.sum::<usize>(), described, "the schema has no others");
}
