//! What is not allowed: one line, code 2, nothing half done.

use std::fs;

use tempfile::TempDir;

use crate::common::{PCAP, one_frame, record, refused, shown, word};
use crate::small;

#[test]
fn bad_values_are_told_in_one_line() {
    refused("compare --uncertainty=3", &["--uncertainty 3", "8 to 1024"]);
    refused("fit ddio-bench --members 3", &["--members 3", "8 to 1024"]);
    refused("fit --leave-out claim", &["--leave-out", "claim", "figure, paper"]);
    refused("fit corec/fig3", &["corec/fig3", "no claim", "rxbisect"]);
    refused("compare --ring 100", &["--ring 100", "power of two", "64"]);
    refused("compare --ax 1", &["--ax 1", "power of two"]);
    refused("compare --tx-ring 100", &["--tx-ring 100"]);
    refused("compare --pool 10", &["pool of 10", "at least"]);
    refused("compare --server cray", &["cray", "rxbisect-testbed"]);
    refused("compare --cores 0", &["--cores 0", "1 to 16"]);
    refused("compare --cores 17", &["--cores 17", "1 to 16"]);
    refused("compare --cores 3", &["--cores 3", "multiple of the 2 ports"]);
    refused("compare --port-load 3:0", &["--port-load 3:0", "whole number from 1 to 1000"]);
    refused("advise --port-load 3:1:1", &["--ports 3", "1 to 2"]);
    refused("compare --port-load 3:1 --ports 1", &["--port-load 3:1", "1 numbers"]);
    refused("compare --port-cores 12:5", &["--cores 17", "1 to 16"]);
    refused("compare --port-cores 8:4 --cores 16", &["--port-cores 8:4", "16 cores"]);
    refused("compare --port-load 3:1 --rate 150", &["--rate 150", "3:1", "133.3"]);
    let one = "compare --port-load 3:1 --workload fixed:1500,flows=1";
    refused(one, &["--port-load 3:1", "2 flows or more"]);
    refused("bench model --port-load x", &["--port-load x"]);
    refused("compare --cores many", &["--cores", "many"]);
    refused("compare --cores -1", &["--cores", "-1"]);
    refused("compare --rate -5", &["--rate", "-5", "own"]);
    refused("compare --workload imix,flows=5,flows=6", &["flows=6", "once"]);
    refused("live --marks some", &["--marks", "each, waiting"]);
    refused("compare --interfaces tokenring", &["tokenring", "privring, shring, rxbisect"]);
    refused("compare --interfaces privring:rings=64", &["rings", "allowed: ring"]);
    refused("compare --interfaces shring:unlock=fast", &["unlock", "fast", "store, swap"]);
    refused("compare --interfaces shring,privring:ring=100", &["privring:ring=100", "power of two from 64"]);
    refused("compare --interfaces ring=64,privring", &["ring=64", "NAME:ring=64"]);
    refused("compare --interfaces shring:shared_by=99", &["shared_by is 99", "1 to 8"]);
    refused("compare --interfaces rxbisect:group=9", &["group is 9", "0 (all) to 8"]);
    refused(
        "compare --best rxbisect",
        &["--best rxbisect", "privring, shring, dynamic, corec, ddring, ccnic, ceio, none"],
    );
    refused("live --interfaces corec:marks=some", &["marks", "each, waiting"]);
    refused("tcp --interface corec:ring=100", &["corec:ring=100", "power of two"]);
    refused("compare --app doom", &["doom", "l3fwd, lb, nat, nf, kv"]);
    refused("compare --workload sometimes", &["sometimes", "imix"]);
    refused("compare --app kv", &["--app kv", "kv:put=PERCENT"]);
    refused("compare --app erpc-kv", &["--app erpc-kv", "erpc:put=PERCENT"]);
    let other = "compare --app erpc-kv --steer port --workload kv:put=5";
    refused(other, &["--app erpc-kv", "erpc:put=PERCENT"]);
    refused("compare --workload fixed:60,tunnel=vxlan --steer port", &["--steer rss"]);
    refused("compare --room 9601", &["--room 9601", "2048 to 9600"]);
    refused("compare --bypass 1:5,host=nfs", &["host=none|linefs"]);
    refused("live --app erpc-kv --workload kv:put=5", &["erpc:put=PERCENT"]);
    refused("loopback --nic card-ceio --server icx", &["the card of icx has no memory"]);
    refused("compare --workload kv:put=95", &["kv:put=95", "--steer port"]);
    refused("compare --workload kv:put=x", &["put=PERCENT"]);
    refused("live --app kv --interfaces corec", &["corec", "partition of kv"]);
    refused("compare --target-reads 5", &["--target-reads 5", "--app nf"]);
    refused("compare --app nf --target-reads 100001", &["--target-reads 100001", "0 to 100000"]);
    refused("compare --steer dice", &["--steer", "dice", "rss, port"]);
    refused("compare --workload imix,target=gbps:1", &["target", "--steer port"]);
    let target = "compare --steer port --workload imix,target=gbps:60 --rate 100";
    refused(target, &["target=gbps:60", "at most the 50 Gbps"]);
    refused(&format!("{target} --cores 2"), &["2 cores of a port"]);
    refused("compare --rate -3", &["-3"]);
    refused("compare --rate 1000", &["--rate 1000", "on 2 ports", "200 Gbps"]);
    refused("compare --workload fixed:2049", &["fixed:2049", "up to 2048 bytes"]);
    refused("compare --rate fast", &["fast", "own"]);
    refused("compare --ddio-ways 12", &["--ddio-ways 12", "1 to 11"]);
    refused("compare --sampling 3", &["--sampling 3", "power of two"]);
    refused("compare --placements 0", &["--placements 0"]);
    refused("compare --bogus", &["--bogus"]);
    refused("compare --pcap a --workload imix", &["--pcap", "--workload"]);
    refused("experiment run rxbisect/fig99", &["fig99", "rxbisect/fig2"]);
    refused("experiment run nobody --all", &["nobody", "rxbisect"]);
    refused("profile show cray", &["cray", "rxbisect-testbed", "icelake"]);
    refused("advise --server genoa", &["genoa", "cards write to DRAM", "--ddio-ways"]);
    refused("profile check icelake-1", &["icelake", "`1`", "6346"]);
    refused("profile detect --root /no/such/place", &["/no/such/place: no directory"]);
    refused("profile detect --cpuid /no/such/place", &["/no/such/place"]);
    refused("profile detect --nic cray", &["cray", "cx6dx"]);
    refused("profile explain cray", &["cray", "caches.ways"]);
    refused("profile new cray.txt", &["cray.txt", ".toml"]);
    refused("advise --ax 256", &["--ax 256", "advise finds it"]);
    refused("advise --pool 9000", &["--pool 9000", "advise finds it"]);
    refused("advise --emulated", &["--emulated", "compare"]);
    refused("advise --nics 3", &["--ports 3", "1 to 2"]);
    refused("trace x --cores 0", &["--cores 0"]);
    refused("bench model --repeats 0", &["--repeats 0"]);
    refused("bench threads --repeats 0", &["--repeats 0"]);
    refused("bench live --only tokenring", &["--only tokenring", "memif", "rxbisect-pair"]);
    refused("bench live --measure warmth", &["warmth", "stream", "cycles"]);
    refused("bench live --sizes 63", &["63", "64"]);
    refused("bench live --only memif --measure cycles", &["nothing to measure"]);
    refused("bench live --build /nowhere", &["/nowhere/bench/rxbench", "make dpdk"]);
    refused("live --workers 0", &["--workers 0", "1 to 64"]);
    refused("live --ring 100", &["100", "power of two"]);
    refused("live --app doom", &["doom", "check, tcp-echo, l3fwd, lb, nat"]);
    refused("live --interfaces tokenring", &["tokenring"]);
    refused("live --pool 10", &["10", "allowed"]);
    refused("live --skew 101", &["101"]);
    refused(&[""; 0], &["--help"]);
}

