//! The run-to-completion loop of a core: receive a burst, process it, send it.

use memory::{Buf, Memory};
use rings::{Buffers, Completion, Host, Segment, TxHost};

use crate::{App, Batch, Counters};

/// What becomes of frames that the transmit ring has no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsent {
    /// Dropped at once and counted, as DPDK's l3fwd does.
    #[default]
    Drop,
    /// Kept, and offered again before anything more is received.
    Keep,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerCounters {
    /// Frames received.
    pub received: u64,
    /// Frames that the application made in buffers of the pool.
    pub made: u64,
    /// Bursts that were not empty.
    pub bursts: u64,
    /// Frames that the transmit ring took.
    pub posted: u64,
    /// Frames dropped because it had no room.
    pub tx_full: u64,
    /// Buffers given back at [`Worker::stop`] with their frames unsent.
    pub stopped: u64,
    /// What the application did.
    pub app: Counters,
}

impl WorkerCounters {
    /// Whether every frame that was received or made was posted, dropped or given back.
    pub fn balanced(&self) -> bool {
        let (all, dropped) = (self.received + self.made, self.app.dropped.iter().sum::<u64>());
        all == self.app.total() && all == self.posted + self.tx_full + dropped + self.stopped
    }
}

/// A pool that remembers whether it ran short, and passes on what is not its own.
struct Watched<B> {
    pool: B,
    short: bool,
    /// Buffers from this number on are the application's.
    own: u64,
    /// Of those, the ones that were given back.
    returned: Vec<Buf>,
}

impl<M: Memory, B: Buffers<M>> Buffers<M> for Watched<B> {
    #[inline]
    fn take(&mut self, m: &mut M, out: &mut [Buf]) -> usize {
        let got = self.pool.take(m, out);
        self.short |= got < out.len();
        got
    }

    #[inline]
    fn give(&mut self, m: &mut M, bufs: &[Buf]) {
        if self.own == u64::MAX {
            return self.pool.give(m, bufs);
        }
        // Runs of the pool's own buffers, between those that are the application's.
        for run in bufs.chunk_by(|a, b| (a.0 < self.own) == (b.0 < self.own)) {
            if run[0].0 < self.own { self.pool.give(m, run) } else { self.returned.extend(run) }
        }
    }
}

/// A core's queue pair, buffers and application.
pub struct Worker<M: Memory, H, T, B, A> {
    host: H,
    tx: T,
    pool: Watched<B>,
    frames: M::Buffers,
    app: A,
    unsent: Unsent,
    burst: Box<[Completion]>,
    batch: Batch,
    counters: WorkerCounters,
}

impl<M: Memory, H: Host<M>, T: TxHost<M>, B: Buffers<M>, A: App<M>> Worker<M, H, T, B, A> {
    /// A worker that receives up to `burst` frames at a time (at least 1) into `frames`.
    pub fn new(host: H, tx: T, pool: B, frames: M::Buffers, app: A, burst: usize) -> Self {
        let burst = burst.max(1);
        let nothing = Completion::none();
        Worker {
            host,
            tx,
            pool: Watched { pool, short: false, own: app.own_buffers(), returned: Vec::new() },
            frames,
            app,
            unsent: Unsent::Drop,
            burst: vec![nothing; burst].into_boxed_slice(),
            batch: Batch::with_capacity(burst),
            counters: WorkerCounters::default(),
        }
    }

    /// The same worker with another fate for unsent frames.
    #[must_use]
    pub fn with_unsent(self, unsent: Unsent) -> Self {
        Worker { unsent, ..self }
    }

    /// The most frames that a turn receives.
    pub fn burst(&self) -> usize {
        self.burst.len()
    }

    /// Posts empty buffers (start of day); how many are missing.
    pub fn fill(&mut self, m: &mut M) -> usize {
        self.host.fill(m, &mut self.pool)
    }

