//! Antagonists as real threads (rxbisect §6.2): STREAM's triad and PageRank, each thread on data of its own
//! that no cache holds, for as long as a run takes.

use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use apps::{Antagonist, AntagonistKind};
use serde::Serialize;

/// Elements of each of a triad's three arrays: 32 MiB.
const ELEMENTS: usize = 4 << 20;
/// Bytes that an element of a triad moves, as STREAM counts them: two read, one written.
const TRIAD: f64 = 24.0;
/// Vertices of a graph, and edges that leave each: 8 MiB of ranks, twice, and 32 MiB of edges.
const VERTICES: usize = 1 << 20;
const DEGREE: usize = 8;
/// The share of rank that follows edges.
const DAMPING: f64 = 0.85;
/// Elements or vertices between two looks at the flag that ends it.
const STEP: usize = 4096;

/// What antagonists did during a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pressed {
    /// The program.
    pub program: &'static str,
    /// Its threads.
    pub threads: u32,
    /// What all of them got done per second of wall clock.
    pub rate: f64,
    /// Of what: `GB/s` moved by triads, `M edges/s` of PageRank.
    pub unit: &'static str,
}

/// Threads at work.
pub(crate) struct Running {
    what: Antagonist,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<f64>>,
    since: Instant,
}

impl Running {
    /// Starts them; returns when all have their data.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(what: Antagonist) -> io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let ready = Arc::new(Barrier::new(what.threads as usize + 1));
        let mut threads = Vec::new();
        for number in 0..what.threads {
            let (stop, ready) = (stop.clone(), ready.clone());
            let work = move || match what.kind {
                AntagonistKind::Stream => {
                    let mut triad = Triad::new();
                    ready.wait();
                    triad.run(&stop) * TRIAD / 1e9
                }
                AntagonistKind::PageRank => {
                    let mut ranks = PageRank::new(number);
                    ready.wait();
                    ranks.run(&stop) / 1e6
                }
            };
            threads.push(thread::Builder::new().name(format!("antagonist-{number}")).spawn(work)?);
        }
        ready.wait();
        #[allow(clippy::disallowed_methods, reason = "a rate of the wall clock")]
        Ok(Running { what, stop, threads, since: Instant::now() })
    }

    /// Ends them; what they did.
    pub(crate) fn stop(mut self) -> Pressed {
        let seconds = self.since.elapsed().as_secs_f64();
        self.stop.store(true, Relaxed); // a wish: nothing is published by it
        let done: f64 = self.threads.drain(..).map(|t| t.join().unwrap_or(0.0)).sum();
        let (program, unit) = match self.what.kind {
            AntagonistKind::Stream => (self.what.kind.name(), "GB/s"),
            AntagonistKind::PageRank => (self.what.kind.name(), "M edges/s"),
        };
        Pressed { program, threads: self.what.threads, rate: done / seconds.max(1e-9), unit }
    }
}

impl Drop for Running {
    /// A run that failed leaves no thread behind.
    fn drop(&mut self) {
        self.stop.store(true, Relaxed); // as in `stop`
        self.threads.drain(..).for_each(|t| drop(t.join()));
    }
}

/// `a[i] = b[i] + s * c[i]`.
struct Triad {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Triad {
    fn new() -> Triad {
        Triad { a: vec![0.0; ELEMENTS], b: vec![1.0; ELEMENTS], c: vec![2.0; ELEMENTS] }
    }

    /// Until it is stopped; elements done.
    fn run(&mut self, stop: &AtomicBool) -> f64 {
        let (mut done, scale) = (0.0, black_box(3.0));
        loop {
            let operands = self.b.chunks(STEP).zip(self.c.chunks(STEP));
            for (a, (b, c)) in self.a.chunks_mut(STEP).zip(operands) {
                if stop.load(Relaxed) {
                    return done;
                }
                a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + scale * c);
                done += STEP as f64;
            }
            black_box(&mut self.a);
        }
    }
}

/// Power iteration by pulling ranks along the edges of a random graph.
struct PageRank {
    /// The vertices that lead to each, [`DEGREE`] of them.
    sources: Vec<u32>,
    ranks: Vec<f64>,
    next: Vec<f64>,
}

impl PageRank {
    /// As many edges leave a vertex as lead to it, so the ranks of a pass sum up to those before it.
    fn new(seed: u32) -> PageRank {
        let mut sources: Vec<u32> = (0..(VERTICES * DEGREE) as u32).map(|e| e / DEGREE as u32).collect();
        let mut state = u64::from(seed) + 1;
        for end in (1..sources.len()).rev() {
            // A linear congruential generator (Knuth): its high bits are random enough for a graph.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sources.swap(end, ((u128::from(state) * (end as u128 + 1)) >> 64) as usize);
        }
        let ranks = vec![1.0 / VERTICES as f64; VERTICES];
        PageRank { sources, next: ranks.clone(), ranks }
    }

    /// Until it is stopped; edges followed.
    fn run(&mut self, stop: &AtomicBool) -> f64 {
        let mut done = 0.0;
        loop {
            for (next, sources) in self.next.chunks_mut(STEP).zip(self.sources.chunks(STEP * DEGREE)) {
                if stop.load(Relaxed) {
                    return done;
                }
                pull(&self.ranks, next, sources);
                done += sources.len() as f64;
            }
            std::mem::swap(&mut self.ranks, &mut self.next);
        }
    }
}

/// New ranks of some vertices.
fn pull(ranks: &[f64], next: &mut [f64], sources: &[u32]) {
    for (rank, from) in next.iter_mut().zip(sources.chunks(DEGREE)) {
        let sum: f64 = from.iter().map(|&v| ranks[v as usize]).sum();
        *rank = (1.0 - DAMPING) / VERTICES as f64 + DAMPING * sum / DEGREE as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_pass_sum_up_to_one() {
        let mut graph = PageRank::new(7);
        for _ in 0..2 {
            pull(&graph.ranks, &mut graph.next, &graph.sources);
            std::mem::swap(&mut graph.ranks, &mut graph.next);
        }
        let sum: f64 = graph.ranks.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let most = graph.sources.chunks(DEGREE).filter(|s| s.iter().all(|v| v == &s[0])).count();
        assert!(most < 10, "edges are mixed");
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "they need some time to do something")]
    fn antagonists_press_and_end() {
        for kind in AntagonistKind::ALL {
            let running = Running::start(Antagonist { kind, threads: 1 }).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(100));
            let pressed = running.stop();
            assert!(pressed.rate > 0.0 && pressed.threads == 1, "{pressed:?}");
        }
    }
}
