//! A side that writes anything anywhere, and an honest link beside it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use ccnic::{Buf, Channel, Listener, Segment};

use crate::other::Other;
use crate::traffic::{NONE, Random, SMALL, Traffic};
use crate::wary::Wary;

/// The first words of a region, as [`Channel`] lays them out: a line for the header, then one for each sleeper.
const ASLEEP: u64 = 64;

fn memory(channel: &Channel) -> File {
    let file: OwnedFd = channel.memory().unwrap().try_clone_to_owned().unwrap();
    File::from(file)
}

/// Writes into both sides' words that they sleep.
pub(crate) fn say_asleep(channel: &Channel) {
    for word in [ASLEEP, ASLEEP + 64] {
        memory(channel).write_all_at(&1_u64.to_ne_bytes(), word).unwrap();
    }
}

/// A word that may look like something.
pub(crate) fn word(random: &mut Random) -> u64 {
    let flags = random.below(16) << 60;
    match random.below(6) {
        0 => random.next(),
        1 => random.below(200),
        2 => flags | random.below(100) | random.below(256) << 48,
        3 => flags | random.below(100) | random.below(300) << 24 | random.below(64) << 40,
        4 => 0,
        _ => u64::MAX << random.below(64),
    }
}

/// Honest for a while in each round, and then not at all.
pub(crate) fn play(path: &Path) {
    let mut channel = Channel::connect(path, SMALL).unwrap();
    let file = memory(&channel);
    let words = file.metadata().unwrap().len() / 8;
    let buffers = u64::from(SMALL.buffers) * 320 / 8;
    let mut random = Random(1);
    loop {
        for _ in 0..random.below(40) {
            // Rings and pool lie behind the buffers, the directory at the end; half of the words go there.
            let at = if random.below(4) == 0 {
                random.below(words)
            } else {
                (16 + buffers + random.below(words - buffers - 16)).min(words - 1)
            };
            file.write_all_at(&word(&mut random).to_ne_bytes(), at * 8).unwrap();
        }
        let mut bufs = [Buf(0)];
        if channel.alloc(&mut bufs) == 1 {
            let _ = channel.send(&[Segment { buf: bufs[0], off: 0, len: 9, last: random.below(2) == 0 }]);
        }
        std::thread::yield_now(); // three processes, perhaps on two cores
        let mut segs = [NONE; 4];
        match channel.receive(&mut segs) {
            Ok(n) => segs[..n].iter().for_each(|s| channel.free(&[s.buf])),
            Err(_) => return,
        }
    }
}

fn beside(rounds: u64) {
    let dir = tempfile::tempdir().unwrap();
    let (path, honest_path) = (dir.path().join("hostile"), dir.path().join("honest"));
    let mut listener = Listener::bind(&path, SMALL).unwrap();
    let mut honest_listener = Listener::bind(&honest_path, SMALL).unwrap();
    let _honest = Other::start("load", &honest_path);
    let mut honest = Traffic::new(honest_listener.accept().unwrap());
    let (mut random, mut lies, mut links) = (Random(2), 0, 0);
    let mut other = Other::start("hostile", &path);
    let mut wary = Wary::new(listener.accept().unwrap());
    for round in 1..=rounds {
        for _ in 0..16 {
            wary.turn(&mut random).unwrap();
        }
        // By what this side sent: what came may be far ahead, and a round that caught up with it would never end.
        honest.run(honest.sent + 4).unwrap();
        // A link that a liar has brought to a stand is given up, and the next one is like new.
        if round % 5_000 == 0 || round == rounds {
            other.kill();
            other.ends();
            lies += wary.lies();
            links += 1;
            wary.settle();
            other = Other::start("hostile", &path);
            wary = Wary::new(listener.accept().unwrap());
        }
    }
    assert!(lies > 0 && honest.channel.is_alive());
    let honest_lies = honest.channel.counters().into_iter().find(|(name, _)| *name == "pool_lies");
    assert_eq!(honest_lies, Some(("pool_lies", 0)));
    println!("{lies} lies over {links} links; {} frames of the honest one", honest.got);
}

#[test]
fn a_hostile_side_stops_its_own_link_alone() {
    beside(50_000);
}

#[test]
#[ignore = "minutes"]
fn a_hostile_side_stops_its_own_link_alone_for_long() {
    beside(2_000_000);
}
