//! Data that one node writes and the other one reads, by several pairs of cores.

use memory::{Buf, Geometry, Memory, Ps, Side, Space, Stores};

use super::{Bench, Error, Notes};
use crate::machine::layout::{PoolId, Words};
use crate::profile::Server;

/// Bytes that are written before the reader is told.
const SEGMENT: u64 = 1 << 20;
/// Segments of a pair's memory: one is written while another is read.
const SEGMENTS: u64 = 2;
/// Bytes of one call, which lie one behind the other. The first line of a buffer is for nobody.
const PIECE: u32 = 16 << 10;
const FIRST: u32 = 64;
const PIECES: u64 = SEGMENT / PIECE as u64;

/// How data gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The writer stores through its caches, into memory of its own node.
    Cached,
    /// The writer stores past its caches, into memory of the reader's node.
    Streaming,
    /// Nobody writes: the reader reads memory of the other node.
    Read,
}

/// What all pairs do together.
#[derive(Clone, Copy, Debug)]
pub struct Streamed {
    /// Bytes that were read, GB/s.
    pub gbytes: f64,
    /// Lines of DRAM of both nodes, read and written, for each line that was read.
    pub dram_lines: f64,
    /// Lines that crossed the link for loads, and for stores, for each line that was read.
    pub reads: f64,
    /// The latter.
    pub rfos: f64,
}

/// A pair's memory and words.
#[derive(Clone, Copy)]
struct Pair {
    data: PoolId,
    /// The reader's own memory, which it copies to.
    own: PoolId,
    full: Words<1>,
    free: Words<1>,
}

/// `pairs` of a host's core that writes and a NIC's core that reads, `mbytes` MiB each; a quarter of it is left out
/// at the beginning.
///
/// # Errors
/// More pairs than the server has cores, fewer than 4 MiB, or more than the model has memory for.
pub fn stream(server: &Server, path: Path, pairs: u32, mbytes: u64) -> Result<Streamed, Error> {
    if !(1..=server.cores).contains(&pairs) {
        return Err(Error::Asked(format!(
            "{pairs} pairs; allowed: 1 to {}, the server's cores",
            server.cores
        )));
    }
    if !(4..=64).contains(&mbytes) {
        return Err(Error::Asked(format!("{mbytes} MiB a pair; allowed: 4 to 64")));
    }
    let mut bench = Bench::new(server)?;
    let notes = Notes::new();
    let writes = path != Path::Read;
    // What is only read comes from memory: no line of it is read twice.
    let segments = if writes { SEGMENTS } else { mbytes };
    for core in 0..pairs {
        let home = if path == Path::Streaming { Side::Nic } else { Side::Host };
        let stores = if path == Path::Streaming { Stores::Streaming } else { Stores::Cached };
        let buffers = |count: u64| Geometry::plain((count * PIECES) as u32, FIRST + PIECE);
        let pair = Pair {
            data: bench.space.buffers(&buffers(segments).homed(home).stored(stores))?,
            own: bench.space.buffers(&buffers(1).homed(Side::Nic))?,
            full: bench.words(1, Side::Host)?,
            free: bench.words(1, Side::Nic)?,
        };
        let ends = notes.clone();
        bench.far(move |m| ends.push(reader(m, pair, mbytes, writes)));
        if writes {
            bench.near(core, move |m| writer(m, pair, mbytes));
        }
    }
    let mut engine = bench.run(server, server.emulator_window())?;
    let (from, to): (Vec<Ps>, Vec<Ps>) = notes.take().into_iter().unzip();
    let ps = to.iter().max().map_or(0, |t| t.0) - from.iter().min().map_or(0, |t| t.0);
    let bytes = u64::from(pairs) * (mbytes - mbytes / 4) * SEGMENT;
    let lines = (u64::from(pairs) * mbytes * SEGMENT / 64) as f64;
    let counts = engine.sim().counts();
    let dram = counts.dram_reads + counts.dram_writes + counts.far_dram_reads + counts.far_dram_writes;
    let crossed = engine.sim().crossed();
    let each = |n: u64| n as f64 / lines;
    Ok(Streamed {
        gbytes: bytes as f64 * 1e3 / ps as f64,
        dram_lines: each(dram),
        reads: each(crossed.iter().map(|c| c.reads).sum()),
        rfos: each(crossed.iter().map(|c| c.rfos).sum()),
    })
}

/// The buffers of segment `n`, of so many that there are.
fn pieces(n: u64, segments: u64) -> impl Iterator<Item = Buf> {
    let first = n % segments * PIECES;
    (first..first + PIECES).map(Buf)
}

fn writer(m: &mut crate::View, pair: Pair, segments: u64) {
    for n in 0..segments {
        while m.acquire(pair.free, 0) + SEGMENTS <= n {
            m.idle();
        }
        for buf in pieces(n, SEGMENTS) {
            m.put(pair.data, buf, FIRST, &[], PIECE);
            m.chain();
        }
        m.release(pair.full, 0, n + 1);
    }
}

/// When the first quarter was read, and when all.
fn reader(m: &mut crate::View, pair: Pair, segments: u64, waits: bool) -> (Ps, Ps) {
    let mut from = Ps::ZERO;
    for n in 0..segments {
        if n == segments / 4 {
            from = m.now();
        }
        while waits && m.acquire(pair.full, 0) <= n {
            m.idle();
        }
        let there = pieces(n, if waits { SEGMENTS } else { segments });
        for (buf, own) in there.zip(pieces(0, 1)) {
            m.get(pair.data, buf, FIRST, &mut [], PIECE);
            if waits {
                m.put(pair.own, own, FIRST, &[], PIECE);
            }
            m.chain();
        }
        if waits {
            m.release(pair.free, 0, n + 1);
        }
    }
    (from, m.now())
}
