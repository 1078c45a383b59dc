//! Work on frames and buffers that needs no other core: words of a ring's size, a swap, a frame that comes in, a pooled
//! buffer, a frame that is received.
//!
//! None of it is a ring or a driver. What surrounds the accesses, the tests and the notes of what became of each,
//! takes more cycles than they do, so each loop has the shape of the code that it stands for.

use std::hint::black_box;

use memory::{Buf, Class, Memory, NativeView, Region, Space};
use nic::{Checks, Incoming, Pipeline};
use packet::Rss;
use rings::pool::{self, CoreCache};
use rings::{Buffers, Frame};
use traffic::{Arrival, Rate, Spec, Workload};

use super::bed::{LINE, field, timed};
use crate::fail::Fail;

/// Entries of a field in L1, buffers of a burst and of the pool, frames in L1.
const ENTRIES: u64 = 256;
const BURST: usize = 32;
const BUFFERS: u32 = 4096;
const FRAMES: usize = 64;
/// Frames of the stock, as many as a software NIC keeps (A30), and rounds over it.
const STOCK: usize = 8192;
const ROUNDS: u32 = 4;
const REPEATS: u32 = 500;
/// Calls that an entry takes, see [`Work::operation`].
const CALLS: u64 = 5;
/// The longest frame, and headers that are asked for ahead.
const LONGEST: u32 = 2048;
const AHEAD: usize = 4;

/// All of it.
pub(super) struct Work<'r> {
    entries: <NativeView<'r> as Memory>::Words<4>,
    numbers: <NativeView<'r> as Memory>::Words<1>,
    count: <NativeView<'r> as Memory>::Words<LINE>,
    pool: CoreCache<NativeView<'r>>,
    stock: Stock,
    headers: Vec<Header>,
    lines: Vec<[u64; LINE]>,
}

/// Frames as a software NIC keeps them: where each begins in `bytes`, what is kept of it, and its length.
struct Stock {
    bytes: Vec<u8>,
    frames: Vec<(u32, u16, u16)>,
    /// What they go through, as a driver's card has it.
    pipeline: Pipeline<Rss>,
}

/// A buffer's header, of two lines as a DPDK mbuf has them. Who fills it leaves the second one alone.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Header {
    data: usize,
    /// Where the frame begins, and how many refer to the buffer.
    reset: u64,
    flags: u64,
    kind: u32,
    len: u32,
    part: u16,
    hash: u32,
    pool: u64,
    /// The next segment, at the beginning of the second line.
    second: Second,
}

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Second {
    next: u64,
}

/// What an entry tells of a frame.
#[derive(Clone, Copy)]
struct Told {
    number: u32,
    len: u16,
    hash: u32,
    kind: u32,
}

/// Fills the headers of a burst.
type Fill = fn(&mut [Header], &[Told], &[u64; 16], &mut [u32]);

