//! What measurements stand on: pinned threads, memory in large pages, the clock, and cycles.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use memory::{Backing, Class, Field, Memory, NativeView, Region, Side};
use model::hierarchy::mix;
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::cpus::limit::pin;
use crate::cpus::median;
use crate::fail::Fail;

/// Words of a line.
pub(super) const LINE: usize = 8;

/// The two CPUs, as live frames have them: the first one receives, the other one plays the NIC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cpus {
    pub here: usize,
    pub there: usize,
}

impl Cpus {
    /// The first two that this process may use, or those of `asked`.
    ///
    /// # Errors
    /// There are no two, or one of those asked for may not be used.
    pub(super) fn new(asked: &[usize]) -> Result<Cpus, Fail> {
        let set = sched_getaffinity(None).map_err(|e| Fail::new(format!("CPU affinity: {e}")))?;
        let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|c| set.is_set(*c)).collect();
        let list = all.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let pick = if asked.is_empty() { all.get(..2).unwrap_or_default() } else { asked };
        match pick {
            [here, there] if here != there && all.contains(here) && all.contains(there) => {
                Ok(Cpus { here: *here, there: *there })
            }
            _ => Err(Fail::new(format!("--cpus: allowed: two different ones of {list}"))),
        }
    }
}

/// Runs `here` on this thread, which is bound already, and `there` on a thread of its own on the other
/// CPU.
///
/// # Errors
/// The other thread cannot be had.
pub(super) fn both<T>(cpus: Cpus, there: impl FnOnce() + Send, here: impl FnOnce() -> T) -> Result<T, Fail> {
    thread::scope(|s| {
        let name = thread::Builder::new().name("partner".into());
        let other = name
            .spawn_scoped(s, move || {
                let pinned = pin(cpus.there);
                there(); // in any case: the measuring thread waits for its answers
                pinned
            })
            .map_err(|e| Fail::new(format!("a thread: {e}")))?;
        let result = here();
        other.join().map_err(|_| Fail::new("the measuring partner died"))??;
        Ok(result)
    })
}

/// What `primitive` measures on either CPU while both do it: two hardware threads of a core share its units, and both of
/// ours work when frames flow.
///
/// # Errors
/// No second thread.
pub(super) fn alike<'r, T: Send>(
    cpus: Cpus,
    region: &'r Region,
    [mine, theirs]: &mut [T; 2],
    primitive: impl Fn(&mut T, &mut NativeView<'r>) -> f64 + Sync,
) -> Result<[f64; 2], Fail> {
    // Relaxed: they say when to begin and to end, and publish nothing.
    let (works, enough) = (AtomicBool::new(false), AtomicBool::new(false));
    let (mut far, mut all) = (region.view(), Vec::new());
    let there = || {
        while !enough.load(Ordering::Relaxed) {
            all.push(primitive(theirs, &mut far));
            works.store(true, Ordering::Relaxed);
        }
    };
    let here = both(cpus, there, || {
        while !works.load(Ordering::Relaxed) {
            spin_loop();
        }
        let measured = primitive(mine, &mut region.view());
        enough.store(true, Ordering::Relaxed);
        measured
    })?;
    // The first of theirs had the machine to itself; where there is no other, it has to do.
    Ok([here, median(all.split_off(1.min(all.len() - 1)))])
}

/// Memory in 2 MB pages if any are reserved, else in ordinary ones; whether it is in large ones.
///
/// # Errors
/// The system has not that much.
pub(super) fn region(bytes: usize) -> Result<(Region, bool), Fail> {
    match Region::new(bytes, Backing::Huge) {
        Ok(region) => Ok((region, true)),
        Err(_) => Ok((Region::new(bytes, Backing::Pages).map_err(Fail::new)?, false)),
    }
}

/// A field of `len` entries of `W` words.
pub(super) fn field<const W: usize>(name: &'static str, class: Class, len: u32) -> Field {
    Field { name, len, width: W as u32, class, writer: Side::Both, reader: Side::Both, home: Side::Host }
}

/// Each line's successor on a random walk that visits all `lines`: Sattolo's shuffle.
pub(super) fn cycle(lines: u32) -> Vec<u32> {
    let mut next: Vec<u32> = (0..lines).collect();
    for i in (1..lines as usize).rev() {
        next.swap(i, (mix(i as u64) % i as u64) as usize);
    }
    next
}

/// Nanoseconds that `work` takes.
pub(super) fn timed<'r>(m: &mut NativeView<'r>, work: impl FnOnce(&mut NativeView<'r>)) -> f64 {
    let start = m.now();
    work(m);
    m.now().saturating_sub(start).0 as f64 / 1e3
}

/// Clock rate of this CPU, GHz: a chain of additions, one in a cycle.
pub(super) fn ghz(m: &mut NativeView<'_>) -> f64 {
    const ROUNDS: u64 = 250_000;
    const ADDS: u64 = 16;
    let (mut a, mut b) = black_box((1u64, 1u64));
    let ns = timed(m, |_| {
        for _ in 0..ROUNDS {
            // Each addition needs the one before it: no processor can fold or split them.
            for _ in 0..ADDS / 2 {
                a = a.wrapping_add(b);
                b = b.wrapping_add(a);
            }
        }
        black_box((a, b));
    });
    (ROUNDS * ADDS) as f64 / ns
}
