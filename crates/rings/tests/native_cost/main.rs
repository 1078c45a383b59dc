//! What does being generic over the memory cost? Counts the instructions of privring's `rx_burst` on
//! native memory and of the same ring written by hand over raw pointers, under callgrind. And what does it
//! cost that others may share the ring? Counts those of `corec` beside `ddring`, its single consumer.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod hand;

use std::hint::black_box;
use std::process::Command;

use memory::{Backing, Buf, Geometry, Memory, NativeView, Ps, Region, Space};
use rings::{Buffers, Completion, Frame, Host, Nic, Outcome, corec, ddring, privring, rxbisect};

const RING: u32 = 1024;
const BUFFERS: u32 = 2 * RING;
const BURST: usize = 32;
/// Frames that wait at each poll, in turn: a full burst, a partial one, a single frame, nothing.
const WAITING: [usize; 4] = [32, 8, 1, 0];
const BURSTS: usize = 100_000;
/// How many more instructions the generic code may take, in percent.
const LIMIT: f64 = 2.0;
/// How many times `ddring`'s instructions `corec` may take alone on its ring.
const SHARED: f64 = 1.1;
/// How many times `privring`'s instructions `rxbisect` may take: it looks for notices as well.
const BISECTED: f64 = 1.25;
/// How many fewer, before the hand-written ring is no yardstick: compilers differ a little.
const SLOPPY: f64 = 10.0;

/// Spare buffers as a driver hands them over: bulk get, bulk put.
struct Spares {
    bufs: Vec<Buf>,
    len: usize,
}

impl Spares {
    fn new() -> Spares {
        Spares { bufs: (0..u64::from(BUFFERS)).map(Buf).collect(), len: BUFFERS as usize }
    }

    #[inline(always)]
    fn get(&mut self, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.len);
        self.len -= n;
        out[..n].copy_from_slice(&self.bufs[self.len..self.len + n]);
        n
    }

    fn put(&mut self, bufs: impl Iterator<Item = Buf>) {
        for buf in bufs {
            self.bufs[self.len] = buf;
            self.len += 1;
        }
    }
}

impl Buffers<NativeView<'_>> for Spares {
    #[inline(always)]
    fn take(&mut self, _m: &mut NativeView<'_>, out: &mut [Buf]) -> usize {
        self.get(out)
    }

    fn give(&mut self, _m: &mut NativeView<'_>, bufs: &[Buf]) {
        self.put(bufs.iter().copied());
    }
}

const NOTHING: Completion = Completion::none();

#[inline(never)]
fn generic_burst<'r>(
    host: &mut privring::HostHalf<NativeView<'r>>,
    m: &mut NativeView<'r>,
    spares: &mut Spares,
    out: &mut [Completion; BURST],
) -> usize {
    host.rx_burst(m, spares, out)
}

#[inline(never)]
fn bisected_burst<'r>(
    host: &mut rxbisect::HostHalf<NativeView<'r>>,
    m: &mut NativeView<'r>,
    spares: &mut Spares,
    out: &mut [Completion; BURST],
) -> usize {
    host.rx_burst(m, spares, out)
}

#[inline(never)]
fn single_burst<'r>(
    host: &mut ddring::HostHalf<NativeView<'r>>,
    m: &mut NativeView<'r>,
    spares: &mut Spares,
    out: &mut [Completion; BURST],
) -> usize {
    host.rx_burst(m, spares, out)
}

#[inline(never)]
fn shared_burst<'r>(
    host: &mut corec::HostHalf<NativeView<'r>>,
    m: &mut NativeView<'r>,
    spares: &mut Spares,
    out: &mut [Completion; BURST],
) -> usize {
    host.rx_burst(m, spares, out)
}

#[inline(never)]
fn hand_burst(host: &mut hand::HostHalf<'_>, spares: &mut Spares, out: &mut [Completion; BURST]) -> usize {
    host.rx_burst(spares, out)
}