impl<'r> Work<'r> {
    /// # Errors
    /// No room.
    pub(super) fn new(mut region: &'r Region) -> Result<Work<'r>, Fail> {
        let field = self::field::<4>("entries", Class::Signal, ENTRIES as u32);
        let entries = region.words(&field, 0).map_err(Fail::new)?;
        let field = self::field::<1>("numbers", Class::Signal, ENTRIES as u32);
        let numbers = region.words(&field, 0).map_err(Fail::new)?;
        let count = region.words(&self::field::<LINE>("count", Class::Contended, 1), 0).map_err(Fail::new)?;
        let pools = pool::build(&mut region, BUFFERS, 1, pool::CACHE).map_err(Fail::new)?;
        let pool = pools.into_iter().next().ok_or_else(|| Fail::new("no pool"))?;
        let spec: Spec = "fixed:60,flows=1M".parse().map_err(Fail::new)?;
        let headers = (0..FRAMES).map(|data| Header { data, ..Header::default() }).collect();
        let lines = vec![[1; LINE]; FRAMES];
        Ok(Work { entries, numbers, count, pool, stock: Stock::of(spec), headers, lines })
    }

    /// Nanoseconds of one of five calls that an entry takes: a number loaded and tested, the entry made and stored, its
    /// signal loaded and tested, its body loaded and tested, its number stored again. What became of an entry is noted
    /// on either side, in bursts.
    pub(super) fn operation(&self, m: &mut NativeView<'r>) -> f64 {
        let told = [Told { number: 0, len: 60, hash: 1, kind: 2 }; BURST];
        let (mut good, mut out) = ([false; BURST], [[0u64; 4]; BURST]);
        (0..ENTRIES).for_each(|i| m.release(self.numbers, i, i));
        let ns = timed(m, |m| {
            for round in 1..=u64::from(REPEATS) {
                for first in (0..ENTRIES).step_by(BURST) {
                    for ((i, t), good) in (first..).zip(black_box(&told)).zip(black_box(&mut good)) {
                        let number = m.acquire(self.numbers, i);
                        *good = number < ENTRIES && u32::from(t.len) <= LONGEST;
                        if *good {
                            let described = u64::from(t.hash) | u64::from(t.kind) << 32;
                            m.publish(
                                self.entries,
                                i,
                                [number, described, 0, u64::from(t.len) << 1 | round & 1],
                            );
                        }
                    }
                    let mut taken = 0;
                    let burst = black_box(&mut out);
                    for i in first..first + BURST as u64 {
                        let signal = m.acquire(self.entries, i);
                        if (signal ^ round) & 1 != 0 {
                            break;
                        }
                        let [number, described]: [u64; 2] = m.body(self.entries, i);
                        if number < ENTRIES && signal >> 1 <= u64::from(LONGEST) {
                            burst[taken] = [number, described, signal >> 1, 0];
                            taken += 1;
                        }
                    }
                    for (i, entry) in (first..).zip(black_box(&out[..taken])) {
                        m.release(self.numbers, i, entry[0]);
                    }
                }
            }
        });
        black_box((good, out));
        ns / (CALLS * u64::from(REPEATS) * ENTRIES) as f64
    }

    /// Nanoseconds of a compare-and-swap on a line that this core owns.
    pub(super) fn own_swap(&self, m: &mut NativeView<'r>) -> f64 {
        let start = m.acquire(self.count, 0);
        let swaps = u64::from(REPEATS) * BURST as u64;
        let ns = timed(m, |m| {
            for n in start..start + swaps {
                black_box(m.swap_if(self.count, 0, n, n + 1)).ok();
            }
        });
        ns / swaps as f64
    }

    /// Nanoseconds to take a buffer from the core's own stack and give it back, in bursts.
    pub(super) fn buffer(&mut self, m: &mut NativeView<'r>) -> f64 {
        let mut bufs = [Buf(0); BURST];
        let rounds = REPEATS * 10;
        let pool = &mut self.pool;
        let ns = timed(m, |m| {
            for _ in 0..rounds {
                let got = pool.take(m, black_box(&mut bufs));
                pool.give(m, black_box(&bufs[..got]));
            }
        });
        ns / f64::from(rounds) / BURST as f64
    }

    /// Nanoseconds for a frame of 60 B that comes in: taken from the stock, which is larger than an L1, filtered, parsed, hashed,
    /// given a queue and described for whoever stores it.
    pub(super) fn classify(&self, m: &mut NativeView<'r>) -> f64 {
        let (mut queues, mut next, mut bytes) = ([0u16; FRAMES], 0, 0u64);
        let ns = timed(m, |_| {
            for _ in 0..ROUNDS * (STOCK / FRAMES) as u32 {
                let stock = black_box(&self.stock);
                let mut burst = [Frame::new(&[], 0, 0, 0); FRAMES];
                let mut passed = 0;
                for _ in 0..FRAMES {
                    let Some((frame, queue)) = stock.take(&mut next) else { continue };
                    burst[passed] = frame;
                    queues[passed] = queue;
                    passed += 1;
                }
                black_box(&mut queues);
                bytes += black_box(&burst[..passed]).iter().map(|f| u64::from(f.len())).sum::<u64>();
            }
        });
        black_box(bytes);
        ns / (ROUNDS as usize * STOCK) as f64
    }

    /// Nanoseconds for a frame of a line that is received, read and freed, all of it in L1: its header is filled by a
    /// function that is known at run time alone, its words are added up, its header is looked at again.
    pub(super) fn frame(&mut self, m: &mut NativeView<'r>) -> f64 {
        let fill: Fill = black_box(fill);
        let table = black_box([0u64; 16]);
        let told: Vec<Told> =
            (0..FRAMES as u32).map(|number| Told { number, len: 60, hash: number, kind: 2 }).collect();
        let (headers, lines) = (&mut self.headers, &self.lines);
        let (mut burst, mut free, mut sum) = ([0u32; BURST], [0u32; BURST], 0u64);
        let ns = timed(m, |_| {
            for _ in 0..REPEATS {
                for told in black_box(&told).chunks(BURST) {
                    fill(headers, told, &table, &mut burst[..told.len()]);
                    let burst = black_box(&burst[..told.len()]);
                    sum ^=
                        burst.iter().map(|i| read(&headers[*i as usize], lines)).fold(0, u64::wrapping_add);
                    let mut freed = 0;
                    for i in burst {
                        let h = &mut headers[*i as usize];
                        if h.reset >> 16 & 0xffff == 1 && h.flags == 0 && h.pool == 0 {
                            if h.second.next != 0 {
                                h.second.next = 0;
                            }
                            free[freed] = *i;
                            freed += 1;
                        }
                    }
                    black_box(&free[..freed]);
                }
            }
        });
        black_box(sum);
        ns / (REPEATS as usize * FRAMES) as f64
    }
}

impl Stock {
    fn of(spec: Spec) -> Stock {
        let mut source = Workload::Generated(spec).source(0, 1, Rate::Own, 1);
        let (mut bytes, mut frames, mut arrival) = (Vec::new(), Vec::new(), Arrival::EMPTY);
        for _ in 0..STOCK {
            source.next(&mut arrival);
            bytes.resize(bytes.len().next_multiple_of(LINE * 8), 0);
            frames.push((bytes.len() as u32, arrival.bytes().len() as u16, arrival.len));
            bytes.extend_from_slice(arrival.bytes());
        }
        let checks = Checks { max_frame: LONGEST as u16, checksums: false };
        Stock { bytes, frames, pipeline: Pipeline::new(Rss::spread(4), checks) }
    }