#[test]
fn bad_captures_are_told_in_one_line() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        word(&path).to_string()
    };
    // A record that promises 64 bytes and holds 3.
    let cut = record(0, 64, &[1, 2, 3]);
    let truncated = [&PCAP[..], &cut].concat();
    let (empty, text, truncated) = (
        file("empty.pcap", b""),
        file("text.pcap", b"no capture at all, just words"),
        file("t.pcap", &truncated),
    );
    for command in [&["trace"][..], &["compare", "--pcap"]] {
        let with = |name: &'static str, parts: &[&str], path: &str| {
            let args: Vec<&str> = command.iter().copied().chain([path]).collect();
            let parts: Vec<&str> = parts.iter().copied().chain([name]).collect();
            refused(&args, &parts);
        };
        with("none.pcap", &["No such file"], "none.pcap");
        with("empty.pcap", &["empty", "pcap or pcapng"], &empty);
        with("text.pcap", &["not a capture"], &text);
        with("t.pcap", &["no usable frame"], &truncated);
    }
    // One whole frame, then half of another.
    let half = file("half.pcap", &[&one_frame()[..], &cut].concat());
    refused(
        &["compare", "--pcap", &half],
        &["half.pcap", "ends inside a record", "--allow-truncated", "1 whole"],
    );
    shown(&["trace", &half]); // counted and told
    let taken = small(&["--limit-ms", "5", "--interfaces", "privring", "--allow-truncated", "--pcap"]);
    shown(&[&taken[..], &[&half]].concat());
}

#[test]
fn a_failed_run_leaves_no_report() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("r.html");
    refused(&["compare", "--ring", "100", "--html", word(&path)], &["--ring 100"]);
    refused(&["compare", "--html", word(&dir.path().join("none/r.html"))], &["does not exist"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
