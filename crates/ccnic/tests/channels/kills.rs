//! The other side is killed at any moment, and comes back.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use ccnic::{Channel, Error, Listener};

use crate::other::{Other, PATIENCE, READY};
use crate::traffic::{Random, SMALL, Traffic};

/// The other process: it sends and receives until the end.
pub(crate) fn play(path: &Path, listens: bool) {
    let mut listener = listens.then(|| Listener::bind(path, SMALL).unwrap());
    let channel = match &mut listener {
        Some(listener) => {
            println!("{READY}");
            std::io::stdout().flush().unwrap();
            listener.accept().unwrap()
        }
        None => Channel::connect(path, SMALL).unwrap(),
    };
    let _ = Traffic::new(channel).run(u64::MAX);
}

/// Goes on until the other side is found to be gone, and takes all back: when a call first told of it, and how many
/// frames came.
fn to_the_end(mut side: Traffic) -> (Instant, u64) {
    let since = Instant::now();
    let mut told = None;
    loop {
        // A send tells of it before all is received.
        if matches!(side.push(u64::MAX), Err(Error::Gone)) {
            told.get_or_insert_with(Instant::now);
        }
        match side.pull() {
            Err(Error::Gone) => break,
            Err(e) => panic!("{e}"),
            Ok(0) => std::thread::yield_now(),
            Ok(_) => {}
        }
        assert!(since.elapsed() < PATIENCE, "a dead side was not noticed");
    }
    let (told, got) = (told.unwrap_or_else(Instant::now), side.got);
    side.settle();
    (told, got)
}

/// Times of one kind.
#[derive(Default)]
struct Times {
    count: u32,
    longest: Duration,
    sum: Duration,
}

impl Times {
    fn add(&mut self, took: Duration) {
        self.count += 1;
        self.longest = self.longest.max(took);
        self.sum += took;
    }

    fn tell(&self, since: &str) {
        let mean = self.sum / self.count.max(1);
        println!("  noticed {mean:?} after {since}, {:?} at most, {} times", self.longest, self.count);
    }
}

/// What was seen over many kills.
#[derive(Default)]
struct Seen {
    links: u64,
    frames: u64,
    /// From the signal on, while this side goes on: with the time that the system takes to end a process.
    kill: Times,
    /// From the first use after the end.
    end: Times,
}

impl Seen {
    /// Lets frames pass for a random while, kills the other side, and takes all back.
    fn kill(&mut self, mut side: Traffic, other: &mut Other, random: &mut Random) {
        let (rounds, since) = (1 + random.below(4000), Instant::now());
        let mut done = 0;
        while done < rounds {
            let moved = side.push(u64::MAX).unwrap() + side.pull().unwrap() as u64;
            done += u64::from(moved > 0);
            if moved == 0 {
                std::thread::yield_now();
            }
            assert!(since.elapsed() < PATIENCE, "round {done} of {rounds}");
        }
        other.kill();
        let ended = random.below(2) == 0;
        if ended {
            other.ends();
        }
        let start = Instant::now();
        let (told, frames) = to_the_end(side);
        (if ended { &mut self.end } else { &mut self.kill }).add(told - start);
        self.frames += frames;
        self.links += 1;
    }

    fn tell(&self, whom: &str) {
        println!("{whom}: {} links ended by a kill, {} frames", self.links, self.frames);
        self.kill.tell("the signal");
        self.end.tell("the first use");
    }
}

/// Every eighth one dies while it connects, or before.
fn dies_early(random: &mut Random) -> Option<Duration> {
    (random.below(8) == 0).then(|| Duration::from_micros(random.below(20_000)))
}

fn connectors(kills: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, SMALL).unwrap();
    let (mut random, mut seen) = (Random(kills), Seen::default());
    for _ in 0..kills {
        let mut other = Other::start("load", &path);
        if let Some(patience) = dies_early(&mut random) {
            let first = listener.accept_within(patience);
            other.kill();
            other.ends();
            let second = listener.accept_within(Duration::ZERO);
            for channel in [first, second].into_iter().flatten().flatten() {
                seen.frames += to_the_end(Traffic::new(channel)).1;
            }
            continue;
        }
        let side = Traffic::new(listener.accept().unwrap());
        seen.kill(side, &mut other, &mut random);
        other.ends();
    }
    assert!(seen.links > kills / 2);
    seen.tell("connectors");
}

fn listeners(kills: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let (mut random, mut seen) = (Random(kills + 1), Seen::default());
    for _ in 0..kills {
        let mut other = Other::start("load listener", &path);
        other.listens();
        if dies_early(&mut random).is_some() {
            let there = path.clone();
            let here = std::thread::spawn(move || Channel::connect(there, SMALL));
            (0..random.below(200)).for_each(|_| std::thread::yield_now());
            other.kill();
            // Either it was too late, or there is a link that has ended.
            if let Ok(channel) = here.join().unwrap() {
                seen.frames += to_the_end(Traffic::new(channel)).1;
            }
            other.ends();
            continue;
        }
        let side = Traffic::new(Channel::connect(&path, SMALL).unwrap());
        seen.kill(side, &mut other, &mut random);
        other.ends();
        assert!(path.exists(), "a dead listener leaves its file, and the next one replaces it");
    }
    assert!(seen.links > kills / 2);
    seen.tell("listeners");
}

#[test]
fn connectors_that_are_killed_lose_no_buffer() {
    connectors(30);
}

#[test]
fn listeners_that_are_killed_lose_no_buffer() {
    listeners(30);
}

#[test]
#[ignore = "1,000 kills take minutes"]
fn a_thousand_kills() {
    connectors(500);
    listeners(500);
}
