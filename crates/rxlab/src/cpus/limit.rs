//! What the machine itself allows between two CPUs: how long a cache line takes there and back, and how many
//! written and read lines a second move one way. No interface between the two can be faster. And how close they sit.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::thread::{CpuSet, sched_setaffinity};
use serde::Serialize;

use crate::cpus::median;
use crate::fail::Fail;

/// Round trips of a chunk, and chunks: the median leaves out those that another guest of the host took time from.
const TRIPS: u64 = 500;
const TRIP_CHUNKS: usize = 9;
/// Lines of the streaming buffer (64 KB, within an L2), lines told of at a time, lines of a chunk, and chunks.
const LINES: usize = 1024;
const BATCH: u64 = 32;
const CHUNK: u64 = 64 * LINES as u64;
const LINE_CHUNKS: usize = 9;
/// Lines of a walk (8 KiB, within an L1), and walks.
const WALK: u64 = 64;
const WALKS: u64 = 201;
/// Chains of steps side by side, steps of a chunk, and chunks.
const CHAINS: usize = 6;
const STEPS: u32 = 2000;
const STEP_CHUNKS: usize = 101;

/// Siblings find a line that the other wrote in the L1 or L2 that they share (up to 6 ns a load here), cores under one
/// LLC through it (17 ns and more).
const SIBLINGS_WALK_NS: f64 = 10.0;
/// Round trips between cores under one LLC, where it is one for all cores of a socket: 110 ns on a quiet host, 250 on
/// a busy one; and under AMD's, which is one for the cores of a complex: 60 ns, from complex to complex 200 and more.
const NEAR_NS: f64 = 280.0;
const NEAR_AMD_NS: f64 = 130.0;

/// How close two CPUs sit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Distance {
    /// Two threads of one core.
    Siblings,
    /// Cores under one last-level cache.
    Near,
    /// Cores under different caches.
    Far,
}

impl Distance {
    /// As tables show it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Distance::Siblings => "siblings",
            Distance::Near => "near",
            Distance::Far => "far",
        }
    }

    /// By the round trip of a line, by a load of a line that the other wrote, and by the longest round trip under one
    /// LLC. What a guest is told of its CPUs' places need not hold, and changes.
    fn of(ping_pong_ns: f64, walk_ns: f64, near_ns: f64) -> Distance {
        match (walk_ns, ping_pong_ns) {
            (walk, _) if walk < SIBLINGS_WALK_NS => Distance::Siblings,
            (_, ns) if ns <= near_ns => Distance::Near,
            _ => Distance::Far,
        }
    }
}

/// The longest round trip between cores under one LLC of this machine.
fn near_ns() -> f64 {
    static AMD: OnceLock<bool> = OnceLock::new();
    let amd = AMD
        .get_or_init(|| fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("AuthenticAMD")));
    if *amd { NEAR_AMD_NS } else { NEAR_NS }
}

/// The limit between two CPUs at one moment.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Limit {
    /// Round trip of a cache line, nanoseconds.
    pub ping_pong_ns: f64,
    /// The same over two lines, one for each way.
    pub two_lines_ns: f64,
    /// Lines written by one CPU and read by the other, millions a second.
    pub mlines: f64,
    /// Where the two CPUs sat.
    pub distance: Distance,
    /// What [`cores`] says of either.
    pub core_ns: [f64; 2],
}

/// A cache line, and the one next to it that the prefetcher takes along.
#[repr(align(128))]
struct Word(AtomicU64);

/// A cache line of payload.
#[repr(align(64))]
struct Line([AtomicU64; 8]);

/// Measures between the CPUs `a` and `b`; some 10 ms.
///
/// # Errors
/// A thread cannot run on one of them.
pub(crate) fn measure([a, b]: [usize; 2]) -> Result<Limit, Fail> {
    let ping_pong_ns = ping_pong([a, b], 1)?;
    let distance = Distance::of(ping_pong_ns, walk(a, b)?, near_ns());
    let two_lines_ns = ping_pong([a, b], 2)?;
    Ok(Limit { ping_pong_ns, two_lines_ns, mlines: stream(a, b)?, distance, core_ns: cores([a, b])? })
}

/// Where the CPUs `a` and `b` sit.
///
/// # Errors
/// A thread cannot run on one of them.
pub(crate) fn place([a, b]: [usize; 2]) -> Result<Distance, Fail> {
    Ok(Distance::of(ping_pong([a, b], 1)?, walk(a, b)?, near_ns()))
}