    /// The next frame, if it passes, and its queue.
    #[inline(always)]
    fn take(&self, next: &mut usize) -> Option<(Frame<'_>, u16)> {
        let (at, known, len) = *self.frames.get(*next)?;
        *next = if *next + 1 == self.frames.len() { 0 } else { *next + 1 };
        let head = self.bytes.get(at as usize..)?.get(..usize::from(known))?;
        let frame = Incoming::whole(head, u32::from(len));
        let class = black_box(&self.pipeline).admit(&frame).ok()?;
        Some((class.frame(&frame), class.queue))
    }
}

/// As a driver does it: the headers come from the pool, so they are asked for some frames ahead.
fn fill(headers: &mut [Header], told: &[Told], flags: &[u64; 16], burst: &mut [u32]) {
    for (i, (t, slot)) in told.iter().zip(burst).enumerate() {
        if let Some(ahead) = told.get(i + AHEAD) {
            prefetch(&headers[ahead.number as usize]);
        }
        let h = &mut headers[t.number as usize];
        h.reset = 1 << 16 | 128;
        h.flags = flags[(t.kind >> 16) as usize % flags.len()];
        h.kind = t.kind & 0xffff;
        h.len = u32::from(t.len);
        h.part = t.len;
        h.hash = t.hash;
        *slot = t.number;
    }
}

/// The sum of a frame's words, the last one in part.
#[inline(always)]
fn read(h: &Header, lines: &[[u64; LINE]]) -> u64 {
    let (line, len) = (&lines[h.data], usize::from(h.part));
    let words = (len / 8).min(LINE);
    let part = line.get(words).map_or(0, |w| w & ((1 << (len % 8 * 8)) - 1));
    line[..words].iter().fold(part, |sum, w| sum.wrapping_add(*w))
}

/// Asks for a header.
#[inline(always)]
#[allow(unused_variables, reason = "elsewhere there is no instruction to give it to")]
fn prefetch(h: &Header) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch changes no state that the program can see, and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(h).cast()) };
    }
}