/// Something that depends on every frame received: the two rings must agree.
fn digest(sum: u64, frames: &[Completion]) -> u64 {
    frames.iter().fold(sum, |sum, f| {
        sum.wrapping_mul(31).wrapping_add(f.buf.0 ^ u64::from(f.len) << 20 ^ u64::from(f.rss))
    })
}

fn frame(n: usize) -> Frame<'static> {
    Frame::new(&[7; 64], 64 + (n % 100) as u16, n as u32, 3)
}

/// A ring of a host half `H`, and how it is polled.
struct Polled<'r, H, N> {
    build: fn(&mut &'r Region, Native<'r>) -> (Vec<H>, N),
    burst: fn(&mut H, &mut NativeView<'r>, &mut Spares, &mut [Completion; BURST]) -> usize,
}

type Native<'r> = <NativeView<'r> as Memory>::Buffers;

fn receive<'r, H, N>(region: &'r Region, ring: &Polled<'r, H, N>, bursts: usize) -> (usize, u64)
where
    H: Host<NativeView<'r>>,
    N: Nic<NativeView<'r>>,
{
    let mut space = region;
    let buffers = space.buffers(&Geometry::dpdk(BUFFERS)).unwrap();
    let (mut hosts, mut nic) = (ring.build)(&mut space, buffers);
    let (mut m, mut spares, mut out) = (region.view(), Spares::new(), [NOTHING; BURST]);
    let (mut outcomes, mut received, mut sum) = ([Outcome::NoBuffer; BURST], 0, 0);
    hosts[0].fill(&mut m, &mut spares);
    for burst in 0..bursts {
        let frames: Vec<_> = (0..WAITING[burst % 4]).map(|k| frame(burst + k)).collect();
        nic.deliver(&mut m, 0, &frames, &mut outcomes);
        let n = black_box((ring.burst)(&mut hosts[0], &mut m, &mut spares, &mut out));
        spares.put(out[..n].iter().map(|f| f.buf));
        received += n;
        sum = digest(sum, &out[..n]);
    }
    (received, sum)
}

fn region() -> Region {
    Region::new(8 << 20, Backing::Heap).unwrap()
}

fn generic(bursts: usize) -> (usize, u64) {
    let build = |s: &mut _, b| privring::build(s, &privring::Sizes { ring: RING }, 1, b).unwrap();
    receive(&region(), &Polled { build, burst: generic_burst }, bursts)
}

fn bisected(bursts: usize) -> (usize, u64) {
    const SIZES: rxbisect::Sizes =
        rxbisect::Sizes { ax: RING, bx: RING, group: 0, batch: 8, timeout: Ps::from_us(1), alloc_queues: 0 };
    let build = |s: &mut _, b| rxbisect::build(s, &SIZES, 1, b).unwrap();
    receive(&region(), &Polled { build, burst: bisected_burst }, bursts)
}

fn of_one(bursts: usize) -> usize {
    const SIZES: ddring::Sizes = ddring::Sizes { ring: RING, shared_by: 1, refill: ddring::Refill::Bulk };
    let build = |s: &mut _, b| ddring::build(s, &SIZES, 1, b).unwrap();
    receive(&region(), &Polled { build, burst: single_burst }, bursts).0
}

fn of_several(bursts: usize) -> usize {
    let build = |s: &mut _, b| {
        corec::build(s, &corec::Sizes { ring: RING, shared_by: 1, ..Default::default() }, 1, b).unwrap()
    };
    receive(&region(), &Polled { build, burst: shared_burst }, bursts).0
}

fn by_hand(bursts: usize) -> (usize, u64) {
    let ring = hand::Ring::new(RING);
    let (mut host, mut nic) = ring.halves(BUFFERS, Geometry::dpdk(1).room);
    let (mut spares, mut out, mut received, mut sum) = (Spares::new(), [NOTHING; BURST], 0, 0);
    host.fill(&mut spares);
    for burst in 0..bursts {
        (0..WAITING[burst % 4]).for_each(|k| nic.deliver(&frame(burst + k)));
        let n = black_box(hand_burst(&mut host, &mut spares, &mut out));
        spares.put(out[..n].iter().map(|f| f.buf));
        received += n;
        sum = digest(sum, &out[..n]);
    }
    (received, sum)
}

