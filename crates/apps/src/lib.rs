//! Packet applications, each written once for real memory and for the modelled server.
//!
//! An [`App`] decides on one frame's headers; [`App::process`] is the burst loop that they share, and
//! [`Worker`] the run-to-completion loop around it. On real memory an application really rewrites
//! headers and checksums; in the model it does the same, and its declared cycles and table accesses
//! are charged.

mod antagonist;
mod any;
mod batch;
pub mod echo;
mod factory;
mod fate;
mod headers;
pub mod ipsec;
pub mod kv;
pub mod l3fwd;
pub mod lb;
pub mod linefs;
pub mod nat;
pub mod nf;
pub mod table;
pub mod udp_ack;
pub mod udp_echo;
pub mod vxlan;
mod worker;

pub use antagonist::{Antagonist, AntagonistKind};
pub use any::{AnyApp, Kind};
pub use batch::{Batch, Cause, Counters, Verdict};
pub use factory::{Factory, Parts, Seat, Sizes};
pub use fate::Fate;
pub use headers::{End, Headers, SEEN};
pub use worker::{Unsent, Worker, WorkerCounters};

use memory::{Buf, Memory};
use rings::{Buffers, Completion};

/// Where a frame lies.
#[derive(Clone, Copy)]
pub struct Packet<M: Memory> {
    /// The buffers that it lies in.
    pub frames: M::Buffers,
    /// Its buffer.
    pub buf: Buf,
    /// Its bytes, without FCS.
    pub len: u16,
}

/// What an application does with a frame whose headers are not the usual ones.
#[inline(never)]
fn unusual<M: Memory, A: App<M> + ?Sized>(
    app: &mut A,
    m: &mut M,
    packet: &Packet<M>,
    headers: &mut Headers,
) -> Verdict {
    if headers.is_bad() {
        Verdict::Drop(Cause::BadHeader)
    } else if headers.is_ip() {
        app.frame(m, packet, headers)
    } else {
        Verdict::Pass
    }
}

/// What an application does to packets.
pub trait App<M: Memory> {
    /// CPU cycles per frame beside the memory accesses that the application makes.
    fn cycles(&self) -> u32;

    /// How many frames ahead of the one in hand headers are prefetched; 0 unless the framework that the
    /// application stands for prefetches.
    fn ahead(&self) -> usize {
        0
    }

    /// Decides on one frame and rewrites its headers; what lies behind them is in `packet`.
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict;

    /// Processes a burst: every buffer of `burst` ends in `batch`, to be sent or given back.
    #[inline]
    fn process(&mut self, m: &mut M, frames: M::Buffers, burst: &[Completion], batch: &mut Batch) {
        let (now, ahead) = (m.now(), self.ahead());
        for c in burst.iter().take(ahead) {
            m.prefetch(frames, c.buf, 0);
        }
        for (i, c) in burst.iter().enumerate() {
            if let Some(later) = burst.get(i + ahead).filter(|_| ahead > 0) {
                m.prefetch(frames, later.buf, 0);
            }
            headers::metadata(m, frames, c);
            m.work(self.cycles());
            let mut headers = Headers::of(c, now);
            let packet = Packet { frames, buf: c.buf, len: c.len };
            let verdict = if headers.load(m, frames, c) {
                self.frame(m, &packet, &mut headers)
            } else {
                unusual(self, m, &packet, &mut headers)
            };
            if matches!(verdict, Verdict::Send | Verdict::Reply(_) | Verdict::Gather(..)) {
                headers.store(m, frames, c);
            }
            batch.file(c.buf, c.len, verdict);
            m.chain();
        }
    }

    /// Sends what is due although no frame came, such as what a timer repeats, in buffers of `pool`: each of them ends in
    /// `batch` or goes back.
    fn tick<B: Buffers<M>>(&mut self, _m: &mut M, _frames: M::Buffers, _pool: &mut B, _batch: &mut Batch) {}

    /// Buffers from this number on are the application's own. Its frames may have segments in them.
    fn own_buffers(&self) -> u64 {
        u64::MAX
    }

    /// Frames with segments in these buffers have been sent, or will not be: each time that a segment was in one.
    fn returned(&mut self, _m: &mut M, _bufs: &[Buf]) {}

    /// Segments in its own buffers that have not been returned.
    fn kept(&self) -> u64 {
        0
    }

    /// Named counters beside those of the [`Batch`].
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
