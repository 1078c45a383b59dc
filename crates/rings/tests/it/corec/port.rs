//! One ring of done bits, its threads and its NIC, small enough to keep every frame's number. Threads have spares of
//! their own, so that they meet at the ring and nowhere else.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use memory::{Buf, Geometry, Memory, Side, Space};
use rings::ddring::{self, NicHalf};
use rings::oracle::{MARK, frame, mark};
use rings::{Buffers, Completion, Host, Nic, Outcome, corec};

use crate::common::{Access, Gate, Plain, Pool, counter};

const LEN: u16 = 64;
/// Frames of one call, at most.
const BURST: usize = 8;
/// A frame that nobody sent.
pub(crate) const STRANGE: u64 = u64::MAX;

/// Binds one ring for `threads`. The NIC half is of one type whoever receives.
pub(crate) type Build<H> = fn(&mut Plain, ring: u32, threads: u32, Pool) -> (Vec<H>, NicHalf<Plain>);

pub(crate) fn shared(s: &mut Plain, ring: u32, threads: u32, b: Pool) -> corec::Port<Plain> {
    corec::build(s, &corec::Sizes { ring, shared_by: threads, ..Default::default() }, threads, b).unwrap()
}

pub(crate) fn locked(s: &mut Plain, ring: u32, threads: u32, b: Pool) -> ddring::Port<Plain> {
    let refill = ddring::Refill::Bulk;
    ddring::build(s, &ddring::Sizes { ring, shared_by: threads, refill }, threads, b).unwrap()
}

/// A ring for each thread; the frames of this test are all of the first one's.
pub(crate) fn apart(s: &mut Plain, ring: u32, threads: u32, b: Pool) -> ddring::Port<Plain> {
    let refill = ddring::Refill::Bulk;
    ddring::build(s, &ddring::Sizes { ring, shared_by: 1, refill }, threads, b).unwrap()
}

/// A thread's spares.
pub(crate) struct Spares(pub(crate) Vec<Buf>);

impl Buffers<Plain> for Spares {
    fn take(&mut self, _m: &mut Plain, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.0.len());
        let rest = self.0.len() - n;
        out[..n].copy_from_slice(&self.0[rest..]);
        self.0.truncate(rest);
        n
    }

    fn give(&mut self, _m: &mut Plain, bufs: &[Buf]) {
        self.0.extend_from_slice(bufs);
    }
}

/// A thread that receives.
pub(crate) struct Core<H> {
    pub(crate) m: Plain,
    pub(crate) host: H,
    pub(crate) spares: Spares,
    /// The numbers of the frames that it received.
    pub(crate) received: Vec<u64>,
    held: Vec<Buf>,
    buffers: Pool,
}

impl<H: Host<Plain>> Core<H> {
    /// Receives up to `burst` frames and keeps them; how many.
    pub(crate) fn poll(&mut self, burst: usize) -> usize {
        let mut out = [Completion { buf: Buf(u64::MAX), ..Completion::none() }; BURST];
        let n = self.host.rx_burst(&mut self.m, &mut self.spares, &mut out[..burst]);
        for got in &out[..n] {
            let mut bytes = [0; MARK];
            let mut number = STRANGE;
            if let Ok(buf) = self.m.check(self.buffers, got.buf.0, MARK as u32) {
                self.m.get(self.buffers, buf, 0, &mut bytes, MARK as u32);
                number = u64::from_le_bytes(*bytes.first_chunk().unwrap());
                self.held.push(buf);
            }
            let whole = bytes == mark(0, number) && (got.len, got.kind) == (LEN, number as u32);
            self.received.push(if whole { number } else { STRANGE });
        }
        n
    }

    /// The application is done with all that it received.
    pub(crate) fn free(&mut self) {
        self.spares.0.append(&mut self.held);
    }

    pub(crate) fn counter(&self, name: &str) -> u64 {
        counter(&self.host.counters(), name)
    }
}

impl<H: Host<Plain> + Send + 'static> Core<H> {
    /// Polls once on a thread of its own, until `stop` holds it or to the end.
    pub(crate) fn walk(self, burst: usize, stop: impl FnMut(Access) -> bool + Send + 'static) -> Walker<H> {
        self.walks(stop, move |core| core.poll(burst))
    }

    /// The same with any `work`.
    pub(crate) fn walks(
        mut self,
        stop: impl FnMut(Access) -> bool + Send + 'static,
        work: impl FnOnce(&mut Self) -> usize + Send + 'static,
    ) -> Walker<H> {
        let gate = Gate::new(stop);
        self.m.gate = Some(Arc::clone(&gate));
        let thread = thread::spawn(move || {
            let _left = Leaves(self.m.gate.clone()); // also where the poll panics
            let n = work(&mut self);
            self.m.gate = None;
            (self, n)
        });
        let stands = gate.arrival();
        Walker { gate, thread: Some(thread), stands }
    }
}