/// Nanoseconds of six short chains of dependent instructions side by side on either of the CPUs `a` and `b`, which both
/// work: they fill a core. They take about twice as long while another guest of the host, or our other CPU, has the
/// core's other thread, and as most code they then run so much slower.
///
/// # Errors
/// A thread cannot run on one of them.
pub(crate) fn cores([a, b]: [usize; 2]) -> Result<[f64; 2], Fail> {
    let chunks = || {
        let chunk = || timed(steps).as_nanos() as f64 / f64::from(STEPS);
        median((0..STEP_CHUNKS).map(|_| chunk()).collect())
    };
    let mut theirs = 0.0;
    let mine = pair((a, chunks), (b, || theirs = chunks()))?;
    Ok([mine, theirs])
}

/// The least and the most that [`cores`] said of either CPU.
pub(crate) fn core_range(looks: impl Iterator<Item = [f64; 2]>) -> [[f64; 2]; 2] {
    looks.fold([[f64::INFINITY, 0.0]; 2], |range, look| {
        std::array::from_fn(|cpu| [range[cpu][0].min(look[cpu]), range[cpu][1].max(look[cpu])])
    })
}

/// Each chain's step is a rotation and an addition that needs it, which ours neither folds nor packs into vectors.
fn steps() {
    let mut chains: [u64; CHAINS] = std::hint::black_box(std::array::from_fn(|i| i as u64));
    for step in 0..u64::from(STEPS) {
        for chain in &mut chains {
            *chain = chain.rotate_left(7).wrapping_add(step);
        }
    }
    std::hint::black_box(chains);
}

/// Ties the calling thread to a CPU.
///
/// # Errors
/// There is no such CPU, or it may not be used.
pub(crate) fn pin(cpu: usize) -> Result<(), Fail> {
    let refused = |e: &dyn std::fmt::Display| Fail::new(format!("CPU {cpu}: {e}"));
    let mut set = CpuSet::new();
    if cpu >= CpuSet::MAX_CPU {
        return Err(refused(&"no such CPU"));
    }
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|e| refused(&e))
}

/// Runs `measured` on CPU `a` while `other` runs on `b`; both begin once both are in place.
fn pair<T: Send>(
    (a, measured): (usize, impl FnOnce() -> T + Send),
    (b, other): (usize, impl FnOnce() + Send),
) -> Result<T, Fail> {
    // A thread that cannot be pinned must not leave the other waiting for it.
    let ready = [Word(AtomicU64::new(0)), Word(AtomicU64::new(0))];
    let meet = |me: usize, cpu: usize| {
        let pinned = pin(cpu);
        // Relaxed: the words only count; what the threads share is published through words of its own.
        ready[me].0.store(1 + u64::from(pinned.is_err()), Ordering::Relaxed);
        while ready[1 - me].0.load(Ordering::Relaxed) == 0 {
            spin_loop();
        }
        let both = ready.iter().all(|r| r.0.load(Ordering::Relaxed) == 1);
        pinned.map(|()| both)
    };
    thread::scope(|scope| {
        let meet = &meet;
        let other = scope.spawn(move || meet(1, b).map(|both| both.then(other)));
        let measured = scope.spawn(move || meet(0, a).map(|both| both.then(measured)));
        let gone = || Fail::new("the limit's thread ended early");
        other.join().map_err(|_| gone())??;
        measured.join().map_err(|_| gone())??.ok_or_else(gone)
    })
}

#[allow(clippy::disallowed_methods)] // A benchmark is about the wall clock.
fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Round trip between two CPUs over `lines` lines, 1 or 2, ns.
fn ping_pong([a, b]: [usize; 2], lines: usize) -> Result<f64, Fail> {
    let words = [Word(AtomicU64::new(0)), Word(AtomicU64::new(0))];
    let (there, back) = (&words[0].0, &words[lines - 1].0);
    let last = TRIPS * TRIP_CHUNKS as u64 * 2;
    let wait = |word: &AtomicU64, value| {
        // Acquire with the other's Release: the two alternate in program order.
        while word.load(Ordering::Acquire) != value {
            spin_loop();
        }
    };
    let turn = |from: u64| {
        for value in (from..from + 2 * TRIPS).step_by(2) {
            there.store(value + 1, Ordering::Release); // pairs with the other's acquire in `wait`
            wait(back, value + 2);
        }
    };
    let measured = || {
        let chunks = (0..last).step_by(2 * TRIPS as usize);
        chunks.map(|from| timed(|| turn(from)).as_nanos() as f64 / TRIPS as f64).collect::<Vec<_>>()
    };
    let other = || {
        for value in (0..last).step_by(2) {
            wait(there, value + 1);
            back.store(value + 2, Ordering::Release); // pairs with the acquire in `wait` of `turn`
        }
    };
    pair((a, measured), (b, other)).map(median)
}

