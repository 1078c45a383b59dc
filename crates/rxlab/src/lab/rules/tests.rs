//! Rule files over captures of generated frames, against a list of rules.

use std::path::{Path, PathBuf};

use flow::Rule;
use flow::testing::{Reference, Shape};
use tempfile::TempDir;

use super::*;

/// Rules that meet the frames of `Shape`.
const RULES: &str = "\
flow create 0 priority 5 pattern eth / ipv4 / udp / vxlan / end actions jump group 1 / end
flow create 0 priority 1 pattern ipv4 dst is 10.0.0.0 dst prefix 31 / end actions set_meta data 3 mask 0xff / jump group 2 / end
flow create 0 priority 3 pattern udp dst is 1 dst last 3 / end actions rss queues 0 1 end / end
flow create 0 priority 4 pattern vlan vid is 1 vid last 3 / end actions count / drop / end
flow create 0 priority 6 pattern ipv4 dst is 10.0.0.1 / end actions queue index 1 / end
flow create 0 group 1 pattern udp / vxlan vni is 1 / eth / end actions vxlan_decap / jump group 3 / end
flow create 0 group 2 pattern meta data is 3 / tcp / end actions drop / end
flow create 0 group 2 priority 1 pattern meta data is 3 / ipv4 ttl is 64 / end actions queue index 8 / end
flow create 0 group 3 pattern ipv4 / end actions jump group 3 / end
";

/// Frames of all shapes, some of them cut off in their headers.
fn frames() -> Vec<Vec<u8>> {
    let shapes = (0..=255_u8).flat_map(|value| (0..32).map(move |kind| (kind, value)));
    let shape = |(kind, value): (u8, u8)| Shape { kind, value, more: value.rotate_left(3) ^ kind };
    let mut frames: Vec<_> = shapes.map(|numbers| shape(numbers).frame()).collect();
    frames.retain(|frame| frame.len() >= packet::ETHERNET);
    frames
}

/// A capture with these frames.
fn pcap(dir: &Path, frames: &[Vec<u8>]) -> PathBuf {
    let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 0xffff, 1];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for frame in frames {
        let len = frame.len() as u32;
        bytes.extend([0, 0, len, len].iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(frame);
    }
    let path = dir.join("frames.pcap");
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn frames_end_where_a_list_of_rules_sends_them() {
    let dir = TempDir::new().unwrap();
    let (file, frames) = (text::read(RULES).unwrap(), frames());
    let rules = file
        .entries()
        .map(|(index, rule)| (index as u32, Rule { actions: rule.actions.into_owned().into(), ..rule }));
    let reference = Reference { rules: rules.collect() };
    let (mut endings, mut hits) = (BTreeMap::new(), vec![Count::default(); file.rules.len()]);
    let mut bad = 0;
    for frame in &frames {
        let parsed = packet::parse(frame);
        bad += u64::from(parsed.fault.is_some());
        let told = reference.classify(&mut Key::read(frame, &parsed));
        let one = Count { frames: 1, bytes: frame.len().max(60) as u64 };
        let ending = endings.entry(told.ending).or_default();
        *ending = sum(*ending, one);
        told.hits.iter().for_each(|hit| hits[*hit as usize] = sum(hits[*hit as usize], one));
    }
    let found = run(file, &pcap(dir.path(), &frames), 2).unwrap();
    assert_eq!((&found.endings, &found.hits), (&endings, &hits));
    assert!(
        endings.contains_key(&Ending::TooLong) && endings.contains_key(&Ending::Missed(1)),
        "{endings:?}"
    );
    assert!(bad > 0 && found.seen.malformed() == bad, "{bad}");
    assert_eq!(found.seen.all.frames, frames.len() as u64);

    // Each frame is looked up in group 0, and each look-up hits a rule or misses.
    assert_eq!(found.groups[&0].frames, frames.len() as u64);
    assert_eq!((found.groups[&0].entries, found.groups[&0].masks), (7, 7));
    // The prefix takes all frames of the address behind it.
    assert_eq!(found.shadowed, [None, None, None, None, Some(1), None, None, None, None]);
    assert_eq!(found.hits[4].frames, 0);
    assert!(found.memory.bytes <= found.memory.most);
    let lookup = found.lookup.unwrap();
    assert!(
        lookup.least_ns > 0.0 && lookup.least_ns <= lookup.median_ns && lookup.median_ns <= lookup.most_ns
    );
    assert_eq!((lookup.frames, lookup.lookups % frames.len()), (frames.len(), 0));
}

#[test]
fn the_example_is_understood() {
    let example = include_str!("../../../../../experiments/flow/example.flow");
    assert_eq!(text::read(example).unwrap().rules.len(), 30);
}