    /// One turn: the frames received. After 0 the caller idles.
    #[inline]
    pub fn poll(&mut self, m: &mut M) -> usize {
        if !self.batch.send.is_empty() {
            self.send(m);
            if !self.batch.send.is_empty() {
                return 0;
            }
        }
        let n = self.host.rx_burst(m, &mut self.pool, &mut self.burst);
        if n == 0 {
            if self.pool.short {
                // The missing buffers may lie in the transmit ring, and no frame will come to free them.
                self.pool.short = false;
                self.tx.reclaim(m, &mut self.pool);
                self.returned(m);
            }
            self.tick(m);
            return 0;
        }
        self.counters.received += n as u64;
        self.counters.bursts += 1;
        self.app.process(m, self.frames, &self.burst[..n], &mut self.batch);
        self.give_back(m);
        self.send(m);
        n
    }

    /// Lets the application send what is due.
    #[inline]
    fn tick(&mut self, m: &mut M) {
        let before = self.batch.counters.total();
        self.app.tick(m, self.frames, &mut self.pool, &mut self.batch);
        self.counters.made += self.batch.counters.total() - before;
        self.send(m);
    }

    /// Posts what the batch holds; the rest is dropped or stays.
    #[inline]
    fn send(&mut self, m: &mut M) {
        if self.batch.send.is_empty() {
            return;
        }
        let taken = self.tx.tx_burst(m, &mut self.pool, &self.batch.send);
        self.returned(m);
        self.counters.posted += frames(&self.batch.send[..taken]);
        if taken == self.batch.send.len() {
            return self.batch.send.clear();
        }
        self.batch.send.drain(..taken);
        if self.unsent == Unsent::Drop {
            self.counters.tx_full += frames(&self.batch.send);
            self.batch.free.extend(self.batch.send.drain(..).map(|s| s.buf));
            self.give_back(m);
        }
    }

    #[inline]
    fn give_back(&mut self, m: &mut M) {
        if !self.batch.free.is_empty() {
            self.pool.give(m, &self.batch.free);
            self.batch.free.clear();
            self.returned(m);
        }
    }

    /// Tells the application which of its buffers have come back.
    #[inline]
    fn returned(&mut self, m: &mut M) {
        if !self.pool.returned.is_empty() {
            self.app.returned(m, &self.pool.returned);
            self.pool.returned.clear();
        }
    }

    /// Leaves a receive ring to the others that poll it, until [`fill`](Self::fill): gives back the buffers
    /// kept for it. `false`, and nothing done, while a frame that it received is still to be posted.
    pub fn leave(&mut self, m: &mut M) -> bool {
        let done = self.batch.send.is_empty();
        if done {
            self.host.drain(m, &mut self.pool);
        }
        done
    }

    /// Frees what was sent. Returns whether no received frame still waits to be sent.
    pub fn flushed(&mut self, m: &mut M) -> bool {
        self.tx.reclaim(m, &mut self.pool);
        self.returned(m);
        self.batch.send.is_empty() && self.tx.filled() == 0
    }

    /// Takes every buffer out of both rings, after both NIC halves have stopped. Received frames that were
    /// not processed are not counted; processed ones that were not sent count as `stopped`.
    pub fn stop(&mut self, m: &mut M) {
        self.counters.stopped += frames(&self.batch.send);
        self.batch.free.extend(self.batch.send.drain(..).map(|s| s.buf));
        self.give_back(m);
        self.host.drain(m, &mut self.pool);
        self.tx.drain(m, &mut self.pool);
        self.returned(m);
    }

    /// What happened so far.
    pub fn counters(&self) -> WorkerCounters {
        WorkerCounters { app: self.batch.counters, ..self.counters }
    }

    /// The application.
    pub fn app(&self) -> &A {
        &self.app
    }

    /// The queue's host half.
    pub fn host(&self) -> &H {
        &self.host
    }

    /// The transmit queue's host half.
    pub fn tx(&self) -> &T {
        &self.tx
    }

    /// Takes the worker apart, after [`stop`](Self::stop): queue, buffers, application.
    pub fn into_parts(self) -> (H, B, A) {
        (self.host, self.pool.pool, self.app)
    }

    /// The core's buffers.
    pub fn pool_mut(&mut self) -> &mut B {
        &mut self.pool.pool
    }
}

/// Frames that end in these segments.
#[inline]
fn frames(segments: &[Segment]) -> u64 {
    segments.iter().filter(|segment| segment.last).count() as u64
}
