//! A link to a hostile side ([`crate::strikes`]) beside an honest one, for as long as one likes.

use std::env;
use std::path::Path;
use std::process::abort;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ccnic::{Back, Config, Error, Layout, Listener};

use crate::guards::Above;
use crate::other::{Other, PATIENCE};
use crate::traffic::{Random, SMALL, Traffic};
use crate::wary::Wary;

/// How long a link lasts, unless the hostile side ends it.
const LINK: Duration = Duration::from_millis(500);
/// One of so many links has a side that writes as much, but into memory of its own: what the rate is held to. Together
/// with the number of configurations it gives all pairs.
const ROUND: u64 = 5;

/// Ends the process if the test stands still.
fn watch(progress: &Arc<AtomicU64>) {
    let progress = Arc::downgrade(progress);
    thread::spawn(move || {
        let mut seen = None;
        while let Some(now) = progress.upgrade().map(|progress| progress.load(Relaxed)) {
            if seen.replace(now) == Some(now) {
                println!("a call has taken {PATIENCE:?}: turn {now}");
                abort();
            }
            let since = Instant::now();
            while since.elapsed() < PATIENCE && progress.strong_count() > 0 {
                thread::park_timeout(Duration::from_millis(100));
            }
        }
    });
}

/// What passed on the honest link beside one kind of peer.
#[derive(Default)]
struct Beside {
    links: u64,
    frames: u64,
    took: Duration,
}

impl Beside {
    fn rate(&self) -> f64 {
        self.frames as f64 / self.took.as_secs_f64()
    }
}

#[derive(Default)]
struct Seen {
    hostile: Beside,
    harmless: Beside,
    guarded: u64,
    lies: u64,
    turns: u64,
    /// Links that the hostile side ended.
    ended: u64,
    longest: Duration,
}

struct Honest {
    side: Traffic,
    random: Random,
    progress: Arc<AtomicU64>,
}

impl Honest {
    /// One link to a side that is hostile or harmless, beside the honest one.
    fn link(&mut self, path: &Path, config: Config, hostile: bool, seen: &mut Seen) {
        let mut listener = Listener::bind(path, config).unwrap();
        let kind = if hostile { "fuzz" } else { "harmless" };
        let mut other = Other::start(&format!("{kind} {} {config}", self.random.next()), path);
        let above = Above::new();
        let channel = listener.accept().unwrap();
        let guards = above.close(&channel);
        seen.guarded += u64::from(guards.is_some());
        let mut wary = Wary::new(channel);
        let (start, before) = (Instant::now(), self.side.got);
        while start.elapsed() < LINK {
            match self.turns(&mut wary, seen) {
                Ok(()) => {}
                Err(Error::Gone) => {
                    assert!(hostile, "a harmless side ends no link");
                    seen.ended += 1;
                    break;
                }
                Err(e) => panic!("{e}"),
            }
        }
        let beside = if hostile { &mut seen.hostile } else { &mut seen.harmless };
        beside.took += start.elapsed();
        beside.frames += self.side.got - before;
        beside.links += 1;
        other.kill();
        other.ends();
        seen.lies += wary.lies();
        assert!(hostile || wary.lies() == 0);
        wary.settle();
        drop(guards);
    }

    fn turns(&mut self, wary: &mut Wary, seen: &mut Seen) -> Result<(), Error> {
        // By what this side sent: what came may be far ahead.
        self.side.run(self.side.sent + 4)?;
        let start = Instant::now();
        for _ in 0..16 {
            wary.turn(&mut self.random)?;
        }
        if self.random.below(64) == 0 {
            wary.nap(&mut self.random)?;
        }
        seen.longest = seen.longest.max(start.elapsed());
        seen.turns += 16;
        self.progress.store(seen.turns, Relaxed);
        Ok(())
    }
}

fn configs() -> impl Iterator<Item = Config> + Clone {
    let layouts = [Layout::Dense, Layout::Group, Layout::Pad, Layout::Pack];
    let all = layouts.into_iter().flat_map(|layout| [Back::Credit, Back::Clear].map(|back| (layout, back)));
    all.map(|(layout, back)| Config { layout, back, ..SMALL })
}

/// The honest link keeps at least so much of its rate.
fn fuzz(patience: Duration, seed: u64, kept: f64) {
    let dir = tempfile::tempdir().unwrap();
    let (path, honest_path) = (dir.path().join("hostile"), dir.path().join("honest"));
    let mut listener = Listener::bind(&honest_path, SMALL).unwrap();
    let _other = Other::start("load", &honest_path);
    let progress = Arc::default();
    watch(&progress);
    let side = Traffic::new(listener.accept().unwrap());
    let mut honest = Honest { side, random: Random(seed), progress };
    let (mut seen, start) = (Seen::default(), Instant::now());
    for (n, config) in (0_u64..).zip(configs().cycle()) {
        honest.link(&path, config, n % ROUND > 0, &mut seen);
        if start.elapsed() >= patience {
            break;
        }
    }
    println!("seed {seed}, {:.0} s", start.elapsed().as_secs_f64());
    tell(&honest, &seen);
    // As many processes run beside either kind of peer. What else the machine does meanwhile counts more.
    assert!(
        seen.hostile.rate() > seen.harmless.rate() * kept,
        "the honest link is slower beside a hostile side"
    );
}

fn tell(honest: &Honest, seen: &Seen) {
    let Seen { hostile, harmless, .. } = seen;
    println!(
        "{} turns and {} lies over {} hostile links, {} of them ended by it; {} of {} with guards on both sides; 16 turns \
         took {:?} at most",
        seen.turns,
        seen.lies,
        hostile.links,
        seen.ended,
        seen.guarded,
        hostile.links + harmless.links,
        seen.longest,
    );
    println!(
        "the honest link: {} frames, each right: {:.0}/s beside the hostile side, {:.0}/s beside one that is not",
        honest.side.got,
        hostile.rate(),
        harmless.rate()
    );
    assert!(seen.lies > 0 && harmless.links > 0);
    assert!(seen.guarded * 2 > hostile.links + harmless.links, "{} guards", seen.guarded);
    let lies = honest.side.channel.counters().into_iter().find(|(name, _)| *name == "pool_lies");
    assert_eq!(lies, Some(("pool_lies", 0)));
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn a_hostile_side_reaches_nothing_outside_its_link() {
    fuzz(Duration::from_secs(6), 1, 0.2);
}

#[test]
#[ignore = "RXLAB_FUZZ_SECONDS, ten minutes by default; RXLAB_FUZZ_SEED, any by default"]
fn a_hostile_side_reaches_nothing_outside_its_link_for_long() {
    let seconds = number("RXLAB_FUZZ_SECONDS").unwrap_or(600);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let seed = number("RXLAB_FUZZ_SEED").filter(|seed| *seed > 0).unwrap_or(since.as_nanos() as u64);
    fuzz(Duration::from_secs(seconds), seed, 0.7);
}