struct Leaves(Option<Arc<Gate>>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.iter().for_each(|gate| gate.leave());
    }
}

/// A thread within its poll, or at the end of it.
pub(crate) struct Walker<H> {
    gate: Arc<Gate>,
    thread: Option<JoinHandle<(Core<H>, usize)>>,
    /// Whether it is held.
    pub(crate) stands: bool,
}

impl<H> Walker<H> {
    /// Lets it go to the end of its poll; what it received.
    pub(crate) fn resume(mut self) -> (Core<H>, usize) {
        self.gate.open();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl<H> Drop for Walker<H> {
    fn drop(&mut self) {
        self.gate.open(); // where a test fails while it stands
    }
}

/// The NIC.
pub(crate) struct Card {
    pub(crate) m: Plain,
    pub(crate) nic: NicHalf<Plain>,
    next: u64,
    delivered: Vec<u64>,
    /// What became of the frames that were not.
    pub(crate) dropped: BTreeSet<Outcome>,
}

impl Card {
    /// `count` frames arrive; how many were delivered.
    pub(crate) fn offer(&mut self, count: usize) -> usize {
        let before = self.delivered.len();
        for _ in 0..count {
            let mut outcome = [Outcome::BadFrame];
            let mark = mark(0, self.next);
            self.nic.deliver(&mut self.m, 0, &[frame(&mark, LEN)], &mut outcome);
            match outcome {
                [Outcome::Delivered] => self.delivered.push(self.next),
                [other] => drop(self.dropped.insert(other)),
            }
            self.next += 1;
        }
        self.delivered.len() - before
    }
}

/// One ring with everything.
pub(crate) struct Port<H> {
    pub(crate) plain: Plain,
    pub(crate) cores: Vec<Core<H>>,
    pub(crate) card: Card,
    pub(crate) buffers: u32,
}

impl<H: Host<Plain>> Port<H> {
    /// A ring of `ring`, filled; each thread has `spares` before that. A journal is kept.
    pub(crate) fn new(build: Build<H>, ring: u32, threads: u32, spares: u32) -> Port<H> {
        Port::short(build, ring, threads, spares, spares)
    }

    /// The same where each thread finds only `posted` of its spares when it fills the ring.
    pub(crate) fn short(build: Build<H>, ring: u32, threads: u32, spares: u32, posted: u32) -> Port<H> {
        let buffers = threads * spares;
        let mut plain = Plain::new(Side::Both);
        let geometry = plain.buffers(&Geometry::plain(buffers, 128)).unwrap();
        let (hosts, nic) = build(&mut plain, ring, threads, geometry);
        plain.journal();
        let m = plain.side(Side::Host);
        let core = |(i, host): (u32, H)| Core {
            m: m.clone(),
            host,
            spares: Spares((i * spares..(i + 1) * spares).map(|n| Buf(n.into())).collect()),
            received: Vec::new(),
            held: Vec::new(),
            buffers: geometry,
        };
        let mut cores: Vec<_> = (0..).zip(hosts).map(core).collect();
        for core in &mut cores {
            let mut kept = core.spares.0.split_off(posted as usize);
            core.host.fill(&mut core.m, &mut core.spares);
            core.spares.0.append(&mut kept);
        }
        let m = plain.side(Side::Nic);
        let card = Card { m, nic, next: 0, delivered: Vec::new(), dropped: BTreeSet::new() };
        Port { plain, cores, card, buffers }
    }

    /// All poll and free until nothing is left.
    pub(crate) fn empty(&mut self) {
        while self.cores.iter_mut().map(|core| core.poll(BURST)).sum::<usize>() > 0 {
            self.cores.iter_mut().for_each(Core::free);
        }
    }

    /// Every frame that was delivered was received once, by each thread in order.
    pub(crate) fn judge(&self) -> Result<(), String> {
        for core in &self.cores {
            if !core.received.is_sorted_by(|a, b| a < b) {
                return Err(format!("a thread received {:?}", core.received));
            }
        }
        let mut all: Vec<_> = self.cores.iter().flat_map(|core| &core.received).copied().collect();
        all.sort_unstable();
        let (delivered, same) = (&self.card.delivered, all == self.card.delivered);
        if same { Ok(()) } else { Err(format!("received {all:?} of {delivered:?}")) }
    }

    /// All is received, judged, stopped and drained; every buffer is there once.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        self.empty();
        self.judge()?;
        self.card.nic.stop(&mut self.card.m);
        let mut all = Vec::new();
        for core in &mut self.cores {
            core.host.drain(&mut core.m, &mut core.spares);
            core.free();
            all.append(&mut core.spares.0);
        }
        all.sort_unstable();
        let same = all.iter().copied().eq((0..self.buffers).map(|n| Buf(n.into())));
        if same { Ok(()) } else { Err(format!("buffers at the end: {all:?}")) }
    }
}