/// A load of a line that the other CPU wrote, each once the one before has come, ns.
fn walk(a: usize, b: usize) -> Result<f64, Fail> {
    let lines: Vec<Word> = (0..WALK).map(|_| Word(AtomicU64::new(0))).collect();
    let (written, read) = (Word(AtomicU64::new(0)), Word(AtomicU64::new(0)));
    let wait = |word: &Word, value| {
        // Acquire with the Release by which the other moves the word on: the lines of that walk are its.
        while word.0.load(Ordering::Acquire) < value {
            spin_loop();
        }
    };
    let other = || {
        for walk in 1..=WALKS {
            wait(&read, walk - 1);
            // Each names the next: all of them in an order without a stride.
            (0..WALK).for_each(|i| lines[i as usize].0.store((5 * i + 3) % WALK, Ordering::Relaxed));
            written.0.store(walk, Ordering::Release); // pairs with the acquire in `wait`
        }
    };
    let measured = || {
        let walks = (1..=WALKS).map(|walk| {
            wait(&written, walk);
            let mut at = 0;
            let ns = timed(|| (0..WALK).for_each(|_| at = lines[at as usize].0.load(Ordering::Relaxed)))
                .as_nanos();
            std::hint::black_box(at);
            read.0.store(walk, Ordering::Release); // pairs with the acquire in `wait`
            ns as f64 / WALK as f64
        });
        walks.collect::<Vec<_>>()
    };
    pair((a, measured), (b, other)).map(median)
}

fn stream(a: usize, b: usize) -> Result<f64, Fail> {
    let lines: Vec<Line> = (0..LINES).map(|_| Line(Default::default())).collect();
    let (head, tail) = (Word(AtomicU64::new(0)), Word(AtomicU64::new(0)));
    let last = CHUNK * LINE_CHUNKS as u64;
    let batch = |from: u64| {
        let first = from as usize % LINES;
        &lines[first..first + BATCH as usize]
    };
    let write = || {
        for from in (0..last).step_by(BATCH as usize) {
            // Acquire with the reader's Release: its loads of a line come before the line is written again.
            while from + BATCH > tail.0.load(Ordering::Acquire) + LINES as u64 {
                spin_loop();
            }
            for (line, i) in batch(from).iter().zip(from..) {
                line.0.iter().for_each(|word| word.store(i, Ordering::Relaxed));
            }
            // Release with the reader's Acquire: the lines before the count of them.
            head.0.store(from + BATCH, Ordering::Release);
        }
    };
    let read_chunk = |chunk: u64| {
        let mut sum = 0u64;
        for from in (chunk..chunk + CHUNK).step_by(BATCH as usize) {
            // Acquire with the writer's Release of the count.
            while head.0.load(Ordering::Acquire) < from + BATCH {
                spin_loop();
            }
            let words = batch(from).iter().flat_map(|line| &line.0);
            sum = words.fold(sum, |sum, word| sum.wrapping_add(word.load(Ordering::Relaxed)));
            tail.0.store(from + BATCH, Ordering::Release); // pairs with the writer's acquire of it
        }
        std::hint::black_box(sum);
    };
    let read = || {
        let chunks = (0..last).step_by(CHUNK as usize);
        chunks.map(|chunk| CHUNK as f64 / timed(|| read_chunk(chunk)).as_secs_f64() / 1e6).collect::<Vec<_>>()
    };
    pair((a, read), (b, write)).map(median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_the_distance() {
        use Distance::{Far, Near, Siblings};
        let places = |near_ns| {
            [(22.0, 3.0), (65.0, 5.6), (65.0, 19.0), (118.0, 79.0), (220.0, 110.0), (280.1, 150.0)]
                .map(|(ping_pong_ns, walk_ns)| Distance::of(ping_pong_ns, walk_ns, near_ns))
        };
        assert_eq!(places(NEAR_NS), [Siblings, Siblings, Near, Near, Near, Far]);
        assert_eq!(places(NEAR_AMD_NS), [Siblings, Siblings, Near, Near, Far, Far]);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error_and_hangs_nobody() {
        for cpus in [[0, 1020], [1020, 0], [1019, 1020], [0, usize::MAX]] {
            assert!(measure(cpus).unwrap_err().to_string().contains("CPU 1"), "{cpus:?}");
        }
    }
}
