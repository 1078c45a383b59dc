//! Real captures, where they are at hand: each is read and replayed, and its packets are counted in
//! a second way.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use traffic::stats::TraceStats;
use traffic::{Arrival, Rate, Trace, Workload, wire_bytes};

/// The captures beside the project; none when they are not there.
#[expect(clippy::explicit_write, reason = "what eprintln writes is seen of tests that fail alone")]
fn captures() -> Vec<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let Ok(entries) = std::fs::read_dir(&dir) else {
        writeln!(std::io::stderr(), "skipped: no captures at {}", dir.display()).unwrap();
        return Vec::new();
    };
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

/// What a walk over the record headers of a classic pcap file finds.
struct Walk {
    packets: u64,
    /// Sum of original lengths.
    bytes: u64,
    snapped: u64,
}

fn walk(file: &[u8]) -> Walk {
    let big = file[..2] == [0xa1, 0xb2];
    let word = |at: usize| {
        let b = file[at..at + 4].try_into().unwrap();
        (if big { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) }) as usize
    };
    let (mut at, mut walk) = (24, Walk { packets: 0, bytes: 0, snapped: 0 });
    while at < file.len() {
        let (captured, original) = (word(at + 8), word(at + 12));
        walk.packets += 1;
        walk.bytes += original as u64;
        walk.snapped += u64::from(captured < original);
        at += 16 + captured;
    }
    assert_eq!(at, file.len(), "the walk ends with the file");
    walk
}

#[test]
fn every_capture_is_read_whole() {
    for path in captures() {
        let walk = walk(&std::fs::read(&path).unwrap());
        let trace = Trace::open(&path).unwrap();
        let info = trace.stats();
        println!("{}: {info:?}", path.display());
        assert_eq!(info.packets + info.skipped.total(), walk.packets, "{}", path.display());
        assert_eq!(info.skipped.total(), 0, "{}", path.display());
        assert_eq!(info.snapped, walk.snapped, "{}", path.display());
        assert!(info.bytes >= walk.bytes, "{}", path.display());
        assert!(!info.truncated);
    }
}

/// Offered load and order hold on every capture, over several laps.
#[test]
fn every_capture_replays_at_the_asked_rate() {
    const LAPS: u64 = 20;
    for path in captures() {
        let trace = Arc::new(Trace::open(&path).unwrap());
        let packets = trace.stats().packets;
        let workload = Workload::Pcap(trace, None);
        let mut source = workload.source(0, 1, Rate::Gbps(50.0), 1);
        let (mut out, mut last, mut bytes) = (Arrival::EMPTY, 0, 0);
        for _ in 0..packets * LAPS {
            assert!(source.next(&mut out));
            let time = u64::from(wire_bytes(out.len)) * 80;
            assert!(out.at >= last + time, "{}: frames overlap on the wire", path.display());
            bytes += u64::from(wire_bytes(out.len));
            last = out.at;
        }
        let gbps = bytes as f64 * 8000.0 / last as f64;
        // A lap is sent somewhere inside its time: its edges blur the mean by one lap at most.
        assert!((gbps / 50.0 - 1.0).abs() < 1.0 / (LAPS - 1) as f64, "{}: {gbps} Gbps", path.display());
    }
}

/// Statistics of every capture add up; what is known of single ones is seen.
#[test]
fn every_capture_has_statistics_that_add_up() {
    for path in captures() {
        let stats = TraceStats::new(&Trace::open(&path).unwrap(), &[1, 8, 16]);
        println!("{}: {}", path.display(), serde_json::to_string(&stats).unwrap());
        let packets = stats.read.packets;
        assert_eq!(stats.network.values().map(|s| s.packets).sum::<u64>(), packets);
        assert_eq!(stats.sizes.histogram.iter().map(|c| c.packets).sum::<u64>(), packets);
        for load in &stats.rss {
            assert_eq!(load.packets.iter().sum::<u64>(), packets);
            assert!(load.max_mean >= 1.0);
        }
        match path.file_stem().unwrap().to_str().unwrap() {
            // Published with the captures: one elephant; a flood of one-packet flows; 500 equal
            // connections, two directions each; VLANs and equal time stamps; a third without IP.
            "nprint443_2k_bigendian" => assert!(stats.flows.top_pct > 50.0),
            "cicddos2019_syn_26k" => assert!(stats.flows.top_pct < 1.0),
            "zeek_echo_83k" => assert_eq!(stats.flows.count, 1000),
            "nren_switch_4k" => assert!(stats.bursts.equal_stamps > 0 && stats.vlan.packets > 0),
            "westermo_right_35k" => {
                let ip = stats.network["ipv4"].packets_pct;
                assert!((60.0..70.0).contains(&ip), "{ip}% IP");
            }
            _ => {}
        }
    }
}