/// Both rings do the same work: otherwise their cost says nothing.
#[test]
fn both_rings_receive_the_same() {
    let bursts = 4 * RING as usize;
    let (received, _) = generic(bursts);
    assert_eq!(received, bursts / 4 * 41);
    assert_eq!(generic(bursts), by_hand(bursts));
}

/// What callgrind runs.
#[test]
#[ignore = "the workload of the instruction count"]
fn workload() {
    assert_eq!(generic(BURSTS), by_hand(BURSTS));
}

/// The same for a ring and its bisected kin.
#[test]
#[ignore = "the workload of the instruction count"]
fn halves() {
    assert_eq!(generic(BURSTS), bisected(BURSTS));
}

/// The same for rings of done bits.
#[test]
#[ignore = "the workload of the instruction count"]
fn done_bits() {
    assert_eq!(of_one(BURSTS), of_several(BURSTS));
}

/// Instructions spent in `function` of `workload`.
fn instructions(workload: &str, function: &str) -> u64 {
    let me = std::env::current_exe().unwrap();
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect=*{function}*"))
        .arg(me)
        .args(["--ignored", "--exact", workload, "--test-threads=1"])
        .output();
    let run = run.unwrap_or_else(|error| panic!("valgrind is missing ({error}): apt install valgrind"));
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{text}");
    let count = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.unwrap_or_else(|| panic!("no count in: {text}"))
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "counts optimised code: cargo test --release -p rings --test native_cost"
)]
fn generic_code_costs_what_hand_written_code_costs() {
    let (generic, hand) = (instructions("workload", "generic_burst"), instructions("workload", "hand_burst"));
    let more = 100.0 * (generic as f64 / hand as f64 - 1.0);
    let frames = (BURSTS / 4 * 41) as f64;
    println!("rx_burst, {BURSTS} bursts: {generic} instructions generic, {hand} by hand ({more:+.2}%)");
    println!("per frame: {:.2} and {:.2}", generic as f64 / frames, hand as f64 / frames);
    assert!(hand as f64 > 5.0 * frames, "callgrind did not see the burst");
    assert!(more <= LIMIT, "the generic ring takes {more:.2}% more instructions; allowed: {LIMIT}%");
    assert!(more >= -SLOPPY, "the hand-written ring loses by {:.2}%: it measures nothing", -more);
}

/// The claim, the marks and the trylock are paid once for a burst; the buffers are taken at once by both.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "counts optimised code: cargo test --release -p rings --test native_cost"
)]
fn a_ring_for_several_costs_little_more_than_one_for_one() {
    let (single, shared) =
        (instructions("done_bits", "single_burst"), instructions("done_bits", "shared_burst"));
    let frames = (BURSTS / 4 * 41) as f64;
    let (single, shared) = (single as f64 / frames, shared as f64 / frames);
    println!("instructions for a frame, bursts of 32, 8, 1, 0: ddring {single:.2}, corec {shared:.2}");
    assert!(single > 5.0, "callgrind did not see the burst");
    assert!(
        shared <= single * SHARED,
        "corec takes {:.2} times ddring's; allowed: {SHARED}",
        shared / single
    );
}

/// One comparison tells of most entries that they are fresh, and hold a frame and the notice that is due.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "counts optimised code: cargo test --release -p rings --test native_cost"
)]
fn a_bisected_ring_costs_little_more_than_a_private_one() {
    let (private, bisected) =
        (instructions("halves", "generic_burst"), instructions("halves", "bisected_burst"));
    let frames = (BURSTS / 4 * 41) as f64;
    let (private, bisected) = (private as f64 / frames, bisected as f64 / frames);
    println!(
        "instructions for a frame, bursts of 32, 8, 1, 0: privring {private:.2}, rxbisect {bisected:.2}"
    );
    assert!(private > 5.0, "callgrind did not see the burst");
    assert!(
        bisected <= private * BISECTED,
        "rxbisect takes {:.2} times privring's; allowed: {BISECTED}",
        bisected / private
    );
}
